package ingest_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// playFor makes a history of a number of pushes.
func playFor(t testing.TB, seed uint64, pushes int) *player {
	p := newPlayer(t, seed)
	for range pushes {
		p.play()
	}
	return p
}

// playLong makes a history whose first-parent chain is long.
func playLong(t testing.TB, seed uint64, pushes int) *player {
	for ; ; seed++ {
		p := playFor(t, seed, pushes)
		if len(p.firstParents()) > pushes/2 {
			return p
		}
	}
}

// firstParents returns the chain that a replay walks, the first commit first.
func (p *player) firstParents() []*modelCommit {
	var chain []*modelCommit
	for c := p.head; ; c = c.parents[0] {
		chain = append([]*modelCommit{c}, chain...)
		if len(c.parents) == 0 {
			return chain
		}
	}
}

// TestReplayIsPulling replays random histories and pulls them commit by commit:
// units and entries must be the same, except ids and times, and the entries
// must lead to the units.
func TestReplayIsPulling(t *testing.T) {
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
		p := playFor(t, seed, 25)
		p.replayIsPulling(t, withHistory(historySettings))
	})
}

// replayIsPulling compares a replay with pulls of one commit each.
func (p *player) replayIsPulling(t *testing.T, settings map[string]catalog.ComponentSettings) {
	replayed := catalogtest.NewPuller(t, p.repo.URL(), settings)
	replayed.Syncer.SetBatch(1 + p.IntN(60))
	replayed.Sync()
	entriesLeadToUnits(replayed, map[int64]string{})
	chain := p.firstParents()
	p.repo.Branch(t, "main", chain[0].hash)
	pulled := catalogtest.NewPuller(t, p.repo.URL(), settings)
	for _, c := range chain {
		p.repo.Branch(t, "main", c.hash)
		pulled.Sync()
	}
	compareWhole(pulled, replayed)
	equal(t, changesByComponent(pulled), changesByComponent(replayed), "entries differ (-pulls +replay)")
	orderedTimes(replayed)
}

// orderedTimes checks that no entry is older than the previous one of its
// component or younger than the import, and that all times except those of
// pulls are whole seconds of commits.
func orderedTimes(w *catalogtest.Puller) {
	last := map[string]time.Time{}
	w.EachChange(0, func(c *catalog.Change) {
		if c.Timestamp.Before(last[c.Component]) || c.Timestamp.After(w.Clock) {
			w.TB.Errorf("entry %d of %s is of %s, after one of %s", c.ID, c.Component, c.Timestamp, last[c.Component])
		}
		last[c.Component] = c.Timestamp
	})
}

// TestReplayBatches: the bounds of transactions do not change what is stored.
func TestReplayBatches(t *testing.T) {
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
		p := playFor(t, seed, 30)
		var first string
		for _, batch := range []int{1 << 20, 1, 13} {
			w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
			w.Syncer.SetBatch(batch)
			if batch == 13 {
				w.Syncer.SetTables(2000) // most are forgotten and read again
			}
			w.Sync()
			got := dumpAll(w)
			first = cmp.Or(first, got)
			equal(t, first, got, "batches of %d (-one +%[1]d)", batch)
		}
	})
}

// TestReplayAhead: how much is read ahead does not change what is stored, even
// if it is so little that most of a commit's files are read when it is applied.
func TestReplayAhead(t *testing.T) {
	p := playFor(t, *firstHistory, 30)
	var first string
	for _, bounds := range [][2]int64{{1 << 20, 1 << 20}, {1, 1}, {3000, 1500}, {1, 1 << 20}} {
		w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
		w.Syncer.SetBatch(13)
		w.Syncer.SetAhead(bounds[0], bounds[1])
		w.Sync()
		got := dumpAll(w)
		first = cmp.Or(first, got)
		equal(t, first, got, "bounds %v (-first +these)", bounds)
	}
}

// TestReplayTogether: components that are replayed in one walk get the same as
// components that are replayed alone, except ids of changes and translations.
func TestReplayTogether(t *testing.T) {
	p := playFor(t, 5, 30)
	together := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	report := together.Sync()
	if report.Steps != 1 {
		t.Errorf("%d transactions, want 1", report.Steps)
	}
	lists := map[string]string{}
	for slug, settings := range historySettings {
		alone := synced(t, p.repo.URL(), withHistory(map[string]catalog.ComponentSettings{slug: settings}))
		lists[slug] = changesByComponent(alone)[slug]
	}
	equal(t, lists, changesByComponent(together), "(-alone +together)")
}

// TestReplayParts: components that are replayed in several walks get the same as
// in one, and a component has all of its history before the next one has any.
func TestReplayParts(t *testing.T) {
	p := playFor(t, 5, 30)
	together := synced(t, p.repo.URL(), withHistory(historySettings))
	w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	w.Syncer.SetPart(1)
	if report := w.Sync(); report.Steps != len(historySettings) {
		t.Errorf("%d transactions, want one a component", report.Steps)
	}
	equal(t, changesByComponent(together), changesByComponent(w), "(-together +parts)")
	equal(t, servedUnits(together), servedUnits(w), "(-together +parts)")
	seen := map[string]bool{}
	last := ""
	w.EachChange(0, func(ch *catalog.Change) {
		if ch.Component != last && seen[ch.Component] {
			t.Fatalf("entry %d: component %s goes on after another one", ch.ID, ch.Component)
		}
		last = ch.Component
		seen[last] = true
	})
	if len(seen) != len(historySettings) {
		t.Errorf("%d components have entries", len(seen))
	}
}

// countdown is a context that is cancelled after a number of calls of Done, so
// that a test can cut a replay at every point.
type countdown struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func newCountdown(parent context.Context, n int64) *countdown {
	ctx, cancel := context.WithCancel(parent)
	c := &countdown{Context: ctx, cancel: cancel}
	c.left.Store(n)
	return c
}

func (c *countdown) Done() <-chan struct{} { c.count(); return c.Context.Done() }
func (c *countdown) Err() error            { c.count(); return c.Context.Err() }

func (c *countdown) count() {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
}

// TestReplayCut cuts replays of one history at commits, at night at every one, and at
// other points, within transactions too, and lets them go on as a new process would.
// The result must be, byte for byte, what an uninterrupted replay stores.
func TestReplayCut(t *testing.T) { testReplayCut(t, testsize.Of(20, 40, 3000), 0) }

// TestReplayPartsCut cuts replays whose components follow each other.
func TestReplayPartsCut(t *testing.T) { testReplayCut(t, testsize.Of(8, 16, 900), 1) }

func testReplayCut(t *testing.T, places int, part int64) {
	p := playLong(t, 11, 50)
	whole := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	whole.Syncer.SetBatch(12)
	if part > 0 {
		whole.Syncer.SetPart(part)
	}
	commits := 0
	whole.Progress = func() { commits++ }
	ctx := newCountdown(t.Context(), 1<<40)
	steps, err := whole.Syncer.Sync(ctx, whole.Branch)
	must(t, err)
	if steps.Steps < 8 || commits < 20 {
		t.Fatalf("%d steps, %d commits: the test cuts nothing", steps.Steps, commits)
	}
	asked := 1<<40 - ctx.left.Load()
	want := dumpAll(whole)
	whole.DB.Close()
	t.Logf("%d commits, %d steps, %d places", commits, steps.Steps, asked)
	random := rand.New(rand.NewPCG(3, 4))
	every := testsize.Of(6, 3, 1)
	t.Run("commits", func(t *testing.T) {
		t.Parallel()
		w := newCutter(t, whole)
		w.part = part
		for k := 1; k <= commits; k += every {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			w.begin(want, func() {
				if n++; n == k {
					cancel()
				}
			})
			w.finish(ctx, fmt.Sprintf("commit %d", k))
			cancel()
		}
	})
	for n := range 4 {
		cuts := make([]int64, places/4)
		for i := range cuts {
			cuts[i] = 1 + random.Int64N(asked)
		}
		t.Run(fmt.Sprintf("random=%d", n), func(t *testing.T) {
			t.Parallel()
			w := newCutter(t, whole)
			w.part = part
			for _, at := range cuts {
				w.begin(want, nil)
				ctx := newCountdown(t.Context(), at)
				w.finish(ctx, fmt.Sprintf("place %d", at))
				ctx.cancel()
			}
		})
	}
}

// cutter plays one replay again and again, with one mirror.
type cutter struct {
	*catalogtest.Puller
	like *catalogtest.Puller
	want string
	runs int
	part int64       // for SetPart; 0: as by default
	db0  *savedStore // the store before anything is pulled
}

func newCutter(t *testing.T, like *catalogtest.Puller) *cutter {
	w := &cutter{Puller: catalogtest.PullerAt(t, t.TempDir()), like: like}
	must(t, os.CopyFS(filepath.Join(w.Dir, "mirrors"), os.DirFS(filepath.Join(like.Dir, "mirrors"))))
	w.Open()
	settings := map[string]catalog.ComponentSettings{}
	for _, c := range like.Branch.Components {
		settings[c.Spec.Slug] = c.Spec.Settings
	}
	w.Configure(like.Branch.Remote.URL, "", settings)
	w.DB.Close()
	w.db0 = save(w.Store)
	return w
}

// copyOf is a cutter with a copy of a closed store and its mirrors.
func copyOf(t *testing.T, like *catalogtest.Puller) *cutter {
	w := &cutter{Puller: catalogtest.PullerAt(t, t.TempDir()), like: like}
	w.Clock, w.Branch = like.Clock, like.Branch
	must(t, os.CopyFS(w.Dir, os.DirFS(like.Dir)))
	if pgtest.Chosen() {
		restore(w.Store, save(like.Store))
	}
	return w
}

// begin opens an empty store.
func (c *cutter) begin(want string, progress func()) {
	c.want, c.Progress, c.Clock = want, progress, catalogtest.FirstClock()
	restore(c.Store, c.db0)
	c.Open()
	c.setBounds(12)
}

func (c *cutter) setBounds(batch int) {
	c.Syncer.SetBatch(batch)
	if c.part > 0 {
		c.Syncer.SetPart(c.part)
	}
}

// finish pulls with a context that ends early, then to the end without.
func (c *cutter) finish(ctx context.Context, place string) {
	c.TB.Helper()
	c.runs++
	_, err := c.Syncer.Sync(ctx, c.Branch)
	if err != nil && ctx.Err() == nil {
		c.TB.Errorf("%s: %v", place, err)
	}
	c.DB.Close()
	c.Progress = nil
	c.Open()
	c.setBounds(7 + c.runs%20) // elsewhere than before
	c.Sync()
	if !equal(c.TB, c.want, dumpAll(c), "cut at %s (-whole +cut)", place) {
		c.TB.FailNow()
	}
	c.DB.Close()
}

// TestReplayReconfigured changes the settings, the repository or the branch while a
// replay has only begun: what is stored is compared with the commit that was reached,
// the rest of the history has the entries of a replay with the new settings, and the
// entries lead to the units.
func TestReplayReconfigured(t *testing.T) {
	for name, change := range map[string]func(p *player, app *catalog.ComponentSettings) (repo, branch string){
		"new_base": func(_ *player, app *catalog.ComponentSettings) (string, string) { app.NewBase = ""; return "", "" },
		"filemask": func(_ *player, app *catalog.ComponentSettings) (string, string) {
			app.Filemask = "po/c*.po"
			return "", ""
		},
		"check_flags": func(_ *player, app *catalog.ComponentSettings) (string, string) {
			app.CheckFlags = "ignore-end-stop"
			return "", ""
		},
		"branch": func(p *player, _ *catalog.ComponentSettings) (string, string) {
			p.repo.Branch(p.t, "other", p.head.hash)
			return "", "other"
		},
		"repo": func(p *player, _ *catalog.ComponentSettings) (string, string) {
			return gittest.Clone(t, p.repo.Dir), ""
		},
		"both": func(p *player, app *catalog.ComponentSettings) (string, string) {
			app.LanguageRegex = "^[cd].$"
			return gittest.Clone(t, p.repo.Dir), ""
		},
	} {
		for seed := range max(played()/4, 1) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				t.Parallel()
				p := playLong(t, 11+seed, 30)
				w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
				w.Syncer.SetBatch(10)
				cutAt(w, 6+p.IntN(9))
				cut := headOf(w, "app")
				changed := withHistory(historySettings)
				app := changed["app"]
				repo, branch := change(p, &app)
				changed["app"] = app
				w.Configure(cmp.Or(repo, p.repo.URL()), branch, changed)
				w.Sync()
				entriesLeadToUnits(w, map[int64]string{})
				fresh := synced(t, p.repo.URL(), changed)
				equal(t, servedUnits(fresh), servedUnits(w), "units (-fresh +reconfigured)")
				w.Verify() // the bytes of files, too, which the replay had left for its end
				equal(t, p.entriesAfter(fresh, cut), p.entriesAfter(w, cut), "entries after %s (-fresh +reconfigured)", cut)
			})
		}
	}
}

// headOf is the commit that a component is at.
func headOf(w *catalogtest.Puller, slug string) (head string) {
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		if c.Slug == slug {
			head = c.Head
		}
		return nil
	})
	return head
}

// entriesAfter lists the entries about commits that are no ancestors of a commit.
func (p *player) entriesAfter(w *catalogtest.Puller, commit string) (list []string) {
	before := p.byHash[commit].ancestors()
	w.EachChange(0, func(c *catalog.Change) {
		if of := p.byHash[c.Commit]; of != nil && !before[of] {
			list = append(list, fmt.Sprintf("%d %s/%s %s %s %q %q %d %q %d %q %v", c.Action, c.Component, c.Language, c.Username, c.Commit,
				c.Source, c.Context, c.OldState, c.Old, c.State, c.Target, c.Event))
		}
	})
	slices.Sort(list)
	return list
}

// TestReplayRewritten: the history of a replay that has only begun is replaced by one
// commit, and the mirror is gone: all files are stored at the end, also those that are
// as they were at the commit that the replay had reached.
func TestReplayRewritten(t *testing.T) {
	p := playLong(t, 11, 30)
	w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	w.Syncer.SetBatch(10)
	cutAt(w, 15)
	must(t, os.RemoveAll(filepath.Join(w.Dir, "mirrors")))
	all := gittest.RunGit(t, p.repo.Dir, "commit-tree", "-m", "all", "HEAD^{tree}")
	main := gittest.RunGit(t, p.repo.Dir, "symbolic-ref", "HEAD")
	for _, ref := range strings.Fields(gittest.RunGit(t, p.repo.Dir, "for-each-ref", "--format=%(refname)")) {
		gittest.RunGit(t, p.repo.Dir, "update-ref", "-d", ref)
	}
	gittest.RunGit(t, p.repo.Dir, "update-ref", main, all)
	gittest.RunGit(t, p.repo.Dir, "reflog", "expire", "--expire=now", "--all")
	gittest.RunGit(t, p.repo.Dir, "gc", "--quiet", "--prune=now")
	w.Sync()
	w.Verify()
}

// TestReplayDisturbed: a webhook, and a pull that fails, while a replay has
// only begun, neither end it nor add entries of the present to its past.
func TestReplayDisturbed(t *testing.T) {
	p := playLong(t, 11, 30)
	whole := synced(t, p.repo.URL(), withHistory(historySettings))
	w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	w.Syncer.SetBatch(5)
	cutAt(w, 12)
	moved := p.repo.Dir + ".away"
	must(t, os.Rename(p.repo.Dir, moved))
	if _, err := w.Syncer.Sync(t.Context(), w.Branch); err == nil {
		t.Fatal("a pull of nothing went well")
	}
	must(t, os.Rename(moved, p.repo.Dir))
	var ids []int64
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		list, err := s.Components(ctx, "demo")
		for _, c := range list {
			if ids = append(ids, c.ID); c.Imported || c.Head == "" || !c.Problem.Failed() {
				t.Errorf("%s: imported %v, head %q, problem %q", c.Slug, c.Imported, c.Head, c.Problem.Words)
			}
		}
		return err
	})
	must(t, w.Syncer.RecordHook(t.Context(), w.Branch, ids, map[string]string{"service": "test"}))
	w.Sync()
	equal(t, dumpAll(whole), dumpAll(w), "(-whole +disturbed)")
}
