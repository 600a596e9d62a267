package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// killAtVar makes the test binary act as repoglot and kill itself at the call of its
// context with that number; at 0 it lives and prints the number of calls.
const killAtVar = "REPOGLOT_TEST_PLACE"

// mortal is a context that counts the calls of its methods, which number the points
// of the work whatever the speed of the machine. At one of them the process dies by
// SIGKILL, so that nothing is closed or reported.
type mortal struct {
	context.Context
	killAt int64 // 0: never
	asked  atomic.Int64
}

func (m *mortal) Done() <-chan struct{} { m.count(); return m.Context.Done() }
func (m *mortal) Err() error            { m.count(); return m.Context.Err() }
func (m *mortal) Value(key any) any     { m.count(); return m.Context.Value(key) }

func (m *mortal) count() {
	if m.asked.Add(1) != m.killAt {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err) // or the exit would not be by a signal
	}
	select {} // until the signal arrives
}

// runMortal is main with a mortal context.
func runMortal(killAt string) int {
	ctx := &mortal{Context: context.Background()}
	var err error
	if ctx.killAt, err = strconv.ParseInt(killAt, 10, 64); err != nil {
		panic(err)
	}
	code := run(ctx, os.Args[1:], os.Stdin, io.Discard, os.Stderr)
	fmt.Println(ctx.asked.Load())
	return code
}

// TestKilledReplay kills processes that replay a history (SIGKILL) and lets the next
// ones go on: the API answers the same as after an uninterrupted replay. It tests
// the whole program; ingest's TestKilled kills at every commit and hundreds of
// times.
func TestKilledReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it kills processes")
	}
	t.Parallel()
	kills := testsize.Of(2, 3, 5)
	repo := languageByLanguage(t, 14, 2000)
	dir := t.TempDir()
	file := filepath.Join(dir, "r.yaml")
	exe := configure(t, file, repo.Path())
	sync := func(name string, killAt int64) (asked int64, killed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), exe, "sync", "--config", file, "--data-dir", filepath.Join(dir, name))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", killAtVar, killAt))
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case err == nil:
			if asked, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64); err != nil {
				t.Fatal(err)
			}
			return asked, false
		case killAt == 0 || !errors.As(err, &exit) || exit.Exited():
			t.Fatalf("sync: %v", err)
		}
		return 0, true
	}
	whole, _ := sync("whole", 0)
	want := served(t, filepath.Join(dir, "whole", "repoglot.db"))
	midway := 0
	for k := range kills {
		name := fmt.Sprintf("killed-%d", k)
		for n := range 3 { // the result is the same wherever it dies
			_, killed := sync(name, max(1, whole*int64(1+(3*k+2*n)%8)/10))
			if n == 0 && !killed {
				t.Errorf("the first process of %d outlived %d tenths of the work", k, 1+3*k%8)
			}
		}
		if left, _ := sync(name, 0); left < whole {
			midway++ // the killed ones had stored something
		}
		if diff := cmp.Diff(want, served(t, filepath.Join(dir, name, "repoglot.db"))); diff != "" {
			t.Fatalf("killed %d (-whole +killed):\n%.3000s", k, diff)
		}
	}
	if midway == 0 {
		t.Errorf("all of the work was done again after each of %d", kills)
	}
	t.Logf("%d calls; %d of %d went on midway", whole, midway, kills)
}

// languageCodes are the languages of generated repositories.
var languageCodes = strings.Fields("cs de fr es it pl pt_BR ja ru zh_Hans ar nl sv uk")

// languageFile is the file of one of them, as a path and its text.
func languageFile(l, entries int) map[string]string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for e := range entries {
		fmt.Fprintf(&b, "\nmsgid \"String %d\"\nmsgstr \"Text %d %d\"\n", e, l, e)
	}
	return map[string]string{"po/" + languageCodes[l] + ".po": b.String()}
}

// languageByLanguage makes a repository to which every commit adds a language.
func languageByLanguage(t *testing.T, languages, entries int) *testrepos.Repo {
	repo := testrepos.Empty(t)
	for l := range languages {
		repo.Commit(t, testrepos.Change{
			Branch: "main", Files: languageFile(l, entries), Author: fmt.Sprintf("Author %d <a%d@example.org>", l%5, l%5),
		})
	}
	return repo
}

// languagesAtOnce makes a repository whose only commit has some languages.
func languagesAtOnce(t *testing.T, languages, entries int) *testrepos.Repo {
	repo, files := testrepos.Empty(t), map[string]string{}
	for l := range languages {
		maps.Copy(files, languageFile(l, entries))
	}
	repo.Commit(t, testrepos.Change{Files: files})
	return repo
}

// served returns the answers of the API for a database, by URL.
func served(t *testing.T, database string) map[string]string {
	t.Helper()
	db, err := store.Open(t.Context(), database, store.Options{})
	must(t, err)
	defer db.Close()
	table, err := lang.New()
	must(t, err)
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
			must(t, json.Unmarshal([]byte(get(url)), &page))
			url = page.Next
		}
	}
	get("/api/components/p/app/")
	pages("/api/changes/?page_size=1000")
	for _, l := range append(languageCodes[:len(languageCodes):len(languageCodes)], "en") {
		get("/api/translations/p/app/" + l + "/")
		pages("/api/translations/p/app/" + l + "/units/?page_size=10000")
		pages("/api/translations/p/app/" + l + "/statistics/history/")
	}
	return bodies
}
