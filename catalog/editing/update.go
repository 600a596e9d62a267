package editing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
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
			template := store.TemplateOf(all)
			if !row.Settings.Edits.Update.On || template == nil || template.Filename != row.Settings.NewBase {
				return errNoTemplate
			}
			before, err := lastEdits(ctx, snap, store.EditQuery{Components: []int64{component}, Kind: store.EditTemplate}, 1)
			if err != nil {
				return err
			}
			if last = (store.Edit{}); len(before) > 0 {
				last = before[0]
			}
			e = store.Edit{Kind: store.EditTemplate, ComponentID: component, Path: template.Filename, Edit: edit.Edit{Source: template.Revision, Context: how}}
			lacks, err := lacking(ctx, snap, component, template, all)
			if lacks != "" {
				e.Source += lackingMark + lacks
			}
			if err == nil && how == edit.UpdateByItself && versionOf(&last) == template.Revision && (lacks == "" || last.Source == e.Source || last.Status == store.EditPending) {
				err = errSame
			}
			return err
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

// lackingMark is between the template and what tells the files that lack its strings.
const lackingMark = " "

// versionOf is the blob of the template that an edit is about.
func versionOf(e *store.Edit) string {
	version, _, _ := strings.Cut(e.Source, lackingMark)
	return version
}

// lacking tells which versions of files lack strings of the template, "" if none does: others
// took them out, moved the file while its update waited, or added it. Files that wait to be
// updated are left out, and those whose update to this template was refused.
func lacking(ctx context.Context, snap *store.Snapshot, component int64, template *catalog.Translation, all []catalog.Translation) (string, error) {
	pending, err := snap.PendingFiles(ctx, component)
	if err != nil {
		return "", err
	}
	var files []string
	for i := range all {
		t := &all[i]
		if catalog.NewProgress(t, template).Missing == 0 || slices.ContainsFunc(pending, func(e store.Edit) bool { return e.Path == t.Filename && e.Kind != store.EditAddString }) {
			continue
		}
		last, err := lastEdits(ctx, snap, updatesOf(component, t.ID), 1)
		if err != nil {
			return "", err
		}
		if len(last) == 0 || !refused(&last[0]) || versionOf(&last[0]) != template.Revision {
			files = append(files, t.Filename+"\n"+t.Revision+"\n")
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	slices.Sort(files)
	sum := sha256.Sum256([]byte(strings.Join(files, "")))
	return hex.EncodeToString(sum[:8]), nil
}

// updatesOf selects the updates of a file.
func updatesOf(component, translation int64) store.EditQuery {
	return store.EditQuery{Components: []int64{component}, TranslationID: translation, Kind: store.EditUpdateFile}
}

// refused reports whether somebody refused an edit.
func refused(e *store.Edit) bool {
	return e.Status == store.EditConflict || e.Status == store.EditDiscarded
}

// lastEdits returns the newest of some edits, at most n, the oldest of them first.
func lastEdits(ctx context.Context, snap *store.Snapshot, q store.EditQuery, n int) ([]store.Edit, error) {
	_, all, err := snap.Edits(ctx, q)
	if err != nil || all == 0 {
		return nil, err
	}
	q.Offset, q.Limit, q.Counted = max(0, all-n), n, true
	list, _, err := snap.Edits(ctx, q)
	return list, err
}

// again is how often a file is updated to the same strings by itself: a program of others that
// takes them out each time must not be answered for ever.
const again = 3

// FileUpdate is a file that differs from what its template wants.
type FileUpdate struct {
	TranslationID  int64
	Language, Path string
}

// UpdateFiles ends an edit of kind template, and stores that files are to be updated to it.
// version is what tells its strings from those of other versions: a file whose update with the
// same was refused is left out, or was made again and again, unless somebody wishes it. What
// waited for an older template has ended.
func (d *Editor) UpdateFiles(ctx context.Context, of *store.Edit, version string, files []FileUpdate, by edit.Author) (err error) {
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
			last, err := lastEdits(ctx, snap, updatesOf(of.ComponentID, f.TranslationID), again)
			if err != nil {
				return err
			}
			done := 0
			for i := range last {
				if last[i].Context == version && last[i].Status == store.EditFlushed && (last[i].Reason == "" || last[i].Reason == edit.UpdateStopped) {
					done++
				}
			}
			no := done == again || len(last) > 0 && last[len(last)-1].Context == version && refused(&last[len(last)-1])
			if !removed[f.Path] && (!no || of.Context != edit.UpdateByItself) {
				puts = append(puts, store.Edit{
					Kind: store.EditUpdateFile, ComponentID: of.ComponentID, TranslationID: f.TranslationID, Language: f.Language, Path: f.Path,
					Edit: edit.Edit{Source: versionOf(of), Context: version},
				})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.atHead(ctx, of.ComponentID, always, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		done := *of
		return cmp.Or(catalog.Try(ends, func(e *store.Edit) error {
			return tx.EndEdit(ctx, e, store.EditFlushed, "another template is due", edit.Author{}, at)
		}), catalog.Try(puts, func(e *store.Edit) error {
			fresh := *e
			return tx.PutEdit(ctx, &fresh, edit.Author{Name: by.Name, Email: by.Email, Time: at})
		}), tx.EndEdit(ctx, &done, store.EditFlushed, "", edit.Author{}, at))
	})
}

// Updated ends edits of files that are as their template wants them, with a Reason if there is
// something to tell.
func (d *Editor) Updated(ctx context.Context, component int64, edits []store.Edit) error {
	for i := range edits {
		edits[i].Status = store.EditFlushed
	}
	return d.endFiles(ctx, component, edits)
}

// settleUpdate ends the update of a file that the component does not have any more, or if it
// wants no updates.
func settleUpdate(row *store.BranchComponent, e *store.Edit, all []catalog.Translation) {
	there := slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Filename == e.Path })
	moved := catalog.Find(all, func(t *catalog.Translation) bool { return e.TranslationID != 0 && t.ID == e.TranslationID })
	switch {
	case !row.Settings.Edits.Update.On:
		e.Status, e.Reason = store.EditDiscarded, "msgmerge is not set any more"
	case !there && moved != nil: // where it is compared again
		e.Status, e.Reason = store.EditFlushed, "the file is now "+moved.Filename
	case !there:
		e.Status, e.Reason = store.EditDiscarded, "the component no longer has "+e.Path
	}
}
