package check

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime"

	"golang.org/x/sync/semaphore"

	"github.com/repoglot/repoglot/poparse"
)

// keptBuffer is the size up to which a worker keeps its buffer for the next
// file.
const keptBuffer = 8 << 20

// reader reads files for a worker. It is used by one goroutine.
type reader struct {
	limit  int64 // of bytes in work at a time
	budget *semaphore.Weighted
	stdin  io.Reader
	buf    []byte

	quality *quality
	against *poparse.File // the template
}

// check returns the verdict on a file; false if ctx ended.
func (r *reader) check(ctx context.Context, path string) (Result, bool) {
	if path == stdinArg {
		return r.checkStdin(), ctx.Err() == nil
	}
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err), true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return unreadable(path, err), true
	}
	weight := min(info.Size(), r.limit)
	if r.budget.Acquire(ctx, weight) != nil {
		return Result{}, false
	}
	defer r.budget.Release(weight)
	defer r.free()
	if err := r.read(f, info.Size()); err != nil {
		return unreadable(path, err), true
	}
	return verdict(path, r.buf, r.quality, r.against), true
}

// free releases the memory of a large file before the next one may be read. The
// collector would not run until the heap has doubled.
func (r *reader) free() {
	size := int64(cap(r.buf))
	if size > keptBuffer {
		r.buf = nil
	}
	if size >= memoryBudget {
		runtime.GC()
	}
}

// checkStdin reads the standard input to its end.
func (r *reader) checkStdin() Result {
	if r.stdin == nil {
		return verdict(StdinName, nil, r.quality, r.against)
	}
	data, err := io.ReadAll(r.stdin)
	if err != nil {
		return unreadable(StdinName, err)
	}
	return verdict(StdinName, data, r.quality, r.against)
}

// read reads a file into r.buf; size is its expected size.
func (r *reader) read(f io.Reader, size int64) error {
	const spare = 512 // to find the end, and for files without a size
	if size > math.MaxInt-spare {
		return errors.New("the file is too large for the memory of this machine")
	}
	if want := int(size) + spare; cap(r.buf) < want {
		r.buf = make([]byte, 0, want)
	}
	r.buf = r.buf[:0]
	for {
		if len(r.buf) == cap(r.buf) {
			r.buf = append(r.buf, 0)[:len(r.buf)]
		}
		n, err := f.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
