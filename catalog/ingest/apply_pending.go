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
// that the file lacks wait, unless they were made of a string that only the template has: it
// follows those of the file, if these are all (whole). A text that was sent and taken back
// since is an edit again if it arrives: with the text of before. The slice of units is not
// changed.
func (a *application) withEdits(ctx context.Context, row *catalog.Translation, units []unit.Unit, whole bool) ([]unit.Unit, error) {
	if a.journal == nil || row.ID == 0 {
		return units, nil
	}
	pending, err := a.journal.PendingTexts(ctx, row.ID)
	if err != nil {
		return units, err
	}
	sent, err := a.journal.SentTexts(ctx, a.comp.row.ID, row.ID)
	if len(pending)+len(sent) == 0 || err != nil {
		return units, err
	}
	byIdentity := make(map[catalog.Identity]*journaled, len(pending))
	of := func(id catalog.Identity) *journaled {
		if byIdentity[id] == nil {
			byIdentity[id] = &journaled{}
		}
		return byIdentity[id]
	}
	for i := range pending {
		of(pending[i].Identity).edit = &pending[i]
	}
	for i := range sent {
		j := of(sent[i].Identity)
		j.sent = append(j.sent, sent[i])
	}
	units = slices.Clone(units)
	var h catalog.Hasher
	for i := range units {
		j := byIdentity[units[i].Identity]
		if j == nil {
			continue
		}
		written, err := a.lay(ctx, j, row, &units[i])
		if err != nil {
			return nil, err
		}
		if written {
			layText(&units[i], j.edit, row.PluralNumber, &h)
		}
		j.laid = true
	}
	if !whole {
		return units, nil
	}
	return a.withMissing(ctx, row, units, pending, byIdentity)
}

// withMissing appends the strings that the file lacks and the template has, and that were
// translated, in the order of their edits.
func (a *application) withMissing(ctx context.Context, row *catalog.Translation, units []unit.Unit, pending []store.Edit, byIdentity map[catalog.Identity]*journaled) ([]unit.Unit, error) {
	var ids []int64
	for i := range pending {
		if pending[i].Base.Absent() && !byIdentity[pending[i].Identity].laid {
			ids = append(ids, pending[i].UnitID)
		}
	}
	if len(ids) == 0 {
		return units, nil
	}
	list, err := a.journal.TemplateStrings(ctx, a.comp.row.ID, ids)
	if err != nil || len(list) == 0 {
		return units, err
	}
	sources := catalog.ByKey(list, func(u *catalog.Unit) catalog.Identity { return u.Identity })
	var x extraStrings
	has, position := make(map[catalog.Identity]bool, len(units)), 0
	for i := range units { // another msgid_plural is another string here, and not for gettext
		has[x.key(&units[i])], position = true, max(position, units[i].Position)
	}
	for i := range pending {
		j := byIdentity[pending[i].Identity]
		source := sources[pending[i].Identity]
		if source == nil || j.laid || !j.edit.Base.Absent() {
			continue
		}
		u := unit.Unit{Unit: a.comp.rules.Missing(source)}
		if has[x.key(&u)] {
			continue
		}
		written, err := a.lay(ctx, j, row, &u)
		if err != nil {
			return nil, err
		}
		if written {
			position++
			u.Removed, u.Position = false, position
			layText(&u, j.edit, row.PluralNumber, &x.hasher)
			units = append(units, u)
		}
	}
	return units, nil
}

// translatesMissing reports whether a translation has strings that only the template has,
// which may be another one since.
func (a *application) translatesMissing(ctx context.Context, row *catalog.Translation) (bool, error) {
	source := a.sourceRow()
	if a.journal == nil || row == nil || row.Removed || source == nil || !a.sourceRead && a.hasSourceFile == source.HasTemplate {
		return false, nil
	}
	pending, err := a.journal.PendingTexts(ctx, row.ID)
	return slices.ContainsFunc(pending, func(e store.Edit) bool { return e.Base.Absent() }), err
}

// layText serves the text of an edit in place of that of a file.
func layText(u *unit.Unit, e *store.Edit, number int, h *catalog.Hasher) {
	if e.Previous != "" {
		u.PreviousSource = e.Previous
	}
	unit.SetText(&u.Unit, e.Ours.Target, e.Ours.State, number)
	u.Text = h.Text(u.Target, u.State)
	unit.SetMeta(u, h)
}

// journaled is what the journal has of a string: an edit that is pending, if there is one,
// and the texts that were sent and may still arrive.
type journaled struct {
	edit *store.Edit
	sent []store.SentText
	laid bool // the file has the string
}

// lay decides about a string with a new text in its file, and stores that. It reports
// whether the edit is served in its place.
func (a *application) lay(ctx context.Context, j *journaled, row *catalog.Translation, u *unit.Unit) (written bool, err error) {
	now := edit.Text{Target: u.Target, State: u.State}
	at, _ := edit.Arrived(textsOf(j.sent), now)
	if j.edit == nil {
		if at < 0 {
			return false, nil
		}
		if err := a.before(ctx, row, j, &j.sent[at]); err != nil {
			return false, err
		}
	}
	outcome := edit.Done
	if j.edit != nil {
		outcome = a.merge(j, row, u)
	}
	switch e := j.edit; {
	case outcome.Written() && e.ID == 0:
		e.Base = now
		by := j.sent[at].By
		by.Time = a.created
		err = a.journal.PutEdit(ctx, e, by)
	case outcome.Written():
		if now != e.Base {
			err = a.journal.RebaseEdit(ctx, e, now)
		}
	case e == nil || e.ID == 0: // nothing is left of what was taken back
	case outcome == edit.Done:
		err = a.journal.EndEdit(ctx, e, store.EditFlushed, "", edit.Author{}, a.step.Commit.Committer.When)
	default:
		err = a.journal.EndEdit(ctx, e, store.EditConflict, outcome.String(), edit.Author{}, a.step.Commit.Committer.When)
	}
	ended := j.edit != nil && j.edit.Status == store.EditFlushed // which forgets what arrived
	if err == nil && at >= 0 && !ended {
		err = a.journal.Arrived(ctx, j.edit, &j.sent[at], a.created)
	}
	return outcome.Written(), err
}

// before sets the edit of a string whose text was sent and taken back: it has the text that
// is served, or is untranslated if only the template had it. Without a string, or somebody who
// took it back, there is none.
func (a *application) before(ctx context.Context, row *catalog.Translation, j *journaled, sent *store.SentText) error {
	if sent.By.Name == "" {
		return nil
	}
	units, err := a.journal.UnitsToEdit(ctx, row.ID, []int64{sent.UnitID})
	u, live := units[sent.UnitID]
	if err == nil && !live {
		var missing []store.MissingString
		missing, err = a.journal.Missing(ctx, a.comp.row.ID, row.ID, []int64{sent.UnitID})
		for i := range missing {
			u, live = a.comp.rules.Missing(&missing[i].Source), true
			u.ID, u.TranslationID = sent.UnitID, row.ID
			unit.SetText(&u, "", catalog.StateEmpty, row.PluralNumber)
		}
	}
	if live {
		e := store.TextOf(&u)
		j.edit = &e
	}
	return err
}

func textsOf(sent []store.SentText) []edit.Text {
	return catalog.Each(sent, func(t *store.SentText) edit.Text { return t.Text })
}

// merge decides about an edit of a unit that is read from a file.
func (a *application) merge(j *journaled, row *catalog.Translation, u *unit.Unit) edit.Outcome {
	theirs := edit.Theirs{
		Text: edit.Text{Target: u.Target, State: u.State}, Found: true, ReadOnly: u.State == catalog.StateReadOnly,
		Forms: catalog.FormsOf(u.Source, row.PluralNumber),
	}
	return edit.Merge(j.edit.Base, textsOf(j.sent), theirs, j.edit.Ours, a.comp.row.Settings.Edits.Overrule)
}
