package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// reopenWith opens the store again, with a PRAGMA that makes a fault, or
// without.
func reopenWith(w *catalogtest.Puller, pragma ...string) {
	w.TB.Helper()
	w.Reopen(func(o *store.Options) { o.Pragmas = pragma })
}

// databasePages returns the length of the database in pages.
func databasePages(w *catalogtest.Puller) (n int) {
	w.TB.Helper()
	db, err := sql.Open("sqlite", w.Database())
	must(w.TB, err)
	defer db.Close()
	must(w.TB, db.QueryRowContext(w.TB.Context(), "PRAGMA page_count").Scan(&n))
	return n
}

// withoutFailures removes the entries 22 from byComponent: a pull that fails
// may or may not be able to store one.
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

// growing makes a repository whose commits all add strings to all languages and
// change others. It returns the commits, the first one first.
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

// TestFullDiskInReplay lets the database run out of space at many points of a
// replay. The pull reports it, and the next one stores what an uninterrupted
// replay stores, ids and times included.
func TestFullDiskInReplay(t *testing.T) {
	pgtest.SQLiteOnly(t, "it makes the fault with a pragma")
	t.Parallel()
	repo, _ := growing(t, 12)
	const batch = 300
	whole := catalogtest.NewPuller(t, repo.URL(), growingSettings)
	empty := databasePages(whole)
	whole.Syncer.SetBatch(batch)
	whole.Sync()
	want := dumpAll(whole)
	full := databasePages(whole)
	if full < empty+100 {
		t.Fatalf("a replay takes %d pages more: too few to run out of", full-empty)
	}
	eachLimit(t, empty, full, testsize.Of(2, 6, 16), func(t *testing.T, limit string) {
		w := catalogtest.NewPuller(t, repo.URL(), growingSettings)
		reopenWith(w, limit)
		w.Syncer.SetBatch(batch)
		for range 2 { // it stays full for a while
			syncFails(w, fullDisk)
		}
		reopenWith(w)
		w.Syncer.SetBatch(batch / 2)
		w.Sync()
		equal(t, want, dumpAll(w), "(-whole +after a full disk)")
	})
}

// eachLimit runs a test with limits of the database between two lengths, in pages.
func eachLimit(t *testing.T, from, to, tries int, test func(t *testing.T, pragma string)) {
	for n := range tries {
		limit := from + n*(to-from-1)/tries
		t.Run(fmt.Sprintf("pages=%d", limit), func(t *testing.T) { test(t, fmt.Sprintf("max_page_count(%d)", limit)) })
	}
}

// TestFullDiskInPulls is the same for pulls of many commits each.
func TestFullDiskInPulls(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it fails at every place")
	}
	pgtest.SQLiteOnly(t, "it makes the fault with a pragma")
	t.Parallel()
	repo, chain := growing(t, 12)
	begin := func(t *testing.T) *catalogtest.Puller {
		repo.Branch(t, "main", chain[4])
		w := synced(t, repo.URL(), growingSettings)
		repo.Branch(t, "main", chain[11])
		return w
	}
	whole := begin(t)
	before := databasePages(whole)
	whole.Sync()
	after := databasePages(whole)
	if after < before+50 {
		t.Fatalf("the pulls take %d pages more: too few to run out of", after-before)
	}
	eachLimit(t, before, after, testsize.Of(2, 5, 12), func(t *testing.T, limit string) {
		w := begin(t)
		reopenWith(w, limit)
		syncFails(w, fullDisk)
		compareBeginning(w, whole)
		reopenWith(w)
		w.Sync()
		compareWhole(w, whole)
	})
}

// compareWhole compares entries and units with those of another store, except
// ids and times and the entries of failed pulls.
func compareWhole(w *catalogtest.Puller, whole *catalogtest.Puller) {
	w.TB.Helper()
	equal(w.TB, withoutFailures(changesByComponent(whole)), withoutFailures(changesByComponent(w)), "entries (-whole +interrupted)")
	equal(w.TB, servedUnits(whole), servedUnits(w), "units (-whole +interrupted)")
	orderedTimes(w)
	entriesLeadToUnits(w, map[int64]string{})
}

// compareBeginning compares the entries with the first entries of another
// store. They must lead to the stored units.
func compareBeginning(w *catalogtest.Puller, whole *catalogtest.Puller) {
	w.TB.Helper()
	all := withoutFailures(changesByComponent(whole))
	for slug, list := range withoutFailures(changesByComponent(w)) {
		if !strings.HasPrefix(all[slug], list) {
			w.TB.Errorf("%s: the entries are not the first ones of an uninterrupted run:\n%s", slug, cmp.Diff(all[slug], list))
		}
	}
	entriesLeadToUnits(w, map[int64]string{})
}

// TestLockedDatabase lets another process hold the lock of the database during
// a replay or a pull.
func TestLockedDatabase(t *testing.T) {
	pgtest.SQLiteOnly(t, "it locks the file")
	t.Parallel()
	p := playLong(t, 41, 30)
	chain := p.firstParents()
	whole := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	whole.Syncer.SetBatch(10)
	whole.Sync()
	for _, at := range []int{1, 8, 15} {
		t.Run(fmt.Sprintf("replayed=%d", at), func(t *testing.T) {
			w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
			giveUpEarly(w)
			w.Syncer.SetBatch(10)
			var release func()
			n := 0
			w.Progress = func() {
				if n++; n == at {
					release = lockDatabase(w)
				}
			}
			syncFails(w, locked)
			w.Progress = nil
			if release == nil {
				t.Fatal("the replay ended before it was locked")
			}
			release()
			w.Sync()
			compareWhole(w, whole)
			equal(t, dumpAll(whole), dumpAll(w), "(-whole +locked)")
		})
	}
	t.Run("pull", func(t *testing.T) {
		p.repo.Branch(t, "main", chain[len(chain)/2].hash)
		w := synced(t, p.repo.URL(), withHistory(historySettings))
		p.repo.Branch(t, "main", p.head.hash)
		pulled := synced(t, p.repo.URL(), withHistory(historySettings))
		giveUpEarly(w)
		release := lockDatabase(w)
		syncFails(w, locked)
		release()
		w.Sync()
		compareWhole(w, pulled)
	})
}

// giveUpEarly opens the store again with a short wait for locks.
func giveUpEarly(w *catalogtest.Puller) {
	w.TB.Helper()
	w.Reopen(func(o *store.Options) { o.BusyTimeout = 5 * time.Millisecond })
}

// lockDatabase takes the lock of the database as another process would.
func lockDatabase(w *catalogtest.Puller) (release func()) {
	w.TB.Helper()
	other, err := sql.Open("sqlite", w.Database())
	must(w.TB, err)
	conn, err := other.Conn(w.TB.Context())
	must(w.TB, err)
	// A replay may be storing at this moment: this process waits for its turn.
	for _, query := range []string{"PRAGMA busy_timeout = 30000", "BEGIN IMMEDIATE"} {
		if _, err := conn.ExecContext(w.TB.Context(), query); err != nil {
			w.TB.Fatal(err)
		}
	}
	return func() {
		w.TB.Helper()
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			w.TB.Error(err)
		}
		if err := other.Close(); err != nil {
			w.TB.Error(err)
		}
	}
}

// TestReadOnlyDatabase makes the file read-only during a replay and during
// pulls, which go on later.
func TestReadOnlyDatabase(t *testing.T) {
	pgtest.SQLiteOnly(t, "it makes the fault with a pragma")
	t.Parallel()
	p := playLong(t, 51, 30)
	chain := p.firstParents()
	whole := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
	whole.Syncer.SetBatch(10)
	whole.Sync()
	t.Run("replay", func(t *testing.T) {
		w := catalogtest.NewPuller(t, p.repo.URL(), withHistory(historySettings))
		w.Syncer.SetBatch(10)
		cutAt(w, 12)
		compareBeginning(w, whole)
		before := dumpAll(w)
		reopenWith(w, "query_only(1)")
		syncFails(w, readOnly)
		equal(t, before, dumpAll(w), "something was written")
		reopenWith(w)
		w.Sync()
		equal(t, dumpAll(whole), dumpAll(w), "(-whole +read-only)")
	})
	t.Run("pull", func(t *testing.T) {
		p.repo.Branch(t, "main", chain[len(chain)/2].hash)
		w := synced(t, p.repo.URL(), withHistory(historySettings))
		p.repo.Branch(t, "main", p.head.hash)
		reopenWith(w, "query_only(1)")
		before := dumpAll(w)
		syncFails(w, readOnly)
		equal(t, before, dumpAll(w), "something was written")
		reopenWith(w)
		w.Sync()
		pulled := synced(t, p.repo.URL(), withHistory(historySettings))
		compareWhole(w, pulled)
	})
}

// TestFailureAndItsEntry: a pull that fails while the database accepts no
// writes stores neither the problem nor entry 22. The next one that fails
// stores both, once.
func TestFailureAndItsEntry(t *testing.T) {
	pgtest.SQLiteOnly(t, "it makes the fault with a pragma")
	t.Parallel()
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	_, last := w.ChangesAfter(0)
	away := repo.Dir + ".away"
	must(t, os.Rename(repo.Dir, away))
	state := func() string {
		var problem string
		w.Read(func(ctx context.Context, s *store.Snapshot) error {
			list, err := s.Components(ctx, "demo")
			problem = string(list[0].Problem.Kind)
			return err
		})
		n := 0
		w.EachChange(last, func(c *catalog.Change) {
			if c.Action == catalog.ActionFailedMerge && c.Event["error"] == problem {
				n++
			}
		})
		return fmt.Sprint(problem != "", " ", n)
	}
	reopenWith(w, "query_only(1)")
	syncFails(w, readOnly)
	equal(t, "false 0", state(), "problem and entries while nothing can be written")
	reopenWith(w)
	for range 2 {
		syncFails(w, "")
		equal(t, "true 1", state(), "problem and entries")
	}
	must(t, os.Rename(away, repo.Dir))
	w.Sync()
	equal(t, "false 0", state(), "after a pull that went well") // no entry has an empty error
}
