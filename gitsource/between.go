package gitsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

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
	old, err := r.store.Node(from)
	if err != nil {
		return Step{}, fmt.Errorf("step from %s: %w", from, err)
	}
	n, err := r.store.Node(to)
	if err != nil {
		return Step{}, fmt.Errorf("step to %s: %w", to, err)
	}
	d := diffWalk{r: r, m: match}
	if err := d.dir(ctx, old.Tree, n.Tree, "", 0); err != nil || len(d.changes) == 0 {
		return Step{}, errors.Join(err, ctx.Err())
	}
	fresh, err := r.difference(ctx, to, from, maxRange)
	if err != nil {
		return Step{}, fmt.Errorf("step from %s to %s: %w", from, to, err)
	}
	slices.SortFunc(d.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	s := Step{Base: from, Changes: d.changes, Truncated: len(fresh) > maxRange}
	if s.Commit, err = r.Commit(ctx, to); err != nil || len(fresh) == 0 || s.Truncated {
		return s, err
	}
	if s.Origins, err = r.origins(ctx, s, fresh, most); errors.Is(err, errManyBlobs) {
		s.Truncated, err = true, nil
	}
	return s, err
}
