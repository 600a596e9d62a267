package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/transfer"
)

// TestImportRefuses: a file that is damaged, cut off or of a newer version, and a
// database that is not empty, are refused, and nothing is changed.
func TestImportRefuses(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "app.db")
	db := openAt(t, dsn)
	configure(t, db, "app")
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error { return writeAll(ctx, tx) })
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), database(t, dsn), &file); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(unzstd(t, file.Bytes())), "\n")
	path := database(t, filepath.Join(t.TempDir(), "new.db"))
	refuse := func(what string, data []byte, into, want string) {
		t.Helper()
		_, err := transfer.Import(t.Context(), bytes.NewReader(data), into, sqldb.Options{})
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
	refuse("another format", rezstd(t, strings.Replace(whole, "database 1", "database 2", 1)), path, "format")
	refuse("a table that is none", rezstd(t, strings.Replace(whole, `{"table":"units"`, `{"table":"units; DROP TABLE units"`, 1)), path, "does not fit")
	refuse("a column that is none", rezstd(t, strings.Replace(whole, `"slug"`, `"slog"`, 1)), path, "does not fit")
	refuse("a text for a number", rezstd(t, strings.Replace(whole, "\n[1,", "\n[\"1\",", 1)), path, "row")
	if e, err := transfer.Import(t.Context(), bytes.NewReader(file.Bytes()), path, sqldb.Options{}); err != nil || e.Generation != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	refuse("not empty", file.Bytes(), path, "not empty")
	moved, err := Open(t.Context(), path, sqldb.Options{})
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

// TestImportOlder: an export of the first schema keeps all that it has, and what came with
// later ones has its default; one that is older is refused.
func TestImportOlder(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "app.db")
	db := openAt(t, dsn)
	configure(t, db, "app")
	step(t, db, info(0, 1, 1), writeAll)
	if _, err := db.Access().CreateToken(t.Context(), catalog.Token{Name: "ci", Scope: catalog.ScopeRead}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), database(t, dsn), &file); err != nil {
		t.Fatal(err)
	}
	path := database(t, filepath.Join(t.TempDir(), "new.db"))
	older := olderExport(t, string(unzstd(t, file.Bytes())))
	before := strings.Replace(older, `"schema":50`, `"schema":49`, 1)
	if _, err := transfer.Import(t.Context(), bytes.NewReader(rezstd(t, before)), path, sqldb.Options{}); err == nil || !strings.Contains(err.Error(), "50 is the oldest") {
		t.Errorf("older than the oldest: %v", err)
	}
	now := strings.Replace(older, `"schema":50`, fmt.Sprintf(`"schema":%d`, sqldb.Schema()), 1)
	if _, err := transfer.Import(t.Context(), bytes.NewReader(rezstd(t, now)), path, sqldb.Options{}); err == nil || !strings.Contains(err.Error(), "does not fit its schema") {
		t.Errorf("columns are missing without a reason: %v", err)
	}
	e, err := transfer.Import(t.Context(), bytes.NewReader(rezstd(t, older)), path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := Open(t.Context(), path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	read(t, moved, func(ctx context.Context, s *Snapshot) error {
		for query, want := range map[string]string{
			`SELECT name || ' ' || id || ' ' || account_id FROM tokens`:                  "ci 1 0",
			`SELECT COUNT(*) || ' ' || MIN(requests) || ' ' FROM components`:             "1  ",
			`SELECT 'units ' || MIN(id) FROM units`:                                      "units 268435457",
			`SELECT newest_token || ' ' || newest_account FROM clock`:                    "1 0",
			`SELECT 'floor ' || CASE WHEN floor > 50 THEN 'kept' ELSE '' END FROM clock`: "floor kept",
			`SELECT CASE WHEN COUNT(*) > 0 THEN 'layouts' ELSE '' END FROM layouts`:      "layouts",
		} {
			var got string
			if _, err := s.s.First(ctx, query, nil, &got); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %q", query, got, err, want)
			}
		}
		return nil
	})
	if e.Rows == 0 {
		t.Error("no rows")
	}
}

// tableLine is a line of an export that begins a table.
type tableLine struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Types   []string `json:"types"`
}

// olderExport makes an export one of schema 50: what later migrations added is missing.
func olderExport(t *testing.T, text string) string {
	t.Helper()
	added := map[string][]string{
		"edits": {"previous", "lossy", "reviewer_name", "reviewer_email", "stranger"}, "edit_events": {"person"}, "components": {"requests", "imported_change"},
		"sessions": {"account_id"}, "tokens": {"account_id"}, "clock": {"newest_account"},
		"accounts": nil, "account_names": nil, "sign_ins": nil, "account_events": nil, "receivers": nil, "follows": nil,
	}
	var out strings.Builder
	var table tableLine
	rows := 0
	write := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	for line := range strings.Lines(text) {
		var row []any
		var next tableLine
		var end struct{ Rows *int64 }
		isRow := strings.HasPrefix(line, "[")
		switch {
		case isRow:
			numbers := json.NewDecoder(strings.NewReader(line))
			numbers.UseNumber() // ids have 64 bits
			if err := numbers.Decode(&row); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, `{"repoglot"`):
			write(map[string]any{"repoglot": "database 1", "schema": 50, "generation": 2})
			continue
		case json.Unmarshal([]byte(line), &end) == nil && end.Rows != nil:
			write(map[string]int{"rows": rows})
			continue
		default:
			if err := json.Unmarshal([]byte(line), &next); err != nil {
				t.Fatal(err)
			}
			table = next
		}
		if columns, later := added[table.Table]; later && columns == nil {
			continue
		}
		kept := tableLine{Table: table.Table}
		var cells []any
		for i, column := range table.Columns {
			switch {
			case slices.Contains(added[table.Table], column):
			case isRow && column == "floor":
				cells = append(cells, 50)
			case isRow:
				cells = append(cells, row[i])
			default:
				kept.Columns, kept.Types = append(kept.Columns, column), append(kept.Types, table.Types[i])
			}
		}
		if isRow {
			write(cells)
			rows++
		} else {
			write(kept)
		}
	}
	return out.String()
}
