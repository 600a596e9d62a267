package object

import (
	"bufio"
	"context"
	"crypto/sha1" // git ids packs with it
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	packHeader  = 12
	packTrailer = 20
	// UnpackLimit is the number of objects up to which a pack is stored as loose
	// objects, so that many fetches do not leave many packs (git's
	// fetch.unpackLimit).
	UnpackLimit = 100
	// looseWhole: a small pack with a larger object is stored as a pack.
	looseWhole = 32 << 20
)

// Receive stores a pack that a remote sends in a git directory: as a pack, or as
// loose objects if it is small. The pack is first written to disk, then read
// object by object, so that memory is bounded whatever the pack claims; go-git's
// parser inflates objects of any size. A thin pack, whose deltas have bases in the
// directory, is completed.
//
// If the disk fails, the error is an *os.PathError. Any other error is about the
// pack; it is a [LimitError] if the pack is too large, and [ErrHarmful] if a directory has
// a name that harms those who clone it.
func Receive(ctx context.Context, gitDir string, in io.Reader, lim Limits) error {
	dir := filepath.Join(gitDir, "objects", "pack")
	file, err := os.CreateTemp(dir, "tmp_pack_*")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close(); _ = os.Remove(file.Name()) }()
	size, err := savePack(file, in, lim)
	if err != nil {
		return err
	}
	x := &packIndexer{file: file, size: size, limits: lim, harm: true}
	if err := x.scan(ctx); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	sum, err := x.checksums()
	if err != nil {
		return err
	}
	if len(x.refs) > 0 {
		x.borrow = openObjects(gitDir)
		defer x.borrow.close()
	}
	if x.small() {
		return x.unpack(ctx, filepath.Join(gitDir, "objects"))
	}
	if err := x.resolve(ctx, nil); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if x.completed {
		if sum, err = x.checksums(); err != nil {
			return err
		}
	}
	return x.publish(dir, sum)
}

// small reports whether a scanned pack is stored as loose objects.
func (x *packIndexer) small() bool {
	return len(x.objects) <= UnpackLimit && x.largest <= min(looseWhole, x.limits.Whole)
}

// Packs lists the names of the packs of a git directory.
func Packs(gitDir string) ([]string, error) { return packNames(filepath.Join(gitDir, "objects")) }

// Loosen stores the objects of small packs of a git directory as loose objects, as
// Receive does, and removes these packs then. Packs of old stay as they are. Limits
// bound one object in memory.
func Loosen(ctx context.Context, gitDir string, old []string, lim Limits) error {
	packs, err := Packs(gitDir)
	for _, name := range packs {
		if slices.Contains(old, name) {
			continue
		}
		if err = loosen(ctx, gitDir, filepath.Join(gitDir, "objects", "pack", name), lim); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return err
}

func loosen(ctx context.Context, gitDir, pack string, lim Limits) error {
	file, err := os.Open(pack)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, packHeader)
	if _, err := io.ReadFull(file, head); err != nil || binary.BigEndian.Uint32(head[8:]) > UnpackLimit {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	x := &packIndexer{file: file, size: info.Size(), limits: lim}
	if err := x.scan(ctx); err != nil || !x.small() {
		return err
	}
	if _, err := x.checksums(); err != nil {
		return err
	}
	if err := x.unpack(ctx, filepath.Join(gitDir, "objects")); err != nil {
		return err
	}
	for _, ext := range []string{".pack", ".rev", ".idx"} { // readers look for the .pack file
		if err := os.Remove(strings.TrimSuffix(pack, ".pack") + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// savePack writes a stream to a file, within the limits, and returns its length.
func savePack(file *os.File, in io.Reader, lim Limits) (int64, error) {
	head := make([]byte, packHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return 0, fmt.Errorf("pack: %w", unexpectedEOF(err))
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return 0, errors.New("what it sends is no pack")
	}
	if n := binary.BigEndian.Uint32(head[8:]); int64(n) > int64(lim.Objects) {
		return 0, LimitError(fmt.Sprintf("it sends a pack of %d objects, of %d at most", n, lim.Objects))
	}
	if _, err := file.Write(head); err != nil {
		return 0, err
	}
	n, err := io.CopyBuffer(writerOnly{file}, io.LimitReader(in, lim.Bytes-packHeader+1), make([]byte, 128<<10))
	switch {
	case err != nil:
		return 0, err
	case n+packHeader > lim.Bytes:
		return 0, lim.TooManyBytes()
	case n < packTrailer:
		return 0, fmt.Errorf("pack: %w", io.ErrUnexpectedEOF)
	}
	return n + packHeader, nil
}

// writerOnly hides ReadFrom, which would allocate a buffer of its own.
type writerOnly struct{ io.Writer }

// unpack writes every object as a loose object. Commits come last, when the
// objects that they name are there.
func (x *packIndexer) unpack(ctx context.Context, target string) error {
	c := &objectCopy{target: target, limit: manyObjects, done: map[Hash]struct{}{}}
	type object struct {
		hash Hash
		data []byte
	}
	var commits []object
	err := x.resolve(ctx, func(h Hash, kind plumbing.ObjectType, data []byte) error {
		if kind == plumbing.CommitObject {
			commits = append(commits, object{h, data})
			return nil
		}
		return c.write(h, kind, data)
	})
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	for i := len(commits) - 1; i >= 0; i-- { // the newest is the first in a pack
		if err := c.write(commits[i].hash, plumbing.CommitObject, commits[i].data); err != nil {
			return err
		}
	}
	return nil
}

// publish moves the pack and its index to their names. The index comes first:
// readers look for the .pack file.
func (x *packIndexer) publish(dir string, sum [packTrailer]byte) error {
	if err := x.file.Sync(); err != nil {
		return err
	}
	if err := x.file.Chmod(0o400); err != nil {
		return err
	}
	base := filepath.Join(dir, "pack-"+hex.EncodeToString(sum[:]))
	if err := createFile(base+".idx", func(f *os.File) error {
		if err := writePackIndex(f, x.objects, sum); err != nil {
			return err
		}
		return f.Sync()
	}); err != nil {
		return err
	}
	if err := os.Rename(x.file.Name(), base+".pack"); err != nil {
		return err
	}
	return syncDir(dir)
}

// checksums reads the whole file once more, for the CRC of each object and the
// checksum at the end. It checks this checksum, or writes it if the pack was
// completed.
func (x *packIndexer) checksums() (sum [packTrailer]byte, err error) {
	if x.completed {
		var count [4]byte
		binary.BigEndian.PutUint32(count[:], uint32(len(x.objects)))
		if _, err := x.file.WriteAt(count[:], 8); err != nil {
			return sum, err
		}
	}
	whole := sha1.New()
	in := bufio.NewReaderSize(io.NewSectionReader(x.file, 0, x.end), 256<<10)
	if _, err := io.CopyN(whole, in, packHeader); err != nil {
		return sum, err
	}
	for i := range x.objects {
		end := x.end
		if i+1 < len(x.objects) {
			end = x.objects[i+1].offset
		}
		crc := crc32.NewIEEE()
		if _, err := io.CopyN(io.MultiWriter(whole, crc), in, end-x.objects[i].offset); err != nil {
			return sum, err
		}
		x.objects[i].crc = crc.Sum32()
	}
	copy(sum[:], whole.Sum(nil))
	if x.completed {
		if _, err := x.file.WriteAt(sum[:], x.end); err != nil {
			return sum, err
		}
		return sum, x.file.Truncate(x.end + packTrailer)
	}
	var said [packTrailer]byte
	if _, err := x.file.ReadAt(said[:], x.end); err != nil {
		return sum, err
	}
	if said != sum {
		return sum, errors.New("pack: its checksum is wrong")
	}
	return sum, nil
}

// syncDir makes renames in a directory durable. Some file systems cannot do so; a
// fetch does not fail for that.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
