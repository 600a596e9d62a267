package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// The variables that make a test binary a process that replays and kills itself.
const (
	childDir   = "REPOGLOT_TEST_CHILD_DIR"   // its folder
	childData  = "REPOGLOT_TEST_CHILD_DATA"  // its database
	childRepo  = "REPOGLOT_TEST_CHILD_REPO"  // URL of the repository
	childPoll  = "REPOGLOT_TEST_CHILD_POLL"  // die after so many calls of Done on the context; 0: do not
	childDone  = "REPOGLOT_TEST_CHILD_DONE"  // die after so many commits; 0: do not
	childPulls = "REPOGLOT_TEST_CHILD_PULLS" // what it pulls; see childSettings
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-bare" {
		fmt.Fprintln(os.Stderr, serveBare(os.Args[2], os.Stdout))
		os.Exit(1)
	}
	given.flags()
	if os.Getenv(childDir) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childTime is the clock of all child processes, so that their stores can be
// compared.
func childTime() time.Time { return catalogtest.FirstClock() }

// child pulls once. It kills itself with SIGKILL, as from outside: nothing is
// closed, nothing is reported.
func child() error {
	die := func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(fmt.Sprint("still alive: ", err)) // a second death is no success either
	}
	place, err := strconv.ParseInt(os.Getenv(childPoll), 10, 64)
	if err != nil {
		return err
	}
	boundary, err := strconv.Atoi(os.Getenv(childDone))
	if err != nil {
		return err
	}
	dir := os.Getenv(childDir)
	db, err := store.Open(context.Background(), os.Getenv(childData), store.Options{})
	if err != nil {
		return err
	}
	table, err := lang.New()
	if err != nil {
		return err
	}
	var done atomic.Int64
	ctx := newCountdown(context.Background(), place)
	ctx.cancel = func() {
		fmt.Println("at", done.Load())
		die()
	}
	s := ingest.New(ingest.Options{
		DB: db, Languages: table, MirrorDir: filepath.Join(dir, "mirrors"), Now: childTime,
		Progress: func(_ string, p ingest.Progress) {
			done.Store(int64(p.Done))
			if boundary > 0 && p.Done >= boundary {
				fmt.Println("at", p.Done)
				die()
			}
		},
	})
	s.SetBatch(12)
	branch, _, _ := catalogtest.BranchOf(os.Getenv(childRepo), "", childSettings(os.Getenv(childPulls)))
	if _, err := s.Sync(ctx, branch); err != nil {
		return err
	}
	fmt.Println("asked", -ctx.left.Load())
	return db.Close()
}

// childSettings are the components that a child pulls.
func childSettings(pulls string) map[string]catalog.ComponentSettings {
	switch pulls {
	case "suggestions":
		return suggestingSettings()
	case "import":
		return projectSettings(killedProject().Components)
	case "replay":
		return withHistory(projectSettings(killedProject().Components))
	}
	return withHistory(historySettings)
}

// killCounts counts kills by where they hit: the commit, and what was stored.
type killCounts struct {
	mu                sync.Mutex
	kills, midway     int
	commits, standing map[string]int
}

// run lets a child pull in a directory. killed says that it killed itself as
// planned.
func (k *killCounts) run(t *testing.T, w *cutter, place int64, boundary int) (killed bool, asked int64) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childDir+"="+w.Dir, childData+"="+w.Database(), childRepo+"="+w.like.Branch.Remote.URL,
		fmt.Sprintf("%s=%d", childPoll, place), fmt.Sprintf("%s=%d", childDone, boundary))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		// It may have ended a moment before the signal came, whichever was said first.
		_, last, _ := strings.Cut("\n"+out.String(), "\nasked ")
		last, _, _ = strings.Cut(last, "\n")
		if asked, err = strconv.ParseInt(strings.TrimSpace(last), 10, 64); err != nil {
			t.Fatalf("%v in %q", err, out.String())
		}
		return false, asked
	case !errors.As(err, &exit) || exit.ProcessState.Exited():
		t.Fatalf("the pull failed by itself: %v\n%s", err, errs.String())
	}
	head, imported := w.progress(t)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kills++
	k.commits[strings.TrimSpace(out.String())]++
	k.standing[head]++
	if head != "" && !imported {
		k.midway++
	}
	return true, 0
}

// progress returns the head of the first component of a store, and its entries.
func (c *cutter) progress(t *testing.T) (head string, imported bool) {
	t.Helper()
	db, err := store.Open(t.Context(), c.Database(), store.Options{})
	must(t, err)
	err = db.Read(t.Context(), func(ctx context.Context, s *store.Snapshot) error {
		list, err := s.Components(ctx, "demo")
		if head, imported = list[0].Head, list[0].Imported; head != "" {
			head = fmt.Sprint(head, " ", list[0].Changes)
		}
		return err
	})
	must(t, errors.Join(err, db.Close()))
	return head, imported
}

// TestKilled kills processes that replay, at night 600 of them, at commits and at random
// points, within transactions too, and lets the next ones go on. In the
// end the API serves, byte for byte, what it serves after an undisturbed
// replay: units, statistics, entries, their ids and times.
func TestKilled(t *testing.T) {
	kills, every := testsize.Of(8, 40, 600), testsize.Of(8, 3, 1)
	p := playLong(t, 11, 50)
	// The mirror is made before, so that a child only replays.
	whole := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	commits := 0
	whole.Progress = func() { commits++ }
	whole.Sync()
	whole.DB.Close()
	all := killCounts{commits: map[string]int{}, standing: map[string]int{}}
	undisturbed := newCutter(t, whole)
	killed, asked := all.run(t, undisturbed, 0, 0)
	if killed || asked < 500 || commits < 20 {
		t.Fatalf("%v, %d commits, %d places: the test kills nothing", killed, commits, asked)
	}
	want := undisturbed.served(t)
	compare := func(t *testing.T, w *cutter, name string) {
		t.Helper()
		equal(t, want, w.served(t), "%s (-undisturbed +killed)", name)
	}
	t.Run("boundaries", func(t *testing.T) {
		t.Parallel()
		w := newCutter(t, whole)
		for k := 1; k <= commits; k += every {
			all.run(t, w, 0, k)
		}
		if killed, _ := all.run(t, w, 0, 0); killed {
			t.Error("the last one was not to be killed")
		}
		compare(t, w, "killed at each commit")
	})
	var left atomic.Int64
	left.Store(int64(kills))
	for part := range 4 {
		t.Run(fmt.Sprintf("random=%d", part), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(part), 9))
			for n := 0; left.Load() > 0 && !t.Failed(); n++ {
				w := newCutter(t, whole)
				for going := true; going; {
					going, _ = all.run(t, w, 1+random.Int64N(asked*2/3), 0)
					if going {
						left.Add(-1)
					}
				}
				compare(t, w, fmt.Sprintf("chain %d", n))
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d kills, %d of them with a part of the history stored; %d commits, %d stored states", all.kills, all.midway, len(all.commits), len(all.standing))
		if all.kills < kills || all.midway < all.kills/3 || len(all.standing) < 8 && every < 8 || len(all.commits) < commits/2/every {
			t.Errorf("too few kills, or in too few places: %v", slices.Sorted(maps.Keys(all.standing)))
		}
	})
}

// served returns the answers of the API about everything that a replay wrote,
// by URL.
func (c *cutter) served(t *testing.T) map[string]string {
	t.Helper()
	db, err := store.Open(t.Context(), c.Database(), store.Options{})
	must(t, err)
	defer db.Close()
	table, err := lang.New()
	must(t, err)
	handler := api.New(api.Options{DB: db, Languages: table, Now: childTime})
	bodies := map[string]string{}
	const base = "http://l10n.example.org"
	var follow func(url string)
	follow = func(url string) {
		if _, known := bodies[url]; known || url == "" {
			return
		}
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+url, nil))
		if rec.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", url, rec.Code, rec.Body)
		}
		bodies[url] = rec.Body.String()
		var page struct {
			Next    string
			Results []struct {
				URL  string
				User string
			}
		}
		must(t, json.Unmarshal(rec.Body.Bytes(), &page))
		follow(strings.TrimPrefix(page.Next, base))
		for _, r := range page.Results {
			follow(strings.TrimPrefix(r.User, base))
			if path, _, _ := strings.Cut(strings.TrimPrefix(r.URL, base), "?"); strings.HasPrefix(path, "/api/translations/") {
				for _, list := range []string{"", "units/?page_size=10000", "changes/?page_size=1000", "statistics/history/?page_size=1000"} {
					follow(path + list)
				}
			}
		}
	}
	for _, component := range c.like.Branch.Components {
		path := "/api/components/demo/" + component.Spec.Slug + "/"
		for _, list := range []string{"", "translations/?page_size=1000", "changes/?page_size=1000&ordering=-id", "statistics/history/?interval=week&page_size=1000"} {
			follow(path + list)
		}
	}
	follow("/api/projects/demo/statistics/")
	follow("/api/projects/demo/changes/?page_size=1000")
	follow("/api/projects/demo/statistics/history/?page_size=1000")
	follow("/api/changes/?page_size=500")
	follow("/api/changes/?page_size=500&action=63&action=25")
	if len(bodies) < 40 {
		t.Fatalf("only %d answers to compare", len(bodies))
	}
	return bodies
}
