package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// lines is a list that is sent whole, without paging: one JSON object per line
// (application/x-ndjson); ours. It is read page by page in one snapshot, so
// that a concurrent write neither repeats nor hides an entry.
type lines struct {
	handle  resource.Handler
	request *rest.Request
}

// send sends a list while it is read. A client that stops reading, or does not
// finish in time, is cut off, so that the snapshot is released.
func (l *lines) send(x exchange, h header) outcome {
	free, err := x.take(x.s.shares.lines, 1)
	if err != nil {
		return x.refuse(err, "api request failed")
	}
	defer free()
	ctx, cancel := context.WithTimeout(x.req.Context(), streamedTime)
	defer cancel()
	begun := false
	var out *deadlineWriter
	begin := func(encoding string) *deadlineWriter {
		begun, h.encoding = true, encoding
		x.setHeader(&h)
		put(x.w.Header(), "Cache-Control", "no-store")
		x.w.WriteHeader(h.status)
		if x.req.Method == http.MethodHead {
			return nil
		}
		out = newDeadlineWriter(x.w, x.s.streams.timeout)
		_ = out.control.Flush() // without a length, as for HEAD
		return out
	}
	err = l.read(ctx, x, &h, begin)
	switch {
	case err == nil:
	case !begun:
		return x.refuse(err, "api request failed")
	default:
		if ctx.Err() == nil && rest.AsProblem(err) == rest.ErrInternal {
			x.s.logger.Error("api answer broken off", "path", x.req.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler) // so that the client does not take it for complete
	}
	if out != nil {
		out.end()
	}
	return outcome{status: h.status}
}

// read reads the list in one snapshot, whose state h gets. A search has a turn until its
// first page is read: what it found is kept then.
func (l *lines) read(ctx context.Context, x exchange, h *header, begin func(encoding string) *deadlineWriter) error {
	free := func() {}
	if searches(x.rt, l.request.Params) {
		var err error
		if free, err = x.turn(ctx, x.s.shares.longSearches); err != nil {
			return err
		}
	}
	once := sync.OnceFunc(free)
	defer once()
	return x.s.db.ReadLong(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		var err error
		if h.at, err = show(ctx, snap); err != nil {
			return err
		}
		return l.write(ctx, snap, x, func(encoding string) *deadlineWriter {
			once()
			return begin(encoding)
		})
	})
}

// write writes the pages one after the other and flushes each. When it has read
// the first page it calls begin with the encoding; the client is told of errors
// before that. begin returns nil if only the header is wanted.
func (l *lines) write(ctx context.Context, snap *store.Snapshot, x exchange, begin func(encoding string) *deadlineWriter) error {
	var out *lineWriter
	for page := 1; ; page++ {
		l.request.Chunk = page
		value, err := l.handle(ctx, snap, l.request)
		if err != nil {
			return err
		}
		results, more, err := entriesOf(value)
		if err != nil {
			return err
		}
		if out == nil {
			encoding := chooseEncoding(accepted(x.req), minEncoded)
			to := begin(encoding.contentEncoding())
			if to == nil {
				return nil
			}
			if out, err = newLineWriter(to, encoding); err != nil {
				return err
			}
		}
		if err := out.entries(results); err != nil {
			return err
		}
		if !more {
			return out.close()
		}
		if err := out.flush(); err != nil {
			return err
		}
		if err := x.s.mayGoOn(ctx, snap); err != nil {
			return err
		}
	}
}

// entriesOf returns the entries of a page, and whether another page follows. A
// bare array is a single page.
func entriesOf(value any) (results any, more bool, err error) {
	switch v := value.(type) {
	case *wire.List:
		return v.Results, v.Next != nil, nil
	case *rest.Array:
		return v.Items, false, nil
	}
	return nil, false, fmt.Errorf("a list answered with %T", value)
}

// lineWriter writes entries as lines, compressed or not.
type lineWriter struct {
	to       *deadlineWriter
	buf      *bufio.Writer
	json     *json.Encoder
	line     []byte
	compress interface { // nil: identity
		io.WriteCloser
		Flush() error
	}
}

func newLineWriter(to *deadlineWriter, e encoding) (*lineWriter, error) {
	w := &lineWriter{to: to}
	switch e {
	case gzipped:
		w.compress = gzip.NewWriter(to)
	case zstandard:
		z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
		if err != nil {
			return nil, fmt.Errorf("compress lines: %w", err)
		}
		w.compress = z
	}
	w.buf = bufio.NewWriterSize(to, streamWrite)
	if w.compress != nil {
		w.buf.Reset(w.compress)
	}
	w.json = json.NewEncoder(w.buf)
	w.json.SetEscapeHTML(false)
	return w, nil
}

// entries writes one line for each entry; JSON without indentation has no line
// breaks.
func (w *lineWriter) entries(results any) error {
	if page, ok := results.(wire.ListWriter); ok {
		return w.appended(page)
	}
	slice := reflect.ValueOf(results)
	for i := range slice.Len() {
		if err := w.json.Encode(slice.Index(i).Interface()); err != nil {
			return fmt.Errorf("send a list: %w", err)
		}
	}
	return nil
}

func (w *lineWriter) appended(page wire.ListWriter) error {
	for i := range page.Len() {
		w.line = append(page.AppendObject(w.line[:0], i), '\n')
		if _, err := w.buf.Write(w.line); err != nil {
			return fmt.Errorf("send a list: %w", err)
		}
		if cap(w.line) > maxBuffer {
			w.line = nil
		}
	}
	return nil
}

// flush sends what was written.
func (w *lineWriter) flush() error {
	if err := w.buf.Flush(); err != nil {
		return err
	}
	if w.compress != nil {
		if err := w.compress.Flush(); err != nil {
			return err
		}
	}
	return w.to.Flush()
}

func (w *lineWriter) close() error {
	if err := w.buf.Flush(); err != nil || w.compress == nil {
		return err
	}
	return w.compress.Close()
}
