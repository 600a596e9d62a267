package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// TestCommitterEmail: a committer's address has no port and no number of a host.
func TestCommitterEmail(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://l10n.example.org:8443/x": "l10n.example.org", "http://127.0.0.1:80": "localhost", "http://[::1]:80/": "localhost", "": "localhost", "http://%": "localhost",
	} {
		if got := committerEmail(base); got != "noreply@"+want {
			t.Errorf("%q: %s, want %s", base, got, want)
		}
	}
}

// TestFlushTriggers: whatever fails, the look for edits that are due triggers nothing until
// its pause is over, be the failure that of the fetch or of the push, in all processes that
// share a database; one component that cannot be read holds up no other one; edits that
// cannot be written hold up nobody. A changed configuration is tried at once.
func TestFlushTriggers(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	const file = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"One\"\nmsgstr \"\"\n\nmsgid \"Two\"\nmsgstr \"\"\n"
	files := gittest.Files{"app/cs.po": file, "doc/cs.po": file}
	head := up.Push("Other", files)
	settings := map[string]catalog.ComponentSettings{}
	for _, slug := range []string{"app", "doc"} {
		settings[slug] = catalog.ComponentSettings{Filemask: slug + "/*.po", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect, Gate: true}}
	}
	w := catalogtest.PullerAt(t, t.TempDir())
	w.Change = func(o *ingest.Options) { o.Quotas.Units = 10 }
	w.Open()
	w.Configure(up.Dir, "main", settings)
	w.Sync()
	process := func() *supervisor {
		e := &Engine{log: slog.New(slog.DiscardHandler), db: w.DB, syncer: w.Syncer, languages: w.Languages, progress: newProgress(time.Now, nil)}
		s := newSupervisor(e, 1)
		t.Cleanup(func() { _ = s.watcher.Close() })
		s.flusher = newPusher(e, &config.Config{}, func() string { return "https://l10n.example.org" })
		s.plan = &Plan{branches: []ingest.Branch{w.Branch}}
		return s
	}
	s, other := process(), process()
	due := func(when string, want bool) {
		t.Helper()
		for _, s := range []*supervisor{s, other} {
			if got := s.flushDue(t.Context(), &w.Branch); got != want {
				t.Errorf("%s: due %v, want %v", when, got, want)
			}
		}
	}
	n := 0
	enter := func(component, source string, good bool) {
		t.Helper()
		n++
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if c.Slug == component && tr.Language == "cs" && u.Source == source {
				_, err := w.Editor.Edit(t.Context(), c.ID, tr.ID, edit.Author{Name: "Jana", Email: "jana@example.org"},
					[]edit.Request{{UnitID: u.ID, Target: []string{map[bool]string{false: "\n"}[good] + fmt.Sprint("text ", n)}, State: catalog.StateTranslated}})
				must(t, err)
			}
		})
	}
	pull := func(fails bool) {
		t.Helper()
		if err := s.pull(t.Context(), &w.Branch); (err != nil) != fails {
			t.Errorf("pull: %v, want an error: %v", err, fails)
		}
	}
	enter("app", "One", true)
	due("edited", true)
	must(t, os.Rename(up.Dir, up.Dir+".away"))
	pull(true)
	due("the remote is away", false)
	must(t, os.Rename(up.Dir+".away", up.Dir))
	pull(false) // by the clock
	due("it is back", false)
	if got := gittest.RunGit(t, up.Dir, "log", "--format=%an", "main"); got != "Jana\nOther" {
		t.Errorf("it is back, and main has the commits of %q", got)
	}

	enter("app", "Two", false)
	due("one that cannot be written", true)
	pull(false)
	due("it waits", false)
	enter("app", "One", true)
	due("another one does not", true)
	pull(false)
	due("pushed", false)

	for i := range 20 {
		files["doc/cs.po"] += fmt.Sprintf("\nmsgid \"%d\"\nmsgstr \"\"\n", i)
	}
	files["app/cs.po"] = gittest.RunGit(t, up.Dir, "cat-file", "blob", "main:app/cs.po") + "\n"
	up.Push("Other", files, head)
	enter("app", "One", true)
	enter("doc", "One", true)
	pull(true) // doc is over its quota
	due("after the failure of another component", false)
	if got := gittest.RunGit(t, up.Dir, "log", "-2", "--format=%an %s", "--name-only", "main"); !strings.Contains(got, "app/cs.po") || !strings.Contains(got, "doc/cs.po") {
		t.Errorf("main has %s", got)
	}
	hook := filepath.Join(up.Dir, "hooks", "pre-receive")
	must(t, os.MkdirAll(filepath.Dir(hook), 0o700))
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	enter("app", "One", true)
	due("before the push that is refused", true)
	pull(true)
	due("refused", false)
	must(t, os.Remove(hook))
	s.forgetWaits(t.Context(), &Plan{}, s.plan)
	due("another configuration", true)
}
