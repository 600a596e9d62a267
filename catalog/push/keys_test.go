package push_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// keysWorld is a world of two components, app and web, each in Czech and German, whose
// requests are on a forge.
type keysWorld struct {
	*world
	fake *testrepos.Forge
}

func keysSettings(per catalog.RequestPer) map[string]catalog.ComponentSettings {
	s := catalog.ComponentSettings{
		PushBranch: "l10n", LanguageRegex: "^[^.]+$", PullMessage: "News\r\n\r\nof translators.",
		Edits: catalog.Edits{Mode: catalog.PushRequest, RequestPer: per},
	}
	web := s
	web.Filemask = "web/*.po"
	return map[string]catalog.ComponentSettings{"app": s, "web": web}
}

// newKeysWorld makes three edits: two in one component, two in one language, two by one author.
func newKeysWorld(t *testing.T, per catalog.RequestPer) *keysWorld {
	t.Helper()
	settings := keysSettings(per)
	w := &keysWorld{newWorld(t, settings["app"]), &testrepos.Forge{Kind: "github", Repository: "own/app", Token: forgeSecret}}
	server := httptest.NewTLSServer(w.fake)
	t.Cleanup(server.Close)
	var err error
	w.to.Forge, err = forge.New(forge.Options{Kind: "github", URL: server.URL, Repository: "own/app", Token: forgeSecret, Transport: server.Client().Transport})
	gittest.Must(t, err)
	w.up.Push("Other", gittest.Files{"po/cs.po": file, "po/de.po": file, "web/cs.po": file, "web/de.po": file}, w.head("main"))
	w.Configure(w.up.Dir, "", settings)
	w.Sync()
	w.editAs("Jana", "app/cs", "One", "Jedna")
	w.editAs("Petr", "app/de", "One", "Eins")
	w.editAs("Petr", "web/cs", "One", "Jednička")
	return w
}

func (w *keysWorld) editAs(name, where, source, target string) {
	w.t.Helper()
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if c.Slug+"/"+tr.Language == where && u.Source == source {
			_, err := w.Editor.Edit(w.t.Context(), c.ID, tr.ID, edit.Author{Name: name, Email: strings.ToLower(name) + "@example.org"},
				[]edit.Request{{UnitID: u.ID, Target: []string{target}, State: map[bool]catalog.State{true: catalog.StateEmpty, false: catalog.StateTranslated}[target == ""]}})
			gittest.Must(w.t, err)
		}
	})
}

// branches lists the branches of our own with the files that they change.
func (w *keysWorld) branches() (list []string) {
	w.t.Helper()
	for _, branch := range strings.Fields(gittest.RunGit(w.t, w.up.Dir, "for-each-ref", "--format=%(refname:short)", "refs/heads")) {
		if branch == "main" {
			continue
		}
		files := gittest.RunGit(w.t, w.up.Dir, "diff", "--name-only", "main..."+branch)
		list = append(list, branch+": "+strings.ReplaceAll(files, "\n", " "))
	}
	return list
}

// requests lists all requests.
func (w *keysWorld) requests() (list []string) {
	for _, r := range w.fake.Requests() {
		list = append(list, fmt.Sprintf("%s %s %q", r.State, r.Head, r.Title))
	}
	return list
}

// journal lists the edits that are in some state.
func (w *keysWorld) journal(status store.EditStatus) (list []string) {
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		edits, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Kind: store.EditText, Limit: 100})
		for _, e := range edits {
			if e.Status == status {
				list = append(list, e.Ours.Target)
			}
		}
		return err
	})
	slices.Sort(list)
	return list
}

func (w *keysWorld) wants(what string, got, want []string) {
	w.t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

const (
	janas = "l10n/cedcad744ff272c3"
	petrs = "l10n/881ce2fe5e2864d3"
)

// TestRequestOfAuthor: what others do in the same file does not move the branch of an author,
// whose messages have numbers.
func TestRequestOfAuthor(t *testing.T) {
	settings := keysSettings(catalog.PerAuthor)
	w := newKeysWorld(t, catalog.PerAuthor)
	for slug, s := range settings {
		s.CommitMessage = "{{ stats.translated }}, {{ stats.translated_words }}, {{ stats.fuzzy_chars }} of {{ stats.all }}"
		settings[slug] = s
	}
	w.Configure(w.up.Dir, "", settings)
	w.Sync()
	w.flush()
	before, message := w.head(janas), gittest.RunGit(t, w.up.Dir, "log", "-1", "--format=%s", janas)
	if message != "2, 2, 0 of 2" {
		t.Errorf("the message is %q", message)
	}
	w.editAs("Petr", "app/cs", "Two", "")
	w.flush()
	if w.head(janas) != before {
		t.Errorf("the branch has moved: %s", gittest.RunGit(t, w.up.Dir, "log", "-1", "--format=%s", janas))
	}
}

// TestRequestPer: each key has a branch and a request with its edits only, wholly derived
// from the branch that is read; one that is refused, and one that is merged, concern no
// other one; one with nothing left is withdrawn.
func TestRequestPer(t *testing.T) {
	for per, want := range map[catalog.RequestPer]struct {
		branches, requests []string
		refused, merged    []string
	}{
		catalog.PerComponent: {
			[]string{"l10n/demo/app: po/cs.po po/de.po", "l10n/demo/web: web/cs.po"},
			[]string{`open l10n/demo/app "News"`, `open l10n/demo/web "News"`},
			[]string{"Eins", "Jedna"},
			[]string{"Jednička"},
		},
		catalog.PerLanguage: {
			[]string{"l10n/cs: po/cs.po web/cs.po", "l10n/de: po/de.po"},
			[]string{`open l10n/cs "News (Czech)"`, `open l10n/de "News (German)"`},
			[]string{"Jedna", "Jednička"},
			[]string{"Eins"},
		},
		catalog.PerAuthor: {
			[]string{petrs + ": po/de.po web/cs.po", janas + ": po/cs.po"},
			[]string{"open " + petrs + ` "News (Petr)"`, "open " + janas + ` "News (Jana)"`},
			[]string{"Eins", "Jednička"},
			[]string{"Jedna"},
		},
		catalog.PerRepository: {
			[]string{"l10n: po/cs.po po/de.po web/cs.po"},
			[]string{`open l10n "News"`},
			[]string{"Eins", "Jedna", "Jednička"},
			nil,
		},
	} {
		t.Run(string(per), func(t *testing.T) {
			w := newKeysWorld(t, per)
			w.flush()
			w.flush() // which finds nothing to do
			w.wants("branches", w.branches(), want.branches)
			w.wants("requests", w.requests(), want.requests)
			w.fake.End(1, "closed")
			w.flush()
			w.wants("refused", w.journal(store.EditConflict), want.refused)
			w.wants("others wait", w.journal(store.EditPending), want.merged)
			w.wants("branches afterwards", w.branches(), want.branches[1:])
			if per == catalog.PerRepository {
				return
			}
			head, _, _ := strings.Cut(want.branches[1], ":")
			gittest.RunGit(t, w.up.Dir, "update-ref", "refs/heads/main", head)
			w.fake.End(2, "merged")
			w.flush()
			w.wants("merged", w.journal(store.EditFlushed), want.merged)
			w.wants("branches at the end", w.branches(), nil)
			if got, err := w.pusher.Requested(t.Context(), w.Branch); got || err != nil {
				t.Errorf("something is on a branch: %v, %v", got, err)
			}
			w.wants("problems", w.fake.Problems(), nil)
			w.Verify()
		})
	}
}

// TestRequestsOfThree: of three requests one is closed and one merged, in either order: how
// one ends concerns its edits only, and the third is as it was, on the new main branch.
func TestRequestsOfThree(t *testing.T) {
	for _, per := range []catalog.RequestPer{catalog.PerAuthor, catalog.PerLanguage} {
		for _, closedFirst := range []bool{true, false} {
			t.Run(fmt.Sprint(per, closedFirst), func(t *testing.T) {
				w := newKeysWorld(t, per)
				w.up.Push("Other", gittest.Files{"po/cs.po": file, "po/de.po": file, "web/cs.po": file, "web/de.po": file, "po/fr.po": file, "web/fr.po": file}, w.head("main"))
				w.Sync()
				w.editAs("Zoe", "app/fr", "One", "Un")
				w.flush()
				requests := w.fake.Requests()
				if len(requests) != 3 {
					t.Fatalf("%d requests", len(requests))
				}
				of := func(text string) (number int, head string) {
					for i, r := range requests {
						if strings.Contains(gittest.RunGit(t, w.up.Dir, "diff", "main..."+r.Head), "+msgstr \""+text+"\"") {
							number, head = i+1, r.Head
						}
					}
					return number, head
				}
				closed, _ := of("Eins")
				merged, head := of("Jedna")
				third, its := of("Un")
				if closed == merged || merged == third || third == closed {
					t.Fatalf("requests %d, %d, %d", closed, merged, third)
				}
				w.fake.End(closed, "closed")
				if closedFirst {
					w.flush()
				}
				gittest.RunGit(t, w.up.Dir, "update-ref", "refs/heads/main", head)
				w.fake.End(merged, "merged")
				w.flush()
				w.wants("refused", w.journal(store.EditConflict), map[catalog.RequestPer][]string{catalog.PerAuthor: {"Eins", "Jednička"}, catalog.PerLanguage: {"Eins"}}[per])
				w.wants("merged", w.journal(store.EditFlushed), map[catalog.RequestPer][]string{catalog.PerAuthor: {"Jedna"}, catalog.PerLanguage: {"Jedna", "Jednička"}}[per])
				w.wants("waiting", w.journal(store.EditPending), []string{"Un"})
				w.wants("branches", w.branches(), []string{its + ": po/fr.po"})
				w.Verify()
			})
		}
	}
}

// TestRequestOfNewAuthor: who edits a string last has it in their request: it leaves the
// other one, in whose file it was, and which is withdrawn when it was the last one.
func TestRequestOfNewAuthor(t *testing.T) {
	w := newKeysWorld(t, catalog.PerAuthor)
	w.editAs("Jana", "app/cs", "Two", "Dva")
	w.flush()
	w.editAs("Petr", "app/cs", "One", "Jeden")
	w.flush()
	w.wants("two in one file", w.branches(), []string{petrs + ": po/cs.po po/de.po web/cs.po", janas + ": po/cs.po"})
	if got := gittest.RunGit(t, w.up.Dir, "show", janas+":po/cs.po"); strings.Contains(got, "Jeden") || strings.Contains(got, "Jedna") || !strings.Contains(got, "Dva") {
		t.Errorf("Jana's file:\n%s", got)
	}
	// One is merged: the other one is derived anew from it.
	gittest.RunGit(t, w.up.Dir, "update-ref", "refs/heads/main", janas)
	w.fake.End(2, "merged")
	w.flush()
	w.wants("the other one", w.branches(), []string{petrs + ": po/cs.po po/de.po web/cs.po"})
	if got := gittest.RunGit(t, w.up.Dir, "show", petrs+":po/cs.po"); !strings.Contains(got, "Jeden") || !strings.Contains(got, "Dva") {
		t.Errorf("Petr's file:\n%s", got)
	}
	w.editAs("Jana", "app/cs", "One", "Jedna")
	w.editAs("Jana", "app/de", "One", "Ein")
	w.editAs("Jana", "web/cs", "One", "Jednička sama")
	w.flush()
	w.wants("requests", w.requests(), []string{"closed " + petrs + ` "News (Petr)"`, "merged " + janas + ` "News (Jana)"`, "open " + janas + ` "News (Jana)"`})
	w.wants("refused", w.journal(store.EditConflict), nil)
	w.Verify()
}

// TestNothingGoesThere: whatever settings change, requests and branches that nothing goes to
// any more are withdrawn, and are in nobody's way; nothing is refused.
func TestNothingGoesThere(t *testing.T) {
	type settings struct {
		mode   catalog.PushMode
		branch string
		per    catalog.RequestPer
	}
	const all = ": po/cs.po po/de.po web/cs.po"
	one := func(branch string) []string { return []string{branch + all} }
	for _, tt := range []struct {
		name               string
		from, to           settings
		forgeless          bool // the keys of the forge are removed, too
		branches, requests []string
	}{
		{"no requests any more", settings{catalog.PushRequest, "l10n", ""}, settings{catalog.PushBranch, "l10n", ""}, false, one("l10n"), []string{`closed l10n "News"`}},
		{"nor a forge", settings{catalog.PushRequest, "l10n", ""}, settings{catalog.PushBranch, "l10n", ""}, true, one("l10n"), []string{`open l10n "News"`}},
		{"requests", settings{catalog.PushBranch, "l10n", ""}, settings{catalog.PushRequest, "l10n", ""}, false, one("l10n"), []string{`open l10n "News"`}},
		{"one branch for all", settings{catalog.PushRequest, "l10n", catalog.PerLanguage}, settings{catalog.PushBranch, "l10n", ""}, false, one("l10n"), []string{`closed l10n/cs "News (Czech)"`, `closed l10n/de "News (German)"`}},
		{"a folder of the branch", settings{catalog.PushBranch, "l10n/x", ""}, settings{catalog.PushBranch, "l10n", ""}, false, one("l10n"), nil},
		{"a branch below it", settings{catalog.PushBranch, "l10n", ""}, settings{catalog.PushBranch, "l10n/x", ""}, false, one("l10n/x"), nil},
		{
			"another branch",
			settings{catalog.PushRequest, "l10n", catalog.PerLanguage},
			settings{catalog.PushRequest, "texts", catalog.PerComponent},
			false,
			[]string{"texts/demo/app: po/cs.po po/de.po", "texts/demo/web: web/cs.po"},
			[]string{`closed l10n/cs "News (Czech)"`, `closed l10n/de "News (German)"`, `open texts/demo/app "News"`, `open texts/demo/web "News"`},
		},
		{"direct", settings{catalog.PushRequest, "l10n", ""}, settings{catalog.PushDirect, "", ""}, false, nil, []string{`closed l10n "News"`}},
		{"direct, without a forge", settings{catalog.PushRequest, "l10n", ""}, settings{catalog.PushDirect, "", ""}, true, nil, []string{`open l10n "News"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newKeysWorld(t, "")
			set := func(to settings) {
				t.Helper()
				all := keysSettings(to.per)
				for slug, s := range all {
					s.PushBranch, s.Edits.Mode = to.branch, to.mode
					all[slug] = s
				}
				w.Configure(w.up.Dir, "", all)
				w.flush()
			}
			set(tt.from)
			if tt.forgeless {
				w.to.Forge = nil
			}
			w.Sync()
			set(tt.to)
			w.wants("branches", w.branches(), tt.branches)
			w.wants("requests", w.requests(), tt.requests)
			w.wants("refused", w.journal(store.EditConflict), nil)
			looked, err := w.pusher.Requested(t.Context(), w.Branch)
			if due, dueErr := w.pusher.Due(t.Context(), w.Branch, true); due || looked != (tt.branches != nil) || errors.Join(err, dueErr) != nil {
				t.Errorf("afterwards: due %v, looked at %v, %v, %v", due, looked, err, dueErr)
			}
			w.wants("problems", w.fake.Problems(), nil)
			w.Verify()
		})
	}
}

// TestRequestPerChanges: with another request_per the old requests are withdrawn, whatever
// crashes meanwhile, and refuse nothing; their branches are not in the way of the new ones.
func TestRequestPerChanges(t *testing.T) {
	w := newKeysWorld(t, "")
	anna := edit.Author{Name: "Anna", Email: "anna@example.org"}
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		all, err := snap.Translations(ctx, c.ID)
		for i := range all {
			if c.Slug == "web" && all[i].Language == "de" {
				gittest.Must(t, w.Editor.RemoveTranslation(t.Context(), c.ID, &all[i], anna))
			}
		}
		return err
	})
	w.flush()
	w.wants("before", w.branches(), []string{"l10n: po/cs.po po/de.po web/cs.po web/de.po"})
	for _, per := range []catalog.RequestPer{catalog.PerLanguage, ""} {
		w.Configure(w.up.Dir, "", keysSettings(per))
		w.Sync()
		for crash := 1; crash <= 4; crash++ { // further on each time
			calls := 0
			w.pusher.SetStop(func(bool) error {
				if calls++; calls == crash {
					return errCrash
				}
				return nil
			})
			_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to })
			if err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
		}
		w.pusher.SetStop(func(bool) error { return nil })
		w.flush()
		want := []string{"l10n/cs: po/cs.po web/cs.po", "l10n/de: po/de.po web/de.po"}
		if per == "" {
			want = []string{"l10n: po/cs.po po/de.po web/cs.po web/de.po"}
		}
		w.wants("branches", w.branches(), want)
	}
	w.wants("nothing is refused", w.journal(store.EditConflict), nil)
	w.wants("requests", w.requests(), []string{`closed l10n "News"`, `closed l10n/cs "News (Czech)"`, `closed l10n/de "News (German)"`, `open l10n "News"`})
	w.Verify()
}
