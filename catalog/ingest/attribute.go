package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
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
	a := &attributor{step: step, loader: l, comp: c, changes: make(map[string]int, len(step.Changes))}
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

// introduced returns the index in step.Origins of the commit that introduced the
// current translation of a string in a file, for the strings whose translation no
// commit outside the step has.
func (a *attributor) introduced(ctx context.Context, path string, ids []catalog.Identity) (map[catalog.Identity]int, error) {
	result := make(map[catalog.Identity]int, len(ids))
	return result, a.walk(ctx, path, translation, ids, result)
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
