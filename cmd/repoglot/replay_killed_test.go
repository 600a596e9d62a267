package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// placeVar makes the test binary be repoglot that kills itself at that place of
// its work; at 0 it lives and says how many places there were.
const placeVar = "REPOGLOT_TEST_PLACE"

// mortal is a context that counts how often it, or one made from it, is asked for
// anything: the work has a place for each, however fast the machine is. At one
// of them the process dies by SIGKILL, as from outside: nothing is closed,
// nothing is told to anyone.
type mortal struct {
	context.Context
	place int64 // 0: none
	asked atomic.Int64
}

func (m *mortal) Done() <-chan struct{} { m.count(); return m.Context.Done() }
func (m *mortal) Err() error            { m.count(); return m.Context.Err() }
func (m *mortal) Value(key any) any     { m.count(); return m.Context.Value(key) }

func (m *mortal) count() {
	if m.asked.Add(1) != m.place {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err) // which is no death by a signal
	}
	select {} // until the signal comes
}

// runMortal is main with such a context.
func runMortal(place string) int {
	ctx := &mortal{Context: context.Background()}
	var err error
	if ctx.place, err = strconv.ParseInt(place, 10, 64); err != nil {
		panic(err)
	}
	code := run(ctx, os.Args[1:], os.Stdin, io.Discard, os.Stderr)
	fmt.Println(ctx.asked.Load())
	return code
}

// TestKilledReplay lets processes that replay a history die (SIGKILL) and lets
// the next ones go on: the API serves what it serves after an uninterrupted one.
// It is the whole program once more; ingest's TestKilled kills at every commit,
// and hundreds of times.
func TestKilledReplay(t *testing.T) {
	t.Parallel()
	kills := 5
	if testing.Short() {
		kills = 2
	}
	repo := languageByLanguage(t, 14, 2000)
	dir := t.TempDir()
	file := filepath.Join(dir, "r.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:0\nprojects:\n- slug: p\n  components:\n  - {slug: app, repo: %q, filemask: 'po/*.po'}\n", repo.Path())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sync := func(name string, place int64) (asked int64, killed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), exe, "sync", "--config", file, "--data-dir", filepath.Join(dir, name))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", placeVar, place))
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case err == nil:
			if asked, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64); err != nil {
				t.Fatal(err)
			}
			return asked, false
		case place == 0 || !errors.As(err, &exit) || exit.Exited():
			t.Fatalf("sync: %v", err)
		}
		return 0, true
	}
	whole, _ := sync("whole", 0)
	want := served(t, filepath.Join(dir, "whole", "repoglot.db"))
	midway := 0
	for k := range kills {
		name := fmt.Sprintf("killed-%d", k)
		for n := range 3 { // whenever it hits, what follows must be the same
			_, killed := sync(name, max(1, whole*int64(1+(3*k+2*n)%8)/10))
			if n == 0 && !killed {
				t.Errorf("the first process of %d outlived %d tenths of the work", k, 1+3*k%8)
			}
		}
		if left, _ := sync(name, 0); left < whole {
			midway++ // the killed ones had done something
		}
		if diff := cmp.Diff(want, served(t, filepath.Join(dir, name, "repoglot.db"))); diff != "" {
			t.Fatalf("killed %d (-whole +killed):\n%.3000s", k, diff)
		}
	}
	if midway == 0 {
		t.Errorf("all of the work was done again after each of %d", kills)
	}
	t.Logf("%d places; %d of %d went on midway", whole, midway, kills)
}

// languageByLanguage is a repository to which every commit adds a language.
func languageByLanguage(t *testing.T, languages, entries int) *testrepos.Repo {
	repo := testrepos.Empty(t)
	for l := range languages {
		var b strings.Builder
		b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
		for e := range entries {
			fmt.Fprintf(&b, "\nmsgid \"String %d\"\nmsgstr \"Text %d %d\"\n", e, l, e)
		}
		repo.Commit(t, testrepos.Change{
			Branch: "main", Files: map[string]string{"po/" + testrepos.Languages(languages)[l] + ".po": b.String()},
			Author: fmt.Sprintf("Author %d <a%d@example.org>", l%5, l%5),
		})
	}
	return repo
}

// served is what the API answers of a database, by URL.
func served(t *testing.T, database string) map[string]string {
	t.Helper()
	db, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	handler := api.New(api.Options{DB: db, Languages: table})
	bodies := map[string]string{}
	get := func(url string) string {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequestWithContext(context.Background(), http.MethodGet, url, nil))
		if rec.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", url, rec.Code, rec.Body)
		}
		bodies[url] = rec.Body.String()
		return bodies[url]
	}
	pages := func(url string) {
		for url != "" {
			var page struct {
				Next    string
				Results []struct{ URL string }
			}
			if err := json.Unmarshal([]byte(get(url)), &page); err != nil {
				t.Fatal(err)
			}
			url = page.Next
		}
	}
	get("/api/components/p/app/")
	pages("/api/changes/?page_size=1000")
	for _, l := range append(testrepos.Languages(14), "en") {
		get("/api/translations/p/app/" + l + "/")
		pages("/api/translations/p/app/" + l + "/units/?page_size=10000")
		pages("/api/translations/p/app/" + l + "/statistics/history/")
	}
	return bodies
}
