package api

import (
	"context"
	"fmt"
	"net/http"

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
	free, err := x.s.takeSlot(x.req.Context())
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
	err = x.s.db.ReadLong(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		return l.write(ctx, snap, x, begin)
	})
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
			encoding := chooseEncoding(x.req.Header.Get("Accept-Encoding"), minEncoded)
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
