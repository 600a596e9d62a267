package store

import (
	"bytes"
	"context"
	"encoding/base64"
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
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
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

// TestImportOlder: an export of the last versions before the first release keeps ids, the
// journal with where its texts were sent to, and tokens; words of failures are forgotten, and
// components whose units were not compared with a template are read again.
func TestImportOlder(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "app.db")
	db := openAt(t, dsn)
	configure(t, db, "app")
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		if err := writeAll(ctx, tx); err != nil {
			return err
		}
		return tx.PutStatDay(ctx, stored.Day{TranslationID: 1, Day: day(1), Stats: catalog.Stats{Total: catalog.Count{Units: 300}}})
	})
	err := db.write(t.Context(), func(s *sqldb.Session) error {
		for _, statement := range []string{
			`INSERT INTO edits (id, unit_id, translation_id, base_target, base_state, target, state, status, reason, created_at, updated_at) VALUES (7, 268435457, 1, '', 0, 'Eins', 20, 'pending', '', 5, 6)`,
			`INSERT INTO push_branches (repo, branch, at_commit, next_commit) SELECT repo, 'ours', 'abc', '' FROM components`,
			`UPDATE components SET problem = 'words of a server'`,
		} {
			if _, err := s.Exec(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = db.Access().CreateToken(t.Context(), catalog.Token{Name: "ci", Scope: catalog.ScopeRead})
	}
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), database(t, dsn), &file); err != nil {
		t.Fatal(err)
	}
	var layouts, days string
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		layouts, days = blobsOf(ctx, t, s.s, "layouts"), blobsOf(ctx, t, s.s, "stat_days")
		return nil
	})
	path := database(t, filepath.Join(t.TempDir(), "new.db"))
	older := olderExport(t, string(unzstd(t, file.Bytes())))
	if _, err := transfer.Import(t.Context(), bytes.NewReader(rezstd(t, strings.Replace(older, `"schema":37`, `"schema":36`, 1))), path, sqldb.Options{}); err == nil || !strings.Contains(err.Error(), "37 is the oldest") {
		t.Errorf("older than the oldest: %v", err)
	}
	if _, err := transfer.Import(t.Context(), bytes.NewReader(rezstd(t, older)), path, sqldb.Options{}); err != nil {
		t.Fatal(err)
	}
	moved, err := Open(t.Context(), path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	configure(t, moved, "app", "next") // ids follow
	read(t, moved, func(ctx context.Context, s *Snapshot) error {
		for _, c := range []struct {
			query string
			want  string
		}{
			{`SELECT 'edit ' || unit_id || ' ' || branch || ' ' || at_commit || ' ' || target || ' ' || left_at FROM sent WHERE unit_id > 0`, "edit 268435457 ours abc Eins 6"},
			{`SELECT 'file ' || edit_id || ' ' || branch || ' ' || at_commit FROM sent WHERE edit_id = 15`, "file 15 ours abc"},
			{`SELECT 'string ' || edit_id || ' ' || n || ' ' || next_commit || ' ' || target || ' ' || state FROM sent WHERE edit_id = 14`, "string 14 1 def Pojem 20"},
			{`SELECT kind || ' ' || component_id || ' ' || translation_id || ' ' || unit_id FROM edits WHERE id = 7`, "text 1 1 268435457"},
			{`SELECT kind || ' ' || component_id || ' ' || translation_id || ' ' || language || ' ' || path || ' ' || away_at FROM edits WHERE id = 15`, "add-file 1 0 fr po/fr.po 6"},
			{`SELECT kind || ' ' || id_hash || ' ' || context || ' ' || source || ' ' || target || ' ' || state || ' ' || status || ' ' || away_at FROM edits WHERE id = 14`, "add-string 11 c Term Pojem 20 discarded 0"},
			{`SELECT a.name || ' ' || a.email || ' ' || a.at || ' ' || v.event || ' ' || v.at FROM edit_authors a JOIN edit_events v ON v.edit_id = a.edit_id WHERE v.n = 2`, "B b@example.org 3 discarded 4"},
			{`SELECT name || ' ' || id FROM tokens`, "ci 1"},
			{`SELECT problem || problem_kind FROM components WHERE slug = 'app'`, "failed"},
			{`SELECT 'floor ' || floor FROM clock`, "floor 50"},
			{`SELECT 'outdated ' || MIN(template) FROM translations WHERE is_source = 1`, "outdated -1"},
		} {
			var got string
			if _, err := s.s.First(ctx, c.query, nil, &got); err != nil || got != c.want {
				t.Errorf("%s: %q, %v, want %q", c.query, got, err, c.want)
			}
		}
		for table, want := range map[string]string{"layouts": layouts, "stat_days": days} {
			if got := blobsOf(ctx, t, s.s, table); got != want || got == "" {
				t.Errorf("%s: %s is not %s", table, got, want)
			}
		}
		columns, err := columnsOf(ctx, s.s, "edits")
		if slices.Contains(columns, "pushed") {
			t.Errorf("the table edits kept what only older versions have: %v", columns)
		}
		return err
	})
}

// blobsOf returns the column data of a table.
func blobsOf(ctx context.Context, t *testing.T, s *sqldb.Session, table string) (all string) {
	t.Helper()
	err := s.Query(ctx, `SELECT data FROM `+table+` ORDER BY 1`, nil, func(scan sqldb.Scan) error {
		var data []byte
		err := scan(&data)
		all += fmt.Sprintf("%x ", data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// tableLine is a line of an export that begins a table.
type tableLine struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Types   []string `json:"types"`
}

// olderExport makes an export what 46bbe39 would have written.
func olderExport(t *testing.T, text string) string {
	t.Helper()
	drop := map[string][]string{
		"edits": {"previous", "since", "kind", "component_id", "language", "path", "id_hash", "id_key", "context", "source"}, "edit_authors": {"n"}, "units": {"since"},
		"components":   {"requests", "problem_kind", "problem_since", "push_problem_kind", "push_problem_since", "oldest", "behind_before", "behind_percent"},
		"translations": {"template", "extra", "extra_words", "changed", "changed_translated", "changed_translated_words", "changed_fuzzy"},
	}
	added := map[string]tableLine{
		"edits":      {Columns: []string{"pushed"}, Types: []string{"text"}},
		"components": {Columns: []string{"remarked", "counted"}, Types: []string{"number", "number"}},
	}
	value := map[string][]any{"edits": {"ours"}, "components": {1, 1}}
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
		switch {
		case strings.HasPrefix(line, "["):
			numbers := json.NewDecoder(strings.NewReader(line))
			numbers.UseNumber() // ids have 64 bits
			if err := numbers.Decode(&row); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, `{"repoglot"`):
			write(map[string]any{"repoglot": "database 1", "schema": 37, "generation": 2})
			continue
		case json.Unmarshal([]byte(line), &end) == nil && end.Rows != nil:
			for _, gone := range []tableLine{
				{"occurrences", []string{"project_id", "id_hash", "id_key", "source_id"}, []string{"number", "number", "number", "number"}},
				{"shared_strings", []string{"project_id", "id_hash", "id_key", "data"}, []string{"number", "number", "number", "bytes"}},
				{"repeats", []string{"project_id", "language", "private", "total"}, []string{"number", "text", "number", "number"}},
			} {
				write(gone)
			}
			write([]any{1, "cs", 0, 7})
			out.WriteString(olderFileEdits)
			write(map[string]int{"rows": rows + 4})
			continue
		default:
			if err := json.Unmarshal([]byte(line), &next); err != nil {
				t.Fatal(err)
			}
			table = next
		}
		if slices.Contains([]string{"sent", "push_waits", "extra_strings"}, table.Table) {
			continue
		}
		keep := func(i int) bool { return !slices.Contains(drop[table.Table], table.Columns[i]) }
		if row == nil {
			write(selectedColumns(table, keep, added[table.Table]))
			continue
		}
		var cells []any
		for i := range row {
			if slices.Contains([]string{"layouts", "stat_days"}, table.Table) && table.Columns[i] == "data" {
				blob, err := base64.StdEncoding.DecodeString(row[i].(string))
				if err != nil || len(blob) == 0 || blob[0] != stored.Version {
					t.Fatalf("%s: %v, %v has no version", table.Table, err, blob)
				}
				row[i] = base64.StdEncoding.EncodeToString(blob[1:]) // versions came with firstSchema
			}
			if keep(i) {
				cells = append(cells, row[i])
			}
		}
		write(append(cells, value[table.Table]...))
		rows++
	}
	return out.String()
}

// olderFileEdits are the edits of files, which had a table of their own, and where one was
// sent to.
const olderFileEdits = `{"table":"file_edits","columns":["id","component_id","language","path","removes","status","reason","pushed","author_name","author_email","created_at","updated_at","id_hash","id_key","context","source","target","state"],"types":["number","number","text","text","number","text","text","text","text","text","number","number","number","number","text","text","text","number"]}
[7,1,"cs","po/cs.po",0,"discarded","taken back","","B","b@example.org",3,4,11,12,"c","Term","Pojem",20]
[8,1,"fr","po/fr.po",0,"pending","it is in the way","ours","A","a@example.org",5,6,0,0,"","","",0]
{"table":"sent","columns":["unit_id","file_edit_id","n","component_id","translation_id","target","state","repo","branch","at_commit","next_commit","left_at"],"types":["number","number","number","number","number","text","number","text","text","text","text","number"]}
[0,7,1,1,0,"",0,"r","","","def",0]
`

// selectedColumns is a table with some of its columns and those of another.
func selectedColumns(t tableLine, keep func(int) bool, added tableLine) tableLine {
	out := tableLine{Table: t.Table}
	for i := range t.Columns {
		if keep(i) {
			out.Columns, out.Types = append(out.Columns, t.Columns[i]), append(out.Types, t.Types[i])
		}
	}
	out.Columns, out.Types = append(out.Columns, added.Columns...), append(out.Types, added.Types...)
	return out
}
