package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
)

// One step writes everything, and everything is read back.
func TestRoundTrip(t *testing.T) {
	db := openWith(t, "app")
	var source, german []FingerprintedUnit
	var sourceID, germanID int64
	file := files.File{Blob: head(9), Modified: day(1), Data: []byte("msgid \"\"\nmsgstr \"\"\n")}
	problem := Problem{ComponentID: 1, Path: "po/fr.po", Blob: head(7), Line: 3, Column: 9, Message: "string not closed"}
	res := step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		if sourceID, source, err = fill(ctx, tx, 1, "en", 300, nil); err != nil {
			return err
		}
		if germanID, german, err = fill(ctx, tx, 1, "de", 300, source); err != nil {
			return err
		}
		file.TranslationID = germanID
		if err := tx.PutFile(ctx, file); err != nil {
			return err
		}
		if err := tx.SetProblem(ctx, problem); err != nil {
			return err
		}
		ann, err := tx.User(ctx, "Ann Öst", "Ann@example.org", day(1))
		if err != nil {
			return err
		}
		if err := tx.AddDelta(ctx, Delta{ComponentID: 1, Entries: []Entry{{Action: catalog.ActionAddedLanguage, Event: map[string]string{"language": "de"}}}}); err != nil {
			return err
		}
		return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: germanID, AuthorID: ann, Commit: head(1), CommitTime: day(1), Entries: newEntries(german[:2])})
	})
	if diff := cmp.Diff(StepResult{Generation: 2, FirstChange: 1, Changes: 3}, res); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		row, err := s.Translation(ctx, "demo", "app", "de")
		if err != nil {
			return err
		}
		if row.ID != germanID || row.Changes != 2 || !row.LastChange.Equal(day(2)) || row.LastAuthor != "Ann Öst" || row.Generation != 2 {
			t.Errorf("translation: %+v", row)
		}
		units, err := s.Units(ctx, germanID, 250, 100)
		if err != nil {
			return err
		}
		want := make([]catalog.Unit, 50)
		for i := range want {
			want[i] = *german[250+i].Unit
		}
		if diff := cmp.Diff(want, units); diff != "" {
			t.Errorf("units (-want +got):\n%s", diff)
		}
		u, err := s.Unit(ctx, source[299].ID)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(*source[299].Unit, u.Unit); diff != "" {
			t.Errorf("unit (-want +got):\n%s", diff)
		}
		if u.Translation.ID != sourceID || u.Translation.Component.Slug != "app" || u.Translation.Project.Slug != "demo" {
			t.Errorf("unit's translation: %+v", u.Translation)
		}
		gotFile, err := s.File(ctx, germanID)
		if diff := cmp.Diff(file, gotFile); diff != "" || err != nil {
			t.Errorf("file: %v (-want +got):\n%s", err, diff)
		}
		ps, err := s.Problems(ctx, 1)
		if diff := cmp.Diff([]Problem{problem}, ps); diff != "" || err != nil {
			t.Errorf("problems: %v (-want +got):\n%s", err, diff)
		}
		return checkChanges(ctx, t, s, germanID, german)
	})
}

func checkChanges(ctx context.Context, t *testing.T, s *Snapshot, germanID int64, german []FingerprintedUnit) error {
	t.Helper()
	all, err := s.Changes(ctx, ChangeQuery{Limit: 10})
	if err != nil {
		return err
	}
	base := catalog.Change{Project: "demo", Component: "app", Timestamp: day(2), State: catalog.StateAbsent, OldState: catalog.StateAbsent}
	event := base
	event.ID, event.Action, event.Event = 1, catalog.ActionAddedLanguage, map[string]string{"language": "de"}
	want := []catalog.Change{event}
	for i, u := range german[:2] {
		c := base
		c.ID, c.Action, c.UnitID, c.Language = int64(2+i), catalog.ActionNewUnit, u.ID, "de"
		c.Username, c.AuthorName, c.State, c.Target = "ann-ost", "Ann Öst", u.State, u.Target
		c.Source, c.Context, c.Commit, c.CommitTime = u.Source, u.Context, head(1), day(1)
		want = append(want, c)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	own, err := s.Changes(ctx, ChangeQuery{TranslationID: germanID, Limit: 10})
	if diff := cmp.Diff(want[1:], own); diff != "" || err != nil {
		t.Errorf("changes of the translation: %v (-want +got):\n%s", err, diff)
	}
	one, err := s.Change(ctx, 3)
	if diff := cmp.Diff(want[2], one); diff != "" || err != nil {
		t.Errorf("change: %v (-want +got):\n%s", err, diff)
	}
	u, err := s.User(ctx, "ann-ost")
	if diff := cmp.Diff(User{ID: 1, Username: "ann-ost", FullName: "Ann Öst", Joined: day(1)}, u); diff != "" {
		t.Errorf("user (-want +got):\n%s", diff)
	}
	return err
}
