package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

var errBoom = errors.New("boom")

// writeAll writes to every table.
func writeAll(ctx context.Context, tx *StepTx) error {
	_, source, err := fill(ctx, tx, 1, "en", 300, nil)
	if err != nil {
		return err
	}
	id, units, err := fill(ctx, tx, 1, "de", 300, source)
	if err != nil {
		return err
	}
	author, err := tx.User(ctx, "Ann", "ann@example.org", day(1))
	if err != nil {
		return err
	}
	if err := tx.PutFile(ctx, files.File{TranslationID: id, Blob: head(5), Data: []byte("x")}); err != nil {
		return err
	}
	if err := tx.SetProblem(ctx, Problem{ComponentID: 1, Path: "po/x.po", Message: "no PO file"}); err != nil {
		return err
	}
	return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: id, AuthorID: author, Entries: newEntries(units)})
}

// A step that does not reach its end stores nothing, and the next one works.
func TestStepLeavesNothing(t *testing.T) {
	tests := []struct {
		name string
		info StepInfo
		fn   func(ctx context.Context, cancel func(), tx *StepTx) error
		want error
	}{
		{"error", info(0, 1, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error {
			return errors.Join(writeAll(ctx, tx), errBoom)
		}, errBoom},
		{"cancelled at the end", info(0, 1, 1, 2), func(ctx context.Context, cancel func(), tx *StepTx) error {
			defer cancel()
			return writeAll(ctx, tx)
		}, context.Canceled},
		{"cancelled in the middle", info(0, 1, 1, 2), func(ctx context.Context, cancel func(), tx *StepTx) error {
			err := writeAll(ctx, tx)
			cancel()
			_, again := tx.Known(ctx, 1)
			return errors.Join(err, again)
		}, context.Canceled},
		{"another head", info(7, 1, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error { return writeAll(ctx, tx) }, catalog.ErrConflict},
		{"unknown component", info(0, 1, 1, 9), func(ctx context.Context, _ func(), tx *StepTx) error { return writeAll(ctx, tx) }, catalog.ErrConflict},
		{"outside the convoy", info(0, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error { return writeAll(ctx, tx) }, catalog.ErrInvalid},
		{
			"reconfigured", func() StepInfo { i := info(0, 1, 1, 2); i.Configured = -1; return i }(),
			func(ctx context.Context, _ func(), tx *StepTx) error { return writeAll(ctx, tx) }, catalog.ErrConflict,
		},
		{"not ascending", info(0, 1, 2, 1), nil, catalog.ErrInvalid},
		{"no components", info(0, 1), nil, catalog.ErrInvalid},
		{"two of one code", info(0, 1, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error {
			_, _, err1 := fill(ctx, tx, 1, "de", 3, nil)
			_, _, err2 := fill(ctx, tx, 1, "de", 3, nil)
			return errors.Join(err1, err2)
		}, catalog.ErrInvalid},
		{"event in a translation", info(0, 1, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error {
			id, _, err := fill(ctx, tx, 1, "de", 3, nil)
			return errors.Join(err, tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: id, Entries: []Entry{{Action: catalog.ActionAddedLanguage}}}))
		}, catalog.ErrInvalid},
		{"unknown unit", info(0, 1, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error {
			return errors.Join(writeAll(ctx, tx), tx.RemoveUnits(ctx, []int64{1 << 40}))
		}, catalog.ErrNotFound},
		{"layout out of order", info(0, 1, 1, 2), func(ctx context.Context, _ func(), tx *StepTx) error {
			return errors.Join(writeAll(ctx, tx), tx.PutLayout(ctx, 1, []catalog.UnitPosition{{ID: 2}, {ID: 1}}))
		}, catalog.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := openWith(t, "app", "lib")
			before := dump(t, db)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_, err := db.Step(ctx, tt.info, func(ctx context.Context, tx *StepTx) error { return tt.fn(ctx, cancel, tx) })
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(before, dump(t, db)); diff != "" {
				t.Errorf("something is left (-before +after):\n%.2000s", diff)
			}
			step(t, db, info(0, 1, 1, 2), writeAll)
		})
	}
}

func TestStepPanic(t *testing.T) {
	db := openWith(t, "app")
	before := dump(t, db)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = db.Step(context.Background(), info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
			if err := writeAll(ctx, tx); err != nil {
				t.Error(err)
			}
			panic("bug")
		})
	}()
	if diff := cmp.Diff(before, dump(t, db)); diff != "" {
		t.Errorf("something is left:\n%.2000s", diff)
	}
	step(t, db, info(0, 1, 1), writeAll)
}

// A change of settings during a step that used the old ones is a conflict.
func TestStepReconfigured(t *testing.T) {
	db := openWith(t, "app")
	ctx := context.Background()
	branch, err := db.Branch(ctx, testRepo, testBranch)
	if err != nil {
		t.Fatal(err)
	}
	i := info(0, 1, 1)
	i.Configured = branch[0].Configured
	changed := spec("demo", "app")
	changed.Settings.Filemask = "x/*.po"
	if err := db.Configure(ctx, projectsNamed("demo"), []ComponentSpec{changed}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Step(ctx, i, nothing); !errors.Is(err, catalog.ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	i.Configured = 0
	step(t, db, i, nothing)
}

// Of two writers that start from the same head, one wins.
func TestStepConflict(t *testing.T) {
	db := openWith(t, "app", "lib")
	const rounds, writers = 20, 4
	for r := range rounds {
		var wg sync.WaitGroup
		errs := make([]error, writers)
		for w := range writers {
			wg.Go(func() {
				i := info(r*10, r*10+10, 1, 2)
				_, errs[w] = db.Step(context.Background(), i, func(ctx context.Context, tx *StepTx) error {
					return tx.AddDelta(ctx, Delta{ComponentID: 1, Entries: []Entry{{Action: catalog.ActionHook, Event: map[string]string{"round": fmt.Sprint(r)}}}})
				})
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, catalog.ErrConflict) {
				t.Fatal(err)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d writers won", r, won)
		}
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		n, err := s.Count(ctx, ChangeQuery{ComponentID: 1})
		if n != rounds {
			t.Errorf("%d entries of %d rounds", n, rounds)
		}
		return err
	})
}

// storedGenerations returns the generations of all rows; "content" is a
// component's without its head.
func storedGenerations(tb testing.TB, db *DB) map[string]int64 {
	tb.Helper()
	out := map[string]int64{}
	err := db.pools.Readers.Transact(context.Background(), func(s *sqldb.Session) error {
		return s.Query(context.Background(), `SELECT 'p ' || slug, generation FROM projects UNION ALL SELECT 'c ' || slug, generation FROM components
			UNION ALL SELECT 'content ' || slug, content_generation FROM components
			UNION ALL SELECT 't ' || language, generation FROM translations`, nil, func(scan sqldb.Scan) error {
			var name string
			var g int64
			err := scan(&name, &g)
			out[name] = g
			return err
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// A step gives its generation to everything that changed, up to the project, and
// to nothing else.
func TestGenerations(t *testing.T) {
	db := open(t)
	specs := []ComponentSpec{spec("one", "app"), spec("one", "lib"), spec("two", "far")}
	if err := db.Configure(context.Background(), projectsNamed("one", "two"), specs, nil); err != nil {
		t.Fatal(err)
	}
	var de, fr int64
	var units []FingerprintedUnit
	step(t, db, info(0, 1, 1, 2, 3), func(ctx context.Context, tx *StepTx) (err error) {
		if de, units, err = fill(ctx, tx, 1, "de", 600, nil); err != nil {
			return err
		}
		fr, _, err = fill(ctx, tx, 1, "fr", 3, nil)
		return err
	})
	want := map[string]int64{"p one": 2, "p two": 1, "c app": 2, "c lib": 2, "c far": 2, "content app": 2, "content lib": 2, "content far": 2, "t de": 2, "t fr": 2}
	at := 1
	next := func(name string, moves bool, changed []string, fn func(ctx context.Context, tx *StepTx) error) {
		t.Helper()
		i := info(at, at, 1, 2, 3)
		if moves {
			at++
			i.To = head(at)
		}
		res := step(t, db, i, fn)
		for _, c := range changed {
			want[c] = res.Generation
			if slug, ok := strings.CutPrefix(c, "c "); ok {
				want["content "+slug] = res.Generation
			}
		}
		if moves {
			want["c app"], want["c lib"], want["c far"] = res.Generation, res.Generation, res.Generation
		}
		if diff := cmp.Diff(want, storedGenerations(t, db)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	german := []string{"t de", "c app", "p one"}
	next("nothing", false, nil, nothing)
	next("head", true, nil, nothing)
	next("same translation", false, nil, func(ctx context.Context, tx *StepTx) error {
		ts, err := tx.Translations(ctx, 1)
		return errors.Join(err, tx.PutTranslation(ctx, &ts[0]))
	})
	next("translation", false, german, func(ctx context.Context, tx *StepTx) error {
		ts, err := tx.Translations(ctx, 1)
		ts[0].Stats.Fuzzy.Words++
		return errors.Join(err, tx.PutTranslation(ctx, &ts[0]))
	})
	next("same layout", false, nil, func(ctx context.Context, tx *StepTx) error {
		placed, err := tx.Layout(ctx, de)
		return errors.Join(err, tx.PutLayout(ctx, de, placed))
	})
	next("shorter layout", false, german, func(ctx context.Context, tx *StepTx) error {
		placed, err := tx.Layout(ctx, de)
		return errors.Join(err, tx.PutLayout(ctx, de, placed[:256]))
	})
	next("unit", false, german, func(ctx context.Context, tx *StepTx) error {
		return tx.UpdateUnits(ctx, []FingerprintedUnit{{Unit: units[0].Unit}})
	})
	next("removal", false, german, func(ctx context.Context, tx *StepTx) error {
		return tx.RemoveUnits(ctx, []int64{units[1].ID, units[0].ID})
	})
	file := files.File{TranslationID: de, Blob: head(1), Modified: day(3)}
	next("file", false, german, func(ctx context.Context, tx *StepTx) error { return tx.PutFile(ctx, file) })
	next("same file", false, nil, func(ctx context.Context, tx *StepTx) error { return tx.PutFile(ctx, file) })
	problem := Problem{ComponentID: 3, Path: "x.po", Message: "bad"}
	far := []string{"c far", "p two"}
	next("problem", false, far, func(ctx context.Context, tx *StepTx) error { return tx.SetProblem(ctx, problem) })
	next("same problem", false, nil, func(ctx context.Context, tx *StepTx) error { return tx.SetProblem(ctx, problem) })
	next("solved", false, far, func(ctx context.Context, tx *StepTx) error { return tx.ClearProblem(ctx, 3, "x.po") })
	next("solved again", false, nil, func(ctx context.Context, tx *StepTx) error { return tx.ClearProblem(ctx, 3, "x.po") })
	next("event", false, far, func(ctx context.Context, tx *StepTx) error {
		return tx.AddDelta(ctx, Delta{ComponentID: 3, Entries: []Entry{{Action: catalog.ActionHook}}})
	})
	next("entry", true, []string{"t fr", "c app", "p one"}, func(ctx context.Context, tx *StepTx) error {
		return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: fr, Entries: []Entry{{Action: catalog.ActionStringRemove, UnitID: units[0].ID}}})
	})
}

// Translations may swap codes within a step. None may take another's code.
func TestSwapCodes(t *testing.T) {
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		_, _, err1 := fill(ctx, tx, 1, "pt", 1, nil)
		_, _, err2 := fill(ctx, tx, 1, "pt_PT", 1, nil)
		return errors.Join(err1, err2)
	})
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		ts, err := tx.Translations(ctx, 1)
		ts[0].Language, ts[1].Language = ts[1].Language, ts[0].Language
		return errors.Join(err, tx.PutTranslation(ctx, &ts[0]), tx.PutTranslation(ctx, &ts[1]))
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		row, err := s.Translation(ctx, "demo", "app", "pt")
		if row.ID != 2 || row.FileCode != "pt_PT" {
			t.Errorf("pt is %+v", row.Translation)
		}
		return err
	})
	put := func(from, to int, language string, removed bool) error {
		_, err := db.Step(t.Context(), info(from, to, 1), func(ctx context.Context, tx *StepTx) error {
			ts, err := tx.Translations(ctx, 1)
			ts[0].Language, ts[0].Removed = language, removed
			return errors.Join(err, tx.PutTranslation(ctx, &ts[0]))
		})
		return err
	}
	for _, removed := range []bool{false, true} {
		if err := put(2, 3, "pt", false); !errors.Is(err, catalog.ErrInvalid) {
			t.Errorf("removed before: %t, error %v", removed, err)
		}
		if err := put(2, 2, "pt", true); err != nil { // it has the code when it comes back
			t.Error(err)
		}
	}
}

// No entry is older than the one before it in its component.
func TestTimestamps(t *testing.T) {
	db := openWith(t, "app", "lib")
	event := func(component int64, at time.Time) Delta {
		return Delta{ComponentID: component, At: at, Entries: []Entry{{Action: catalog.ActionHook}}}
	}
	step(t, db, info(0, 1, 1, 2), func(ctx context.Context, tx *StepTx) error {
		return errors.Join(tx.AddDelta(ctx, event(1, day(9))), tx.AddDelta(ctx, event(1, day(4))), tx.AddDelta(ctx, event(2, day(4))))
	})
	step(t, db, info(1, 2, 1, 2), func(ctx context.Context, tx *StepTx) error { // the pull is of day 2
		return errors.Join(tx.AddDelta(ctx, event(1, time.Time{})), tx.AddDelta(ctx, event(2, day(5))), tx.AddDelta(ctx, event(1, day(10))))
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		got, err := s.Changes(ctx, ChangeQuery{Limit: 100})
		var days []int
		for _, c := range got {
			days = append(days, c.Timestamp.Day())
		}
		if diff := cmp.Diff([]int{9, 9, 4, 9, 5, 10}, days); diff != "" {
			t.Errorf("days (-want +got):\n%s", diff)
		}
		return err
	})
}

// A unit keeps id and text when it is removed and returns.
func TestRemoveAndReturn(t *testing.T) {
	db := openWith(t, "app")
	var id int64
	var units []FingerprintedUnit
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		id, units, err = fill(ctx, tx, 1, "de", 3, nil)
		return err
	})
	placed := func(us ...FingerprintedUnit) (out []catalog.UnitPosition) {
		for i, u := range us {
			out = append(out, catalog.UnitPosition{ID: u.ID, Position: i + 1})
		}
		return out
	}
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		return errors.Join(tx.RemoveUnits(ctx, []int64{units[1].ID}), tx.PutLayout(ctx, id, placed(units[0], units[2])))
	})
	wantUnit(t, db, units[1], func(u *catalog.Unit) { u.Removed, u.Position, u.Location = true, 0, "" })
	step(t, db, info(2, 3, 1), func(ctx context.Context, tx *StepTx) error {
		known, err := tx.Known(ctx, id)
		if err != nil || len(known) != 3 || !known[1].Removed || known[0].Removed {
			return fmt.Errorf("known: %+v: %w", known, err)
		}
		if want := (catalog.Known{ID: units[1].ID, Identity: units[1].Identity, Text: units[1].Text, Meta: units[1].Meta, Removed: true}); known[1] != want {
			t.Errorf("known %+v, want %+v", known[1], want)
		}
		texts, err := tx.Texts(ctx, []int64{units[1].ID, 99})
		want := map[int64]Text{units[1].ID: {Target: units[1].Target, State: 20, Source: units[1].Source, Context: units[1].Context}}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Errorf("texts (-want +got):\n%s", diff)
		}
		u := *units[1].Unit
		u.Target, u.State, u.Note = "again", catalog.StateFuzzy, "new note"
		return errors.Join(err, tx.UpdateUnits(ctx, []FingerprintedUnit{{Unit: &u, Text: 5, Meta: 6}}), tx.PutLayout(ctx, id, placed(units...)))
	})
	wantUnit(t, db, units[1], func(u *catalog.Unit) {
		u.Target, u.State, u.Note, u.Position, u.Location = "again", catalog.StateFuzzy, "new note", 2, ""
	})
}

func wantUnit(t *testing.T, db *DB, n FingerprintedUnit, change func(*catalog.Unit)) {
	t.Helper()
	want := *n.Unit
	change(&want)
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		got, err := s.Unit(ctx, n.ID)
		if diff := cmp.Diff(want, got.Unit); diff != "" {
			t.Errorf("unit (-want +got):\n%s", diff)
		}
		return err
	})
}
