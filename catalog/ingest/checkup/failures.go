package checkup

import (
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxNewFailures is how many new failures a report lists.
const maxNewFailures = 100

// maxFailureSource bounds the text of a string in a report, in characters.
const maxFailureSource = 80

// NewFailures are the quality checks that fail after a pull and did not fail
// before it. Failures in the first import of a component do not count, nor do
// failures that other settings or rules find in unchanged strings.
type NewFailures struct {
	// Total is the number of all new failures, listed or not.
	Total int
	// List has up to 100 of them, ordered by unit and check.
	List []NewFailure
}

// NewFailure is one check of one unit. The unit may be in a component that the
// pull did not touch, if its strings are compared with the pulled ones.
type NewFailure struct {
	// UnitID and ComponentID are the ids in the API.
	UnitID, ComponentID int64
	// Language is the code of the unit's translation.
	Language string
	// Check is the check that fails.
	Check checks.ID
	// Source is the beginning of the unit's source, at most 80 characters.
	Source string
}

// Add adds the failures of a later step.
func (n *NewFailures) Add(later NewFailures) {
	n.Total += later.Total
	n.List = append(n.List, later.List...)
	n.List = n.List[:min(len(n.List), maxNewFailures)]
}

// Report has NewFailures list what fails since the step.
func (k *Step) Report() { k.failures.diff = failureDiff{} }

// NewFailures returns what fails since the step, if Report was called before it ran.
func (k *Step) NewFailures(ctx context.Context) (NewFailures, error) {
	return k.failures.diff.newFailures(ctx, k.tx)
}

// failureDiff has the units whose failing checks a step changed, by id, with
// the checks that failed before the step and the checks that fail after it. A nil
// failureDiff records nothing.
type failureDiff map[int64]*unitFailures

type unitFailures struct {
	translation   int64
	source        string
	before, after checks.Mask
}

func (d failureDiff) note(u *catalog.Unit, now checks.Mask) {
	if d == nil {
		return
	}
	f := d[u.ID]
	if f == nil {
		f = &unitFailures{translation: u.TranslationID, source: u.Source, before: u.Failing}
		d[u.ID] = f
	}
	f.after = now
}

// newFailures lists the checks that fail after the step only. It reads the
// languages of translations from the step's transaction.
func (d failureDiff) newFailures(ctx context.Context, tx *store.StepTx) (n NewFailures, err error) {
	for _, id := range slices.Sorted(maps.Keys(d)) {
		f := d[id]
		for check := range f.after.All() {
			if f.before.Has(check) {
				continue
			}
			if n.Total++; n.Total > maxNewFailures {
				continue
			}
			peer, err := tx.PeerByID(ctx, f.translation)
			if err != nil {
				return NewFailures{}, err
			}
			n.List = append(n.List, NewFailure{
				UnitID: id, ComponentID: peer.ComponentID, Language: peer.Language, Check: check, Source: catalog.Fit(f.source, maxFailureSource),
			})
		}
	}
	return n, nil
}
