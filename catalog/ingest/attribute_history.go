package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// history is the history of one file within a step.
type history struct {
	a      *attributor
	path   string
	change int // index in step.Changes
	before int // index of the path that it had before, or -1
	// old says for a commit that its descendants have the file at the path before.
	// A file of the commit at the other path is another file.
	old []bool
}

// blob returns the file in a tree: at the path that the descendants have it at,
// else at the other path. The second result is old for the ancestors.
func (h *history) blob(tree []object.Hash, old bool) (object.Hash, bool) {
	if h.before < 0 {
		return tree[h.change], false
	}
	here, there := h.change, h.before
	if old {
		here, there = there, here
	}
	if tree[here].IsZero() && !tree[there].IsZero() {
		return tree[there], !old
	}
	return tree[here], old
}

// ancestor is a version that a commit's text can come from.
type ancestor struct {
	commit  int // index in step.Origins; -1: outside the step
	version version
	old     bool // it is at the path before
}

// credit passes the strings of one commit on to its ancestors that have the same
// value, and sets result to the commit for the other strings.
func (h *history) credit(ctx context.Context, commit int, of aspect, pending []map[catalog.Identity]bool, result map[catalog.Identity]int) error {
	if len(pending[commit]) == 0 {
		return nil
	}
	blob, old := h.blob(h.a.step.Origins[commit].Blobs, h.old[commit])
	mine, err := h.version(ctx, blob)
	if err != nil {
		return err
	}
	before, err := h.ancestors(ctx, commit, old)
	if err != nil {
		return err
	}
	for id := range pending[commit] {
		inherited := false
		for _, f := range before {
			if of(f.version, id) != of(mine, id) {
				continue
			}
			inherited = true
			if f.commit >= 0 {
				add(pending, f.commit, id)
				h.old[f.commit] = h.old[f.commit] || f.old
			}
		}
		if !inherited {
			result[id] = commit
		}
	}
	return nil
}

// ancestors returns the versions at a commit's parents. A version that cannot be
// parsed is replaced by its own parents' versions, since such a file keeps its
// last good version: a commit that only repairs it introduces nothing.
func (h *history) ancestors(ctx context.Context, commit int, old bool) ([]ancestor, error) {
	type child struct {
		commit int
		old    bool
	}
	var list []ancestor
	seen := make(map[int]bool)
	todo := []child{{commit, old}}
	for len(todo) > 0 {
		origin, after := &h.a.step.Origins[todo[0].commit], todo[0].old
		todo = todo[1:]
		for p, parent := range origin.Parents {
			if parent >= 0 && seen[parent] {
				continue
			}
			seen[parent] = true
			blob, old := h.parentBlob(origin, p, after)
			v, err := h.version(ctx, blob)
			switch {
			case err != nil:
				return nil, err
			case !v.broken:
				list = append(list, ancestor{parent, v, old})
			case parent >= 0:
				todo = append(todo, child{parent, old})
			}
		}
	}
	return list, nil
}

func (h *history) parentBlob(o *gitsource.Origin, parent int, old bool) (object.Hash, bool) {
	if i := o.Parents[parent]; i >= 0 {
		return h.blob(h.a.step.Origins[i].Blobs, old)
	}
	return h.blob(o.Outside[parent], old)
}

func (h *history) version(ctx context.Context, blob object.Hash) (version, error) {
	return h.a.version(ctx, h.path, blob)
}
