package ingest

import (
	"context"
	"errors"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
)

// absent is the text fingerprint of a string that a version does not have.
const absent = int64(0)

// attributor finds the commit of a step that introduced a text (decision 18).
// A text belongs to the commit whose version differs from all its parents'.
type attributor struct {
	step    *gitsource.Step
	loader  *loader
	comp    *component
	changes map[string]int // path → index in step.Changes
}

func newAttributor(step *gitsource.Step, l *loader, c *component) *attributor {
	a := &attributor{step: step, loader: l, comp: c, changes: make(map[string]int, len(step.Changes))}
	for i := range step.Changes {
		a.changes[step.Changes[i].Path] = i
	}
	return a
}

// own is the index of the step's own commit, which brought all that no other
// commit of the step did.
func (a *attributor) own() int { return len(a.step.Origins) - 1 }

// origins returns for every identity the index in step.Origins of the commit
// that gave it the state it now has in a file, be it a text or absence: from
// the step's own commit one goes to every parent that has the same, and one
// that no parent shares it with introduced it; of several the earliest. What
// only parents outside the step have, an old branch brings back: that is the
// step's own doing.
func (a *attributor) origins(ctx context.Context, path string, ids []catalog.Identity) (map[catalog.Identity]int, error) {
	result := make(map[catalog.Identity]int, len(ids))
	for _, id := range ids {
		result[id] = a.own()
	}
	change, ok := a.changes[path]
	if !ok || a.own() == 0 {
		return result, nil
	}
	pending := make([]map[catalog.Identity]bool, len(a.step.Origins))
	for _, id := range ids {
		add(pending, a.own(), id)
	}
	for i := a.own(); i >= 0; i-- {
		if err := a.descend(ctx, path, change, i, pending, result); err != nil {
			return nil, err
		}
		pending[i] = nil
	}
	return result, nil
}

// descend hands the texts of one commit on to the parents that have them too,
// and credits the commit with the rest.
func (a *attributor) descend(ctx context.Context, path string, change, commit int, pending []map[catalog.Identity]bool, result map[catalog.Identity]int) error {
	if len(pending[commit]) == 0 {
		return nil
	}
	origin := &a.step.Origins[commit]
	mine, err := a.version(ctx, path, origin.Blobs[change])
	if err != nil {
		return err
	}
	parents := make([]version, len(origin.Parents))
	for p := range origin.Parents {
		if parents[p], err = a.version(ctx, path, a.parentBlob(origin, p, change)); err != nil {
			return err
		}
	}
	for id := range pending[commit] {
		inherited := false
		for p, parent := range origin.Parents {
			if !mine.same(parents[p], id) {
				continue
			}
			inherited = true
			if parent >= 0 {
				add(pending, parent, id)
			}
		}
		if !inherited {
			result[id] = commit
		}
	}
	return nil
}

func add(pending []map[catalog.Identity]bool, commit int, id catalog.Identity) {
	if pending[commit] == nil {
		pending[commit] = make(map[catalog.Identity]bool)
	}
	pending[commit][id] = true
}

func (a *attributor) parentBlob(o *gitsource.Origin, parent, change int) gitsource.Hash {
	if i := o.Parents[parent]; i >= 0 {
		return a.step.Origins[i].Blobs[change]
	}
	return o.Outside[parent][change]
}

// version is one version of a file as attribution sees it.
type version struct {
	file   *poFile // nil: the file is not there
	broken bool    // it cannot be parsed
}

func (a *attributor) version(ctx context.Context, path string, blob gitsource.Hash) (version, error) {
	if blob.IsZero() {
		return version{}, nil
	}
	f, err := a.loader.load(ctx, a.comp.row.ID, path, blob, a.comp.rules)
	var bad *fileError
	if errors.As(err, &bad) {
		return version{broken: true}, nil
	}
	return version{file: f}, err
}

// same reports whether a string is the same in both versions; a version that
// cannot be parsed is like no other.
func (v version) same(o version, id catalog.Identity) bool {
	return !v.broken && !o.broken && v.text(id) == o.text(id)
}

// text is the fingerprint of a string in a version, or absent.
func (v version) text(id catalog.Identity) int64 {
	if v.file == nil {
		return absent
	}
	if i, ok := v.file.index[id]; ok {
		return v.file.units[i].text | 1 // never absent
	}
	return absent
}
