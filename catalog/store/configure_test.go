package store

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// componentState is the part of a component that Configure sets.
type componentState struct {
	ID                       int64
	Head                     string
	Imported, Reread, Active bool
	Generation               int64
}

func states(tb testing.TB, db *DB) map[string]componentState {
	tb.Helper()
	out := map[string]componentState{}
	err := db.pools.Readers.Transact(context.Background(), func(s *sqldb.Session) error {
		return s.Query(context.Background(), `SELECT slug, id, head, imported, reread, active, generation FROM components`, nil, func(scan sqldb.Scan) error {
			var slug string
			var c componentState
			err := scan(&slug, &c.ID, &c.Head, &c.Imported, &c.Reread, &c.Active, &c.Generation)
			out[slug] = c
			return err
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestConfigure(t *testing.T) {
	discovered := spec("demo", "docs-a")
	discovered.Template = "docs-{component}"
	change := func(f func(*ComponentSpec)) []ComponentSpec {
		s := spec("demo", "app")
		f(&s)
		return []ComponentSpec{s, spec("demo", "lib")}
	}
	both := change(func(*ComponentSpec) {})
	templates := []TemplateKey{{Project: "demo", Slug: "docs-{component}"}}
	// Before: generation 1 configures, 2 imports app and lib, 3 discovers docs-a.
	app := componentState{ID: 1, Head: head(1), Imported: true, Active: true, Generation: 2}
	lib := componentState{ID: 2, Head: head(1), Imported: true, Active: true, Generation: 2}
	docs := componentState{ID: 3, Active: true, Generation: 3}
	gone := func(c componentState) componentState { c.Active, c.Generation = false, 4; return c }
	reset := func(c componentState) componentState { c.Head, c.Reread, c.Generation = "", true, 4; return c }
	touched := func(c componentState) componentState { c.Generation = 4; return c }
	tests := []struct {
		name       string
		projects   []catalog.Project
		components []ComponentSpec
		templates  []TemplateKey
		want       map[string]componentState
		generation int64
	}{
		{"same", projectsNamed("demo"), both, templates, map[string]componentState{"app": app, "lib": lib, "docs-a": docs}, 3},
		{"template gone", projectsNamed("demo"), both, nil, map[string]componentState{"app": app, "lib": lib, "docs-a": gone(docs)}, 4},
		{
			"template of another project", projectsNamed("demo", "other"), both,
			[]TemplateKey{{Project: "other", Slug: "docs-{component}"}},
			map[string]componentState{"app": app, "lib": lib, "docs-a": gone(docs)},
			4,
		},
		{"component gone", projectsNamed("demo"), both[:1], templates, map[string]componentState{"app": app, "lib": gone(lib), "docs-a": docs}, 4},
		{"project gone", nil, nil, templates, map[string]componentState{"app": gone(app), "lib": gone(lib), "docs-a": gone(docs)}, 4},
		{
			"name changed", projectsNamed("demo"), change(func(s *ComponentSpec) { s.Settings.Name = "New" }), templates,
			map[string]componentState{"app": touched(app), "lib": lib, "docs-a": docs},
			4,
		},
		{
			"mask changed", projectsNamed("demo"), change(func(s *ComponentSpec) { s.Settings.Filemask = "locale/*.po" }), templates,
			map[string]componentState{"app": reset(app), "lib": lib, "docs-a": docs},
			4,
		},
		{
			"branch changed", projectsNamed("demo"), change(func(s *ComponentSpec) { s.Branch = "next" }), templates,
			map[string]componentState{"app": reset(app), "lib": lib, "docs-a": docs},
			4,
		},
		{
			"repository changed", projectsNamed("demo"), change(func(s *ComponentSpec) { s.Repo = "/srv/app.git" }), templates,
			map[string]componentState{"app": reset(app), "lib": lib, "docs-a": docs},
			4,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx := context.Background()
			db := openWith(t, "app", "lib")
			step(t, db, info(0, 1, 1, 2), nothing)
			if _, err := db.AddComponents(ctx, []ComponentSpec{discovered}); err != nil {
				t.Fatal(err)
			}
			if err := db.Configure(ctx, tt.projects, tt.components, tt.templates); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, states(t, db)); diff != "" {
				t.Errorf("components (-want +got):\n%s", diff)
			}
			read(t, db, func(ctx context.Context, s *Snapshot) error {
				g, err := s.Generation(ctx)
				if g != tt.generation {
					t.Errorf("generation %d, want %d", g, tt.generation)
				}
				return err
			})
		})
	}
}

// A component that is not configured is not served, and returns unchanged.
func TestInactive(t *testing.T) {
	db := openWith(t, "app", "lib")
	var units []FingerprintedUnit
	step(t, db, info(0, 1, 1, 2), func(ctx context.Context, tx *StepTx) (err error) {
		_, units, err = fill(ctx, tx, 1, "de", 3, nil)
		return err
	})
	check := func(want error) {
		t.Helper()
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			_, err1 := s.Component(ctx, "demo", "app")
			_, err2 := s.Translation(ctx, "demo", "app", "de")
			u, err3 := s.Unit(ctx, units[0].ID)
			for i, err := range []error{err1, err2, err3} {
				if !errors.Is(err, want) {
					t.Errorf("read %d: %v, want %v", i, err, want)
				}
			}
			if want == nil && u.Target != units[0].Target {
				t.Errorf("unit came back as %+v", u)
			}
			all, err := s.Components(ctx, "")
			if (len(all) == 2) != (want == nil) {
				t.Errorf("%d components", len(all))
			}
			return err
		})
	}
	check(nil)
	configure(t, db, "lib")
	check(catalog.ErrNotFound)
	if got, err := db.Branch(context.Background(), testRepo, testBranch); err != nil || len(got) != 1 || got[0].Slug != "lib" {
		t.Errorf("branch: %v, %v", got, err)
	}
	_, err := db.Step(context.Background(), info(1, 2, 1, 2), nothing)
	if !errors.Is(err, catalog.ErrConflict) {
		t.Errorf("a step with an inactive component: %v", err)
	}
	configure(t, db, "app", "lib")
	check(nil)
}

func TestAddComponents(t *testing.T) {
	db := openWith(t, "app")
	ctx := context.Background()
	one, two := spec("demo", "b"), spec("demo", "a")
	one.Template, two.Template = "{component}", "{component}"
	got, err := db.AddComponents(ctx, []ComponentSpec{one, two})
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.Component{
		{ID: 2, ProjectID: 1, Slug: "b", Settings: one.Settings, Repo: testRepo, Branch: testBranch},
		{ID: 3, ProjectID: 1, Slug: "a", Settings: two.Settings, Repo: testRepo, Branch: testBranch},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before := dump(t, db)
	if _, err := db.AddComponents(ctx, []ComponentSpec{one, two}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, dump(t, db)); diff != "" {
		t.Errorf("the second time something changed:\n%s", diff)
	}
	branch, err := db.Branch(ctx, testRepo, testBranch)
	if err != nil || len(branch) != 3 || branch[1].Template != "{component}" || branch[0].Template != "" || branch[2].Project.Slug != "demo" {
		t.Errorf("branch: %+v, %v", branch, err)
	}
}

func TestConfigureRefuses(t *testing.T) {
	taken := spec("demo", "app")
	taken.Template = "{component}"
	secret := spec("demo", "x")
	secret.Repo = "https://user:hunter2@example.org/x.git"
	tests := []struct {
		name string
		call func(ctx context.Context, db *DB) error
		want error
	}{
		{"component twice", func(ctx context.Context, db *DB) error {
			return db.Configure(ctx, projectsNamed("demo"), []ComponentSpec{spec("demo", "x"), spec("demo", "x")}, nil)
		}, catalog.ErrInvalid},
		{"project twice", func(ctx context.Context, db *DB) error {
			return db.Configure(ctx, projectsNamed("demo", "demo"), nil, nil)
		}, catalog.ErrInvalid},
		{"unknown project", func(ctx context.Context, db *DB) error {
			return db.Configure(ctx, projectsNamed("demo"), []ComponentSpec{spec("other", "x")}, nil)
		}, catalog.ErrInvalid},
		{"password", func(ctx context.Context, db *DB) error {
			return db.Configure(ctx, projectsNamed("demo"), []ComponentSpec{secret}, nil)
		}, catalog.ErrInvalid},
		{"discovery in an unknown project", func(ctx context.Context, db *DB) error {
			_, err := db.AddComponents(ctx, []ComponentSpec{spec("other", "x")})
			return err
		}, catalog.ErrNotFound},
		{"discovery of a configured slug", func(ctx context.Context, db *DB) error {
			_, err := db.AddComponents(ctx, []ComponentSpec{taken})
			return err
		}, catalog.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := openWith(t, "app")
			before := dump(t, db)
			err := tt.call(context.Background(), db)
			if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, want %v in one line", err, tt.want)
			}
			if diff := cmp.Diff(before, dump(t, db)); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}

// TestBots: names and addresses mark known and later authors, in any case; a list
// without them removes the mark.
func TestBots(t *testing.T) {
	db := openWith(t, "app")
	at := 0
	addUsers := func(list ...[2]string) {
		step(t, db, info(at, at+1, 1), func(ctx context.Context, tx *StepTx) error {
			for _, u := range list {
				if _, err := tx.User(ctx, u[0], u[1], day(1)); err != nil {
					return err
				}
			}
			return nil
		})
		at++
	}
	check := func(list []string, want map[string]bool) {
		t.Helper()
		got := map[string]bool{}
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			for name := range want {
				u, err := s.User(ctx, name)
				if err != nil {
					return err
				}
				got[name] = u.Bot
			}
			return nil
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
	addUsers([2]string{"Weblate", "noreply@weblate.org"}, [2]string{"Jane", "jane@example.org"})
	for _, c := range []struct {
		list []string
		want map[string]bool
	}{
		{[]string{"WEBLATE", " Ci@example.org"}, map[string]bool{"weblate": true, "jane": false}},
		{[]string{"jane@Example.org", ""}, map[string]bool{"weblate": false, "jane": true}},
		{nil, map[string]bool{"weblate": false, "jane": false}},
	} {
		if err := db.SetBots(t.Context(), c.list); err != nil {
			t.Fatal(err)
		}
		check(c.list, c.want)
	}
	later := []string{"Dependabot", "ci@example.org"}
	if err := db.SetBots(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	addUsers([2]string{"dependabot", "x@example.org"}, [2]string{"Builder", "CI@example.org"}, [2]string{"Joe", "joe@example.org"})
	check(later, map[string]bool{"dependabot": true, "builder": true, "joe": false})
}
