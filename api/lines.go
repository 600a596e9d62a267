package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// lines is a list that is sent whole, without paging: one JSON object per line
// (application/x-ndjson), ours. It is read page by page in one snapshot, so that
// what is written meanwhile neither repeats nor hides an entry.
type lines struct {
	s      *Server
	handle resource.Handler
	r      *rest.Request
}

// send writes the pages one after the other and flushes each.
func (l *lines) send(ctx context.Context, snap *store.Snapshot, req *http.Request, begin func(int, string, string) *patientWriter) error {
	var out *lineWriter
	for page := 1; ; page++ {
		l.r.Chunk = page
		value, err := l.handle(ctx, snap, l.r)
		if err != nil {
			return err
		}
		results, more, err := entriesOf(value)
		if err != nil {
			return err
		}
		if out == nil {
			encoding := chooseEncoding(req.Header.Get("Accept-Encoding"), minEncoded)
			to := begin(http.StatusOK, "", encoding.header())
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
		if err := l.mayGoOn(ctx, snap); err != nil {
			return err
		}
	}
}

// mayGoOn is an error if the answer has to end: the server does, the token was
// revoked, or the store needs what the snapshot holds back.
func (l *lines) mayGoOn(ctx context.Context, snap *store.Snapshot) error {
	select {
	case <-l.s.streams.ending:
		return errEnding
	default:
	}
	if a := rest.AccessOf(ctx); a.Token.ID != 0 {
		if err := l.s.db.Read(ctx, a.Recheck); err != nil { // the snapshot is as old as the answer
			return err
		}
	}
	if err := snap.CheckAge(); err != nil {
		return fmt.Errorf("%w: %w", errHeld, err)
	}
	return nil
}

// entriesOf are the entries of a page, and whether there is a next one. A bare
// array is the only page of its list.
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
	to       *patientWriter
	buf      *bufio.Writer
	json     *json.Encoder
	line     []byte
	compress interface { // nil: identity
		io.WriteCloser
		Flush() error
	}
}

func newLineWriter(to *patientWriter, e encoding) (*lineWriter, error) {
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

// entries writes a line for each; JSON without indentation has no line breaks.
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

// flush lets the client have what there is.
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
