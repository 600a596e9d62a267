package editing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxNewStrings bounds the strings of a component that wait to be in the repository: each
// flush writes all of them.
const maxNewStrings = 500

// AddString stores that a client adds a string to the file of a translation of a glossary:
// the next flush writes it. The error wraps one of package edit's.
func (d *Editor) AddString(ctx context.Context, component int64, t *catalog.Translation, n edit.NewString) error {
	err := n.Check()
	if err == nil {
		err = d.addString(ctx, component, t, n)
	}
	if err != nil {
		return fmt.Errorf("add a string to %s of component %d: %w", t.Language, component, err)
	}
	return nil
}

func (d *Editor) addString(ctx context.Context, component int64, t *catalog.Translation, n edit.NewString) error {
	row, err := d.editableComponent(ctx, component)
	if err != nil {
		return err
	}
	if !row.Settings.IsGlossary || t.IsSource || t.Filename == "" {
		return fmt.Errorf("%w: strings are added to translations of glossaries only", edit.ErrNotAdded)
	}
	e := store.Edit{
		Kind: store.EditAddString, ComponentID: component, TranslationID: t.ID, Language: t.Language, Path: t.Filename,
		Edit: edit.Edit{Context: n.Context, Source: n.Source, Ours: n.Text},
	}
	err = d.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
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
	if err != nil {
		return err
	}
	return d.putFile(ctx, e, n.Author)
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
	at := slices.IndexFunc(all, func(t catalog.Translation) bool { return t.Filename == e.Path })
	if at < 0 {
		e.Status, e.Reason = store.EditDiscarded, "the component no longer has "+e.Path
		return nil
	}
	u, err := snap.UnitOfSource(ctx, all[at].ID, e.Source, e.Context)
	if err != nil || u == nil {
		return err
	}
	e.Status, e.Reason = store.EditFlushed, ""
	if !(edit.Text{Target: u.Target, State: u.State}).Equal(e.Ours) {
		e.Reason = "the repository has the string with another text"
	}
	return nil
}
