package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// database is the path of the world's store.
func (w *world) database() string { return filepath.Join(w.dir, "repoglot.db") }

// reopenWith opens the store anew, with a fault or with "" without one.
func (w *world) reopenWith(pragma string) {
	w.t.Helper()
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.fault = pragma
	w.open()
}

// pages is the length of the world's database.
func (w *world) pages() (n int) {
	w.t.Helper()
	db, err := sql.Open("sqlite", w.database())
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(w.t.Context(), "PRAGMA page_count").Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// syncFails pulls and wants an error with a text in it.
func (w *world) syncFails(want string) {
	w.t.Helper()
	if _, err := w.syncer.Sync(w.t.Context(), w.branch); err == nil || !strings.Contains(err.Error(), want) {
		w.t.Errorf("the pull ended with %v, want %q in it", err, want)
	}
}

// withoutFailures takes the entries 22 out of byComponent, which a pull that fails
// may or may not be able to leave.
func withoutFailures(lists map[string]string) map[string]string {
	for slug, list := range lists {
		var kept strings.Builder
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, fmt.Sprintf("%d ", catalog.ActionFailedMerge)) {
				kept.WriteString(line)
			}
		}
		lists[slug] = kept.String()
	}
	return lists
}

const (
	fullDisk = "the disk is full"
	locked   = "locked by another process"
	readOnly = "cannot be written"
)

// growing is a repository whose every commit adds strings to all languages and
// changes others, with its commits, the first one first.
func growing(t *testing.T, commits int) (*testrepos.Repo, []string) {
	t.Helper()
	repo := testrepos.Empty(t)
	var hashes []string
	for c := range commits {
		files := map[string]string{}
		for _, language := range []string{"cs", "de", "fr"} {
			var pairs []string
			for n := range 12 * (c + 1) {
				version := c / (1 + n%5) // of every fifth string each time, of others less often
				pairs = append(pairs, fmt.Sprintf("String %d", n), fmt.Sprintf("%s %d %d %s", language, n, version, strings.Repeat("text ", 20)))
			}
			files["po/"+language+".po"] = po(pairs...)
		}
		hashes = append(hashes, repo.Commit(t, testrepos.Change{Branch: "main", Files: files, Author: fmt.Sprintf("A%d <a%d@example.org>", c%3, c%3)}))
	}
	return repo, hashes
}

var growingSettings = map[string]catalog.ComponentSettings{
	"all": {History: catalog.History{Full: true}},
	"few": {Filemask: "po/*.po", LanguageRegex: "^(cs|en)$", History: catalog.History{Full: true}},
}

// TestFullDiskInReplay lets the database run out of room at many places of a
// replay: the pull says so, and the next one ends with what an uninterrupted
// one stores, ids and times included.
func TestFullDiskInReplay(t *testing.T) {
	t.Parallel()
	repo, _ := growing(t, 12)
	const batch = 300
	whole := newWorld(t, repo.URL(), growingSettings)
	empty := whole.pages()
	whole.syncer.SetBatch(batch)
	whole.sync()
	want := whole.everything()
	full := whole.pages()
	if full < empty+100 {
		t.Fatalf("a replay takes %d pages more: too few to run out of", full-empty)
	}
	tries := 16
	if underRace {
		tries = 2
	}
	for n := range tries {
		limit := empty + n*(full-empty-1)/tries
		t.Run(fmt.Sprintf("pages=%d", limit), func(t *testing.T) {
			w := newWorld(t, repo.URL(), growingSettings)
			w.reopenWith(fmt.Sprintf("max_page_count(%d)", limit))
			w.syncer.SetBatch(batch)
			for range 2 { // it stays full for a while
				w.syncFails(fullDisk)
			}
			w.reopenWith("")
			w.syncer.SetBatch(batch / 2)
			w.sync()
			if got := w.everything(); got != want {
				t.Errorf("(-whole +after a full disk):\n%.5000s", cmp.Diff(want, got))
			}
		})
	}
}

// TestFullDiskInPulls is the same for pulls of many commits each.
func TestFullDiskInPulls(t *testing.T) {
	t.Parallel()
	repo, chain := growing(t, 12)
	begin := func(t *testing.T) *world {
		repo.ForcePush(t, "main", chain[4])
		w := newWorld(t, repo.URL(), growingSettings)
		w.sync()
		repo.ForcePush(t, "main", chain[11])
		return w
	}
	whole := begin(t)
	before := whole.pages()
	whole.sync()
	after := whole.pages()
	if after < before+50 {
		t.Fatalf("the pulls take %d pages more: too few to run out of", after-before)
	}
	tries := 12
	if underRace {
		tries = 2
	}
	for n := range tries {
		limit := before + n*(after-before-1)/tries
		t.Run(fmt.Sprintf("pages=%d", limit), func(t *testing.T) {
			w := begin(t)
			w.reopenWith(fmt.Sprintf("max_page_count(%d)", limit))
			w.syncFails(fullDisk)
			w.likePart(whole)
			w.reopenWith("")
			w.sync()
			w.like(whole)
		})
	}
}

// like wants the entries and units of another world, but for ids and times and
// for entries that tell of pulls that failed.
func (w *world) like(whole *world) {
	w.t.Helper()
	if diff := cmp.Diff(withoutFailures(whole.byComponent()), withoutFailures(w.byComponent())); diff != "" {
		w.t.Errorf("entries (-whole +interrupted):\n%.5000s", diff)
	}
	if diff := cmp.Diff(whole.essence(), w.essence()); diff != "" {
		w.t.Errorf("units (-whole +interrupted):\n%.5000s", diff)
	}
	w.orderedTimes()
	ledger, units := map[int64]string{}, map[int64]string{}
	w.applyLedger(ledger)
	w.targets(units)
	if diff := cmp.Diff(units, ledger); diff != "" {
		w.t.Errorf("the entries do not lead to the units (-units +ledger):\n%.5000s", diff)
	}
}

// likePart wants a beginning of the entries of another world, which lead to the
// units that there are.
func (w *world) likePart(whole *world) {
	w.t.Helper()
	all := withoutFailures(whole.byComponent())
	for slug, list := range withoutFailures(w.byComponent()) {
		if !strings.HasPrefix(all[slug], list) {
			w.t.Errorf("%s: the entries are not the first ones of an uninterrupted run:\n%s", slug, cmp.Diff(all[slug], list))
		}
	}
	ledger, units := map[int64]string{}, map[int64]string{}
	w.applyLedger(ledger)
	w.targets(units)
	if diff := cmp.Diff(units, ledger); diff != "" {
		w.t.Errorf("half-done: the entries do not lead to the units (-units +ledger):\n%.5000s", diff)
	}
}

// TestLockedDatabase lets another process hold the database's lock when a replay
// or a pull is under way.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	p := playLong(t, 41, 30)
	chain := p.firstParents()
	whole := newWorld(t, p.repo.URL(), withHistory(historySettings))
	whole.syncer.SetBatch(10)
	whole.sync()
	for _, at := range []int{1, 8, 15} {
		t.Run(fmt.Sprintf("replayed=%d", at), func(t *testing.T) {
			w := newWorld(t, p.repo.URL(), withHistory(historySettings))
			w.impatient()
			w.syncer.SetBatch(10)
			var release func()
			n := 0
			w.progress = func() {
				if n++; n == at {
					release = w.lock()
				}
			}
			w.syncFails(locked)
			w.progress = nil
			if release == nil {
				t.Fatal("the replay ended before it was locked")
			}
			release()
			w.sync()
			w.like(whole)
			if got := w.everything(); got != whole.everything() {
				t.Errorf("(-whole +locked):\n%.5000s", cmp.Diff(whole.everything(), got))
			}
		})
	}
	t.Run("pull", func(t *testing.T) {
		p.repo.ForcePush(t, "main", chain[len(chain)/2].hash)
		w := newWorld(t, p.repo.URL(), withHistory(historySettings))
		w.sync()
		p.repo.ForcePush(t, "main", p.head.hash)
		pulled := newWorld(t, p.repo.URL(), withHistory(historySettings))
		pulled.sync()
		w.impatient()
		release := w.lock()
		w.syncFails(locked)
		release()
		w.sync()
		w.like(pulled)
	})
}

// impatient opens the store anew with a short time to wait for locks.
func (w *world) impatient() {
	w.t.Helper()
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.busy = 5 * time.Millisecond
	w.open()
}

// lock takes the lock of the database as another process would.
func (w *world) lock() (release func()) {
	w.t.Helper()
	other, err := sql.Open("sqlite", w.database())
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := other.Conn(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	// A replay may be storing at this moment: this process waits for its turn.
	for _, query := range []string{"PRAGMA busy_timeout = 30000", "BEGIN IMMEDIATE"} {
		if _, err := conn.ExecContext(w.t.Context(), query); err != nil {
			w.t.Fatal(err)
		}
	}
	return func() {
		w.t.Helper()
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			w.t.Error(err)
		}
		if err := other.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// TestReadOnlyDatabase goes on with a replay, and with pulls, of which a part is
// done when the file cannot be written any more.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	p := playLong(t, 51, 30)
	chain := p.firstParents()
	whole := newWorld(t, p.repo.URL(), withHistory(historySettings))
	whole.syncer.SetBatch(10)
	whole.sync()
	t.Run("replay", func(t *testing.T) {
		w := newWorld(t, p.repo.URL(), withHistory(historySettings))
		w.syncer.SetBatch(10)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		w.progress = func() {
			if n++; n == 12 {
				cancel()
			}
		}
		if _, err := w.syncer.Sync(ctx, w.branch); err == nil {
			t.Fatal("the pull was not cut")
		}
		w.progress = nil
		w.likePart(whole)
		before := w.everything()
		w.reopenWith("query_only(1)")
		w.syncFails(readOnly)
		if diff := cmp.Diff(before, w.everything()); diff != "" {
			t.Errorf("something was written:\n%s", diff)
		}
		w.reopenWith("")
		w.sync()
		if got := w.everything(); got != whole.everything() {
			t.Errorf("(-whole +read-only):\n%.5000s", cmp.Diff(whole.everything(), got))
		}
	})
	t.Run("pull", func(t *testing.T) {
		p.repo.ForcePush(t, "main", chain[len(chain)/2].hash)
		w := newWorld(t, p.repo.URL(), withHistory(historySettings))
		w.sync()
		p.repo.ForcePush(t, "main", p.head.hash)
		w.reopenWith("query_only(1)")
		before := w.everything()
		w.syncFails(readOnly)
		if diff := cmp.Diff(before, w.everything()); diff != "" {
			t.Errorf("something was written:\n%s", diff)
		}
		w.reopenWith("")
		w.sync()
		pulled := newWorld(t, p.repo.URL(), withHistory(historySettings))
		pulled.sync()
		w.like(pulled)
	})
}

// TestFailureAndItsEntry: a pull that fails when the database takes nothing
// leaves neither the problem nor entry 22; the next one that fails leaves both,
// once.
func TestFailureAndItsEntry(t *testing.T) {
	t.Parallel()
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := newWorld(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.sync()
	_, last := w.changesAfter(0)
	away := repo.Dir + ".away"
	if err := os.Rename(repo.Dir, away); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		var problem string
		w.read(func(ctx context.Context, s *store.Snapshot) error {
			list, err := s.Components(ctx, "demo")
			problem = list[0].Problem
			return err
		})
		n := 0
		w.eachChange(last, func(c *catalog.Change) {
			if c.Action == catalog.ActionFailedMerge && c.Event["error"] == problem {
				n++
			}
		})
		return fmt.Sprint(problem != "", " ", n)
	}
	w.reopenWith("query_only(1)")
	w.syncFails(readOnly)
	if got := state(); got != "false 0" {
		t.Errorf("problem and entries while nothing can be written: %s", got)
	}
	w.reopenWith("")
	for range 2 {
		w.syncFails("")
		if got := state(); got != "true 1" {
			t.Errorf("problem and entries: %s, want one of each", got)
		}
	}
	if err := os.Rename(away, repo.Dir); err != nil {
		t.Fatal(err)
	}
	w.sync()
	if got := state(); got != "false 0" { // no entry has an empty error
		t.Errorf("after a pull that went well: %s", got)
	}
}
