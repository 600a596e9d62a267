package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/derive"
)

// AddTranslation stores that a client adds a language to a component: the next flush makes
// its file. The error wraps edit.ErrNotTaken, edit.ErrLocked, or edit.ErrNotAdded, which
// says why.
func (s *Syncer) AddTranslation(ctx context.Context, component int64, code string, by edit.Author) error {
	err := again(func() error { return s.tryAddTranslation(ctx, component, code, by) })
	if err != nil {
		return fmt.Errorf("add %s to component %d: %w", code, component, err)
	}
	return nil
}

func (s *Syncer) tryAddTranslation(ctx context.Context, id int64, code string, by edit.Author) error {
	row, err := s.editableComponent(ctx, id)
	if err != nil {
		return err
	}
	c, err := newComponent(row, s.table)
	if err != nil {
		return err
	}
	e := store.FileEdit{ComponentID: id, Language: code, Path: strings.ReplaceAll(row.Settings.Filemask, "*", code)}
	var why string
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		all, err := snap.Translations(ctx, id)
		if err != nil {
			return err
		}
		pending, err := snap.PendingFileEdits(ctx, id)
		why = c.cannotAdd(&e, all, pending)
		return err
	})
	switch {
	case err != nil:
		return err
	case why != "":
		return fmt.Errorf("%w: %s", edit.ErrNotAdded, why)
	}
	if m := s.Shown(BranchKey(row.Repo, row.Branch)); m != nil { // else the flush says it
		if err := m.Writable(ctx, e.Path); errors.Is(err, derive.ErrPath) {
			return fmt.Errorf("%w: %w", edit.ErrNotAdded, err)
		}
	}
	return s.putFileEdit(ctx, row, &e, by)
}

// cannotAdd says why a component cannot have another language, "" if it can.
func (c *component) cannotAdd(e *store.FileEdit, all []catalog.Translation, pending []store.FileEdit) string {
	base := c.row.Settings.NewBase
	switch {
	case !c.selection.mask.HasLanguage():
		return "the filemask has no language"
	case base == "":
		return "new_base is not set"
	case c.refuses(e) != "":
		return c.refuses(e)
	case e.Language == c.selection.source.Code:
		return "it is the source language"
	case slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Language == e.Language || t.Filename == e.Path }):
		return "the component has it already"
	case slices.ContainsFunc(pending, func(o store.FileEdit) bool { return o.Path == e.Path && !o.AddsString() }):
		return "it is added already, and waits to be in the repository"
	case !slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.IsSource && t.Filename == base }):
		return "the repository has no " + base
	}
	return ""
}

// FileCode returns the code of a language in the name of a file of a component, as the
// project writes it: po/zh_CN.po has zh_CN, and is zh_Hans. It is "" for other files.
func (s *Syncer) FileCode(row *store.BranchComponent, path string) string {
	c, err := newComponent(*row, s.table)
	if err != nil {
		return ""
	}
	code, _ := c.selection.code(path)
	return code
}

// refuses says why a file does not belong to a component; "" if it does.
func (c *component) refuses(e *store.FileEdit) string {
	got, selected := c.selection.code(e.Path)
	if !selected || !e.Removes && got != e.Language || e.Path == c.row.Settings.NewBase {
		return "the filemask and language_regex do not select " + e.Path
	}
	return ""
}

// SettleFileEdit says what becomes of a pending edit of a file: it is flushed if the
// repository has what it is about, whether that is served or not, and discarded if the
// component would not have the file, or has its language in another one. there says
// whether the repository has the file, all are the component's translations.
func (s *Syncer) SettleFileEdit(row store.BranchComponent, e *store.FileEdit, there bool, all []catalog.Translation) error {
	c, err := newComponent(row, s.table)
	if err != nil {
		return err
	}
	served := slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Filename == e.Path })
	other := slices.IndexFunc(all, func(t catalog.Translation) bool { return t.Language == e.Language && t.Filename != e.Path })
	switch why := c.refuses(e); {
	case there != e.Removes:
		e.Status, e.Reason = store.EditFlushed, ""
		if there && !served {
			e.Reason = "the repository has the file, which is not served"
		}
	case why != "":
		e.Status, e.Reason = store.EditDiscarded, why
	case !e.Removes && other >= 0:
		e.Status, e.Reason = store.EditDiscarded, "the repository has the language in "+all[other].Filename
	}
	return nil
}

// RemoveTranslation stores that a client removes the file of a translation: the next flush
// does it. One that is removed already changes nothing. Errors are like those of
// AddTranslation.
func (s *Syncer) RemoveTranslation(ctx context.Context, component int64, t *catalog.Translation, by edit.Author) error {
	e := store.FileEdit{ComponentID: component, Language: t.Language, Path: t.Filename, Removes: true}
	err := again(func() error {
		row, err := s.editableComponent(ctx, component)
		if err != nil {
			return err
		}
		var pending []store.FileEdit
		err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
			pending, err = snap.PendingFileEdits(ctx, component)
			return err
		})
		if err != nil || slices.ContainsFunc(pending, func(o store.FileEdit) bool { return o.Path == e.Path && !o.AddsString() }) {
			return err
		}
		return s.putFileEdit(ctx, row, &e, by)
	})
	if err != nil {
		return fmt.Errorf("remove %s from component %d: %w", t.Language, component, err)
	}
	return nil
}

func (s *Syncer) putFileEdit(ctx context.Context, row store.BranchComponent, e *store.FileEdit, by edit.Author) error {
	at := s.now().UTC().Truncate(time.Microsecond)
	e.Author = store.EditAuthor{Name: by.Name, Email: by.Email, At: at}
	return s.stayingAt(ctx, row, at, func(ctx context.Context, tx *store.StepTx, _ *component) error {
		return tx.PutFileEdit(ctx, e)
	})
}

// UpdateFileEdits stores what became of edits of files of a component.
func (s *Syncer) UpdateFileEdits(ctx context.Context, id int64, edits []store.FileEdit) error {
	if len(edits) == 0 {
		return nil
	}
	err := again(func() error {
		row, err := s.db.ComponentByID(ctx, id)
		if err != nil {
			return err
		}
		at := s.now().UTC().Truncate(time.Microsecond)
		return s.stayingAt(ctx, row, at, func(ctx context.Context, tx *store.StepTx, _ *component) error {
			for i := range edits {
				if err := tx.UpdateFileEdit(ctx, &edits[i], at); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("edits of files of component %d: %w", id, err)
	}
	return nil
}
