package catalogtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxDumped bounds the units and changes of a dump, so that golden files stay
// readable; no scenario that is compared whole has as many.
const maxDumped = 40

// Dump renders what is served of the project "demo": components, translations,
// units. Two stores that serve the same have the same dump.
func (s *Store) Dump() string {
	s.TB.Helper()
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
	fmt.Fprintf(b, "    unit %d source %d position %d state %d words %d %q / %q -> %q", u.ID, u.SourceID, u.Position, u.State, u.Words, Short(u.Source), Short(u.Context), Short(u.Target))
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
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Changes(ctx, store.ChangeQuery{AfterID: id, Limit: 1 << 20})
		if err != nil {
			return err
		}
		for i := range list {
			if i == maxDumped {
				fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			}
			if i < maxDumped {
				dumpChange(&b, &list[i])
			}
			last = list[i].ID
		}
		return nil
	})
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

// DumpAll renders all rows of the project "demo", ids and times included:
// removed translations, problems, files and statistics by day as well.
func (s *Store) DumpAll() string {
	s.TB.Helper()
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
