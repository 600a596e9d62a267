package editing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/filemask"
)

// AddTranslation stores that a client adds a language to a component: the next flush makes
// its file. The error wraps edit.ErrNotTaken, edit.ErrLocked, or edit.ErrNotAdded, which
// says why.
func (d *Editor) AddTranslation(ctx context.Context, component int64, code string, by edit.Author) (err error) {
	defer wrap(&err, "add %s to component %d", code, component)
	e := store.Edit{Kind: store.EditAddFile, ComponentID: component, Language: code}
	return d.putFile(ctx, &e, by, func(row *store.BranchComponent) error {
		mask, err := filemask.Parse(row.Settings.Filemask)
		if err != nil {
			return err
		}
		e.Path = mask.Path(code)
		err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
			all, err := snap.Translations(ctx, component)
			if err != nil {
				return err
			}
			pending, err := snap.PendingFiles(ctx, component)
			if why := d.cannotAdd(row, &e, all, pending); err == nil && why != "" {
				err = fmt.Errorf("%w: %s", edit.ErrNotAdded, why)
			}
			return err
		})
		if err != nil {
			return err
		}
		if m := d.Syncer.Shown(ingest.BranchKey(row.Repo, row.Branch)); m != nil { // else the flush says it
			if err := m.Writable(ctx, e.Path); errors.Is(err, derive.ErrPath) {
				return fmt.Errorf("%w: %w", edit.ErrNotAdded, err)
			}
		}
		return nil
	})
}

// cannotAdd says why a component cannot have another language, "" if it can.
func (d *Editor) cannotAdd(row *store.BranchComponent, e *store.Edit, all []catalog.Translation, pending []store.Edit) string {
	base := row.Settings.NewBase
	switch {
	case !strings.Contains(row.Settings.Filemask, "*"):
		return "the filemask has no language"
	case base == "":
		return "new_base is not set"
	case d.refuses(row, e) != "":
		return d.refuses(row, e)
	case e.Language == d.Languages.Match(row.Settings.SourceLanguage).Code:
		return "it is the source language"
	case slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Language == e.Language || t.Filename == e.Path }):
		return "the component has it already"
	case slices.ContainsFunc(pending, func(o store.Edit) bool { return o.Path == e.Path && isOfFile(&o) }):
		return "it is added already, and waits to be in the repository"
	case !slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.IsSource && t.Filename == base }):
		return "the repository has no " + base
	}
	return ""
}

// isOfFile reports whether an edit adds or removes a file.
func isOfFile(e *store.Edit) bool {
	return e.Kind == store.EditAddFile || e.Kind == store.EditRemoveFile
}

// refuses says why a file does not belong to a component; "" if it does.
func (d *Editor) refuses(row *store.BranchComponent, e *store.Edit) string {
	got, selected := d.Syncer.FileCode(row, e.Path)
	if !selected || e.Kind == store.EditAddFile && got != e.Language || e.Path == row.Settings.NewBase {
		return "the filemask and language_regex do not select " + e.Path
	}
	return ""
}

// Settle ends those of a component's pending edits of files that the repository has, whether
// that is served or not, and those that the component would not have. there has the files of
// the repository among theirs.
func (d *Editor) Settle(ctx context.Context, row store.BranchComponent, pending []store.Edit, there map[string]bool) error {
	err := d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		all, err := snap.Translations(ctx, row.ID)
		for i := 0; err == nil && i < len(pending); i++ {
			switch e := &pending[i]; e.Kind {
			case store.EditAddString:
				err = settleString(ctx, snap, e, all)
			case store.EditTemplate, store.EditUpdateFile:
				settleUpdate(&row, e, all)
			default:
				d.settleFile(&row, e, there[e.Path], all)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return d.endFiles(ctx, row.ID, slices.DeleteFunc(pending, func(e store.Edit) bool { return e.Status == store.EditPending }))
}

// settleFile says what becomes of the addition or removal of a file: it is flushed if the
// repository has what it is about, and discarded if the component would not have the file, or
// has its language in another one. all are the component's translations.
func (d *Editor) settleFile(row *store.BranchComponent, e *store.Edit, there bool, all []catalog.Translation) {
	adds := e.Kind == store.EditAddFile
	served := slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Filename == e.Path })
	other := catalog.Find(all, func(t *catalog.Translation) bool { return t.Language == e.Language && t.Filename != e.Path })
	switch why := d.refuses(row, e); {
	case there == adds:
		e.Status, e.Reason = store.EditFlushed, ""
		if there && !served {
			e.Reason = "the repository has the file, which is not served"
		}
	case why != "":
		e.Status, e.Reason = store.EditDiscarded, why
	case adds && other != nil:
		e.Status, e.Reason = store.EditDiscarded, "the repository has the language in "+other.Filename
	}
}

// RemoveTranslation stores that a client removes the file of a translation: the next flush
// does it. One that is removed already changes nothing. Errors are like those of
// AddTranslation.
func (d *Editor) RemoveTranslation(ctx context.Context, component int64, t *catalog.Translation, by edit.Author) (err error) {
	defer wrap(&err, "remove %s from component %d", t.Language, component)
	e := store.Edit{Kind: store.EditRemoveFile, ComponentID: component, TranslationID: t.ID, Language: t.Language, Path: t.Filename}
	return d.putFile(ctx, &e, by, func(*store.BranchComponent) error {
		pending, err := store.Get(ctx, d.DB, (*store.Snapshot).PendingFiles, component)
		if err == nil && slices.ContainsFunc(pending, func(o store.Edit) bool { return o.Path == e.Path && isOfFile(&o) }) {
			err = errSame
		}
		return err
	})
}

// putFile stores a new edit that is not of a text, if the component takes edits and may have
// it at the head at which it is stored. With errSame of may nothing is stored.
func (d *Editor) putFile(ctx context.Context, e *store.Edit, by edit.Author, may func(*store.BranchComponent) error) error {
	err := d.atHead(ctx, e.ComponentID, func(row *store.BranchComponent) error {
		if err := editable(row); err != nil {
			return err
		}
		return may(row)
	}, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		fresh := *e
		return tx.PutEdit(ctx, &fresh, edit.Author{Name: by.Name, Email: by.Email, Time: at})
	})
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

// endFiles ends edits of files of a component as their Status says.
func (d *Editor) endFiles(ctx context.Context, id int64, edits []store.Edit) (err error) {
	if len(edits) == 0 {
		return nil
	}
	defer wrap(&err, "edits of files of component %d", id)
	return d.atHead(ctx, id, always, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		return catalog.Try(edits, func(e *store.Edit) error { return tx.EndEdit(ctx, e, e.Status, e.Reason, edit.Author{}, at) })
	})
}

// maxNewStrings bounds the strings of a component that wait to be in the repository: each
// flush writes all of them.
const maxNewStrings = 500

// AddString stores that a client adds a string to the file of a translation of a glossary:
// the next flush writes it. The error wraps one of package edit's.
func (d *Editor) AddString(ctx context.Context, component int64, t *catalog.Translation, n edit.NewString) (err error) {
	defer wrap(&err, "add a string to %s of component %d", t.Language, component)
	if err := n.Check(); err != nil {
		return err
	}
	e := store.Edit{
		Kind: store.EditAddString, ComponentID: component, TranslationID: t.ID, Language: t.Language, Path: t.Filename,
		Edit: edit.Edit{Context: n.Context, Source: n.Source, Ours: n.Text},
	}
	return d.putFile(ctx, &e, n.Author, func(row *store.BranchComponent) error {
		if !row.Settings.IsGlossary || t.IsSource || t.Filename == "" {
			return fmt.Errorf("%w: strings are added to translations of glossaries only", edit.ErrNotAdded)
		}
		return d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
			pending, err := snap.PendingFiles(ctx, component)
			if err != nil {
				return err
			}
			served, err := snap.UnitOfSource(ctx, t.ID, e.Source, e.Context)
			if err != nil {
				return err
			}
			if err := cannotAddString(&e, served != nil, pending); err != nil {
				return err
			}
			f, err := snap.File(ctx, t.ID)
			if err != nil {
				return err
			}
			if _, err := n.Append(t.Filename, f.Data, edit.Options{}); errors.Is(err, edit.ErrHasPlural) {
				return &edit.InvalidError{Field: "source", Message: "This string exists already, with a plural."}
			}
			return nil
		})
	})
}

// cannotAddString says why a string cannot be added.
func cannotAddString(e *store.Edit, served bool, pending []store.Edit) error {
	waiting := 0
	for i := range pending {
		o := &pending[i]
		switch {
		case o.Kind == store.EditAddString:
			waiting++
			served = served || o.Path == e.Path && o.Source == e.Source && o.Context == e.Context
		case o.Path == e.Path && o.Kind == store.EditRemoveFile:
			return fmt.Errorf("%w: %s is being removed", edit.ErrNotAdded, e.Path)
		}
	}
	switch {
	case served:
		return &edit.InvalidError{Field: "source", Message: "This string seems to already exist."}
	case waiting >= maxNewStrings:
		return fmt.Errorf("%w: %d new strings wait to be in the repository", edit.ErrNotAdded, waiting)
	}
	return nil
}

// settleString says what becomes of the addition of a string: it is flushed if the string is
// served, also with another text, of which the reason tells, and discarded if its file is
// not. all are the component's translations.
func settleString(ctx context.Context, snap *store.Snapshot, e *store.Edit, all []catalog.Translation) error {
	t := catalog.Find(all, func(t *catalog.Translation) bool { return t.Filename == e.Path })
	if t == nil {
		e.Status, e.Reason = store.EditDiscarded, "the component no longer has "+e.Path
		return nil
	}
	u, err := snap.UnitOfSource(ctx, t.ID, e.Source, e.Context)
	if err != nil || u == nil {
		return err
	}
	e.Status, e.Reason = store.EditFlushed, ""
	if !(edit.Text{Target: u.Target, State: u.State}).Equal(e.Ours) {
		e.Reason = "the repository has the string with another text"
	}
	return nil
}
