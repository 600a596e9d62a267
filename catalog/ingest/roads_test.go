package ingest_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestRoads imports an old commit of real repositories and pulls the head in
// several pulls: the units must be those of an import of the head (DESIGN,
// invariant 2), and the entries applied to the units of the first import must
// give the targets of the last ones: the ledger.
func TestRoads(t *testing.T) {
	needShared(t, sharedRepos)
	for _, c := range []struct {
		bundle   string
		settings map[string]catalog.ComponentSettings
		back     []int // first-parent commits before the head, where pulls end
	}{
		{"switchboard", map[string]catalog.ComponentSettings{
			"switchboard": {NewBase: "po/io.elementary.settings.pot"},
			"extra":       {Filemask: "po/extra/*.po", NewBase: "po/extra/extra.pot"},
		}, []int{600, 300, 1}},
		{"gtranslator-po", map[string]catalog.ComponentSettings{"app": {}, "help": {Filemask: "help/*/*.po"}}, []int{120, 40}},
		{"vim-po", map[string]catalog.ComponentSettings{"vim": {Filemask: "src/po/*.po", NewBase: "src/po/vim.pot"}}, []int{60}},
		{"python-docs-pl", map[string]catalog.ComponentSettings{"docs-{component}": {Filemask: "*/{component}.po"}}, []int{30}},
	} {
		t.Run(c.bundle, func(t *testing.T) {
			if underRace && c.bundle != "switchboard" {
				t.Skip("the same code ten times slower: one repository is enough for the race detector")
			}
			t.Parallel()
			if underRace {
				c.back = []int{120, 40}
			}
			dir := cloneBundle(t, filepath.Join(sharedRepos, c.bundle+".bundle"))
			c.settings = ageless(c.settings)
			branch := git(t, dir, "symbolic-ref", "HEAD")
			chain := strings.Fields(git(t, dir, "rev-list", "--first-parent", "HEAD"))
			w := newWorld(t, dir, c.settings)
			ledger := make(map[int64]string)
			var changes int64
			for n, back := range append(c.back, 0) {
				git(t, dir, "update-ref", branch, chain[back])
				report := w.sync()
				if n == 0 {
					w.targets(ledger)
				} else {
					changes += report.Changes
				}
			}
			if changes < 100 {
				t.Errorf("only %d entries: the test compares nothing", changes)
			}
			t.Logf("%d entries", changes)
			w.applyLedger(ledger)
			final := make(map[int64]string)
			w.targets(final)
			if diff := cmp.Diff(final, ledger); diff != "" {
				t.Errorf("the entries do not lead to the units (-units +ledger):\n%.4000s", diff)
			}
			fresh := newWorld(t, dir, c.settings)
			fresh.sync()
			if diff := cmp.Diff(fresh.essence(), w.essence()); diff != "" {
				t.Errorf("pulling and importing differ (-import +pull):\n%.4000s", diff)
			}
		})
	}
}

// ageless are components without the check that depends on how old strings are:
// that of a first import makes them as old as the head, a replay does not.
func ageless(components map[string]catalog.ComponentSettings) map[string]catalog.ComponentSettings {
	out := make(map[string]catalog.ComponentSettings, len(components))
	for slug, s := range components {
		s.CheckFlags = strings.Trim(s.CheckFlags+",ignore-long-untranslated", ",")
		out[slug] = s
	}
	return out
}

// TestOneStepOrMany pulls the same commits one by one and at once: the entries
// must be the same but for ids and times.
func TestOneStepOrMany(t *testing.T) {
	oneAtATime(t)
	needShared(t, sharedRepos)
	dir := cloneBundle(t, filepath.Join(sharedRepos, "dnf-plugins-core.bundle"))
	branch := git(t, dir, "symbolic-ref", "HEAD")
	chain := strings.Fields(git(t, dir, "rev-list", "--first-parent", "HEAD"))
	settings := map[string]catalog.ComponentSettings{"dnf": {NewBase: "po/dnf-plugins-core.pot"}}
	var entries [2]string
	var dumps [2]string
	const first, enough = 250, 10000
	for road := range 2 {
		git(t, dir, "update-ref", branch, chain[first])
		w := newWorld(t, dir, settings)
		w.sync()
		_, last := w.changesAfter(0)
		if road == 1 {
			for back := first - 1; back > 0; back -= 7 {
				git(t, dir, "update-ref", branch, chain[back])
				w.sync()
			}
		}
		git(t, dir, "update-ref", branch, chain[0])
		w.sync()
		entries[road] = w.ledgerText(last)
		dumps[road] = w.essence()
	}
	if diff := cmp.Diff(entries[0], entries[1]); diff != "" {
		t.Errorf("entries differ (-at once +piecemeal):\n%.4000s", diff)
	}
	if len(entries[0]) < enough {
		t.Errorf("only %d bytes of entries: the test compares nothing", len(entries[0]))
	}
	if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" {
		t.Errorf("units differ:\n%.4000s", diff)
	}
}

// targets collects the live units' targets by unit id.
func (w *world) targets(into map[int64]string) {
	w.eachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) { into[u.ID] = u.Target })
}

func (w *world) eachUnit(fn func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit)) {
	w.t.Helper()
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, "demo")
		if err != nil {
			return err
		}
		for i := range components {
			translations, err := s.Translations(ctx, components[i].ID)
			if err != nil {
				return err
			}
			for j := range translations {
				units, err := s.Units(ctx, translations[j].ID, 0, 1<<20)
				if err != nil {
					return err
				}
				for k := range units {
					fn(&components[i].Component, &translations[j], &units[k])
				}
			}
		}
		return nil
	})
}

// applyLedger applies all entries to a set of targets. A translation that is
// gone (25) leaves the set, and comes back (48) with what it had.
func (w *world) applyLedger(targets map[int64]string) {
	w.t.Helper()
	inLanguage := make(map[string]map[int64]string) // component/language → its units
	at := func(c *catalog.Change, language string) map[int64]string {
		key := c.Component + "/" + language
		if inLanguage[key] == nil {
			inLanguage[key] = make(map[int64]string)
		}
		return inLanguage[key]
	}
	live := make(map[int64]string) // unit → component/language
	w.eachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		live[u.ID] = c.Slug + "/" + t.Language
	})
	for id, target := range targets {
		if key, ok := live[id]; ok {
			if inLanguage[key] == nil {
				inLanguage[key] = make(map[int64]string)
			}
			inLanguage[key][id] = target
		}
	}
	w.eachChange(0, func(c *catalog.Change) {
		switch c.Action {
		case catalog.ActionNewUnit, catalog.ActionStringRepoUpdate:
			at(c, c.Language)[c.UnitID] = c.Target
		case catalog.ActionStringRemove:
			delete(at(c, c.Language), c.UnitID)
		}
	})
	clear(targets)
	served := make(map[string]bool)
	for _, key := range live {
		served[key] = true
	}
	for key, units := range inLanguage {
		if served[key] {
			for id, target := range units {
				targets[id] = target
			}
		}
	}
}

func (w *world) eachChange(after int64, fn func(c *catalog.Change)) {
	w.t.Helper()
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		for {
			list, err := s.Changes(ctx, store.ChangeQuery{AfterID: after, Limit: 1000})
			if err != nil || len(list) == 0 {
				return err
			}
			for i := range list {
				if list[i].ID <= after {
					return fmt.Errorf("entry %d comes after %d", list[i].ID, after)
				}
				after = list[i].ID
				fn(&list[i])
			}
		}
	})
}

// ledgerText renders the entries after an id without ids and times.
func (w *world) ledgerText(after int64) string {
	var b strings.Builder
	w.eachChange(after, func(c *catalog.Change) {
		fmt.Fprintf(&b, "%d %s/%s %s %s %q %q %d %q %d %q %v\n", c.Action, c.Component, c.Language, c.Username, c.Commit,
			c.Source, c.Context, c.OldState, c.Old, c.State, c.Target, c.Event)
	})
	return b.String()
}

// verify recounts all that is kept by adding up.
func (w *world) verify() {
	w.t.Helper()
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		seen, err := s.Verify(ctx, func(m store.Mismatch) { w.t.Errorf("verify: %s", m) })
		if err == nil && seen.Components == 0 {
			w.t.Error("verify saw nothing")
		}
		return err
	})
}

// essence renders what is served but ids and timestamps: for every translation
// its row and its units by position.
func (w *world) essence() string {
	var lines []string
	w.eachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		lines = append(lines, fmt.Sprintf("%s/%s %s %s %v %s %d %+v | %06d %q %q %q %q %q %q %q %d %d %d %d %d %q %v", c.Slug, t.Language, t.Filename,
			t.Revision, t.IsSource, t.FileCode, t.PluralNumber, t.Stats, u.Position, u.Source, u.Context, catalog.TargetForms(u.Source, u.Target, t.PluralNumber), u.PreviousSource,
			u.Note, u.Flags, u.Location, u.State, u.Priority, u.Words, u.Chars, u.Identity.Hash, u.Comment, failingNames(u)))
	})
	w.verify()
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// failingNames are the failing checks of a unit.
func failingNames(u *catalog.Unit) []string {
	var names []string
	for id := range checks.Mask(u.Failing).All() {
		names = append(names, id.String())
	}
	return names
}
