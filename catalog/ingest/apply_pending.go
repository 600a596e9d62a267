package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// withEdits returns the units of a new version of a file as they are served: with the
// texts of the pending edits of the translation, as far as these still apply. So a
// commit of our own brings no difference, and one that changes an edited string is
// compared with the edit. Edits that are done or in conflict end here; those of strings
// that the file lacks wait. The slice of units is not changed.
func (a *application) withEdits(ctx context.Context, row *catalog.Translation, units []unit.Unit) ([]unit.Unit, error) {
	if a.journal == nil || row.ID == 0 {
		return units, nil
	}
	pending, err := a.journal.PendingEdits(ctx, row.ID)
	if len(pending) == 0 || err != nil {
		return units, err
	}
	byIdentity := make(map[catalog.Identity]*store.Edit, len(pending))
	for i := range pending {
		byIdentity[pending[i].Identity] = &pending[i]
	}
	units = slices.Clone(units)
	var h catalog.Hasher
	for i := range units {
		e := byIdentity[units[i].Identity]
		if e == nil {
			continue
		}
		switch outcome := a.merge(e, row, &units[i]); {
		case outcome.Written():
			if u := &units[i]; u.Target != e.BaseTarget || u.State != e.BaseState {
				err = a.journal.RebaseEdit(ctx, e, u.Target, u.State)
			}
			setText(&units[i].Unit, e.Target, e.State, row.PluralNumber)
			units[i].Text = h.Text(units[i].Target, units[i].State)
			unit.SetMeta(&units[i], &h)
		case outcome == edit.Done:
			err = a.journal.EndEdit(ctx, e, store.EditFlushed, "", "", a.step.Commit.Committer.When)
		default:
			err = a.journal.EndEdit(ctx, e, store.EditConflict, outcome.String(), "", a.step.Commit.Committer.When)
		}
		if err != nil {
			return nil, err
		}
	}
	return units, nil
}

// merge decides about an edit of a unit that is read from a file.
func (a *application) merge(e *store.Edit, row *catalog.Translation, u *unit.Unit) edit.Outcome {
	theirs := edit.Theirs{
		Text: edit.Text{Target: u.Target, State: u.State}, Found: true, ReadOnly: u.State == catalog.StateReadOnly,
		Forms: formsOf(u.Source, row.PluralNumber),
	}
	return edit.Merge(edit.Text{Target: e.BaseTarget, State: e.BaseState}, theirs, edit.Text{Target: e.Target, State: e.State}, policyOf(&a.comp.row.Settings))
}

// policyOf is on_conflict of a component.
func policyOf(s *catalog.ComponentSettings) edit.Policy {
	if s.Edits.Overrule {
		return edit.KeepEdit
	}
	return edit.KeepRepository
}

// formsOf is the number of forms of a translation of a source.
func formsOf(source string, number int) int {
	if catalog.HasForms(source) {
		return max(number, 1)
	}
	return 1
}

// setText gives a unit another text, as it will be read from a file: a previous source
// is that of a text that needs editing.
func setText(u *catalog.Unit, target string, state catalog.State, number int) {
	u.Target, u.State = catalog.PadForms(u.Source, catalog.TrimForms(target), number), state
	if !state.Fuzzy() {
		u.PreviousSource = ""
	}
}
