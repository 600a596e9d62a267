package object

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

const (
	packHeader = 12
	// UnpackLimit is the number of objects up to which a pack is stored as loose objects,
	// so that many fetches do not leave many packs (git's fetch.unpackLimit).
	UnpackLimit = 100
	// chainRoom bounds the objects from a delta to the object that it begins with, together:
	// go-git may hold them all.
	chainRoom = 512 << 20
	// looseWhole: a small pack with a larger object stays a pack.
	looseWhole = 32 << 20
)

// Receive stores a pack that a remote sends in a git directory. The pack is first
// written to disk and surveyed, since go-git, which makes its index, holds each object
// in memory whatever it claims. The pack has the bases of all its deltas.
//
// If the disk fails, the error is an *os.PathError. Any other is about the pack: a [LimitError]
// if it is too large, [ErrHarmful] if a directory has a name that harms those who clone it.
func Receive(ctx context.Context, gitDir string, in io.Reader, lim Limits) error {
	dir := filepath.Join(gitDir, "objects")
	file, err := os.CreateTemp(filepath.Join(dir, "pack"), "tmp_pack_*.pack")
	if err != nil {
		return err
	}
	index := strings.TrimSuffix(file.Name(), ".pack") + ".idx"
	defer func() { _ = file.Close(); _ = os.Remove(file.Name()); _ = os.Remove(index) }()
	if err := savePack(file, in, lim); err != nil {
		return err
	}
	pack := &packFile{ctx: ctx, File: file}
	if err := pack.survey(lim); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	list := &packList{}
	parser, err := packfile.NewParser(packfile.NewScanner(pack), list)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	sum, err := parser.Parse()
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if err := writeIndex(index, &list.Writer); err != nil {
		return err
	}
	if err := list.check(ctx, dir, "pack/"+filepath.Base(file.Name())); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return publish(file, index, sum)
}

// savePack writes a stream to a file, within the limits.
func savePack(file *os.File, in io.Reader, lim Limits) error {
	head := make([]byte, packHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return fmt.Errorf("pack: %w", unexpectedEOF(err))
	}
	if string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != packfile.VersionSupported {
		return errors.New("what it sends is no pack")
	}
	if n := binary.BigEndian.Uint32(head[8:]); int64(n) > int64(lim.Objects) {
		return LimitError(fmt.Sprintf("it sends a pack of %d objects, of %d at most", n, lim.Objects))
	}
	if _, err := file.Write(head); err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(in, lim.Bytes-packHeader+1))
	if err == nil && n+packHeader > lim.Bytes {
		err = lim.TooManyBytes()
	}
	return err
}

// packFile is a pack that go-git reads; reading ends with the context.
type packFile struct {
	ctx context.Context
	*os.File
}

// Read reads on, until the context is done.
func (f *packFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// survey looks at all objects of a pack before one is held in memory.
func (f *packFile) survey(lim Limits) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := &survey{Scanner: packfile.NewScanner(f), most: lim.Whole}
	_, count, err := s.Header()
	if err != nil {
		return err
	}
	for i := range count {
		head, err := s.NextObjectHeader()
		if err == nil {
			err = s.object(head)
		}
		if err != nil {
			return fmt.Errorf("object %d of %d: %w", i+1, count, unexpectedEOF(err))
		}
	}
	if _, err := s.Checksum(); err != nil {
		return unexpectedEOF(err)
	}
	end, err := s.SeekFromStart(0)
	if size, serr := f.File.Seek(0, io.SeekEnd); err == nil && serr == nil && size != end {
		err = errors.New("more follows after its last object")
	}
	return err
}

// survey is the state of a survey.
type survey struct {
	*packfile.Scanner
	most   int64 // bytes of an object
	starts []int64
	chains []int64 // of each object: its bytes and those of the objects that it is made from
	named  int64   // the same of all deltas that name their base by its id: who knows which
}

// object checks an object, and the length of what a delta makes.
func (s *survey) object(head *packfile.ObjectHeader) error {
	if head.Type < plumbing.CommitObject || head.Type > plumbing.REFDeltaObject || head.Type == 5 {
		return fmt.Errorf("object of type %d", head.Type)
	}
	if head.Length > s.most {
		return LimitError(fmt.Sprintf("it has %d bytes, of %d at most", head.Length, s.most))
	}
	if head.Type == plumbing.TreeObject && head.Length > treeLimit {
		return LimitError(fmt.Sprintf("a directory of %d bytes, of %d at most", head.Length, treeLimit))
	}
	var begin beginning
	if n, _, err := s.NextObject(&begin); err != nil {
		return err
	} else if n != head.Length {
		return errors.New("it is not as long as its header says")
	}
	s.starts = append(s.starts, head.Offset)
	if !head.Type.IsDelta() {
		s.chains = append(s.chains, head.Length)
		return nil
	}
	from, size, _, ok := deltaSizes(begin)
	if !ok {
		return errDelta
	}
	if size > s.most {
		return LimitError(fmt.Sprintf("its result has %d bytes, of %d at most", size, s.most))
	}
	base := &s.named // git sends these only to who does not know offsets
	if head.Type == plumbing.OFSDeltaObject {
		i, ok := slices.BinarySearch(s.starts[:len(s.starts)-1], head.OffsetReference)
		if !ok {
			return errors.New("no object begins where the base of a delta should")
		}
		base = &s.chains[i]
	} else {
		s.named += from + size
	}
	s.chains = append(s.chains, *base+size)
	if s.chains[len(s.chains)-1] > chainRoom {
		return LimitError(fmt.Sprintf("it and what it is made from have more than %d MiB", chainRoom>>20))
	}
	return nil
}

// beginning keeps the first bytes that are written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), 20-min(20, len(*b)))]...)
	return len(p), nil
}

// packList is the index of a pack, and where its directories are.
type packList struct {
	idxfile.Writer
	trees []int64
}

// OnInflatedObjectHeader notes a directory.
func (l *packList) OnInflatedObjectHeader(kind plumbing.ObjectType, _, at int64) error {
	if kind == plumbing.TreeObject {
		l.trees = append(l.trees, at)
	}
	return nil
}

// check refuses a pack with a directory that harms. Name is that of the pack, below dir.
func (l *packList) check(ctx context.Context, dir, name string) error {
	var cache blobCache
	cache.setLimit(0)
	p, err := openPack(dir, name, &cache, nil)
	if err != nil {
		return err
	}
	defer func() { _ = p.close() }()
	for _, at := range l.trees {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, data, err := p.object(at, treeLimit)
		if err != nil {
			return err
		}
		if err := checkTree(Hash(plumbing.ComputeHash(kind, data)), data); err != nil {
			return err
		}
	}
	return nil
}

// writeIndex writes the index of a pack.
func writeIndex(name string, w *idxfile.Writer) error {
	index, err := w.Index()
	if err != nil {
		return err
	}
	return createFile(name, func(f *os.File) error {
		if _, err := idxfile.NewEncoder(f).Encode(index); err != nil {
			return err
		}
		return f.Sync()
	})
}

// publish moves an index and its pack, in this order, to their names: readers look for .pack.
func publish(file *os.File, index string, sum plumbing.Hash) error {
	if err := errors.Join(file.Sync(), file.Chmod(0o400)); err != nil {
		return err
	}
	dir := filepath.Dir(file.Name())
	base := filepath.Join(dir, "pack-"+sum.String())
	if err := os.Rename(index, base+".idx"); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), base+".pack"); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes renames in a directory durable, where the file system can; else no fetch fails.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// Packs lists the names of the packs of a git directory.
func Packs(gitDir string) ([]string, error) { return packNames(filepath.Join(gitDir, "objects")) }

// Loosen stores the objects of small packs of a git directory as loose objects, and
// removes these packs then. Packs of old stay as they are.
func Loosen(ctx context.Context, gitDir string, old []string) error {
	packs, err := Packs(gitDir)
	for _, name := range packs {
		if slices.Contains(old, name) {
			continue
		}
		if err = loosen(ctx, gitDir, name); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return err
}

func loosen(ctx context.Context, gitDir, name string) error {
	dir := filepath.Join(gitDir, "objects")
	var cache blobCache
	cache.setLimit(0)
	p, err := openPack(dir, "pack/"+name, &cache, nil)
	if err != nil || p.index.n > UnpackLimit {
		return err
	}
	defer func() { _ = p.close() }()
	c := &objectCopy{target: dir, limit: manyObjects, done: map[Hash]struct{}{}}
	// An object comes after those that it names, so commits last, the newest of them, which
	// is the first in a pack, at the end; a directory is there with its commit.
	for _, commits := range []bool{false, true} {
		for _, at := range p.offsets() {
			kind, data, err := p.object(at, looseWhole)
			switch {
			case errors.Is(err, ErrTooLarge):
				return nil
			case err == nil && (kind == plumbing.CommitObject) == commits:
				err = c.write(Hash(plumbing.ComputeHash(kind, data)), kind, data)
			}
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
		}
	}
	for _, ext := range []string{".pack", ".rev", ".idx"} { // readers look for the .pack file
		if err := os.Remove(filepath.Join(dir, "pack", strings.TrimSuffix(name, ".pack")+ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// offsets are where the objects of a pack begin, the last one first.
func (p *pack) offsets() []int64 {
	list := make([]int64, 0, p.index.n)
	for i := range p.index.n {
		at, _ := p.index.offset(i)
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
	return list
}

// objectSum starts the hash of an object with its header.
func objectSum(sum hash.Hash, kind plumbing.ObjectType, size int64) {
	var head [looseHeader]byte
	b := append(head[:0], kind.Bytes()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	sum.Reset()
	sum.Write(append(b, 0))
}

// Send writes a pack with what a commit needs and a repository that has the commits of have
// lacks; unknown ids are ignored. go-git makes it, with deltas by name if refDeltas is set.
func (s *Store) Send(ctx context.Context, w io.Writer, commit Hash, have []Hash, refDeltas bool) error {
	have = slices.DeleteFunc(slices.Clone(have), func(h Hash) bool {
		kind, _, err := s.objects.readAny(h, commitLimit)
		return err != nil || kind != plumbing.CommitObject
	})
	fresh, err := s.Difference(ctx, commit, have, 0)
	if err != nil {
		return err
	}
	lacking := map[Hash]struct{}{}
	for h, n := range fresh {
		lacking[h] = struct{}{}
		var before []Hash
		for _, p := range n.Parents {
			parent, err := s.Node(p)
			if err != nil {
				return err
			}
			before = append(before, parent.Tree)
		}
		if err := s.lacking(ctx, n.Tree, before, lacking, 0); err != nil {
			return err
		}
	}
	list := make([]plumbing.Hash, 0, len(lacking))
	for h := range lacking {
		list = append(list, plumbing.Hash(h))
	}
	const window = 10 // git's pack.window
	if _, err := packfile.NewEncoder(w, lent{s: s}, refDeltas).Encode(list, window); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// lacking adds a directory and what is in it, but not what one before it has at the same place.
func (s *Store) lacking(ctx context.Context, tree Hash, before []Hash, found map[Hash]struct{}, depth int) error {
	if _, ok := found[tree]; ok || slices.Contains(before, tree) || depth > MaxDepth {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	found[tree] = struct{}{}
	list, err := s.Tree(tree)
	if err != nil {
		return err
	}
	var old [][]Entry
	for _, h := range before {
		entries, err := s.Tree(h)
		if err != nil {
			return err
		}
		old = append(old, entries)
	}
	for _, e := range list {
		var same bool
		var below []Hash
		for _, entries := range old {
			x, _ := Lookup(entries, e.Name)
			same = same || x.Hash == e.Hash
			if x.Kind == KindTree {
				below = append(below, x.Hash)
			}
		}
		switch {
		case same, e.Kind == KindOther:
		case e.Kind == KindTree:
			err = s.lacking(ctx, e.Hash, below, found, depth+1)
		default:
			found[e.Hash] = struct{}{}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lent lets go-git read the objects of a Store.
type lent struct {
	storer.EncodedObjectStorer // nil: go-git's encoder only reads
	s                          *Store
}

func (l lent) EncodedObject(_ plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	kind, data, err := l.s.objects.readAny(Hash(h), maxWhole)
	if err != nil {
		return nil, objectError("object", Hash(h), err)
	}
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, err = o.Write(data)
	return o, err
}
