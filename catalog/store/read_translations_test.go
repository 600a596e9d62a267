package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
)

// A translation is found by its code, otherwise by its file's. A removed one is
// not found, but its units and its file can still be read.
func TestTranslationLookup(t *testing.T) {
	db := openWith(t, "app")
	var gone []FingerprintedUnit
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		for _, tr := range []catalog.Translation{
			{Language: "pt_BR", FileCode: "pt-br", Filename: "po/pt-br.po"},
			{Language: "pt-br", FileCode: "pt_BR", Filename: "po/pt_BR.po"},
			{Language: "nb", FileCode: "no", Filename: "po/z.po"},
			{Language: "nn", FileCode: "no", Filename: "po/a.po"},
		} {
			tr.ComponentID = 1
			if err := tx.PutTranslation(ctx, &tr); err != nil {
				return err
			}
		}
		id, units, err := fill(ctx, tx, 1, "de", 2, nil)
		gone = units
		return errors.Join(err, tx.PutFile(ctx, files.File{TranslationID: id, Blob: head(1), Data: []byte("x")}))
	})
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		ts, err := tx.Translations(ctx, 1)
		ts[4].Removed = true
		return errors.Join(err, tx.PutTranslation(ctx, &ts[4]))
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		for code, want := range map[string]string{"pt_BR": "po/pt-br.po", "pt-br": "po/pt_BR.po", "nb": "po/z.po", "no": "po/a.po", "de": "", "x": ""} {
			row, err := s.Translation(ctx, "demo", "app", code)
			if row.Filename != want || (want == "") != errors.Is(err, catalog.ErrNotFound) {
				t.Errorf("%s is %q, %v; want %q", code, row.Filename, err, want)
			}
		}
		live, err := s.Translations(ctx, 1)
		if len(live) != 4 || err != nil {
			t.Errorf("%d live translations, %v", len(live), err)
		}
		u, err := s.Unit(ctx, gone[0].ID)
		if u.Target != gone[0].Target || !u.Translation.Removed || u.Position != 1 || err != nil {
			t.Errorf("unit of a removed translation: %+v, %v", u, err)
		}
		_, err = s.File(ctx, u.TranslationID)
		return err
	})
}

func TestLists(t *testing.T) {
	db := open(t)
	ctx := context.Background()
	specs := []ComponentSpec{spec("one", "b"), spec("one", "a"), spec("two", "a")}
	if err := db.Configure(ctx, projectsNamed("one", "two"), specs, nil); err != nil {
		t.Fatal(err)
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		ps, err := s.Projects(ctx)
		want := []ProjectRow{
			{Project: catalog.Project{ID: 1, Slug: "one", Settings: catalog.ProjectSettings{Name: "one"}}, Generation: 1},
			{Project: catalog.Project{ID: 2, Slug: "two", Settings: catalog.ProjectSettings{Name: "two"}}, Generation: 1},
		}
		if diff := cmp.Diff(want, ps, cmpopts.IgnoreUnexported(ProjectRow{})); diff != "" || err != nil {
			t.Errorf("projects: %v (-want +got):\n%s", err, diff)
		}
		two, err := s.Project(ctx, "two")
		if diff := cmp.Diff(want[1], two, cmpopts.IgnoreUnexported(ProjectRow{})); diff != "" || err != nil {
			t.Errorf("project: %v (-want +got):\n%s", err, diff)
		}
		for project, want := range map[string][]string{"": {"one/b", "one/a", "two/a"}, "one": {"one/b", "one/a"}, "x": nil} {
			var got []string
			cs, err := s.Components(ctx, project)
			for _, c := range cs {
				got = append(got, c.Project.Slug+"/"+c.Slug)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("components of %q: %v (-want +got):\n%s", project, err, diff)
			}
		}
		return nil
	})
}

// Convoys, ids and rows beyond every fixed size of a statement.
func TestManyOfAll(t *testing.T) {
	db := open(t)
	ctx := context.Background()
	var specs []ComponentSpec
	var ids []int64
	for i := range 333 {
		specs, ids = append(specs, spec("demo", fmt.Sprint("c", i))), append(ids, int64(i+1))
	}
	if err := db.Configure(ctx, projectsNamed("demo"), specs, nil); err != nil {
		t.Fatal(err)
	}
	var units []FingerprintedUnit
	var id int64
	step(t, db, info(0, 1, ids...), func(ctx context.Context, tx *StepTx) (err error) {
		id, units, err = fill(ctx, tx, 7, "de", 777, nil)
		return err
	})
	step(t, db, info(1, 2, ids...), func(ctx context.Context, tx *StepTx) error {
		var all []int64
		for _, u := range units {
			all = append(all, u.ID)
		}
		texts, err := tx.Texts(ctx, all)
		if len(texts) != len(all) {
			t.Errorf("%d texts of %d", len(texts), len(all))
		}
		return errors.Join(err, tx.RemoveUnits(ctx, all[:600]), tx.AddDelta(ctx, Delta{ComponentID: 7, TranslationID: id, Entries: newEntries(units)}))
	})
	for slug, c := range states(t, db) {
		if c.Head != head(2) {
			t.Errorf("%s has the head %s", slug, c.Head)
		}
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		page, err := s.Units(ctx, id, 100, math.MaxInt)
		if len(page) != 677 || err != nil {
			t.Errorf("%d units, %v", len(page), err)
		}
		for _, newest := range []bool{false, true} {
			none, err := s.Changes(ctx, ChangeQuery{TranslationID: id, Offset: math.MaxInt, Limit: math.MaxInt, Newest: newest})
			if len(none) != 0 || err != nil {
				t.Errorf("%d changes after the end, %v", len(none), err)
			}
		}
		if none, err := s.Units(ctx, id, math.MaxInt, math.MaxInt); len(none) != 0 || err != nil {
			t.Errorf("%d units after the end, %v", len(none), err)
		}
		changes, err := s.Changes(ctx, ChangeQuery{TranslationID: id, Offset: 5, Limit: 1 << 30})
		if len(changes) != 772 || changes[0].Target != units[5].Target {
			t.Errorf("%d changes", len(changes))
		}
		return err
	})
}

// TestHeadCommit: the commit is shown only if it is the component's head.
func TestHeadCommit(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	shown := func() *catalog.Commit {
		var c *catalog.Commit
		read(t, db, func(ctx context.Context, s *Snapshot) (err error) {
			c, err = s.HeadCommit(ctx, 1)
			return err
		})
		return c
	}
	if c := shown(); c != nil {
		t.Errorf("before the first step: %+v", c)
	}
	i := info(0, 1, 1)
	want := catalog.Commit{Hash: head(1), Author: "A", Committer: "B", AuthorTime: day(1), CommitTime: day(2), Message: "m\nn"}
	i.Commit = &want
	step(t, db, i, nothing)
	if diff := cmp.Diff(&want, shown()); diff != "" {
		t.Error(diff)
	}
	step(t, db, info(1, 1, 1), nothing)
	if shown() == nil {
		t.Error("a step that leaves the head where it is forgot the commit")
	}
	step(t, db, info(1, 2, 1), nothing)
	if c := shown(); c != nil {
		t.Errorf("at another commit: %+v", c)
	}
}
