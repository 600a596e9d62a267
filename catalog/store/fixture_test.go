package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// All tests use one clock; the package reads no other.
func day(n int) time.Time { return time.Date(2024, 3, n, 12, 0, 0, 123456000, time.UTC) }

func head(n int) string { return fmt.Sprintf("%040x", n) }

const testRepo, testBranch = "https://example.org/app.git", "main"

func open(tb testing.TB) *DB {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "test.db"))
}

// database is the address of the database at a path: the path itself, or a schema of
// PostgreSQL.
func database(tb testing.TB, path string) string {
	tb.Helper()
	if pgtest.Chosen() {
		return pgtest.DSN(tb, path)
	}
	return path
}

func openAt(tb testing.TB, path string) *DB {
	tb.Helper()
	return openOptions(tb, path, sqldb.Options{Now: func() time.Time { return day(1) }, Readers: 4})
}

func openOptions(tb testing.TB, path string, options sqldb.Options) *DB {
	tb.Helper()
	db, err := Open(context.Background(), database(tb, path), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func spec(project, slug string) ComponentSpec {
	return ComponentSpec{
		Project: project, Slug: slug, Repo: testRepo, Branch: testBranch,
		Settings: catalog.ComponentSettings{Name: slug, Filemask: "po/*.po", SourceLanguage: "en", EnforcedChecks: []string{"same"}},
	}
}

func projectsNamed(slugs ...string) []catalog.Project {
	var ps []catalog.Project
	for _, s := range slugs {
		ps = append(ps, catalog.Project{Slug: s, Settings: catalog.ProjectSettings{Name: s}})
	}
	return ps
}

// openWith opens a database with the project "demo" and these components.
func openWith(tb testing.TB, slugs ...string) *DB {
	tb.Helper()
	db := open(tb)
	configure(tb, db, slugs...)
	return db
}

func configure(tb testing.TB, db *DB, slugs ...string) {
	tb.Helper()
	var specs []ComponentSpec
	for _, s := range slugs {
		specs = append(specs, spec("demo", s))
	}
	if err := db.Configure(context.Background(), projectsNamed("demo"), specs, nil); err != nil {
		tb.Fatal(err)
	}
}

func info(from, to int, components ...int64) StepInfo {
	i := StepInfo{Repo: testRepo, Branch: testBranch, Components: components, To: head(to), Tracking: "main", At: day(2)}
	if from != 0 {
		i.From = head(from)
	}
	return i
}

func step(tb testing.TB, db *DB, i StepInfo, fn func(ctx context.Context, tx *StepTx) error) StepResult {
	tb.Helper()
	res, err := db.Step(context.Background(), i, fn)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

func nothing(context.Context, *StepTx) error { return nil }

func read(tb testing.TB, db *DB, fn func(ctx context.Context, s *Snapshot) error) {
	tb.Helper()
	if err := db.Read(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

// fill adds a translation with n units: a source translation if source is nil,
// otherwise a translation of the units of source. It returns the translation's id
// and units.
func fill(ctx context.Context, tx *StepTx, component int64, code string, n int, source []FingerprintedUnit) (int64, []FingerprintedUnit, error) {
	t := catalog.Translation{
		ComponentID: component, Language: code, FileCode: code, Filename: "po/" + code + ".po", Revision: head(len(code)),
		IsSource: source == nil, PluralNumber: 2, PluralFormula: "n != 1", Stats: catalog.Stats{Total: catalog.Count{Units: int64(n)}},
	}
	if err := tx.PutTranslation(ctx, &t); err != nil {
		return 0, nil, err
	}
	units := makeUnits(t.ID, code, n, source)
	placed := make([]catalog.UnitPosition, n)
	if err := tx.AddUnits(ctx, units); err != nil {
		return 0, nil, err
	}
	for i, u := range units {
		u.Position, u.Location = i+1, fmt.Sprintf("src/file%d.c:%d", i/100, i)
		placed[i] = catalog.UnitPosition{ID: u.ID, Position: u.Position, Location: u.Location}
	}
	return t.ID, units, tx.PutLayout(ctx, t.ID, placed)
}

// makeUnits makes the units of a translation, with their own sources or with those
// in source.
func makeUnits(translation int64, code string, n int, source []FingerprintedUnit) []FingerprintedUnit {
	var h catalog.Hasher
	units := make([]FingerprintedUnit, n)
	for i := range units {
		u := &catalog.Unit{
			TranslationID: translation, Source: fmt.Sprintf("Source string number %d", i), Context: fmt.Sprintf("ctx %d", i%7),
			Target: fmt.Sprintf("%s text of string %d", code, i), State: catalog.StateTranslated, Priority: 100,
			Words: 4, Chars: 20, Created: day(1), Note: "a note", Flags: "c-format",
		}
		if source != nil {
			u.SourceID = source[i].ID
		}
		u.Identity = h.Identity(u.Source, u.Context)
		units[i] = FingerprintedUnit{Unit: u, Text: h.Text(u.Target, u.State), Meta: h.Meta(u.Note, u.Flags)}
	}
	return units
}

// newEntries makes an entry 31 for each unit.
func newEntries(units []FingerprintedUnit) []Entry {
	es := make([]Entry, len(units))
	for i, u := range units {
		es[i] = Entry{Action: catalog.ActionNewUnit, UnitID: u.ID, State: u.State, OldState: catalog.StateAbsent, Target: u.Target}
	}
	return es
}

// dump prints every row of every table, to compare two databases, or one at two
// times.
func dump(tb testing.TB, db *DB) string {
	tb.Helper()
	var b strings.Builder
	ctx := context.Background()
	err := db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		for _, table := range []string{"clock", "projects", "components", "translations", "units", "layouts", "users", "deltas", "changes", "files", "problems"} {
			fmt.Fprintf(&b, "== %s\n", table)
			columns, err := columnsOf(ctx, s, table)
			if err != nil {
				return err
			}
			values, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			err = s.Query(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM `+table+` ORDER BY 1, 2`, nil, func(scan sqldb.Scan) error {
				if err := scan(dest...); err != nil {
					return err
				}
				for i, v := range values {
					if columns[i] == "history" { // no two databases have the same
						continue
					}
					fmt.Fprintf(&b, " %s=%q", columns[i], fmt.Sprint(v))
				}
				b.WriteByte('\n')
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// columnsOf are the columns of a table.
func columnsOf(ctx context.Context, s *sqldb.Session, table string) (columns []string, err error) {
	query := `SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`
	if s.DB.Dialect.Sqlite {
		query = `SELECT name FROM pragma_table_info($1) ORDER BY cid`
	}
	err = s.Query(ctx, query, []any{table}, func(scan sqldb.Scan) error {
		var name string
		err := scan(&name)
		columns = append(columns, name)
		return err
	})
	return columns, err
}

// beforeCommit makes the writer of a database call fn before each COMMIT.
func beforeCommit(db *DB, fn func()) { db.pools.Writer.Committing = fn }
