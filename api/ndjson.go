package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// lines is a list that is sent whole, without paging: one JSON object per line
// (application/x-ndjson); ours. It is a download that is read page by page in one
// snapshot, so that a concurrent write neither repeats nor hides an entry. It has neither
// an ETag nor parts, and is not kept.
type lines struct {
	handle  resource.Handler
	request *rest.Request
	// encoding is the encoding of the bytes in the spool. Compressed lines take a tenth of
	// the room there.
	encoding encoding
}

// download is the list as a download, whose plan has the first page.
func (l *lines) download() download {
	return download{&rest.Download{ContentType: rest.TypeLines, Plan: func(ctx context.Context, snap *store.Snapshot) (*rest.DownloadPlan, error) {
		results, more, err := l.page(ctx, snap, 1)
		if err != nil {
			return nil, err
		}
		return &rest.DownloadPlan{Write: func(ctx context.Context, to io.Writer) error {
			coder, err := encoder(l.encoding, to)
			if err != nil {
				return fmt.Errorf("compress lines: %w", err)
			}
			return errors.Join(l.write(ctx, snap, coder, results, more), coder.Close())
		}}, nil
	}}, l}
}

func (l *lines) write(ctx context.Context, snap *store.Snapshot, to io.Writer, results any, more bool) error {
	out := newLineWriter(to)
	for page := 2; ; page++ {
		if err := out.entries(results); err != nil {
			return err
		}
		if !more {
			return out.buf.Flush()
		}
		var err error
		if results, more, err = l.page(ctx, snap, page); err != nil {
			return err
		}
	}
}

// page reads the entries of a page, and whether another one follows. A bare array is a
// single page.
func (l *lines) page(ctx context.Context, snap *store.Snapshot, n int) (results any, more bool, err error) {
	l.request.Chunk = n
	value, err := l.handle(ctx, snap, l.request)
	if err != nil {
		return nil, false, err
	}
	switch v := value.(type) {
	case *wire.List:
		return v.Results, v.Next != nil, nil
	case *rest.Array:
		return v.Items, false, nil
	}
	return nil, false, fmt.Errorf("a list answered with %T", value)
}

// sendSpooled sends the list as it is written. It ends if the server ends or the token is
// revoked.
func (l *lines) sendSpooled(ctx context.Context, x exchange, h header, from *spool, out *deadlineWriter) (outcome, error) {
	h.encoding = l.encoding.contentEncoding()
	done, body := x.beginSpooled(h, out, "Cache-Control", "no-store")
	if !body {
		return done, nil
	}
	return done, from.copyTo(ctx, out, x.mayGoOn)
}

func (x exchange) mayGoOn(ctx context.Context) error {
	if x.s.streams.ended.Load() {
		return errEnding
	}
	if a := rest.AccessOf(ctx); a.Token.ID != 0 {
		return x.s.db.Read(ctx, a.Recheck)
	}
	return nil
}

type lineWriter struct {
	buf  *bufio.Writer
	json *json.Encoder
	line []byte
}

func newLineWriter(to io.Writer) *lineWriter {
	w := &lineWriter{buf: bufio.NewWriterSize(to, streamWrite)}
	w.json = json.NewEncoder(w.buf)
	w.json.SetEscapeHTML(false)
	return w
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
