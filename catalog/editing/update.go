package editing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// errNoTemplate refuses updates of files without a template, or without msgmerge: commit.
var errNoTemplate = &edit.InvalidError{Field: "operation", Message: "The component has no template that is read, or msgmerge is not set."}

// NoteTemplate stores that the files of a component are to be compared with its template, if
// that is another one than the last time, or somebody wishes it.
func (d *Editor) NoteTemplate(ctx context.Context, component int64, how string, by edit.Author) (err error) {
	defer wrap(&err, "update the files of component %d", component)
	var e, last store.Edit
	err = d.atHead(ctx, component, func(row *store.BranchComponent) error {
		return d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
			all, err := snap.Translations(ctx, component)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(all, func(t catalog.Translation) bool { return t.HasTemplate && t.Filename == row.Settings.NewBase })
			if last, err = lastEdit(ctx, snap, store.EditQuery{Components: []int64{component}, Kind: store.EditTemplate}); err != nil {
				return err
			}
			switch {
			case !row.Settings.Edits.Update.On || at < 0:
				return errNoTemplate
			case how == edit.UpdateByItself && last.Source == all[at].Revision:
				return errSame
			}
			e = store.Edit{Kind: store.EditTemplate, ComponentID: component, Path: all[at].Filename, Edit: edit.Edit{Source: all[at].Revision, Context: how}}
			return nil
		})
	}, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		if last.Status == store.EditPending {
			if err := tx.EndEdit(ctx, &last, store.EditDiscarded, "the template has changed since", by, at); err != nil {
				return err
			}
		}
		fresh := e
		return tx.PutEdit(ctx, &fresh, edit.Author{Name: by.Name, Email: by.Email, Time: at})
	})
	if errors.Is(err, errSame) || how == edit.UpdateByItself && errors.Is(err, errNoTemplate) {
		return nil
	}
	return err
}

// lastEdit returns the newest of some edits, the zero Edit if there is none.
func lastEdit(ctx context.Context, snap *store.Snapshot, q store.EditQuery) (e store.Edit, err error) {
	_, n, err := snap.Edits(ctx, q)
	if err != nil || n == 0 {
		return e, err
	}
	q.Offset, q.Limit, q.Counted = n-1, 1, true
	list, _, err := snap.Edits(ctx, q)
	if len(list) > 0 {
		e = list[0]
	}
	return e, err
}

// FileUpdate is a file that differs from what its template wants.
type FileUpdate struct {
	TranslationID  int64
	Language, Path string
}

// UpdateFiles ends an edit of kind template, and stores that files are to be updated to it.
// strings is what tells its strings from those of other versions: a file whose update with the
// same was refused is left out, unless somebody wishes it. What waited for an older template
// has ended.
func (d *Editor) UpdateFiles(ctx context.Context, of *store.Edit, strings string, files []FileUpdate, by edit.Author) (err error) {
	defer wrap(&err, "update files of component %d", of.ComponentID)
	var ends, puts []store.Edit
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		pending, err := snap.PendingFiles(ctx, of.ComponentID)
		if err != nil {
			return err
		}
		removed := map[string]bool{}
		for i := range pending {
			if pending[i].Kind == store.EditUpdateFile {
				ends = append(ends, pending[i])
			}
			removed[pending[i].Path] = removed[pending[i].Path] || isOfFile(&pending[i])
		}
		for _, f := range files {
			last, err := lastEdit(ctx, snap, store.EditQuery{Components: []int64{of.ComponentID}, TranslationID: f.TranslationID, Kind: store.EditUpdateFile})
			refused := last.Context == strings && (last.Status == store.EditConflict || last.Status == store.EditDiscarded)
			if err != nil {
				return err
			}
			if !removed[f.Path] && (!refused || of.Context != edit.UpdateByItself) {
				puts = append(puts, store.Edit{
					Kind: store.EditUpdateFile, ComponentID: of.ComponentID, TranslationID: f.TranslationID, Language: f.Language, Path: f.Path,
					Edit: edit.Edit{Source: of.Source, Context: strings},
				})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.atHead(ctx, of.ComponentID, always, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		for i := range ends {
			if err := tx.EndEdit(ctx, &ends[i], store.EditFlushed, "another template is due", edit.Author{}, at); err != nil {
				return err
			}
		}
		for i := range puts {
			fresh := puts[i]
			if err := tx.PutEdit(ctx, &fresh, edit.Author{Name: by.Name, Email: by.Email, Time: at}); err != nil {
				return err
			}
		}
		done := *of
		return tx.EndEdit(ctx, &done, store.EditFlushed, "", edit.Author{}, at)
	})
}

// Updated ends edits of files that are as their template wants them.
func (d *Editor) Updated(ctx context.Context, component int64, edits []store.Edit) error {
	for i := range edits {
		edits[i].Status, edits[i].Reason = store.EditFlushed, ""
	}
	return d.endFiles(ctx, component, edits)
}

// settleUpdate ends the update of a file that the component does not have any more, or if it
// wants no updates.
func settleUpdate(row *store.BranchComponent, e *store.Edit, all []catalog.Translation) {
	there := slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Filename == e.Path })
	switch {
	case !row.Settings.Edits.Update.On:
		e.Status, e.Reason = store.EditDiscarded, "msgmerge is not set any more"
	case !there:
		e.Status, e.Reason = store.EditDiscarded, "the component no longer has "+e.Path
	}
}
