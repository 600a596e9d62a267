package push_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

const (
	ours        = "repoglot/demo/app"
	forgeSecret = "forge-secret-4711"
)

// forgeWorld is a world whose requests are on a forge that checks what it is sent, with
// two edits in an open request.
type forgeWorld struct {
	*world
	fake *testrepos.Forge
	log  *bytes.Buffer
}

func newForgeWorld(t *testing.T, kind string) *forgeWorld {
	t.Helper()
	w := &forgeWorld{world: newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}}), log: &bytes.Buffer{}}
	w.fake = &testrepos.Forge{Kind: kind, Repository: "own/app", Token: forgeSecret}
	server := httptest.NewTLSServer(w.fake)
	t.Cleanup(server.Close)
	var err error
	w.to.Forge, err = forge.New(forge.Options{Kind: kind, URL: server.URL, Repository: "own/app", Token: forgeSecret, Transport: server.Client().Transport})
	gittest.Must(t, err)
	w.pusher.Logger = slog.New(slog.NewTextHandler(w.log, nil))
	w.edit("One", "Jedna")
	w.edit("Two", "Dva")
	w.flush()
	if r := w.fake.Requests(); len(r) != 1 || r[0].State != "open" || r[0].Head != ours || r[0].Base != "main" || !strings.Contains(r[0].Body, "`Jedna`") || !strings.Contains(r[0].Body, "`Dva`") {
		t.Fatalf("the first request: %+v", r)
	}
	return w
}

// theirs pushes a file with two texts to the main branch.
func (w *forgeWorld) theirs(one, two string) {
	w.up.Push("Maintainer", gittest.Files{"po/cs.po": texts(one, two)}, w.head("main"))
}

// texts is the file with two texts.
func texts(one, two string) string {
	return strings.NewReplacer(`"One"`+"\n"+`msgstr ""`, `"One"`+"\n"+`msgstr "`+one+`"`, "Dvě", two).Replace(file)
}

func (w *forgeWorld) branchFile() string {
	return gittest.RunGit(w.t, w.up.Dir, "cat-file", "blob", ours+":po/cs.po") + "\n"
}

// TestForgeEnds: however a request ends, its texts are known again, wait, or are
// suggestions with a reason (docs/editing.md#what-happens-when-).
func TestForgeEnds(t *testing.T) {
	kinds := forge.Kinds()
	for i, tt := range []struct {
		name     string
		end      func(w *forgeWorld)
		want     string // what is served, and the journal
		requests string // their states
	}{
		{"merged", func(w *forgeWorld) {
			w.up.Push("Maintainer", gittest.Files{"po/cs.po": w.branchFile()}, w.head("main"), w.head(ours))
			w.fake.End(1, "merged")
		}, "Jedna Dva | flushed, flushed", "merged"},
		{"squashed", func(w *forgeWorld) {
			w.up.Push("Maintainer", gittest.Files{"po/cs.po": w.branchFile()}, w.head("main"))
			w.fake.End(1, "merged")
		}, "Jedna Dva | flushed, flushed", "merged"},
		{"rebased", func(w *forgeWorld) {
			w.up.Push("Other", gittest.Files{"po/cs.po": file, "x": "y"}, w.head("main"))
			w.up.Push("Jana Nováková", gittest.Files{"po/cs.po": w.branchFile(), "x": "y"}, w.head("main"))
			w.fake.End(1, "merged")
		}, "Jedna Dva | flushed, flushed", "merged"},
		{"merged, and its branch is removed", func(w *forgeWorld) {
			w.up.Push("Maintainer", gittest.Files{"po/cs.po": w.branchFile()}, w.head("main"), w.head(ours))
			w.fake.End(1, "merged")
			w.up.Remove(ours)
		}, "Jedna Dva | flushed, flushed", "merged"},
		{"cherry-picked, all of it", func(w *forgeWorld) { w.theirs("Jedna", "Dva") }, "Jedna Dva | flushed, flushed", "closed"},
		{"cherry-picked in part", func(w *forgeWorld) { w.theirs("Jedna", "Dvě") }, "Jedna Dva* | flushed, pending", "open"},
		{"edited by the maintainer first", func(w *forgeWorld) {
			w.theirs("Jednička", "Dva")
			w.fake.End(1, "merged")
		}, "Jednička? Dva | conflict conflict, flushed", "merged"},
		{
			"closed", func(w *forgeWorld) { w.fake.End(1, "closed") },
			"? Dvě? | conflict the request 1 was closed without a merge, conflict the request 1 was closed without a merge", "closed",
		},
		{"closed, and one is restored", func(w *forgeWorld) {
			w.fake.End(1, "closed")
			w.flush()
			w.edit("Two", "Dva")
		}, "? Dva* | conflict the request 1 was closed without a merge, conflict the request 1 was closed without a merge, pending", "closed open"},
		{"the branch is removed", func(w *forgeWorld) { w.up.Remove(ours) }, "Jedna* Dva* | pending, pending", "open"},
		{"the main branch is rewritten", func(w *forgeWorld) {
			w.up.Push("Other", gittest.Files{"po/cs.po": file, "root": "new"})
		}, "Jedna* Dva* | pending, pending", "open"},
		{"a string is gone", func(w *forgeWorld) {
			w.up.Push("Other", gittest.Files{"po/cs.po": strings.Replace(file, "\nmsgid \"Two\"\nmsgstr \"Dvě\"\n", "", 1)}, w.head("main"))
		}, "Jedna* | pending, pending gone", "open"},
		{"the file is moved", func(w *forgeWorld) {
			w.up.Push("Other", gittest.Files{"l10n/cs.po": file}, w.head("main"))
			s := w.Branch.Components[0].Spec.Settings
			s.Filemask = "l10n/*.po"
			w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
		}, "Jedna* Dva* | pending, pending", "open"},
		{"the template is updated", func(w *forgeWorld) {
			w.up.Push("Other", gittest.Files{"po/cs.po": file + "\nmsgid \"Three\"\nmsgstr \"\"\n"}, w.head("main"))
		}, "Jedna* Dva*  | pending, pending", "open"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newForgeWorld(t, kinds[i%len(kinds)])
			tt.end(w)
			w.flush()
			w.want(tt.want, "afterwards")
			w.flush()
			w.want(tt.want, "after one more flush")
			var states []string
			for _, r := range w.fake.Requests() {
				states = append(states, r.State)
			}
			if got := strings.Join(states, " "); got != tt.requests {
				t.Errorf("requests are %q, want %q", got, tt.requests)
			}
			if problems := w.fake.Problems(); len(problems) > 0 {
				t.Errorf("the forge was sent: %q", problems)
			}
			if strings.Contains(tt.want, "*") {
				if base := gittest.RunGit(t, w.up.Dir, "rev-parse", ours+"~1"); base != w.head("main").String() {
					t.Errorf("our branch is on %s, not on the main one", base)
				}
			}
			if strings.Contains(w.log.String(), forgeSecret) {
				t.Errorf("the log has the token:\n%s", w.log)
			}
		})
	}
}

// TestForgeBase: a request is for the branch that is read, also if that becomes another one,
// unless somebody gave it another base. Merged there, its edits wait in a new one.
func TestForgeBase(t *testing.T) {
	for _, kind := range forge.Kinds() {
		t.Run(kind, func(t *testing.T) {
			w := newForgeWorld(t, kind)
			bases := func(want, when string) {
				t.Helper()
				var got []string
				for _, r := range w.fake.Requests() {
					got = append(got, r.State+" "+r.Base)
				}
				if got := strings.Join(got, ", "); got != want || len(w.fake.Problems()) > 0 {
					t.Errorf("%s: %s, want %s; the forge was sent %q", when, got, want, w.fake.Problems())
				}
			}
			s := w.Branch.Components[0].Spec.Settings
			for i, branch := range []string{"develop", "main", "develop", "main"} {
				if i == 2 { // as a forge does where a branch is renamed
					w.fake.Change(1, func(r *testrepos.ForgeRequest) { r.Base = branch })
				}
				w.up.Set("develop", w.up.Commit("Other", gittest.Files{"po/cs.po": file, "x": "y"}, w.head("main")))
				w.Configure(w.up.Dir, branch, map[string]catalog.ComponentSettings{"app": s})
				w.flush()
				bases("open "+branch, "another branch is read")
				w.want("Jedna* Dva* | pending, pending", "another branch is read")
			}
			w.fake.Change(1, func(r *testrepos.ForgeRequest) { r.Base = "develop" })
			w.edit("Two", "Dvojka")
			w.flush()
			if bases("open develop", "retargeted"); !strings.Contains(w.fake.Requests()[0].Body, "Dvojka") {
				t.Errorf("its texts are old: %s", w.fake.Requests()[0].Body)
			}
			w.up.Set("develop", w.up.Commit("Merger", gittest.Files{"po/cs.po": w.branchFile()}, w.head("develop"), w.head(ours)))
			w.fake.End(1, "merged")
			w.flush()
			bases("merged develop, open main", "merged there")
			w.want("Jedna* Dvojka* | pending, pending", "merged there")
			w.up.Push("Merger", gittest.Files{"po/cs.po": w.branchFile()}, w.head("main"), w.head("develop"))
			w.flush()
			bases("merged develop, closed main", "which is merged")
			w.want("Jedna Dvojka | flushed, flushed", "which is merged")
		})
	}
}

// TestForgeRefuses: a forge that wants to be left alone or redirects has the edits wait,
// and neither the error nor another host gets the token.
func TestForgeRefuses(t *testing.T) {
	w := newForgeWorld(t, "github")
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(stranger.Close)
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		want   func(error) bool
	}{
		{"Retry-After", func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader(http.StatusTooManyRequests)
			return true
		}, func(err error) bool {
			var limit *forge.LimitError
			return errors.As(err, &limit) && limit.After == 10*time.Minute
		}},
		{"a redirect", func(rw http.ResponseWriter, r *http.Request) bool {
			http.Redirect(rw, r, stranger.URL, http.StatusTemporaryRedirect)
			return true
		}, func(err error) bool { return errors.Is(err, forge.ErrUnavailable) }},
	} {
		w.fake.Hook = tt.answer
		_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to })
		if !tt.want(err) || strings.Contains(err.Error(), forgeSecret) {
			t.Errorf("%s: %v", tt.name, err)
		}
		w.want("Jedna* Dva* | pending, pending", tt.name)
	}
	w.fake.Hook = nil
	w.flush()
	if r := w.fake.Requests(); len(r) != 1 || r[0].State != "open" {
		t.Errorf("afterwards: %+v", r)
	}
}
