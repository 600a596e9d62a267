package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// attributor finds the commit of a step that introduced a text: the commit whose
// version differs from the versions of all its parents
// (docs/compatibility.md#authors).
type attributor struct {
	step    *gitsource.Step
	loader  *fileLoader
	comp    *component
	changes map[string]int    // path → index in step.Changes
	moved   map[string]string // path → where the file was before the step
}

func newAttributor(step *gitsource.Step, l *fileLoader, c *component) *attributor {
	a := &attributor{step: step, loader: l, comp: c, changes: make(map[string]int, len(step.Changes)), moved: make(map[string]string)}
	for i := range step.Changes {
		a.changes[step.Changes[i].Path] = i
	}
	return a
}

// stepOrigin is the index in step.Origins of the step's own commit. It gets the
// credit for everything that no other commit of the step introduced.
func (a *attributor) stepOrigin() int { return len(a.step.Origins) - 1 }

// origins returns for every string the index in step.Origins of the commit that
// introduced its current value in a file, which is a text or its absence.
// Starting at the step's commit, it follows parents with the same value; a commit
// none of whose parents has it introduced it. Of several such commits the
// earliest counts. If only parents outside the step have the value, an old branch
// brought it back, and the step's commit gets the credit. origins returns nil for
// a step with one origin, which introduced everything.
func (a *attributor) origins(ctx context.Context, path string, of aspect, ids []catalog.Identity) (map[catalog.Identity]int, error) {
	if a.stepOrigin() == 0 {
		return nil, nil
	}
	result := make(map[catalog.Identity]int, len(ids))
	for _, id := range ids {
		result[id] = a.stepOrigin()
	}
	return result, a.walk(ctx, path, of, ids, result)
}

// walk sets result to the commits that introduced the strings.
func (a *attributor) walk(ctx context.Context, path string, of aspect, ids []catalog.Identity, result map[catalog.Identity]int) error {
	change, ok := a.changes[path]
	if !ok {
		return nil
	}
	pending := make([]map[catalog.Identity]bool, len(a.step.Origins))
	for _, id := range ids {
		add(pending, a.stepOrigin(), id)
	}
	file := history{a: a, path: path, change: change, before: -1, old: make([]bool, len(a.step.Origins))}
	if i, ok := a.changes[a.moved[path]]; ok && a.moved[path] != path {
		file.before = i
	}
	for i := a.stepOrigin(); i >= 0; i-- {
		if err := file.credit(ctx, i, of, pending, result); err != nil {
			return err
		}
		pending[i] = nil
	}
	return nil
}

func add(pending []map[catalog.Identity]bool, commit int, id catalog.Identity) {
	if pending[commit] == nil {
		pending[commit] = make(map[catalog.Identity]bool)
	}
	pending[commit][id] = true
}

// aspect is the part of a string that is attributed: its fingerprint in a version
// of a file, or absent.
type aspect func(version, catalog.Identity) int64

// absent is the aspect of a string that a version does not have.
const absent = int64(0)

type version struct {
	file   *unit.File // nil: the file is missing, or broken
	broken bool       // it cannot be parsed
}

func (a *attributor) version(ctx context.Context, path string, blob object.Hash) (version, error) {
	if blob.IsZero() {
		return version{}, nil
	}
	f, err := a.loader.load(ctx, a.comp, path, blob, false)
	if fault(err) != nil {
		return version{broken: true}, nil
	}
	return version{file: f}, err
}

// find returns a string of a version, or nil.
func (v version) find(id catalog.Identity) *unit.Unit {
	if v.file == nil {
		return nil
	}
	i, ok := v.file.Find(id)
	if !ok {
		return nil
	}
	return &v.file.Units[i]
}

// presence is the aspect of strings of the source translation: translating a
// string does not introduce it.
func presence(v version, id catalog.Identity) int64 {
	if v.find(id) != nil {
		return 1
	}
	return absent
}

// shownTranslation returns the aspect of strings of translations of which number forms are shown.
func shownTranslation(number int) aspect {
	var h catalog.Hasher
	return func(v version, id catalog.Identity) int64 {
		if u := v.find(id); u != nil {
			return u.PadForms(number, &h).Text | 1 // never absent
		}
		return absent
	}
}

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
	mine, err := h.a.version(ctx, h.path, blob)
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
			v, err := h.a.version(ctx, h.path, blob)
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
