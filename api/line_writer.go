package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/api/wire"
)

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
