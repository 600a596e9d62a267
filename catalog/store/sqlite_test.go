package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestDirect: the driver's rows are read like those of database/sql, whatever the
// types.
func TestDirect(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about its driver")
	t.Parallel()
	db := openWith(t, "app")
	type row struct {
		N, Small int64
		Plain    int
		State    catalog.State
		Yes      bool
		Text     string
		Data     []byte
		Null     sql.NullInt64
		NullText sql.NullString
	}
	const query = `SELECT 1, 2, 3, 30, 1, 'žluť' || $1, x'00ff', NULL, NULL UNION ALL SELECT -9223372036854775808, 0, -3, 0, 0, '', x'01', 7, 'x' || $2`
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		got, err := sqldb.Rows(ctx, s.s, query, []any{5, "ß"}, func(r *row) []any {
			return []any{&r.N, &r.Small, &r.Plain, &r.State, &r.Yes, &r.Text, &r.Data, &r.Null, &r.NullText}
		})
		want := []row{
			{1, 2, 3, 30, true, "žluť5", []byte{0, 0xff}, sql.NullInt64{}, sql.NullString{}},
			{math.MinInt64, 0, -3, 0, false, "", []byte{1}, sql.NullInt64{Int64: 7, Valid: true}, sql.NullString{String: "xß", Valid: true}},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		for _, wrong := range []string{`SELECT 'x'`, `SELECT 1, 2`, `SELECT NULL`, `SELECT nothing`} {
			var n int64
			if err := s.s.Query(ctx, wrong, nil, func(scan sqldb.Scan) error { return scan(&n) }); err == nil {
				t.Errorf("%s: no error", wrong)
			}
		}
		var state catalog.State
		if err := s.s.Query(ctx, `SELECT 1 << 40`, nil, func(scan sqldb.Scan) error { return scan(&state) }); err == nil {
			t.Error("a number that is too large was cut")
		}
		return nil
	})
}

// TestDirectEnds: a session can be used after an error, a panic or the end of its
// context.
func TestDirectEnds(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about its driver")
	t.Parallel()
	db := openWith(t, "app")
	const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n`
	broken := errors.New("broken")
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		want := broken
		panicked := false
		err := func() error {
			defer func() { panicked = recover() != nil }()
			return db.Read(ctx, func(ctx context.Context, s *Snapshot) error {
				rows := 0
				return s.s.Query(ctx, many, nil, func(sqldb.Scan) error {
					if rows++; rows < 3 {
						return nil
					}
					switch i % 3 {
					case 0:
						return broken
					case 1:
						cancel()
						want = context.Canceled
						return nil
					}
					panic("broken")
				})
			})
		}()
		cancel()
		if panicked != (i%3 == 2) || !panicked && !errors.Is(err, want) {
			t.Errorf("%d: %v, panicked %v", i, err, panicked)
		}
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			n := 0
			err := s.s.Query(ctx, many, nil, func(sqldb.Scan) error { n++; return nil })
			if n != 1000 {
				t.Errorf("%d: %d rows", i, n)
			}
			return err
		})
	}
}

func TestBindStyle(t *testing.T) {
	for query, want := range map[string]string{
		"a = $1 AND b IN ($2,$3)":  "a = ? AND b IN (?,?)",
		"a = $2 AND b = $1":        "a = $2 AND b = $1",
		"a = $1 OR b = $1":         "a = $1 OR b = $1",
		"SELECT 1":                 "SELECT 1",
		sqldb.List(1, 12):          "(?,?,?,?,?,?,?,?,?,?,?,?)",
		"a = $1 AND b = $3 - $2 $": "a = $1 AND b = $3 - $2 $",
	} {
		if got := sqldb.BindStyle(query); got != want {
			t.Errorf("%q became %q, want %q", query, got, want)
		}
	}
}

// A long write-ahead log is written into the database after the commit, although a
// reader was in the way of SQLite's own checkpoint.
func TestCheckpoint(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the write-ahead log")
	path := filepath.Join(t.TempDir(), "fold.db")
	db := openAt(t, path)
	configure(t, db, "app")
	noise := make([]byte, sqldb.CheckpointAbove+1<<20) // does not compress
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)

	reading, committed, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
			if _, err := s.Generation(ctx); err != nil {
				return err
			}
			close(reading)
			<-committed
			_, err := s.Generation(ctx)
			return err
		})
	}()
	<-reading
	beforeCommit(db, sync.OnceFunc(func() { close(committed) }))
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		id, _, err := fill(ctx, tx, 1, "en", 10, nil)
		if err != nil {
			return err
		}
		return tx.PutFile(ctx, files.File{TranslationID: id, Blob: head(5), Data: noise})
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() != 0 {
		t.Errorf("the log after the step: %v, %v; want it empty", wal, err)
	}
	if file, err := os.Stat(path); err != nil || file.Size() < sqldb.CheckpointAbove {
		t.Errorf("the database after the step: %v, %v; want all in it", file, err)
	}
	step(t, db, info(1, 2, 1), nothing)
}

// TestPlansByHash: strings are found by the hash of their source unit, and all units of
// a translation are read in the order of their rows.
func TestPlansByHash(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the plans of SQLite")
	wantPlans(t, map[string]string{
		`SELECT u.id` + fromStrings + ` AND s.id_hash = $2 AND s.id_key = $3`: "units_strings (id_hash=? AND translation_id=? AND id_key=?)|" +
			"units_known (translation_id=? AND source_id=?)",
		`SELECT u.id` + fromStrings + ` AND s.id_hash IN ($2, $3)`: "COVERING INDEX units_strings (id_hash=? AND translation_id=?)|COVERING INDEX units_known (translation_id=? AND source_id=?)",
		sourceTexts: "units_known (translation_id=?)",
	})
}

// TestPlansOfMissing: what a file lacks of its template is found by reading indexes of the file
// and of the layout of the template, and one such string by its hash or id.
func TestPlansOfMissing(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the plans of SQLite")
	wantPlans(t, map[string]string{
		stringsOfFile:   "SEARCH units USING COVERING INDEX units_known (translation_id=?)",
		extraStrings:    "SEARCH extra_strings USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
		stringsOfSource: "SEARCH t USING INDEX translations_live (component_id=?)|SEARCH l USING PRIMARY KEY (translation_id=?)",
		templateOfFile:  "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)|SEARCH o USING INDEX translations_live (component_id=?)",
		stringByHash:    "SEARCH t USING INDEX translations_live (component_id=?)|SEARCH u USING COVERING INDEX units_strings (id_hash=? AND translation_id=?)",
		strings.Replace("SELECT "+rows.UnitColumns+rows.UnitFrom+templateStrings, "$ids", "($2, $3)", 1): "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)|SEARCH x USING INTEGER PRIMARY KEY (rowid=?)",
		strings.Replace(unitsOfStrings, "$ids", "($2, $3)", 1):                                           "SEARCH units USING COVERING INDEX units_known (translation_id=? AND source_id=?)",
		strings.Replace(changedStrings, "$ids", "($2, $3)", 1):                                           "extra_strings_changed (changed_to=?)|SEARCH o USING COVERING INDEX units_known (translation_id=? AND source_id=?)",
	})
}

// wantPlans compares the plans of queries with parts that they must have, apart by "|". None
// reads a whole table.
func wantPlans(t *testing.T, plans map[string]string) {
	t.Helper()
	db := openWith(t, "app")
	for query, want := range plans {
		var plan strings.Builder
		err := db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
			var args []any
			for strings.Contains(query, fmt.Sprint("$", len(args)+1)) {
				args = append(args, 1)
			}
			return s.s.Query(ctx, "EXPLAIN QUERY PLAN "+query, args, func(scan sqldb.Scan) error {
				var id, parent, other int64
				var step string
				err := scan(&id, &parent, &other, &step)
				plan.WriteString(step + "\n")
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(plan.String(), part) || strings.Contains(plan.String(), "SCAN ") {
				t.Errorf("%s\nis not read by %s:\n%s", query, part, &plan)
			}
		}
	}
}

// TestLargeCache: a step that adds many units has a larger page cache, also if it
// fails, and the next one does not.
func TestLargeCache(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the page cache")
	db := openWith(t, "app")
	size := func(ctx context.Context, tx *StepTx) (n int64) {
		_, err := tx.s.First(ctx, `PRAGMA cache_size`, nil, &n)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	_, err := db.Step(t.Context(), info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		// Half as many are noted at a time, since units come in blocks.
		for i, translation := range []int64{1, 2, 1, 1} {
			half := slices.Repeat([]FingerprintedUnit{{Unit: &catalog.Unit{TranslationID: translation}}}, sqldb.BulkUnits/2)
			if err := tx.noteAdded(ctx, half); err != nil {
				return err
			}
			if got, large := size(ctx, tx), i == 3; (got == -sqldb.BulkCache) != large {
				t.Errorf("half %d: the step has %d", i, got)
			}
		}
		return errBoom
	})
	if !errors.Is(err, errBoom) {
		t.Error(err)
	}
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		if got := size(ctx, tx); got != -sqldb.ImportCache {
			t.Errorf("the next step has %d", got)
		}
		return nil
	})
}
