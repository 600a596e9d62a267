package object

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sync/errgroup"
)

const (
	// pathRoom bounds the bytes that one worker keeps of the bases of its current
	// delta; others are made again when they are needed.
	pathRoom = 32 << 20
	// huge: only one worker at a time has a larger object.
	huge = 16 << 20
	// resolvers bounds the workers, to bound memory.
	resolvers = 4
)

// sink receives an object; data belongs to it.
type sink func(h Hash, kind plumbing.ObjectType, data []byte) error

// resolve finds the ids of all deltas: for each object that is no delta, the
// deltas that have it as their base, and so on. Every object is passed to give,
// unless that is nil.
func (x *packIndexer) resolve(ctx context.Context, give sink) error {
	x.sortChildren()
	workers := min(runtime.GOMAXPROCS(0), resolvers)
	if len(x.refs) > 0 || give != nil {
		workers = 1 // a reference delta may have either of two equal objects as its base
	}
	var next atomic.Int64
	var one sync.Mutex
	roots := len(x.objects)
	g, gctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			w := &resolver{x: x, give: give, sum: sha1.New(), turn: &one}
			for {
				i := next.Add(1) - 1
				if i >= int64(roots) {
					return nil
				}
				if x.objects[i].base != none {
					continue
				}
				if err := w.root(gctx, int32(i)); err != nil {
					return err
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := x.complete(ctx, give); err != nil {
		return err
	}
	for i := range x.objects {
		if !x.objects[i].known {
			return fmt.Errorf("the base of the delta at %d is missing", x.objects[i].offset)
		}
	}
	return nil
}

// sortChildren groups offset deltas by their base.
func (x *packIndexer) sortChildren() {
	x.first = make([]int32, len(x.objects)+1)
	for i := range x.objects {
		if b := x.objects[i].base; b >= 0 {
			x.first[b+1]++
		}
	}
	for i := 1; i < len(x.first); i++ {
		x.first[i] += x.first[i-1]
	}
	x.children = make([]int32, x.first[len(x.objects)])
	at := slices.Clone(x.first)
	for i := range x.objects {
		if b := x.objects[i].base; b >= 0 {
			x.children[at[b]] = int32(i)
			at[b]++
		}
	}
}

// complete resolves the deltas whose bases only the git directory has, and adds
// these bases to the pack, so that the pack is complete.
func (x *packIndexer) complete(ctx context.Context, give sink) error {
	var missing []Hash
	for h, children := range x.refs {
		if slices.ContainsFunc(children, func(i int32) bool { return !x.objects[i].known }) {
			missing = append(missing, h)
		}
	}
	slices.SortFunc(missing, Hash.Compare)
	w := &resolver{x: x, give: give, sum: sha1.New(), turn: new(sync.Mutex)}
	defer w.release()
	for _, h := range missing {
		if err := ctx.Err(); err != nil {
			return err
		}
		if x.borrow == nil {
			continue
		}
		kind, data, err := x.borrow.readAny(h, x.limits.Whole)
		if errors.Is(err, ErrUnknownObject) {
			continue // a later delta may make it; resolve checks
		}
		if err != nil {
			return objectError("the base of a delta", h, err)
		}
		w.release()
		base := frame{object: none, hash: h, kind: kind, data: data, children: x.refs[h]}
		if err := w.descend(ctx, base); err != nil {
			return err
		}
		if give == nil {
			if err := x.add(h, kind, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// add writes an object after the others.
func (x *packIndexer) add(h Hash, kind plumbing.ObjectType, data []byte) error {
	at := &countingWriter{w: io.NewOffsetWriter(x.file, x.end)}
	if err := writeEntry(at, kind, data); err != nil {
		return err
	}
	x.objects = append(x.objects, packObject{offset: x.end, hash: h, base: none, kind: int8(kind), known: true})
	x.end += at.n
	x.completed = true
	return nil
}

// resolver makes objects from deltas. Use by one goroutine.
type resolver struct {
	x       *packIndexer
	give    sink
	sum     hash.Hash
	turn    *sync.Mutex // held by the worker that has a huge object
	hasTurn bool        // this worker holds turn
	in      *bufio.Reader
	z       io.ReadCloser
	path    []frame
	held    int64 // bytes of data on path
}

// frame is an object between a root and the delta that is being made.
type frame struct {
	object   int32 // none: of the git directory, not of the pack
	hash     Hash
	kind     plumbing.ObjectType
	data     []byte // nil: it must be made again
	children []int32
	next     int
}

// wait waits for the turn for a huge object; release gives the turn back.
func (w *resolver) wait(size int64) {
	if size > huge && !w.hasTurn {
		w.turn.Lock()
		w.hasTurn = true
	}
}

func (w *resolver) release() {
	if w.hasTurn {
		w.path = nil
		w.turn.Unlock()
		w.hasTurn = false
	}
}

// root makes all objects whose chain of deltas begins at object i, which is no
// delta.
func (w *resolver) root(ctx context.Context, i int32) error {
	f := w.frame(i)
	if len(f.children) == 0 && w.give == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	defer w.release()
	var err error
	if f.data, err = w.inflate(i); err != nil {
		return err
	}
	if w.give != nil {
		if err := w.give(f.hash, f.kind, f.data); err != nil {
			return err
		}
	}
	return w.descend(ctx, f)
}

// frame returns the frame of an object whose id is known.
func (w *resolver) frame(i int32) frame {
	o := &w.x.objects[i]
	f := frame{object: i, hash: o.hash, kind: plumbing.ObjectType(o.kind), children: w.x.children[w.x.first[i]:w.x.first[i+1]]}
	if more := w.x.refs[o.hash]; len(more) > 0 {
		f.children = append(slices.Clip(f.children), more...)
	}
	return f
}

// descend makes all objects whose chain of deltas begins at root, which has data. It
// goes depth first, so that a chain of deltas needs only its last object.
func (w *resolver) descend(ctx context.Context, root frame) error {
	w.path, w.held = append(w.path[:0], root), int64(len(root.data))
	for len(w.path) > 0 {
		top := &w.path[len(w.path)-1]
		if top.next == len(top.children) {
			w.held -= int64(len(top.data))
			top.data = nil
			w.path = w.path[:len(w.path)-1]
			continue
		}
		child := top.children[top.next]
		top.next++
		if w.x.objects[child].known {
			continue // made from an equal base already
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.make(child); err != nil {
			return fmt.Errorf("delta at %d: %w", w.x.objects[child].offset, err)
		}
	}
	return nil
}

// make makes an object from the last one on the path, and appends it there if it
// is the base of others.
func (w *resolver) make(child int32) error {
	if len(w.path) > maxChain {
		return LimitError(fmt.Sprintf("more than %d deltas upon each other", maxChain))
	}
	base, err := w.data(len(w.path) - 1)
	if err != nil {
		return err
	}
	kind := w.path[len(w.path)-1].kind
	data, err := w.apply(child, base)
	if err != nil {
		return err
	}
	o := &w.x.objects[child]
	objectSum(w.sum, kind, int64(len(data)))
	w.sum.Write(data)
	w.sum.Sum(o.hash[:0])
	o.kind, o.known = int8(kind), true
	if w.x.harm && kind == plumbing.TreeObject {
		if err := checkTree(o.hash, data); err != nil {
			return err
		}
	}
	if w.give != nil {
		if err := w.give(o.hash, kind, data); err != nil {
			return err
		}
	}
	f := w.frame(child)
	if len(f.children) == 0 {
		return nil
	}
	f.data = data
	w.path = append(w.path, f)
	w.held += int64(len(data))
	for i := 0; w.held > pathRoom && i < len(w.path)-1; i++ {
		w.held -= int64(len(w.path[i].data))
		w.path[i].data = nil
	}
	return nil
}

// data returns the object of a frame, made again if it was dropped.
func (w *resolver) data(top int) ([]byte, error) {
	i := top
	for i >= 0 && w.path[i].data == nil {
		i--
	}
	var data []byte
	var err error
	if i >= 0 {
		data = w.path[i].data
	}
	for i++; i <= top; i++ {
		f := &w.path[i]
		switch {
		case i > 0:
			data, err = w.apply(f.object, data)
		case f.object == none:
			_, data, err = w.x.borrow.readAny(f.hash, w.x.limits.Whole)
		default:
			data, err = w.inflate(f.object)
		}
		if err != nil {
			return nil, err
		}
	}
	if f := &w.path[top]; f.data == nil {
		f.data = data
		w.held += int64(len(data))
	}
	return data, nil
}

// apply makes an object from its base and its delta.
func (w *resolver) apply(i int32, base []byte) ([]byte, error) {
	delta, err := w.inflate(i)
	if err != nil {
		return nil, err
	}
	size, err := targetSize(delta)
	switch {
	case err != nil:
		return nil, err
	case size > w.x.limits.Whole:
		return nil, LimitError(fmt.Sprintf("its result has %d bytes, of %d at most", size, w.x.limits.Whole))
	}
	w.wait(size)
	return patch(nil, base, delta)
}

// inflate reads the data of an object, or of a delta.
func (w *resolver) inflate(i int32) ([]byte, error) {
	offset := w.x.objects[i].offset
	at := io.NewSectionReader(w.x.file, offset, w.x.end-offset)
	if w.in == nil {
		w.in = bufio.NewReaderSize(at, 4<<10)
	} else {
		w.in.Reset(at)
	}
	e, err := readEntry(w.in, offset)
	if err != nil {
		return nil, err
	}
	if e.size > w.x.limits.Whole {
		return nil, LimitError(fmt.Sprintf("an object with deltas upon it has %d bytes, of %d at most", e.size, w.x.limits.Whole))
	}
	w.wait(e.size)
	if w.z, err = inflater(w.z, w.in); err != nil {
		return nil, err
	}
	data := make([]byte, e.size) // scan has checked the length
	_, err = io.ReadFull(w.z, data)
	return data, unexpectedEOF(err)
}
