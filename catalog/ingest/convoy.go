package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// listFiles sets the files that every component reads at a commit.
func (p *pull) listFiles(ctx context.Context, commit object.Hash, comps []*component) error {
	m := matcher(comps)
	all, err := p.reader.Snapshot(ctx, commit, m.Want, m.Prune)
	if err != nil {
		return err
	}
	all, _ = gitsource.SplitLinks(all)
	for _, c := range comps {
		c.files = nil
		for _, f := range all {
			if c.selection.lists(f.Path) {
				c.files = append(c.files, f)
			}
		}
	}
	return nil
}

// matcher selects the files that any of the components reads.
func matcher(comps []*component) filemask.Matcher {
	var masks []filemask.Mask
	var paths []string
	for _, c := range comps {
		masks = append(masks, c.selection.mask)
		if c.selection.newBase != "" {
			paths = append(paths, c.selection.newBase)
		}
	}
	return filemask.NewMatcher(masks, paths...)
}

// convoy is a group of components that move together.
type convoy struct {
	from   string // the commit that they are at; "": they are read whole
	replay bool   // their first replay begins or goes on
	comps  []*component
}

// convoys groups components by the commit that they are at. Replays come first:
// they move without others, and meet them at the head. New components with one
// History replay in one walk.
func convoys(comps []*component) []convoy {
	type key struct {
		from    string
		replay  bool
		history catalog.History
	}
	var list []convoy
	index := make(map[key]int)
	for _, c := range comps {
		k := key{from: c.row.Head, replay: !c.row.Imported && c.row.Head != ""}
		if c.row.Head == "" && !c.isStored() && c.row.Settings.History.Full {
			k.replay, k.history = true, c.row.Settings.History
		}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, convoy{from: k.from, replay: k.replay})
		}
		list[i].comps = append(list[i].comps, c)
	}
	slices.SortStableFunc(list, func(x, y convoy) int {
		if x.replay != y.replay {
			if x.replay {
				return -1
			}
			return 1
		}
		return strings.Compare(x.from, y.from)
	})
	return list
}

func ids(comps []*component) []int64 {
	list := make([]int64, len(comps))
	for i, c := range comps {
		list[i] = c.row.ID
	}
	return list
}
