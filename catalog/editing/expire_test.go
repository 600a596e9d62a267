package editing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// expire expires edits at a time, and wants so many to end and to be forgotten.
func expire(w *catalogtest.Puller, at time.Time, ended, forgotten int) {
	w.TB.Helper()
	gotEnded, gotForgotten, err := w.Editor.Expire(w.TB.Context(), at)
	must(w.TB, err)
	equal(w.TB, [2]int{ended, forgotten}, [2]int{gotEnded, gotForgotten}, "edits that ended and were forgotten at %s", at)
	w.Verify()
}

// TestExpireAway: the edit of a string that is away waits for 90 days from when that was
// seen, anew each time, and then is a conflict with an entry, which can be entered again.
func TestExpireAway(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě"), "po/de.po": po("One", "")})
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	must(t, w.Write("Two", catalog.StateTranslated, "Dva"))
	away := testrepos.Change{Files: map[string]string{"po/cs.po": po("Two", "Dvě")}}
	back := testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "", "Two", "Dvě", "Three", "")}}
	start := w.Clock
	pullCommit(w, repo, away)
	expire(w, start, 0, 0)
	expire(w, start.Add(editing.KeepAway-time.Second), 0, 0)
	pullCommit(w, repo, back)
	expire(w, start.Add(editing.KeepAway+time.Hour), 0, 0) // it is back
	pullCommit(w, repo, away)
	start = start.Add(editing.KeepAway + 2*time.Hour)
	expire(w, start, 0, 0)
	equal(t, "pending One: \"\" → \"Jedna\" 20 by 1 \npending Two: \"Dvě\" → \"Dva\" 20 by 1 \n", w.Journal(), "while it waits")
	_, last := w.ChangesAfter(0)
	expire(w, start.Add(editing.KeepAway), 1, 0)
	expire(w, start.Add(2*editing.KeepAway), 0, 0)
	equal(t, "conflict One: \"\" → \"Jedna\" 20 by 1 the string has been away for 90 days\npending Two: \"Dvě\" → \"Dva\" 20 by 1 \n", w.Journal(), "in vain")
	wantEntries(w, last, "4 ")
	pullCommit(w, repo, back)
	if u := w.UnitOf("cs", "One"); u.Target != "" || u.Pending || !u.HasSuggestion {
		t.Errorf("it came back too late: %+v", u)
	}
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	if u := w.UnitOf("cs", "One"); !u.Pending || u.HasSuggestion {
		t.Errorf("entered again: %+v", u)
	}
	w.Verify()
}

// TestExpireFile: a file that is away is a string that is away, and a component that is
// not configured waits for ever.
func TestExpireFile(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě"), "po/de.po": po("One", "")})
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/cs.po"}})
	start := w.Clock
	expire(w, start, 0, 0)
	app := w.Branch.Components[0].Spec.Settings
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"other": app})
	w.Sync()
	expire(w, start.Add(2*editing.KeepAway), 0, 0)
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": app})
	w.Sync()
	expire(w, start.Add(2*editing.KeepAway), 1, 0)
	if got := w.Journal(); !strings.HasPrefix(got, "conflict One:") {
		t.Errorf("the journal: %s", got)
	}
}

// TestExpireDiscarded: what was taken back can be read for 30 days, and is then forgotten,
// but for the newest edit, whose id is not to be used again.
func TestExpireDiscarded(t *testing.T) {
	w, _ := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")})
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	u := w.UnitOf("cs", "One")
	discard := func() time.Time {
		n, err := w.Editor.Discard(t.Context(), u.ID/catalog.UnitsPerComponent, jana, "reset", false, func(*store.Edit) bool { return true })
		must(t, err)
		equal(t, edit.Discarded{Edits: 1}, n, "edits taken back")
		return w.Clock
	}
	at := discard()
	expire(w, at.Add(editing.KeepDiscarded), 0, 0) // the newest
	must(t, w.Write("Two", catalog.StateTranslated, "Dva"))
	expire(w, at.Add(editing.KeepDiscarded-time.Hour), 0, 0)
	equal(t, "discarded One: \"\" → \"Jedna\" 20 by 1 reset\npending Two: \"Dvě\" → \"Dva\" 20 by 1 \n", w.Journal(), "for 30 days")
	expire(w, at.Add(editing.KeepDiscarded), 0, 1)
	equal(t, "pending Two: \"Dvě\" → \"Dva\" 20 by 1 \n", w.Journal(), "after 30 days")
}
