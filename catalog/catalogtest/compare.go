package catalogtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// EachComponent calls fn for every component of the project "demo", in order.
func (s *Store) EachComponent(fn func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error) {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		components, err := snap.Components(ctx, "demo")
		for i := 0; i < len(components) && err == nil; i++ {
			err = fn(ctx, snap, components[i])
		}
		return err
	})
}

// EachUnit calls fn for every unit of the project "demo" that is served, in
// the order of components, translations and ids.
func (s *Store) EachUnit(fn func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit)) {
	s.TB.Helper()
	s.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		translations, err := snap.Translations(ctx, c.ID)
		if err != nil {
			return err
		}
		for i := range translations {
			units, err := snap.Units(ctx, translations[i].ID, 0, 1<<20)
			if err != nil {
				return err
			}
			for j := range units {
				fn(&c.Component, &translations[i], &units[j])
			}
		}
		return nil
	})
}

// EachChange calls fn for every change after an id.
func (s *Store) EachChange(after int64, fn func(c *catalog.Change)) {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Changes(ctx, store.ChangeQuery{AfterID: after, Limit: 1 << 20})
		for i := range list {
			fn(&list[i])
		}
		return err
	})
}

// Targets returns the targets of the units that are served, by unit id, without
// empty forms at the end.
func (s *Store) Targets() map[int64]string {
	targets := map[int64]string{}
	s.EachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		targets[u.ID] = catalog.TrimForms(u.Target)
	})
	return targets
}

// ApplyChanges applies all changes to targets by unit id. A translation that
// was removed (25) leaves the set, and comes back (48) with the targets it had.
func (s *Store) ApplyChanges(targets map[int64]string) {
	s.TB.Helper()
	type unit struct {
		translation string // component/language
		id          int64
	}
	texts, served := map[unit]string{}, map[string]bool{}
	s.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		key := c.Slug + "/" + t.Language
		served[key] = true
		if target, ok := targets[u.ID]; ok {
			texts[unit{key, u.ID}] = target
		}
	})
	s.EachChange(0, func(c *catalog.Change) {
		switch u := (unit{c.Component + "/" + c.Language, c.UnitID}); c.Action {
		case catalog.ActionNewUnit, catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit:
			texts[u] = catalog.TrimForms(c.Target)
		case catalog.ActionStringRemove:
			delete(texts, u)
		}
	})
	clear(targets)
	for u, target := range texts {
		if served[u.translation] {
			targets[u.id] = target
		}
	}
}

// PO makes a file of pairs of msgid and msgstr.
func PO(pairs ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", pair[0], pair[1])
	}
	return b.String()
}

// Equal reports how a value (plus) differs from the wanted one (minus), and whether it does
// not. what and args name the value.
func Equal(tb testing.TB, want, got any, what string, args ...any) bool {
	tb.Helper()
	diff := cmp.Diff(want, got)
	if diff != "" {
		tb.Errorf("%s:\n%.5000s", fmt.Sprintf(what, args...), diff)
	}
	return diff == ""
}

// Commit makes a commit in the repository of p and pulls it.
func (p *Puller) Commit(repo *testrepos.Repo, c testrepos.Change) ingest.Report {
	p.TB.Helper()
	repo.Commit(p.TB, c)
	return p.Sync()
}

// WantEntries checks that the entries after one are those that begin as given.
func (p *Puller) WantEntries(last int64, want ...string) {
	p.TB.Helper()
	text, _ := p.ChangesAfter(last)
	if !slices.EqualFunc(slices.Collect(strings.Lines(text)), want, strings.HasPrefix) {
		p.TB.Errorf("entries, want %q:\n%s", want, text)
	}
}

// EntriesLeadToUnits checks that the entries, applied to texts by unit id, give the targets
// that are served.
func (p *Puller) EntriesLeadToUnits(texts map[int64]string) {
	p.TB.Helper()
	p.ApplyChanges(texts)
	Equal(p.TB, p.Targets(), texts, "the entries do not lead to the units")
}

// maxDumped bounds the units and changes of a dump, so that golden files stay
// readable; no scenario that is compared whole has as many.
const maxDumped = 40

// Short cuts long texts.
func Short(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:100], ""), len(s))
	}
	return s
}

// ChangesAfter renders the changes after an id, of all projects, and returns
// the last id.
func (s *Store) ChangesAfter(id int64) (text string, last int64) {
	s.TB.Helper()
	var b strings.Builder
	last = id
	n := 0
	s.EachChange(id, func(c *catalog.Change) {
		if n++; n <= maxDumped {
			dumpChange(&b, c)
		}
		last = c.ID
	})
	if n > maxDumped {
		fmt.Fprintf(&b, "and %d more\n", n-maxDumped)
	}
	return b.String(), last
}

func dumpChange(b *strings.Builder, c *catalog.Change) {
	commit := c.Commit
	if len(commit) > 7 {
		commit = commit[:7]
	}
	fmt.Fprintf(b, "%d %s", c.Action, c.Component)
	if c.Language != "" {
		fmt.Fprintf(b, "/%s", c.Language)
	}
	fmt.Fprintf(b, " by %s (%s) in %s at %s", c.Username, c.AuthorName, commit, c.Timestamp.Format(time.RFC3339))
	if c.UnitID != 0 {
		fmt.Fprintf(b, ": %q / %q: %d %q -> %d %q", Short(c.Source), Short(c.Context), c.OldState, Short(c.Old), c.State, Short(c.Target))
	}
	if len(c.Event) > 0 {
		fmt.Fprintf(b, ": %v", c.Event)
	}
	b.WriteByte('\n')
}
