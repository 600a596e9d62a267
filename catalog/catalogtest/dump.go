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
