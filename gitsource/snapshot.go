package gitsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

const (
	maxVisited  = 5_000_000 // entries read in one walk: trees can name the same subtree many times
	maxSelected = 1_000_000 // files that one walk selects
	maxPaths    = 64 << 20  // bytes of their paths
)

// visits counts the entries of one walk, and what it selects of them: a tree of a
// few kilobytes can hold millions of long paths.
type visits struct{ entries, selected, bytes int }

func (v *visits) add(ctx context.Context, n int) error {
	if v.entries += n; v.entries > maxVisited {
		return fmt.Errorf("more than %d directory entries: %w; narrow the filemask", maxVisited, object.ErrTooLarge)
	}
	return ctx.Err()
}

// take counts a file that is selected.
func (v *visits) take(path string) error {
	v.selected++
	v.bytes += len(path)
	switch {
	case v.selected > maxSelected:
		return fmt.Errorf("more than %d files: %w; narrow the filemask", maxSelected, object.ErrTooLarge)
	case v.bytes > maxPaths:
		return fmt.Errorf("paths of files with more than %d MiB together: %w; narrow the filemask", maxPaths>>20, object.ErrTooLarge)
	}
	return nil
}

// Snapshot lists the files of a commit that want selects, sorted by path, without
// reading them. Directories that prune reports are not entered. Either may be nil,
// see filemask.Matcher. Submodules are left out, and symlinks, as by Steps: one is never
// read. If its target is selected too, it is a duplicate (docs/compatibility.md#languages);
// otherwise the target could change without a change of the symlink's own entry, and a pull
// would miss what a fresh import sees.
func (r *Reader) Snapshot(ctx context.Context, commit object.Hash, want func(path string) bool, prune func(dir string) bool) ([]object.File, error) {
	n, err := r.store.Node(commit)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	w := snapshotWalk{r: r, m: filemask.Matcher{Want: want, Prune: prune}}
	if err := w.dir(ctx, n.Tree, "", 0); err != nil {
		return nil, fmt.Errorf("list files of commit %s: %w", commit, err)
	}
	slices.SortFunc(w.files, func(a, b object.File) int { return strings.Compare(a.Path, b.Path) })
	return w.files, nil
}

type snapshotWalk struct {
	r     *Reader
	m     filemask.Matcher
	v     visits
	files []object.File
}

func (w *snapshotWalk) dir(ctx context.Context, tree object.Hash, prefix string, depth int) error {
	list, err := w.r.store.Tree(tree)
	if err != nil {
		return err
	}
	if err := w.v.add(ctx, len(list)+1); err != nil {
		return err
	}
	for _, e := range list {
		p := prefix + e.Name
		switch e.Kind {
		case object.KindTree:
			if depth < object.MaxDepth && len(p) < filemask.MaxWalked && !w.m.Prunes(p) {
				err = w.dir(ctx, e.Hash, p+"/", depth+1)
			}
		case object.KindFile:
			if w.m.Selects(p) {
				w.files = append(w.files, object.File{Path: p, Blob: e.Hash})
				err = w.v.take(p)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
