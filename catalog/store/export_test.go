package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog"
)

// TestImportRefuses: a file that is damaged, cut off or of a newer version, and a
// database that is not empty, are refused, and nothing is changed.
func TestImportRefuses(t *testing.T) {
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error { return writeAll(ctx, tx) })
	var file bytes.Buffer
	if _, err := db.Export(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(unzstd(t, file.Bytes())), "\n")
	path := database(t, filepath.Join(t.TempDir(), "new.db"))
	refuse := func(what string, data []byte, into, want string) {
		t.Helper()
		_, err := Import(t.Context(), bytes.NewReader(data), into, Options{})
		if !errors.Is(err, catalog.ErrInvalid) && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	whole := strings.Join(lines, "")
	refuse("no export", []byte("SQLite format 3"), path, "magic")
	refuse("cut off", file.Bytes()[:file.Len()-30], path, "ends early")
	refuse("no end", rezstd(t, strings.Join(lines[:len(lines)-2], "")), path, "ends early")
	refuse("a row is missing", rezstd(t, strings.Replace(whole, lines[len(lines)-3], "", 1)), path, "after")
	refuse("something follows", rezstd(t, whole+"{}"), path, "follows")
	refuse("newer", rezstd(t, strings.Replace(whole, `"schema":`, `"schema":9`, 1)), path, "upgrade")
	refuse("another format", rezstd(t, strings.Replace(whole, exportFormat, "database 2", 1)), path, "format")
	refuse("a table that is none", rezstd(t, strings.Replace(whole, `{"table":"units"`, `{"table":"units; DROP TABLE units"`, 1)), path, "does not fit")
	refuse("a column that is none", rezstd(t, strings.Replace(whole, `"slug"`, `"slog"`, 1)), path, "does not fit")
	refuse("a text for a number", rezstd(t, strings.Replace(whole, "\n[1,", "\n[\"1\",", 1)), path, "row")
	e, err := CheckExport(bytes.NewReader(file.Bytes()))
	if err != nil || e.Generation != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := Import(t.Context(), bytes.NewReader(file.Bytes()), path, Options{}); err != nil {
		t.Fatal(err)
	}
	refuse("not empty", file.Bytes(), path, "not empty")
	moved, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	if got, want := dump(t, moved), dump(t, db); got != want {
		t.Errorf("%s\nis not\n%s", got, want)
	}
	step(t, moved, info(1, 2, 1), nothing)
	configure(t, moved, "app", "next") // its id follows
}

func unzstd(tb testing.TB, data []byte) []byte {
	tb.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func rezstd(tb testing.TB, text string) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll([]byte(text), nil)
}

// FuzzExport: any file is read or refused, without a panic.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"repoglot":"database 1","schema":1,"generation":1}` + "\n" + `{"table":"a","columns":["b","c"],"types":["number","bytes"]}` + "\n" + `[1,"AA=="]` + "\n" + `{"rows":1}`))
	f.Add([]byte(`{"repoglot":"database 1"}[]{"rows":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newExportReader(bytes.NewReader(data))
		if _, err := x.header(); err != nil {
			return
		}
		rows := int64(0)
		n, err := x.each(func(*exportTable) error { return nil }, func(row []any) error { rows++; return nil })
		if err == nil && n != rows {
			t.Errorf("%d rows, %d seen", n, rows)
		}
	})
}
