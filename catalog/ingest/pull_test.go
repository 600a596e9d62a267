package ingest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestBranchVanishes: a branch that is deleted or renamed is reported, the last
// state stays, and the pulls go on when it comes back.
func TestBranchVanishes(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	repo.Branch(t, "release", repo.Head())
	w := catalogtest.NewPuller(t, repo.Path(), nil)
	w.Configure(repo.Path(), "release", map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := servedUnits(w)
	for range 2 {
		_, last := w.ChangesAfter(0)
		repo.Branch(t, "release", "")
		for range 2 { // found to be gone, and known to be
			_, err := w.Syncer.Sync(t.Context(), w.Branch)
			if !errors.Is(err, remote.ErrBranchMissing) || !strings.Contains(err.Error(), `"release"`) {
				t.Fatalf("error %v, want that the branch is missing", err)
			}
		}
		equal(t, before, servedUnits(w), "the state has changed")
		wantEntries(w, last, "22 app")
		repo.Branch(t, "release", repo.Head())
		w.Sync()
	}
	repo.Commit(t, testrepos.Change{Branch: "release", Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
	if report := w.Sync(); report.Steps != 1 || report.Changes != 1 {
		t.Errorf("the branch that came back: %+v", report)
	}
}

// TestHeadMovesToAnotherBranch: without a branch in the configuration, pulls
// follow the remote's HEAD, and the units keep their ids.
func TestHeadMovesToAnotherBranch(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	before := w.Targets()
	repo.Commit(t, testrepos.Change{Branch: "trunk", Parents: []string{repo.Head()}, Files: map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Dvě")}})
	must(t, os.WriteFile(filepath.Join(repo.Path(), "HEAD"), []byte("ref: refs/heads/trunk\n"), 0o644))
	repo.Branch(t, testrepos.DefaultBranch, "")
	if report := w.Sync(); report.Changes != 1 {
		t.Errorf("%+v, want one change", report)
	}
	sameIDs(w, before)
}

// TestHistoryIsCut: a remote that became shallow, or lost unreachable commits
// after a force push, is pulled as before. A remote that was shallow from the
// start is imported from the beginning of its history.
func TestHistoryIsCut(t *testing.T) {
	for name, cut := range map[string]func(t *testing.T, dir string){
		"shallow": func(t *testing.T, dir string) {
			gittest.RunGit(t, dir, "fetch", "-q", "--depth=1", "--update-shallow", "file://"+gittest.Clone(t, dir), "+refs/heads/*:refs/heads/*")
			gittest.RunGit(t, dir, "reflog", "expire", "--expire=now", "--all")
			gittest.RunGit(t, dir, "gc", "-q", "--prune=now")
		},
		"collected": func(t *testing.T, dir string) {
			gittest.RunGit(t, dir, "gc", "-q", "--prune=now")
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
			first := repo.Head()
			repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Dvě")}})
			w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
			before := w.Targets()
			// The last commit is replaced by another one, then history is cut.
			repo.Commit(t, testrepos.Change{Parents: []string{first}, Force: true, Files: map[string]string{"po/cs.po": po("One", "Jednou", "Two", "Dvě")}})
			cut(t, repo.Path())
			if report := w.Sync(); report.Changes < 1 {
				t.Errorf("%+v, want the change of the string", report)
			}
			sameIDs(w, before)
			after := w.Targets()
			if text := fmt.Sprint(after); !strings.Contains(text, "Jednou") {
				t.Errorf("units: %s", text)
			}
			fresh := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
			if got, want := servedUnits(fresh), servedUnits(w); got != want {
				t.Errorf("a first import from it differs:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestManyComponentsOneFetch: all components of a repository are read from one
// mirror, with one fetch.
func TestManyComponentsOneFetch(t *testing.T) {
	components := testsize.Of(60, 300, 300)
	files, settings := map[string]string{}, map[string]catalog.ComponentSettings{}
	for i := range components {
		name := fmt.Sprintf("c%03d", i)
		files[name+"/cs.po"] = po("One", "Jedna")
		settings[name] = catalog.ComponentSettings{Filemask: name + "/*.po"}
	}
	repo := repoWith(t, files)
	var requests atomic.Int32
	root, name := filepath.Split(repo.Path())
	host := &cgi.Handler{Path: gittest.NeedGit(t), Args: []string{"http-backend"}, Env: append(gittest.Environment(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		host.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	w := synced(t, server.URL+"/"+name, settings)
	requests.Store(0)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"c007/cs.po": po("One", "Jeden")}})
	if report := w.Sync(); report.Changes != 1 {
		t.Errorf("%+v, want one change", report)
	}
	if n := requests.Load(); n > 5 { // two of git ls-remote, three of git fetch
		t.Errorf("%d requests for a pull of %d components, want the requests of one fetch", n, components)
	}
	requests.Store(0)
	w.Sync()
	if n := requests.Load(); n > 2 {
		t.Errorf("%d requests for a pull that finds nothing, want the requests of one ls-remote", n)
	}
	mirrors, err := fs.Glob(os.DirFS(w.Dir), "mirrors/*")
	if err != nil || len(mirrors) != 1 {
		t.Errorf("mirrors %v, %v, want one", mirrors, err)
	}
}

// benchmarkImport measures the first import of a head, the clone included.
func benchmarkImport(b *testing.B, dir string, settings catalog.ComponentSettings) {
	b.ReportAllocs()
	units := 0
	for b.Loop() {
		b.StopTimer()
		w := catalogtest.NewPuller(b, dir, map[string]catalog.ComponentSettings{"app": settings})
		b.StartTimer()
		w.Sync()
		b.StopTimer()
		units += len(w.Targets())
		w.DB.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(units)/b.Elapsed().Seconds(), "units/s")
}

func BenchmarkImportVimPO(b *testing.B) {
	dir := gittest.Bundle(b, "vim-po")
	benchmarkImport(b, dir, catalog.ComponentSettings{Filemask: "src/po/*.po", NewBase: "src/po/vim.pot", AllowTranslationPropagation: true})
}

func BenchmarkImportGenerated(b *testing.B) {
	const entries, languages = 5000, 12
	b.Run(fmt.Sprintf("entries=%d/languages=%d", entries, languages), func(b *testing.B) {
		g := GenSpec{Entries: entries, Languages: Languages(languages), Plural: 10, Context: 10, Fuzzy: 20, Template: true}.Generate(b)
		benchmarkImport(b, g.Path(), catalog.ComponentSettings{NewBase: "po/generated.pot"})
	})
}

// BenchmarkPullOneString measures a pull of one changed string, the fetch
// included.
func BenchmarkPullOneString(b *testing.B) {
	const entries = 20000
	b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
		g := GenSpec{Entries: entries, Plural: 10, Context: 10, Fuzzy: 20, Template: true}.Generate(b)
		w := synced(b, g.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/generated.pot"}})
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			b.StopTimer()
			g.Edit(b, "cs", n)
			n += 97
			b.StartTimer()
			if r := w.Sync(); r.Changes != 1 {
				b.Fatalf("%d entries, want 1", r.Changes)
			}
		}
	})
}

// BenchmarkPullAfter measures a pull of one commit after a short and after a long
// history.
func BenchmarkPullAfter(b *testing.B) {
	const left = 3000
	for _, history := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("history=%d", history), func(b *testing.B) {
			repo := Project{Components: 1, Languages: 1, Strings: 200, Edits: history + left}.Generate(b)
			n := len(repo.Commits) - left
			rewind := func() {
				if err := repo.Rewind(n); err != nil {
					b.Fatal(err)
				}
			}
			rewind()
			w := synced(b, repo.Path(), map[string]catalog.ComponentSettings{"app": {Filemask: "app-000/*.po", NewBase: "app-000/messages.pot"}})
			for b.Loop() {
				b.StopTimer()
				n++
				rewind()
				b.StartTimer()
				w.Sync()
			}
		})
	}
}
