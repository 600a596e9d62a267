package main

import (
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/testrepos"
)

// TestForgeOthers: a whole server lists a request of a fork that git no longer merges, on each
// forge, and merges it into the branch of the fork when that is asked for; the fork is asked
// with the forge's token alone, and clones from the server have nothing of the request.
func TestForgeOthers(t *testing.T) {
	w := newForgeWorld(t)
	dated := func(text, date string) string { return strings.Replace(text, "2020-01-01", date, 1) }
	base := strings.Replace(forgeFile, "msgid \"Two\"", "msgid \"Between\"\nmsgstr \"\"\n\nmsgid \"Two\"", 1)
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Guest", "-c", "user.email=guest@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	heads, forks := map[string]string{}, map[string]string{}
	for _, kind := range forge.Kinds() {
		p := w.add(kind, map[string]string{"po/cs.po": base}, nil)
		from := "guest/" + p.slug
		forks[p.slug] = filepath.Join(w.host.Root, filepath.FromSlash(from)+".git")
		must(t, os.MkdirAll(filepath.Dir(forks[p.slug]), 0o700))
		git(w.dir, "clone", "-q", "--bare", p.repo.Dir, forks[p.slug])
		work := filepath.Join(w.dir, "work-"+p.slug)
		git(w.dir, "clone", "-q", forks[p.slug], work)
		must(t, os.WriteFile(filepath.Join(work, "po", "cs.po"), []byte(dated(strings.Replace(base, "Dvě", "Dva", 1), "2020-01-03")), 0o600))
		git(work, "commit", "-qam", "Guest's")
		git(work, "push", "-q", "origin", "HEAD:refs/heads/topic")
		head := git(work, "rev-parse", "HEAD")
		git(work, "push", "-q", p.repo.Dir, "HEAD:refs/pull/1/head")
		p.fake.Add(testrepos.ForgeRequest{State: "open", Head: "topic", Base: "main", Fork: true, From: from, Editable: true, Commit: head, Title: "Guest's"})
		w.host.Forges = append(w.host.Forges, &testrepos.Forge{Kind: kind, Repository: from, Token: forgeToken})
		p.repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": dated(strings.Replace(base, "\"One\"\nmsgstr \"\"", "\"One\"\nmsgstr \"Jedna\"", 1), "2020-01-02")}})
		heads[p.slug] = head
	}
	var mu sync.Mutex
	asked := map[string]bool{}
	w.host.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if user, password, ok := r.BasicAuth(); ok && strings.HasPrefix(r.URL.Path, "/guest/") {
			mu.Lock()
			asked[user+" "+base64.StdEncoding.EncodeToString([]byte(password))] = true
			mu.Unlock()
		}
		return false
	})
	w.start()
	for _, p := range w.projects {
		path := "/api/components/" + p.slug + "/app/requests/"
		var list struct {
			Results []struct {
				Number    int
				Head      string
				Mergeable bool
				Problem   string
				Detail    string
			}
			Problem, Detail string
		}
		if !until(func() bool {
			w.call(http.MethodGet, path, "ops", nil, &list)
			return len(list.Results) > 0 || list.Problem != ""
		}) || len(list.Results) != 1 || !list.Results[0].Mergeable || list.Results[0].Head != heads[p.slug] {
			t.Errorf("%s: listed %+v", p.fake.Kind, list)
			continue
		}
		clone := filepath.Join(w.dir, "clone-"+p.slug)
		git(w.dir, "clone", "-q", "--mirror", w.url+"/git/"+p.slug+"/app/", clone)
		if all := git(clone, "cat-file", "--batch-all-objects", "--batch-check"); strings.Contains(all, heads[p.slug]) || strings.Contains(git(clone, "for-each-ref"), "guest") {
			t.Errorf("%s: a clone has the request", p.fake.Kind)
		}
		if status, body := w.try(http.MethodPost, path, "jana", map[string]any{"number": 1, "head": heads[p.slug]}); status != http.StatusForbidden {
			t.Errorf("%s: merged by a translator: %d %s", p.fake.Kind, status, body)
		}
		var done struct {
			Result bool
			Detail string
		}
		w.call(http.MethodPost, path, "ops", map[string]any{"number": 1, "head": heads[p.slug]}, &done)
		got := git(forks[p.slug], "show", "topic:po/cs.po")
		if parents := git(forks[p.slug], "log", "-1", "--format=%P", "topic"); !done.Result || !strings.HasPrefix(parents, heads[p.slug]+" ") || !strings.Contains(got, "Jedna") || !strings.Contains(got, "Dva") {
			t.Errorf("%s: %+v, parents %s:\n%s", p.fake.Kind, done, parents, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for who := range asked {
		if user, password, _ := strings.Cut(who, " "); user != "oauth2" && user != "x-access-token" || password != base64.StdEncoding.EncodeToString([]byte(forgeToken)) {
			t.Errorf("a fork was sent the credential of %s", user)
		}
	}
}
