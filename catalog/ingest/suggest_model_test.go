package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// suggestingSettings are historySettings with suggestions; docs has them from some of
// the branches only.
func suggestingSettings() map[string]catalog.ComponentSettings {
	settings := maps.Clone(historySettings)
	for slug, pattern := range map[string]string{"app": "l10n/*", "docs": "l10n/a*"} {
		s := settings[slug]
		s.SuggestionBranches, s.SuggestionLimit = pattern, 100
		settings[slug] = s
	}
	return settings
}

// sidePlayer is a player that pushes to other branches as well.
type sidePlayer struct {
	*player
	tips map[string]*modelCommit
}

// sidePaths are the files that branches translate most.
func sidePaths() []string { return []string{"po/cs.po", "po/de.po", "docs/cs.po", "docs/fr.po"} }

// whole is a file with most of the strings.
func (p *sidePlayer) whole() *modelFile {
	f := &modelFile{}
	for range 12 {
		f.entries = append(f.entries, p.entry())
	}
	return f
}

func newSidePlayer(t testing.TB, seed uint64) *sidePlayer {
	p := &sidePlayer{newPlayer(t, seed), map[string]*modelCommit{}}
	tree := maps.Clone(p.head.tree)
	for _, name := range sidePaths() {
		tree[name] = p.whole()
	}
	p.head = p.commit("main", tree, p.head)
	return p
}

// translate changes some translations, or now and then anything.
func (p *sidePlayer) translate(tree modelTree) modelTree {
	if p.IntN(4) == 0 {
		return p.change(tree)
	}
	next := maps.Clone(tree)
	for range 1 + p.IntN(3) {
		name := sidePaths()[p.IntN(len(sidePaths()))]
		f := next[name]
		if f == nil || len(f.entries) == 0 {
			f = p.whole()
		}
		g := &modelFile{entries: slices.Clone(f.entries)}
		for range 2 + p.IntN(8) {
			e := &g.entries[p.IntN(len(g.entries))]
			e.target, e.fuzzy = p.target(), p.IntN(8) == 0
			e.remark, e.locked = []string{"", "", "Polite?", "Short"}[p.IntN(4)], p.IntN(8) == 0
		}
		next[name] = g
	}
	return next
}

// branch draws one of few names, or "" if no branch is there and one must be.
func (p *sidePlayer) branch(there bool) string {
	names := []string{"l10n/a", "l10n/ab", "l10n/b", "l10n/b2/x", "elsewhere"}
	if there {
		names = slices.Sorted(maps.Keys(p.tips))
	}
	if len(names) == 0 {
		return ""
	}
	return names[p.IntN(len(names))]
}

// playSide pushes to a branch, merges or deletes one.
func (p *sidePlayer) playSide() {
	name := p.branch(true)
	tip := p.tips[name]
	n := p.IntN(12)
	if tip == nil {
		n = 0
	}
	switch n {
	case 0, 1, 2: // started again, at the head of main
		name = p.branch(false)
		p.tips[name] = p.commit(name, p.translate(p.head.tree), p.head)
	case 3: // started again, anywhere
		name = p.branch(false)
		from := p.commits[p.IntN(len(p.commits))]
		p.tips[name] = p.commit(name, p.translate(from.tree), from)
	case 4: // moved to an existing commit
		name = p.branch(false)
		p.tips[name] = p.commits[p.IntN(len(p.commits))]
		p.repo.Branch(p.t, name, p.tips[name].hash)
	case 5:
		p.repo.Branch(p.t, name, "")
		delete(p.tips, name)
	case 6: // main merged into it
		p.tips[name] = p.mergeOn(name, tip, p.head)
	case 7: // merged
		p.head = p.merge(p.head, tip)
	case 8: // with another one
		p.tips[name] = p.mergeOn(name, tip, p.tips[p.branch(true)])
	default:
		p.tips[name] = p.commit(name, p.translate(tip.tree), tip)
	}
}

// introducers returns the authors of the commits of a branch, and not of main, that
// gave a string of a file its value at the tip.
func (p *sidePlayer) introducers(tip *modelCommit, name, key string) map[string]bool {
	merged := p.head.ancestors()
	value := func(c *modelCommit) string {
		if e := c.tree[name].find(key); e != nil {
			return e.value()
		}
		return "absent"
	}
	broken := func(c *modelCommit) bool { return c.tree[name] != nil && c.tree[name].broken }
	want := value(tip)
	authors := map[string]bool{}
	seen := map[*modelCommit]bool{}
	var from func(c *modelCommit)
	from = func(c *modelCommit) {
		if seen[c] || merged[c] {
			return
		}
		seen[c] = true
		inherited := false
		// Versions that cannot be parsed are skipped.
		through := map[*modelCommit]bool{}
		var look func(c *modelCommit)
		look = func(c *modelCommit) {
			for _, parent := range c.parents {
				switch {
				case through[parent]:
				case broken(parent):
					through[parent] = true
					if !merged[parent] {
						look(parent)
					}
				case value(parent) == want:
					inherited = true
					from(parent)
				}
			}
		}
		look(c)
		if !inherited {
			authors[c.author] = true
		}
	}
	from(tip)
	return authors
}

// expected returns the suggestions by the model, with their possible authors.
func (p *sidePlayer) expected(w *catalogtest.Puller) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	settings := suggestingSettings()
	w.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if t.IsSource || strings.HasPrefix(t.Language, "pt") { // pt has two files, whose codes depend on each other
			return
		}
		for name, tip := range p.tips {
			if !strings.HasPrefix(name, strings.TrimSuffix(settings[c.Slug].SuggestionBranches, "*")) {
				continue
			}
			key := u.Context + "\x04" + u.Source
			e := tip.tree[t.Filename].find(key)
			if e == nil || e.fuzzy || e.locked || e.target == "" || u.State == catalog.StateReadOnly {
				continue
			}
			target := e.target
			if e.plural != "" {
				target += catalog.FormSeparator + e.target
			}
			if target == u.Target {
				continue
			}
			if authors := p.introducers(tip, t.Filename, key); len(authors) > 0 {
				all[fmt.Sprintf("%s/%s %q %q on %s: %q", c.Slug, t.Language, u.Source, u.Context, name, target)] = authors
			}
		}
	})
	return all
}

// suggestedTargets returns the served suggestions and their authors, except for pt.
func suggestedTargets(w *catalogtest.Puller) map[string]string {
	all := map[string]string{}
	w.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if t.IsSource || strings.HasPrefix(t.Language, "pt") {
			if t.IsSource && u.HasSuggestion {
				w.TB.Errorf("the source unit %q has a suggestion", u.Source)
			}
			return
		}
		w.Read(func(ctx context.Context, s *store.Snapshot) error {
			list, err := s.Suggestions(ctx, u.ID)
			for _, n := range list {
				all[fmt.Sprintf("%s/%s %q %q on %s: %q", c.Slug, t.Language, u.Source, u.Context, n.Branch, n.Target)] = n.AuthorName
			}
			return err
		})
	})
	return all
}

// TestSuggestionHistories pushes to, forces, merges and deletes branches at random.
// It compares the suggestions after every pull with a model of the repository, and
// with a fresh import.
func TestSuggestionHistories(t *testing.T) {
	var compared, commented atomic.Int64
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
		s, c := playSuggestions(t, seed)
		compared.Add(s)
		commented.Add(c)
	})
	t.Cleanup(func() {
		if n, c := compared.Load(), commented.Load(); min(n, c) < 10*int64(played()) {
			t.Errorf("only %d suggestions, %d comments compared", n, c)
		}
	})
}

func playSuggestions(t *testing.T, seed uint64) (compared, comments int64) {
	p := newSidePlayer(t, seed)
	settings := suggestingSettings()
	w := catalogtest.NewPuller(t, p.repo.URL(), settings)
	for pull := range 10 {
		switch p.IntN(4) {
		case 0:
			p.play()
		case 1, 2:
			p.head = p.commit("main", p.translate(p.head.tree), p.head)
		}
		for range 1 + p.IntN(6) {
			p.playSide()
		}
		p.restart(w)
		w.Sync()
		want, got := p.expected(w), suggestedTargets(w)
		compared += int64(len(got))
		for s, author := range got {
			if !want[s][author] {
				t.Errorf("pull %d: %s by %s: suggested, want by %v", pull, s, author, want[s])
			}
		}
		for s, authors := range want {
			if got[s] == "" {
				t.Errorf("pull %d: %s by %v: not suggested", pull, s, authors)
			}
		}
		comments += p.compareComments(w)
		generation := w.Generation()
		if w.Sync(); w.Generation() != generation {
			t.Errorf("pull %d: a pull of what is known made a generation", pull)
		}
		p.compareFresh(w, settings)
		if t.Failed() {
			t.Fatalf("main at %s, branches at %v", p.head.hash, p.tips)
		}
	}
	t.Logf("%d suggestions, %d comments compared", compared, comments)
	return compared, comments
}

// compareComments compares comments with the translator comments in the served files.
// The template, which branches never edit, has no comments.
func (p *sidePlayer) compareComments(w *catalogtest.Puller) (seen int64) {
	w.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		f := p.head.tree[t.Filename]
		if t.IsSource || f == nil || f.broken {
			return
		}
		if e := f.find(u.Context + "\x04" + u.Source); e != nil && e.remark != u.Comment {
			w.TB.Errorf("%s/%s %q %q: comment %q, want %q", c.Slug, t.Language, u.Source, u.Context, u.Comment, e.remark)
		}
		if u.Comment != "" {
			seen++
		}
	})
	return seen
}

// compareFresh compares with a fresh import, unless a broken file keeps an older
// state.
func (p *sidePlayer) compareFresh(w *catalogtest.Puller, settings map[string]catalog.ComponentSettings) {
	if p.head.tree.broken() {
		return
	}
	fresh := synced(w.TB, p.repo.URL(), settings)
	equal(w.TB, servedSuggestions(fresh), servedSuggestions(w), "suggestions (-import +pull)")
	equal(w.TB, servedUnits(fresh), servedUnits(w), "pulling and importing differ (-import +pull)")
	if err := fresh.DB.Close(); err != nil {
		w.TB.Error(err)
	}
}

// TestKilledSuggesting kills processes that pull branches. The stored suggestions are
// right at any time, and the next pull ends with the same ones as an undisturbed one.
func TestKilledSuggesting(t *testing.T) {
	p := newSidePlayer(t, 5)
	push := func() {
		for _, name := range []string{"l10n/a", "l10n/ab", "l10n/b"} {
			p.tips[name] = p.commit(name, p.translate(p.translate(p.translate(p.head.tree))), p.head)
		}
		p.playSide()
		p.head = p.commit("main", p.translate(p.head.tree), p.head)
	}
	push()
	before := synced(t, p.repo.URL(), suggestingSettings())
	first := servedSuggestions(before)
	before.DB.Close()
	push()
	t.Setenv(childPulls, "suggestions")
	all := killCounts{commits: map[string]int{}, standing: map[string]int{}}
	whole := copyOf(t, before)
	killed, asked := all.run(t, whole, 0, 0)
	whole.Open()
	want, essence := servedSuggestions(whole.Puller), servedUnits(whole)
	whole.DB.Close()
	if killed || asked < 100 || first == want || strings.Count(want, "\n") < 5 {
		t.Fatalf("killed %v, %d places, suggestions before and after:\n%s\n%s", killed, asked, first, want)
	}
	kills := int64(testsize.Of(4, 10, 100))
	states, died := map[string]int{}, int64(0)
	for n := range kills {
		w := copyOf(t, before)
		place := asked/2 + n*asked/2/kills // the second half: the first brings main up to date
		if kills > 10 {
			place = n * asked / kills // the pull of main as well
		}
		if killed, _ := all.run(t, w, max(place, 1), 0); killed {
			died++
		} // else it passed fewer places than the undisturbed one, whose goroutines met elsewhere
		w.Open()
		states[servedSuggestions(w.Puller)]++
		w.Sync()
		equal(t, want, servedSuggestions(w.Puller), "killed at %d of %d (-undisturbed +killed)", place, asked)
		equal(t, essence, servedUnits(w), "killed at %d of %d: units (-undisturbed +killed)", place, asked)
		w.DB.Close()
	}
	if died < kills/2 {
		t.Errorf("only %d of %d were killed", died, kills)
	}
	if kills >= 10 && len(states) < 2 { // fewer may all fall between two of them
		t.Errorf("all were killed in one state:\n%v", states)
	}
}
