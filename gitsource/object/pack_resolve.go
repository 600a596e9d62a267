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
	"github.com/klauspost/compress/zlib"
	"golang.org/x/sync/errgroup"
)

const (
	// pathRoom is what one worker keeps of the bases above the delta it is at;
	// older ones are made again when they are needed.
	pathRoom = 32 << 20
	// huge: one worker at a time deals with larger objects.
	huge = 16 << 20
	// resolvers bounds the workers, for the sake of memory.
	resolvers = 4
)

// sink takes an object; data is nobody else's.
type sink func(h Hash, kind plumbing.ObjectType, data []byte) error

// resolve finds the ids of all deltas: beginning with each object that is
// none, those that build on it, and so on. Every object is handed to give, if
// that is not nil.
func (x *packIndexer) resolve(ctx context.Context, give sink) error {
	x.sortKids()
	workers := min(runtime.GOMAXPROCS(0), resolvers)
	if len(x.refs) > 0 || give != nil {
		workers = 1 // a delta by name may build on any of two equal objects
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

// sortKids lists offset deltas by their base.
func (x *packIndexer) sortKids() {
	x.first = make([]int32, len(x.objects)+1)
	for i := range x.objects {
		if b := x.objects[i].base; b >= 0 {
			x.first[b+1]++
		}
	}
	for i := 1; i < len(x.first); i++ {
		x.first[i] += x.first[i-1]
	}
	x.kids = make([]int32, x.first[len(x.objects)])
	at := slices.Clone(x.first)
	for i := range x.objects {
		if b := x.objects[i].base; b >= 0 {
			x.kids[at[b]] = int32(i)
			at[b]++
		}
	}
}

// complete resolves what builds on objects of the repository that the pack is
// for, and adds those to the pack, so that it stands alone.
func (x *packIndexer) complete(ctx context.Context, give sink) error {
	var missing []Hash
	for h, kids := range x.refs {
		if slices.ContainsFunc(kids, func(i int32) bool { return !x.objects[i].known }) {
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
		kind, data, err := x.borrow.any(h, x.limits.Whole)
		if errors.Is(err, ErrUnknownObject) {
			continue // perhaps the result of a later one; if not, it is noticed
		}
		if err != nil {
			return objectError("the base of a delta", h, err)
		}
		w.release()
		base := frame{object: none, hash: h, kind: kind, data: data, kids: x.refs[h]}
		if err := w.above(ctx, base); err != nil {
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

// add writes an object behind the others.
func (x *packIndexer) add(h Hash, kind plumbing.ObjectType, data []byte) error {
	at := &offsetWriter{w: x.file, at: x.end}
	if err := writeEntry(at, kind, data); err != nil {
		return err
	}
	x.objects = append(x.objects, packObject{offset: x.end, hash: h, base: none, kind: int8(kind), known: true})
	x.end, x.completed = at.at, true
	return nil
}

// offsetWriter writes from a place in a file on.
type offsetWriter struct {
	w  io.WriterAt
	at int64
}

// Write writes on.
func (o *offsetWriter) Write(p []byte) (int, error) {
	n, err := o.w.WriteAt(p, o.at)
	o.at += int64(n)
	return n, err
}

// resolver makes objects from deltas. Use by one goroutine.
type resolver struct {
	x    *packIndexer
	give sink
	sum  hash.Hash
	turn *sync.Mutex // of the worker that deals with huge objects
	mine bool        // turn is this one's
	in   *bufio.Reader
	z    io.ReadCloser
	path []frame
	held int64 // bytes of data on path
}

// frame is an object on the way from a root to the delta being made.
type frame struct {
	object int32 // none: of the repository, not of the pack
	hash   Hash
	kind   plumbing.ObjectType
	data   []byte // nil: to be made again
	kids   []int32
	next   int
}

// wait takes the turn for a huge object; release gives it back.
func (w *resolver) wait(size int64) {
	if size > huge && !w.mine {
		w.turn.Lock()
		w.mine = true
	}
}

func (w *resolver) release() {
	if w.mine {
		w.path = nil
		w.turn.Unlock()
		w.mine = false
	}
}

// root makes everything that builds on an object that is no delta.
func (w *resolver) root(ctx context.Context, i int32) error {
	f := w.frame(i)
	if len(f.kids) == 0 && w.give == nil {
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
	return w.above(ctx, f)
}

// frame is the place of an object that is known.
func (w *resolver) frame(i int32) frame {
	o := &w.x.objects[i]
	f := frame{object: i, hash: o.hash, kind: plumbing.ObjectType(o.kind), kids: w.x.kids[w.x.first[i]:w.x.first[i+1]]}
	if more := w.x.refs[o.hash]; len(more) > 0 {
		f.kids = append(slices.Clip(f.kids), more...)
	}
	return f
}

// above makes everything that builds on a frame with data, depth first, so
// that a chain of deltas needs its last object only.
func (w *resolver) above(ctx context.Context, root frame) error {
	w.path, w.held = append(w.path[:0], root), int64(len(root.data))
	for len(w.path) > 0 {
		top := &w.path[len(w.path)-1]
		if top.next == len(top.kids) {
			w.held -= int64(len(top.data))
			top.data = nil
			w.path = w.path[:len(w.path)-1]
			continue
		}
		kid := top.kids[top.next]
		top.next++
		if w.x.objects[kid].known {
			continue // built on an equal object already
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.make(kid); err != nil {
			return fmt.Errorf("delta at %d: %w", w.x.objects[kid].offset, err)
		}
	}
	return nil
}

// make makes an object from the top of the path, and puts it there if others
// build on it.
func (w *resolver) make(kid int32) error {
	if len(w.path) > maxChain {
		return LimitError(fmt.Sprintf("more than %d deltas upon each other", maxChain))
	}
	base, err := w.data(len(w.path) - 1)
	if err != nil {
		return err
	}
	kind := w.path[len(w.path)-1].kind
	data, err := w.apply(kid, base)
	if err != nil {
		return err
	}
	o := &w.x.objects[kid]
	objectSum(w.sum, kind, int64(len(data)))
	w.sum.Write(data)
	w.sum.Sum(o.hash[:0])
	o.kind, o.known = int8(kind), true
	if w.give != nil {
		if err := w.give(o.hash, kind, data); err != nil {
			return err
		}
	}
	f := w.frame(kid)
	if len(f.kids) == 0 {
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

// data gives the object of a frame, made again if it was dropped.
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
			_, data, err = w.x.borrow.any(f.hash, w.x.limits.Whole)
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
	if w.z == nil {
		w.z, err = zlib.NewReader(w.in)
	} else {
		err = w.z.(zlib.Resetter).Reset(w.in, nil)
	}
	if err != nil {
		return nil, noEOF(err)
	}
	data := make([]byte, e.size) // scan has seen that it is as long
	_, err = io.ReadFull(w.z, data)
	return data, noEOF(err)
}
