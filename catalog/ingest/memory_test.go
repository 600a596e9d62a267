package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// fatCommit changes all strings of many files.
func fatCommit(text string) testrepos.Change {
	files := map[string]string{}
	for l := range 40 {
		var pairs []string
		for i := range 200 {
			pairs = append(pairs, fmt.Sprint("String ", i), fmt.Sprint(text, l, " ", i))
		}
		files[fmt.Sprintf("po/l%02d.po", l)] = po(pairs...)
	}
	return testrepos.Change{Files: files}
}

// problemsOf are the problems of a component, by path.
func problemsOf(w *catalogtest.Puller, slug string) map[string]string {
	w.TB.Helper()
	problems := map[string]string{}
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", slug)
		if err != nil {
			return err
		}
		list, err := s.Problems(ctx, c.ID)
		for _, p := range list {
			problems[p.Path] = p.Message
		}
		return err
	})
	return problems
}

// TestMemoryOfCommits: a replay ends at a commit that brings more than the memory allows,
// and the component says so; the commits before it, a neighbour and what is pulled later
// have their entries. The next start does nothing again.
func TestMemoryOfCommits(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "small/cs.po": po("One", "Jedna")})
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
	fat := repo.Commit(t, fatCommit("a"))
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/l00.po": po("String 0", "behind"), "small/cs.po": po("One", "Jeden")}})
	components := withHistory(map[string]catalog.ComponentSettings{"app": {}, "small": {Filemask: "small/*.po"}})
	whole := synced(t, repo.URL(), components)
	w := catalogtest.NewPuller(t, repo.URL(), components)
	reopened(w, func(o *ingest.Options) { o.Memory = 2 << 20 })
	w.Sync()
	equal(t, servedUnits(whole), servedUnits(w), "units")
	entries, all := changesByComponent(w), changesByComponent(whole)
	if entries["small"] != all["small"] {
		t.Errorf("the neighbour has the entries\n%s\nwant\n%s", entries["small"], all["small"])
	}
	before, _, _ := strings.Cut(all["app"], fat)
	before = before[:strings.LastIndexByte(before, '\n')+1]
	if !strings.HasPrefix(entries["app"], before) || !strings.Contains(before, "Jeden") || strings.Contains(entries["app"], fat) {
		t.Errorf("entries\n%.2000s\nwant those before %s and of the head", entries["app"], fat)
	}
	said := problemsOf(w, "app")["history"]
	if !strings.Contains(said, "from "+fat+" on until the import were read in one step") || !strings.Contains(said, "give repoglot more memory") || len(problemsOf(w, "small")) > 0 {
		t.Errorf("problems %q, %q", said, problemsOf(w, "small"))
	}
	w.Reopen(func(*store.Options) {})
	if report := w.Sync(); report.Steps > 0 {
		t.Errorf("the next start takes %d steps", report.Steps)
	}
	if report := pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedno")}}); report.Changes != 1 {
		t.Errorf("a later commit makes %d entries", report.Changes)
	}
	if problemsOf(w, "app")["history"] != said {
		t.Errorf("later the component says %q", problemsOf(w, "app"))
	}
	if report := pullCommit(w, repo, fatCommit("b")); report.Changes != 40*200 {
		t.Errorf("pulled later, a large commit makes %d entries", report.Changes)
	}
	whole.Sync()
	equal(t, servedUnits(whole), servedUnits(w), "units after it")
}

// TestMemoryOfFiles: a file that takes too much memory is refused by name, before it is
// parsed; the others are served.
func TestMemoryOfFiles(t *testing.T) {
	var pairs []string
	for i := range 20_000 {
		pairs = append(pairs, fmt.Sprint(i), "x")
	}
	for _, history := range []catalog.History{{Full: true}, {}}[:testsize.Of(1, 2, 2)] {
		repo := repoWith(t, map[string]string{"po/cs.po": po(pairs...), "po/de.po": po("One", "Eins")})
		w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {History: history}})
		reopened(w, func(o *ingest.Options) { o.Memory = 8 << 20 })
		w.Sync()
		const want = "reading the file takes more than 6 MiB of memory, which is what one commit may take here: give repoglot more memory"
		if said := problemsOf(w, "app")["po/cs.po"]; !strings.Contains(said, want) {
			t.Errorf("history %+v: %q", history, said)
		}
		if got := servedFiles(w, "app"); !strings.Contains(fmt.Sprint(got), "de=po/de.po") || strings.Contains(fmt.Sprint(got), "cs.po") {
			t.Errorf("history %+v: serves %v", history, got)
		}
		reopened(w, nil)
		w.Sync()
		if said := problemsOf(w, "app")["po/cs.po"]; said != "" || len(w.Targets()) < 40_000 {
			t.Errorf("with more memory: %q, %d units", said, len(w.Targets()))
		}
	}
}

// TestMemoryOfHistories: whatever the memory, what is served of random histories is the
// same, the entries lead to it (the store is verified at the end), and they are others
// only where the component says so.
func TestMemoryOfHistories(t *testing.T) {
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
		p := playFor(t, seed, 15)
		components := withHistory(historySettings)
		whole := synced(t, p.repo.URL(), components)
		rng := rand.New(rand.NewPCG(seed, 0))
		w := catalogtest.NewPuller(t, p.repo.URL(), components)
		memory := int64(2_000 << rng.IntN(7))
		reopened(w, func(o *ingest.Options) { o.Memory = memory })
		w.Syncer.SetBatch(1 + rng.IntN(20))
		report, err := w.Syncer.Sync(t.Context(), w.Branch)
		refused := err != nil
		for _, c := range report.Components {
			refused = refused || strings.Contains(strings.Join(c.Problems, "\n"), "reading the file takes more than")
		}
		if refused {
			t.Logf("refused with %d bytes: %v", memory, err)
			return // too little for the files: their last good versions are served
		}
		equal(t, servedUnits(whole), servedUnits(w), "units with %d bytes", memory)
		all := changesByComponent(whole)
		for slug, list := range changesByComponent(w) {
			if list == all[slug] {
				continue
			}
			t.Logf("%s has %d of %d bytes of entries with %d bytes of memory", slug, len(list), len(all[slug]), memory)
			if problemsOf(w, slug)["history"] == "" {
				t.Errorf("%s lacks entries with %d bytes, and does not say so", slug, memory)
			}
		}
	})
}
