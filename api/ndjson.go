package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

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
	// encoding is that of the bytes in the spool, a tenth of the room if compressed.
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

// page reads the entries of a page, and if another follows. A bare array is a single page.
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

// sendSpooled sends the list as it is written, until the server ends or the token is revoked.
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

// entries writes one line for each entry; JSON without indentation has no line breaks.
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
	for i := range page.Len {
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

// renderCSV writes the entries of a list as CSV (RFC 4180 with LF): one row per entry, one
// column per key. Nested keys are joined by dots and elements of arrays are numbered from 0
// ("component.project.slug", "target.0"). Columns are in the order of the JSON; null is an
// empty cell. No cell is a formula in a spreadsheet.
func renderCSV(results any) ([]byte, error) {
	data, err := wire.JSON(results, 0)
	if err != nil {
		return nil, err
	}
	t := &table{index: map[string]int{}}
	for _, entry := range gjson.ParseBytes(data).All() {
		t.rows = append(t.rows, nil)
		t.add("", entry)
	}
	if len(t.columns) > 0 {
		t.rows = slices.Insert(t.rows, 0, t.columns)
	}
	for i, row := range t.rows {
		t.rows[i] = append(row, make([]string, len(t.columns)-len(row))...)
	}
	var buf bytes.Buffer
	if err := csv.NewWriter(&buf).WriteAll(t.rows); err != nil {
		return nil, fmt.Errorf("write CSV: %w", err)
	}
	return buf.Bytes(), nil
}

// noFormula puts a text that a spreadsheet would compute between apostrophes. Unlike in
// exports, which Weblate protects more widely, %d and texts like "- item" of lists stay.
func noFormula(text string) string {
	if text != "" && strings.ContainsRune("=+@\t\r", rune(text[0])) || len(text) > 1 && text[0] == '-' && strings.ContainsAny(text[1:], "=+(|!") {
		return "'" + text + "'"
	}
	return text
}

// table collects rows. A new column is added after the known ones.
type table struct {
	columns []string
	index   map[string]int
	rows    [][]string
}

// add adds the cells of a value to the last row.
func (t *table) add(key string, value gjson.Result) {
	switch {
	case value.IsObject() || value.IsArray():
		for name, inner := range value.All() {
			part := name.String()
			if key != "" {
				part = key + "." + part
			}
			t.add(part, inner)
		}
	case value.Type == gjson.String:
		t.set(key, noFormula(value.Str))
	case value.Type == gjson.Null:
		t.set(key, "")
	default:
		t.set(key, value.Raw)
	}
}

func (t *table) set(key, value string) {
	at, known := t.index[key]
	if !known {
		at = len(t.columns)
		t.index[key] = at
		t.columns = append(t.columns, key)
	}
	row := t.rows[len(t.rows)-1]
	for len(row) <= at {
		row = append(row, "")
	}
	row[at] = value
	t.rows[len(t.rows)-1] = row
}
