package gitsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// Step is the changes that one commit of the branch makes to the files of a Matcher.
type Step struct {
	// Commit of the branch after this step.
	Commit object.Commit
	// At is the state after it.
	At State
	// Base is the commit that Changes compare with: the first parent, the old head
	// of a rewritten branch (docs/compatibility.md#history), or zero for the empty
	// tree before a first commit.
	Base object.Hash
	// Changes of matched paths, sorted by path; never empty.
	Changes []Change
	// Origins are the commits that the step brings in, parents first, its own commit last.
	Origins []Origin
	// Truncated: there are more than 50,000 commits; Origins has only the step's own.
	Truncated bool
	// Position of the commit in the walk, from 1, and the Total number of commits in
	// it. Commits that change no file of the Matcher count.
	Position, Total int
}

// Change is one changed file. Symlinks and submodules count as absent.
type Change struct {
	// Path from the root of the repository, as in object.File.
	Path string
	// Old and New are the ids of the contents; zero: absent. They differ.
	Old, New object.Hash
}

// link is one commit of the chain of first parents to walk.
type link struct {
	hash, tree object.Hash
	merge      bool
}

// Steps walks the first parents from from (exclusive) to to, the oldest first, and yields the
// commits that change a file of match. It compares ids in trees and reads no file.
//
// A zero from starts before the first commit. If from is not in the chain of to's first parents
// (a rewritten branch, or a merge with the old mainline as its second parent), one step leads
// from the tree of from to the tree of to (docs/compatibility.md#history). from == to yields
// nothing. If the mirror does not have from, the error is object.ErrUnknownCommit, and the
// caller takes a snapshot. The walk ends after an error.
func (r *Reader) Steps(ctx context.Context, from, to object.Hash, match filemask.Matcher) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		if from == to {
			return
		}
		w, err := r.newWalk(ctx, from, to, match)
		if err != nil {
			yield(Step{}, fmt.Errorf("walk %s..%s: %w", from, to, err))
			return
		}
		for i := len(w.chain) - 1; i >= 0; i-- {
			step, err := w.step(ctx, w.chain[i])
			if err != nil {
				yield(Step{}, fmt.Errorf("walk %s..%s: commit %s: %w", from, to, w.chain[i].hash, err))
				return
			}
			step.At, step.Position, step.Total = State{Commit: w.chain[i].hash}, len(w.chain)-i, len(w.chain)
			if len(step.Changes) > 0 && !yield(step, nil) {
				return
			}
		}
	}
}

// walk is the state of one Steps.
type walk struct {
	r     *Reader
	match filemask.Matcher
	chain []link // newest first
	base  link   // the next step compares with this commit
	limit int    // of the commits that one step may bring in
	seen  map[object.Hash]struct{}
	// seen has base and all its ancestors if the walk starts before the first commit, so
	// that no search is needed for the commits of a merge; otherwise it is nil.
}

func (r *Reader) newWalk(ctx context.Context, from, to object.Hash, match filemask.Matcher) (*walk, error) {
	w := &walk{r: r, match: match, limit: maxRange}
	if !from.IsZero() {
		n, err := r.store.Node(from)
		if err != nil {
			return nil, err
		}
		w.base = link{hash: from, tree: n.Tree}
	}
	at := to
	for at != from {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := r.store.Node(at)
		if err != nil {
			return nil, err
		}
		w.chain = append(w.chain, link{hash: at, tree: n.Tree, merge: len(n.Parents) > 1})
		if len(n.Parents) == 0 {
			break
		}
		at = n.Parents[0]
	}
	switch {
	case from.IsZero():
		w.seen = make(map[object.Hash]struct{}, len(w.chain))
	case at != from:
		w.chain = w.chain[:1]
		w.chain[0].merge = true // its commits must be searched for
	}
	return w, nil
}

func (w *walk) step(ctx context.Context, at link) (Step, error) {
	base := w.base
	w.base = at
	fresh, err := w.fresh(ctx, at)
	if err != nil {
		return Step{}, err
	}
	changes, err := w.r.changes(ctx, base.tree, at.tree, w.match)
	if err != nil || len(changes) == 0 {
		return Step{}, err
	}
	s := Step{Base: base.hash, Changes: changes}
	if s.Commit, err = w.r.Commit(ctx, at.hash); err != nil {
		return Step{}, err
	}
	if !at.merge {
		s.Origins = []Origin{ownOrigin(s)}
		return s, nil
	}
	if fresh == nil {
		fresh, err = w.r.store.Difference(ctx, at.hash, []object.Hash{base.hash}, w.limit)
		if err != nil {
			return Step{}, err
		}
	}
	if len(fresh) > w.limit {
		s.Truncated, s.Origins = true, []Origin{ownOrigin(s)}
		return s, nil
	}
	s.Origins, err = w.r.origins(ctx, s, fresh, 0)
	return s, err
}

// fresh returns the commits that a merge brings in, if the walk has seen all earlier
// commits; otherwise nil. It is nil for other commits.
func (w *walk) fresh(ctx context.Context, at link) (map[object.Hash]object.Node, error) {
	if w.seen == nil {
		return nil, nil
	}
	if !at.merge {
		w.seen[at.hash] = struct{}{}
		return nil, nil
	}
	fresh, err := w.r.store.Unseen(ctx, at.hash, w.seen)
	for h := range fresh {
		w.seen[h] = struct{}{}
	}
	return fresh, err
}

// changes compares two trees, of which the zero hash is an empty one. They are sorted by path.
func (r *Reader) changes(ctx context.Context, old, cur object.Hash, match filemask.Matcher) ([]Change, error) {
	d := diffWalk{r: r, m: match}
	err := d.dir(ctx, old, cur, "", 0)
	slices.SortFunc(d.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return d.changes, err
}

const (
	maxVisited  = 5_000_000 // entries read in one walk: trees can name the same subtree many times
	maxSelected = 1_000_000 // files that one walk selects
	maxPaths    = 64 << 20  // bytes of their paths
)

// diffWalk compares two trees. It counts the entries that it reads, and what it selects of
// them: a tree of a few kilobytes can hold millions of long paths.
type diffWalk struct {
	r       *Reader
	m       filemask.Matcher
	entries int
	changes []Change
	bytes   int // of the paths of the changes
}

func (d *diffWalk) dir(ctx context.Context, old, cur object.Hash, prefix string, depth int) error {
	if old == cur {
		return nil
	}
	a, err := d.r.store.Tree(old)
	if err != nil {
		return err
	}
	b, err := d.r.store.Tree(cur)
	if err != nil {
		return err
	}
	if d.entries += len(a) + len(b); d.entries > maxVisited {
		return fmt.Errorf("more than %d directory entries: %w; narrow the filemask", maxVisited, object.ErrTooLarge)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for len(a) > 0 || len(b) > 0 {
		var x, y object.Entry
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			x, a = a[0], a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			y, b = b[0], b[1:]
		default:
			x, y, a, b = a[0], b[0], a[1:], b[1:]
		}
		if x == y {
			continue
		}
		if err := d.entry(ctx, x, y, prefix+cmp.Or(x.Name, y.Name), depth); err != nil {
			return err
		}
	}
	return nil
}

// entry compares two entries of one name; one of the two may be absent.
func (d *diffWalk) entry(ctx context.Context, x, y object.Entry, p string, depth int) error {
	oldTree, newTree := x.Of(object.KindTree), y.Of(object.KindTree)
	if oldTree != newTree && depth < object.MaxDepth && len(p) < filemask.MaxWalked && (d.m.Prune == nil || !d.m.Prune(p)) {
		if err := d.dir(ctx, oldTree, newTree, p+"/", depth+1); err != nil {
			return err
		}
	}
	c := Change{Path: p, Old: x.Of(object.KindFile), New: y.Of(object.KindFile)}
	if c.Old == c.New || !d.m.Selects(p) {
		return nil
	}
	d.changes, d.bytes = append(d.changes, c), d.bytes+len(p)
	switch {
	case len(d.changes) > maxSelected:
		return fmt.Errorf("more than %d files: %w; narrow the filemask", maxSelected, object.ErrTooLarge)
	case d.bytes > maxPaths:
		return fmt.Errorf("paths of files with more than %d MiB together: %w; narrow the filemask", maxPaths>>20, object.ErrTooLarge)
	}
	return nil
}

// maxRange bounds the commits of one merge that become origins.
const maxRange = 50_000

// maxBetweenBlobs bounds the ids of files in the origins of Between: 40 MB. On a
// stale branch, 20,000 commits may have changed a hundred files.
const maxBetweenBlobs = 2_000_000

// Between is one step from a commit to another, which need not be its ancestor or
// descendant: the files of match that differ between their trees, and the commits
// that to reaches and from does not. The step has no Changes if no file differs, and
// no Origins if from reaches to. Truncated means that there are too many origins:
// more than 50,000 commits, or 2 million ids of files in all of them; Origins is
// empty then. The error is object.ErrUnknownCommit if the mirror lacks a commit.
func (r *Reader) Between(ctx context.Context, from, to object.Hash, match filemask.Matcher) (Step, error) {
	return r.between(ctx, from, to, match, maxBetweenBlobs)
}

func (r *Reader) between(ctx context.Context, from, to object.Hash, match filemask.Matcher, most int) (Step, error) {
	changes, err := r.Changed(ctx, from, to, match)
	if err != nil || len(changes) == 0 {
		return Step{}, errors.Join(err, ctx.Err())
	}
	fresh, err := r.store.Difference(ctx, to, []object.Hash{from}, maxRange)
	if err != nil {
		return Step{}, fmt.Errorf("step from %s to %s: %w", from, to, err)
	}
	s := Step{Base: from, Changes: changes, Truncated: len(fresh) > maxRange}
	if s.Commit, err = r.Commit(ctx, to); err != nil || len(fresh) == 0 || s.Truncated {
		return s, err
	}
	if s.Origins, err = r.origins(ctx, s, fresh, most); errors.Is(err, errManyBlobs) {
		s.Truncated, err = true, nil
	}
	return s, err
}

// Snapshot lists the files of a commit that want selects, sorted by path, without reading them.
// Directories that prune reports are not entered. Either may be nil, see filemask.Matcher.
// Submodules are left out, and symlinks, as by Steps: one is never read. If its target is
// selected too, it is a duplicate (docs/compatibility.md#languages); else the target could
// change without the symlink's own entry, and a pull would miss what a fresh import sees.
func (r *Reader) Snapshot(ctx context.Context, commit object.Hash, want func(path string) bool, prune func(dir string) bool) ([]object.File, error) {
	n, err := r.store.Node(commit)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	files, err := r.changes(ctx, object.Hash{}, n.Tree, filemask.Matcher{Want: want, Prune: prune})
	if err != nil {
		return nil, fmt.Errorf("list files of commit %s: %w", commit, err)
	}
	list := make([]object.File, len(files))
	for i, c := range files {
		list[i] = object.File{Path: c.Path, Blob: c.New}
	}
	return list, nil
}
