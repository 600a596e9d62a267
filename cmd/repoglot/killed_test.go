package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestKilledReplay kills processes that replay a history (SIGKILL) and lets the
// next ones go on: the API serves what it serves after an uninterrupted one. It
// is the whole program once more; ingest's TestKilled kills at every commit, and
// hundreds of times.
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
	hits := 0
	sync := func(name string, kill time.Duration) time.Duration {
		cmd := exec.Command(exe, "sync", "--config", file, "--data-dir", filepath.Join(dir, name))
		cmd.Env = append(os.Environ(), childVar+"=1")
		errs := &output{}
		cmd.Stderr = errs
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill > 0 {
			timer := time.AfterFunc(kill, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		err := cmd.Wait()
		switch {
		case err != nil && kill == 0:
			t.Fatalf("sync: %v\n%s", err, errs)
		case err != nil && !cmd.ProcessState.Exited():
			hits++
		}
		return time.Since(began)
	}
	whole := sync("whole", 0)
	want := served(t, filepath.Join(dir, "whole", "repoglot.db"))
	for k := range kills {
		name := fmt.Sprintf("killed-%d", k)
		for n := range 3 { // whenever it hits, what follows must be the same
			sync(name, whole*time.Duration(1+(3*k+2*n)%8)/10)
		}
		sync(name, 0)
		if diff := cmp.Diff(want, served(t, filepath.Join(dir, name, "repoglot.db"))); diff != "" {
			t.Fatalf("killed %d (-whole +killed):\n%.3000s", k, diff)
		}
	}
	t.Logf("%d processes killed", hits)
	if hits < kills {
		t.Errorf("%d processes of %d died before they were done: the test kills nothing", hits, 3*kills)
	}
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
