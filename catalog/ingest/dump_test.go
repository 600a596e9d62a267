package ingest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// stored is a store, or what has one.
type stored interface {
	EachComponent(fn func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error)
	EachUnit(fn func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit))
	EachChange(after int64, fn func(c *catalog.Change))
	Verify()
}

// maxDumped bounds the units of a dump, so that golden files stay readable; no scenario that
// is compared whole has as many.
const maxDumped = 40

// dump renders what is served of the project "demo": components, translations,
// units. Two stores that serve the same have the same dump.
func dump(s stored) string {
	var b strings.Builder
	s.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		fmt.Fprintf(&b, "component %s/%s head %s tracking %s problem %q\n", c.Project.Slug, c.Slug, c.Head, c.Tracking, c.Problem.Kind)
		translations, err := snap.Translations(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, t := range translations {
			dumpTranslation(&b, &t)
			units, err := snap.Units(ctx, t.ID, 0, 1<<20)
			if err != nil {
				return err
			}
			for i := range units[:min(len(units), maxDumped)] {
				dumpUnit(&b, &units[i])
			}
			if more := len(units) - maxDumped; more > 0 {
				fmt.Fprintf(&b, "    and %d more\n", more)
			}
		}
		return nil
	})
	s.Verify()
	return b.String()
}

func dumpTranslation(b *strings.Builder, t *catalog.Translation) {
	s := t.Stats
	fmt.Fprintf(b, "  translation %s code %s file %s revision %s source %v plural %d %q\n    stats {Total:%+v Translated:%+v Fuzzy:%+v ReadOnly:%+v Failing:%+v}\n",
		t.Language, t.FileCode, t.Filename, t.Revision, t.IsSource, t.PluralNumber, t.PluralFormula, s.Total, s.Translated, s.Fuzzy, s.ReadOnly, s.Failing)
	if t.HasTemplate || t.Against != (catalog.Against{}) {
		fmt.Fprintf(b, "    template %v, against it %+v\n", t.HasTemplate, t.Against)
	}
	if s.Comments+s.Suggestions > 0 {
		fmt.Fprintf(b, "    %d with comments, %d with suggestions\n", s.Comments, s.Suggestions)
	}
}

func dumpUnit(b *strings.Builder, u *catalog.Unit) {
	fmt.Fprintf(b, "    unit %d source %d position %d state %d words %d %q / %q -> %q", u.ID, u.SourceID, u.Position, u.State, u.Words, catalogtest.Short(u.Source), catalogtest.Short(u.Context), catalogtest.Short(u.Target))
	fmt.Fprintf(b, " at %q", u.Location)
	if u.Note != "" {
		fmt.Fprintf(b, " note %q", u.Note)
	}
	if u.Comment != "" {
		fmt.Fprintf(b, " comment %q", u.Comment)
	}
	if u.Flags != "" {
		fmt.Fprintf(b, " flags %q", u.Flags)
	}
	if u.PreviousSource != "" {
		fmt.Fprintf(b, " previous %q", u.PreviousSource)
	}
	fmt.Fprintf(b, " created %s\n", u.Created.Format(time.RFC3339))
}

// servedUnits renders every unit with its translation, in one line each and
// sorted, without ids and times.
func servedUnits(s stored) string {
	var lines []string
	s.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		lines = append(lines, fmt.Sprintf("%s/%s %s %s %v %s %d %+v | %06d %q %q %q %q %q %q %q %d %d %d %d %d %q %v", c.Slug, t.Language, t.Filename,
			t.Revision, t.IsSource, t.FileCode, t.PluralNumber, t.Stats, u.Position, u.Source, u.Context, catalog.TargetForms(u.Source, u.Target, t.PluralNumber), u.PreviousSource,
			u.Note, u.Flags, u.Location, u.State, u.Priority, u.Words, u.Chars, u.Identity.Hash, u.Comment, failingNames(u)))
	})
	s.Verify()
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

// changesText renders the changes after an id without ids and times.
func changesText(s stored, after int64) string {
	var b strings.Builder
	s.EachChange(after, func(c *catalog.Change) {
		fmt.Fprintf(&b, "%d %s/%s %s %s %q %q %d %q %d %q %v\n", c.Action, c.Component, c.Language, c.Username, c.Commit,
			c.Source, c.Context, c.OldState, c.Old, c.State, c.Target, c.Event)
	})
	return b.String()
}

// changesByComponent renders the changes of each component without ids and
// times.
func changesByComponent(s stored) map[string]string {
	text := map[string]*strings.Builder{}
	s.EachChange(0, func(c *catalog.Change) {
		if text[c.Component] == nil {
			text[c.Component] = &strings.Builder{}
		}
		fmt.Fprintf(text[c.Component], "%d %s %s %s %q %q %d %q %d %q %v\n", c.Action, c.Language, c.Username, c.Commit,
			c.Source, c.Context, c.OldState, c.Old, c.State, c.Target, c.Event)
	})
	lists := map[string]string{}
	for slug, b := range text {
		lists[slug] = b.String()
	}
	return lists
}

// dumpAll renders all rows of the project "demo", ids and times included:
// removed translations, problems, files and statistics by day as well.
func dumpAll(s stored) string {
	var b strings.Builder
	s.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		fmt.Fprintf(&b, "component %d %s head %s tracking %s imported %v changes %d problem %q\n",
			c.ID, c.Slug, c.Head, c.Tracking, c.Imported, c.Changes, c.Problem.Kind)
		problems, err := snap.Problems(ctx, c.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%+v\n", problems)
		translations, err := snap.AllTranslations(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, t := range translations {
			fmt.Fprintf(&b, "  translation %+v\n", t)
			if err := dumpRows(ctx, &b, snap, t.ID); err != nil {
				return err
			}
		}
		return nil
	})
	s.EachChange(0, func(c *catalog.Change) { fmt.Fprintf(&b, "%+v\n", *c) })
	return b.String()
}

func dumpRows(ctx context.Context, b *strings.Builder, snap *store.Snapshot, translation int64) error {
	units, err := snap.Units(ctx, translation, 0, 1<<20)
	if err != nil {
		return err
	}
	for i := range units {
		fmt.Fprintf(b, "    %+v\n", units[i])
	}
	days, err := snap.StatDays(ctx, translation)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "    days %+v\n", days)
	stored, err := snap.StoredUnits(ctx, translation)
	for i := range stored {
		fmt.Fprintf(b, "    stored %+v\n", stored[i])
	}
	if f, err := snap.File(ctx, translation); err == nil {
		fmt.Fprintf(b, "    file %s %s %d\n", f.Blob, f.Modified, len(f.Data))
	}
	return err
}
