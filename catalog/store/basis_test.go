package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// basisOf is the basis of what fn reads.
func basisOf(tb testing.TB, db *DB, fn func(ctx context.Context, s *Snapshot) error) (b Basis) {
	tb.Helper()
	read(tb, db, func(ctx context.Context, s *Snapshot) error {
		err := s.Announce(ctx)
		if err == nil && fn != nil {
			err = fn(ctx, s)
		}
		if err == nil {
			b, err = s.Basis(ctx)
		}
		return err
	})
	return b
}

// hook is a step's change of a component, and of nothing else.
func hook(component int64) func(context.Context, *StepTx) error {
	return func(ctx context.Context, tx *StepTx) error {
		return tx.AddDelta(ctx, Delta{ComponentID: component, Entries: []Entry{{Action: catalog.ActionHook}}})
	}
}

// Reads that name their components depend on these; all other reads depend on
// everything. Nothing is forgotten by default.
func TestBasis(t *testing.T) {
	db := open(t)
	specs := []ComponentSpec{spec("one", "app"), spec("one", "lib"), spec("two", "far")}
	if err := db.Configure(t.Context(), projectsNamed("one", "two"), specs, nil); err != nil {
		t.Fatal(err)
	}
	var de int64
	step(t, db, info(0, 1, 1, 2, 3), func(ctx context.Context, tx *StepTx) (err error) {
		de, _, err = fill(ctx, tx, 1, "de", 3, nil)
		return err
	})
	reads := map[string]func(ctx context.Context, s *Snapshot) error{
		"nothing":       nil,
		"component app": func(ctx context.Context, s *Snapshot) error { _, err := s.Component(ctx, "one", "app"); return err },
		"translation of it": func(ctx context.Context, s *Snapshot) error {
			_, err := s.Translation(ctx, "one", "app", "de")
			return err
		},
		"units of it":                   func(ctx context.Context, s *Snapshot) error { _, err := s.Units(ctx, de, 0, 10); return err },
		"head of it":                    func(ctx context.Context, s *Snapshot) error { _, err := s.HeadCommit(ctx, 1); return err },
		"project one":                   func(ctx context.Context, s *Snapshot) error { _, err := s.Components(ctx, "one"); return err },
		"app and far":                   func(ctx context.Context, s *Snapshot) error { _, err := s.Languages(ctx, []int64{1, 3}); return err },
		"a component of a step to come": func(ctx context.Context, s *Snapshot) error { _, err := s.Languages(ctx, []int64{4}); return err },
		"all components":                func(ctx context.Context, s *Snapshot) error { _, err := s.Components(ctx, ""); return err },
		"users":                         func(ctx context.Context, s *Snapshot) error { _, _, err := s.Users(ctx, UserQuery{}); return err },
		"a new method": func(ctx context.Context, s *Snapshot) error {
			return s.s.Query(ctx, `SELECT 1`, nil, func(sqldb.Scan) error { return nil })
		},
		"one past database/sql": func(ctx context.Context, s *Snapshot) error {
			return s.s.Query(ctx, `SELECT 1`, nil, func(sqldb.Scan) error { return nil })
		},
		"a new cache": func(ctx context.Context, s *Snapshot) error { _, err := s.Generation(ctx); return err },
	}
	everything := []string{"a component of a step to come", "all components", "users", "a new method", "one past database/sql", "a new cache"}
	with := func(more ...string) map[string]bool {
		changed := map[string]bool{}
		for _, name := range append(more, everything...) {
			changed[name] = true
		}
		return changed
	}
	app := []string{"component app", "translation of it", "units of it", "head of it", "project one", "app and far"}
	at := 1
	for _, tc := range []struct {
		name    string
		change  func()
		changed map[string]bool
	}{
		{"app", func() { step(t, db, info(at, at, 1, 2, 3), hook(1)) }, with(app...)},
		{"lib", func() { step(t, db, info(at, at, 1, 2, 3), hook(2)) }, with("project one")},
		{"far", func() { step(t, db, info(at, at, 1, 2, 3), hook(3)) }, with("app and far")},
		{"a check", func() {
			step(t, db, info(at, at, 1, 2, 3), func(ctx context.Context, tx *StepTx) error { return tx.SetChecked(ctx, de, "rules", 0) })
		}, with(app...)},
		{"the same check", func() {
			step(t, db, info(at, at, 1, 2, 3), func(ctx context.Context, tx *StepTx) error { return tx.SetChecked(ctx, de, "rules", 0) })
		}, with()},
		{"heads", func() { step(t, db, info(at, at+1, 1, 2, 3), nothing); at++ }, with("head of it")},
		{"a problem", func() {
			if _, err := db.SetPullProblem(t.Context(), []int64{2}, catalog.Failure{Kind: catalog.FailureOther, Words: "broken"}); err != nil {
				t.Fatal(err)
			}
		}, with("project one")},
		{"settings", func() {
			specs[2].Settings.Name = "Far"
			must(t, db.Configure(t.Context(), projectsNamed("one", "two"), specs, nil))
		}, with(append(app, "nothing")...)},
		{"programs", func() {
			step(t, db, info(at, at, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
				_, err := tx.User(ctx, "Bot", "bot@example.org", day(1))
				return err
			})
			must(t, db.SetBots(t.Context(), []string{"Bot"}))
		}, with(append(app, "nothing")...)},
	} {
		bases := map[string]Basis{}
		for name, fn := range reads {
			bases[name] = basisOf(t, db, fn)
		}
		tc.change()
		for name, b := range bases {
			if got := !db.Unchanged(&b); got != tc.changed[name] {
				t.Errorf("%s: %q has changed: %v", tc.name, name, got)
			}
		}
	}
}

var must = gittest.Must

// A basis of many components becomes one of their projects, and one of many
// projects becomes everything.
func TestBasisIsBounded(t *testing.T) {
	db := open(t)
	var projects []string
	var specs []ComponentSpec
	for p := range sqldb.MaxFootprintProjects + 2 {
		projects = append(projects, fmt.Sprint("p", p))
		for c := range 2 * sqldb.MaxFootprintComponents {
			specs = append(specs, spec(projects[p], fmt.Sprint("c", c)))
		}
	}
	must(t, db.Configure(t.Context(), projectsNamed(projects...), specs, nil))
	ids := make([]int64, len(specs))
	for i := range ids {
		ids[i] = int64(i) + 1
	}
	step(t, db, info(0, 1, ids...), nothing)
	languages := func(n int) Basis {
		return basisOf(t, db, func(ctx context.Context, s *Snapshot) error { _, err := s.Languages(ctx, ids[:n]); return err })
	}
	one, two, all := languages(sqldb.MaxFootprintComponents+1), languages(2*sqldb.MaxFootprintComponents+1), languages(len(ids))
	if len(one.read.Components) != sqldb.MaxFootprintComponents || len(one.read.Projects) != 1 || len(two.read.Projects) != 2 || one.read.Everything || two.read.Everything || !all.read.Everything {
		t.Errorf("bases %+v, %+v, %+v", one, two, all)
	}
	step(t, db, info(1, 1, ids...), hook(2*sqldb.MaxFootprintComponents+2)) // of the second project, and in none of the lists
	if !db.Unchanged(&one) || db.Unchanged(&two) || db.Unchanged(&all) {
		t.Errorf("one project %v, two %v, all %v are unchanged", db.Unchanged(&one), db.Unchanged(&two), db.Unchanged(&all))
	}
}

// What another process writes, here another handle on the same file, is learned
// from the database: when a snapshot is announced, or from a watch.
func TestBasisOtherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	ours := openAt(t, path)
	configure(t, ours, "app", "lib")
	theirs := openAt(t, path)
	step(t, theirs, info(0, 1, 1, 2), nothing)
	languages := func(id int64) Basis {
		return basisOf(t, ours, func(ctx context.Context, s *Snapshot) error { _, err := s.Languages(ctx, []int64{id}); return err })
	}
	app, lib := languages(1), languages(2)
	step(t, theirs, info(1, 1, 1, 2), hook(1))
	if !ours.Unchanged(&app) {
		t.Error("a change is known before anything was read")
	}
	basisOf(t, ours, nil)
	if ours.Unchanged(&app) || !ours.Unchanged(&lib) {
		t.Errorf("after an announcement app %v and lib %v are unchanged", ours.Unchanged(&app), ours.Unchanged(&lib))
	}
	step(t, ours, info(1, 1, 1, 2), hook(1)) // and a step of ours beside theirs
	app, lib = languages(1), languages(2)
	ours.notifier.interval = time.Millisecond
	watch := ours.Watch()
	defer watch.Close()
	changed := watch.Changed()
	step(t, theirs, info(1, 1, 1, 2), hook(2))
	<-changed
	if !ours.Unchanged(&app) || ours.Unchanged(&lib) {
		t.Errorf("after a poll app %v and lib %v are unchanged", ours.Unchanged(&app), ours.Unchanged(&lib))
	}
	step(t, theirs, info(1, 1, 1, 2), hook(1))
	step(t, ours, info(1, 1, 1, 2), hook(2))
	if ours.Unchanged(&app) {
		t.Error("a step of ours hides the one of theirs before it")
	}
}

// News may be learned in any order: an older history that arrives late does not come back.
func TestNewsInAnyOrder(t *testing.T) {
	change := func(id, generation, content int64) componentGeneration {
		return componentGeneration{id, 1, "demo", lastChange{generation, content}}
	}
	early := news{generation: 6, history: "lost", components: []componentGeneration{change(1, 6, 6), change(2, 5, 5)}}
	late := news{generation: 9, configured: 3, history: "restored", components: []componentGeneration{change(1, 9, 6), change(2, 5, 5), change(3, 8, 8)}}
	for _, order := range [][]*news{{&early, &late}, {&late, &early}} {
		g := newGenerations()
		for _, n := range order {
			g.learn(n)
		}
		if g.known != 9 || g.history != "restored" || g.configured != 3 || g.components[1] != change(1, 9, 6) || g.components[3] != change(3, 8, 8) || g.projects[1] != (lastChange{9, 8}) {
			t.Errorf("learned %+v", g)
		}
	}
}
