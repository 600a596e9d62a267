package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// editTries bounds the tries to store edits, each of which fails if a pull moves the
// head meanwhile.
const editTries = 20

// Edit stores new texts for strings of one translation, by one author, in one
// transaction with a generation of its own: all or none. When it returns, they are
// durable, served and checked. A text that a string has already changes nothing. The
// error wraps edit.ErrNotTaken, edit.ErrReadOnly, edit.ErrChanged, edit.ErrNoRoom, an
// [*edit.InvalidError], or catalog.ErrNotFound for a string that the translation does not have. Pulls may run
// meanwhile. It returns the number of strings that changed.
func (s *Syncer) Edit(ctx context.Context, component, translation int64, by edit.Author, edits []edit.Request) (changed int, err error) {
	err = s.editing(ctx, component, translation, by, func(ctx context.Context, e *editing) error {
		err := e.run(ctx, edits)
		changed = len(e.entries)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("edit translation %d: %w", translation, err)
	}
	return changed, nil
}

// editing runs fn, which edits a translation of a component that takes edits, in one
// transaction with a generation of its own: again, if a pull moves the head meanwhile.
func (s *Syncer) editing(ctx context.Context, component, translation int64, by edit.Author, fn func(context.Context, *editing) error) error {
	return again(func() error { return s.tryEditing(ctx, component, translation, by, fn) })
}

// again calls try until no pull has moved the head meanwhile.
func again(try func() error) error {
	for n := 1; ; n++ {
		if err := try(); !errors.Is(err, catalog.ErrConflict) || n == editTries {
			return err
		}
	}
}

func (s *Syncer) tryEditing(ctx context.Context, id, translation int64, by edit.Author, fn func(context.Context, *editing) error) error {
	if err := s.editRoom(); err != nil {
		return fmt.Errorf("%w: %w", edit.ErrNoRoom, err)
	}
	row, err := s.editableComponent(ctx, id)
	if err != nil {
		return err
	}
	e := editing{translation: translation, by: by, at: s.now().UTC().Truncate(time.Microsecond)}
	if by.Time.IsZero() {
		e.by.Time = e.at
	}
	return s.stayingAt(ctx, row, e.at, func(ctx context.Context, tx *store.StepTx, c *component) error {
		e.tx, e.comp = tx, c
		return fn(ctx, &e)
	})
}

// stayingAt runs a transaction that changes strings of a component and leaves its head
// where it is. What fn changes is checked.
func (s *Syncer) stayingAt(ctx context.Context, row store.BranchComponent, at time.Time, fn func(context.Context, *store.StepTx, *component) error) error {
	c, err := newComponent(row, s.table)
	if err != nil {
		return err
	}
	info := store.StepInfo{
		Repo: row.Repo, Branch: row.Branch, Components: []int64{row.ID},
		From: row.Head, To: row.Head, Tracking: row.Tracking, At: at, Configured: row.Configured,
	}
	_, err = s.db.Step(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		if err := fn(ctx, tx, c); err != nil {
			return err
		}
		return newCheckup(tx).run(ctx, []*component{c})
	})
	return err
}

// Lock locks a component, so that it takes no edits, or unlocks it. It returns whether
// that changed anything, which makes an entry 14 or 15.
func (s *Syncer) Lock(ctx context.Context, id int64, by edit.Author, locked bool) (changed bool, err error) {
	err = again(func() error {
		changed, err = s.tryLock(ctx, id, by, locked)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lock component %d: %w", id, err)
	}
	return changed, nil
}

func (s *Syncer) tryLock(ctx context.Context, id int64, by edit.Author, locked bool) (bool, error) {
	row, err := s.db.ComponentByID(ctx, id)
	switch {
	case err != nil:
		return false, err
	case row.Locked == locked:
		return false, nil
	case row.Head == "":
		return false, fmt.Errorf("the component is not imported yet: %w", catalog.ErrNotFound)
	}
	at := s.now().UTC().Truncate(time.Microsecond)
	action := catalog.ActionUnlock
	if locked {
		action = catalog.ActionLock
	}
	return true, s.stayingAt(ctx, row, at, func(ctx context.Context, tx *store.StepTx, _ *component) error {
		author, err := tx.User(ctx, by.Name, by.Email, at)
		if err != nil {
			return err
		}
		if err := tx.SetLocked(ctx, id, locked); err != nil {
			return err
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: id, AuthorID: author, Entries: []store.Entry{eventEntry(action, nil)}})
	})
}

// Commit notes that a client asked to commit the pending edits of translations of one
// component, so that clones have them. It returns the number of translations with any.
func (s *Syncer) Commit(ctx context.Context, component int64, translations []int64) (n int, err error) {
	err = again(func() error {
		n, err = s.tryCommit(ctx, component, translations)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("commit edits of component %d: %w", component, err)
	}
	return n, nil
}

func (s *Syncer) tryCommit(ctx context.Context, id int64, translations []int64) (n int, err error) {
	row, err := s.db.ComponentByID(ctx, id)
	if err != nil {
		return 0, err
	}
	waiting := map[int64]bool{}
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		pending, err := snap.PendingTexts(ctx, id)
		for i := range pending {
			if e := &pending[i]; !e.Committed && slices.Contains(translations, e.TranslationID) {
				waiting[e.TranslationID] = true
			}
		}
		return err
	})
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	return len(waiting), s.stayingAt(ctx, row, s.now().UTC().Truncate(time.Microsecond), func(ctx context.Context, tx *store.StepTx, _ *component) error {
		for _, t := range translations {
			if !waiting[t] {
				continue
			}
			if err := tx.CommitEdits(ctx, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// Discard ends pending edits of a component that choose selects: its strings have the
// repository's texts again, by entries of action 59. A file may be away. reason says why,
// by is who wants it, zero for the server. With suggest texts become suggestions, which is
// what happens to those that the repository refuses.
func (s *Syncer) Discard(ctx context.Context, component int64, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (done edit.Discarded, err error) {
	var pending []store.Edit
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		pending, err = snap.PendingEdits(ctx, component)
		return err
	})
	pending = slices.DeleteFunc(pending, func(e store.Edit) bool { return !choose(&e) })
	for i := range pending {
		if err != nil || i > 0 && pending[i].TranslationID == pending[i-1].TranslationID {
			continue
		}
		var one edit.Discarded
		err = again(func() error {
			one, err = s.tryDiscard(ctx, component, pending[i].TranslationID, by, reason, suggest, choose)
			return err
		})
		done.Edits, done.Sent = done.Edits+one.Edits, done.Sent+one.Sent
	}
	if err != nil {
		return done, fmt.Errorf("discard edits of component %d: %w", component, err)
	}
	return done, nil
}

func (s *Syncer) tryDiscard(ctx context.Context, id, translation int64, by edit.Author, reason string, suggest bool, choose func(*store.Edit) bool) (done edit.Discarded, err error) {
	row, err := s.db.ComponentByID(ctx, id)
	if err != nil {
		return done, err
	}
	e := editing{translation: translation, by: edit.Author{Name: by.Name}, at: s.now().UTC().Truncate(time.Microsecond)}
	err = s.stayingAt(ctx, row, e.at, func(ctx context.Context, tx *store.StepTx, c *component) error {
		e.tx, e.comp, done = tx, c, edit.Discarded{}
		pending, err := tx.PendingEdits(ctx, id, translation)
		if err != nil {
			return err
		}
		pending = slices.DeleteFunc(pending, func(p store.Edit) bool { return !choose(&p) })
		var ids []int64
		for i := range pending {
			if pending[i].Kind == store.EditText {
				ids = append(ids, pending[i].UnitID)
			}
		}
		var units map[int64]catalog.Unit
		if len(ids) > 0 {
			if units, err = e.load(ctx, ids); err != nil && !errors.Is(err, catalog.ErrNotFound) { // else its file is away
				return err
			}
		}
		for i := range pending {
			sent, err := e.discard(ctx, &pending[i], units, store.EditAuthor{Name: by.Name, Email: by.Email}, reason, suggest)
			if err != nil {
				return err
			}
			done.Edits, done.Sent = done.Edits+1, done.Sent+min(sent, 1)
		}
		return e.store(ctx)
	})
	return done, err
}

// discard ends one edit, and returns how many texts of its string were sent.
func (e *editing) discard(ctx context.Context, p *store.Edit, units map[int64]catalog.Unit, by store.EditAuthor, reason string, suggest bool) (sent int, err error) {
	status := store.EditDiscarded
	if suggest && p.Kind == store.EditText {
		status = store.EditConflict
	}
	if err := e.tx.EndEdit(ctx, p, status, reason, by, e.at); err != nil || p.Kind != store.EditText {
		return 0, err
	}
	if u, ok := units[p.UnitID]; ok {
		e.change(u, p.BaseTarget, p.BaseState, catalog.ActionStringRepoUpdate)
	}
	return e.tx.SentOf(ctx, p.UnitID)
}

// editing is one transaction of edits of a translation.
type editing struct {
	translation int64
	by          edit.Author
	at          time.Time
	action      catalog.Action // of its entries; 0: what fits the states

	tx      *store.StepTx
	comp    *component
	row     *catalog.Translation
	pending map[int64]store.Edit
	hasher  catalog.Hasher
	writes  []store.FingerprintedUnit
	entries []store.Entry
}

func (e *editing) run(ctx context.Context, edits []edit.Request) error {
	ids := make([]int64, len(edits))
	for i := range edits {
		ids[i] = edits[i].UnitID
	}
	units, err := e.load(ctx, ids)
	if err != nil {
		return err
	}
	e.entries = nil
	for i := range edits {
		u, ok := units[edits[i].UnitID]
		if !ok {
			return fmt.Errorf("unit %d: %w", edits[i].UnitID, catalog.ErrNotFound)
		}
		fresh, err := e.one(ctx, &edits[i], u)
		if err != nil {
			return err
		}
		units[u.ID] = fresh
	}
	return e.store(ctx)
}

// load reads the translation, the units and their pending edits.
func (e *editing) load(ctx context.Context, ids []int64) (map[int64]catalog.Unit, error) {
	rows, err := e.tx.Translations(ctx, e.comp.row.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(t catalog.Translation) bool { return t.ID == e.translation && !t.Removed })
	if i < 0 {
		return nil, fmt.Errorf("translation %d: %w", e.translation, catalog.ErrNotFound)
	}
	if e.row = &rows[i]; e.row.IsSource {
		return nil, edit.ErrReadOnly
	}
	if e.pending, err = e.tx.PendingEditsOf(ctx, ids); err != nil {
		return nil, err
	}
	return e.tx.UnitsToEdit(ctx, e.translation, ids)
}

// one prepares the change of one string, and returns it as it will be.
func (e *editing) one(ctx context.Context, want *edit.Request, u catalog.Unit) (catalog.Unit, error) {
	if u.State == catalog.StateReadOnly {
		return u, edit.ErrReadOnly
	}
	if want.If != nil && !want.If(&u) {
		return u, edit.ErrChanged
	}
	text, err := edit.NewText(want.Target, want.State, formsOf(u.Source, e.row.PluralNumber))
	if err != nil || text.Equal(edit.Text{Target: u.Target, State: u.State}) {
		return u, err
	}
	j, known := e.pending[u.ID]
	if !known {
		j = store.TextOf(&u)
	}
	j.Target, j.State = text.Target, text.State
	if err := e.tx.PutEdit(ctx, &j, store.EditAuthor{Name: e.by.Name, Email: e.by.Email, At: e.by.Time}); err != nil {
		return u, err
	}
	if text.Equal(edit.Text{Target: j.BaseTarget, State: j.BaseState}) { // as the repository has it
		if err := e.tx.EndEdit(ctx, &j, store.EditDiscarded, "the repository's text came back", store.EditAuthor{Name: e.by.Name, Email: e.by.Email}, e.at); err != nil {
			return u, err
		}
		delete(e.pending, u.ID)
	} else {
		e.pending[u.ID] = j
	}
	action := e.action
	if action == 0 {
		action = actionOf(u.State, text.State)
	}
	return e.change(u, j.Target, j.State, action), nil
}

// actionOf is the action of an entry about an edit (docs/compatibility.md#change-entries).
func actionOf(was, now catalog.State) catalog.Action {
	switch {
	case now.Fuzzy():
		return catalog.ActionMarkedEdit
	case was >= catalog.StateFuzzy:
		return catalog.ActionChange
	}
	return catalog.ActionNew
}

// change collects what is to be stored of a unit with another text, and returns it.
func (e *editing) change(u catalog.Unit, target string, state catalog.State, action catalog.Action) catalog.Unit {
	was := u
	var before catalog.Stats
	before.AddUnit(&was)
	e.row.Stats.Subtract(before)
	setText(&u, target, state, e.row.PluralNumber)
	e.row.Stats.AddUnit(&u)
	fresh := unit.Unit{Unit: u}
	unit.SetMeta(&fresh, &e.hasher)
	e.writes = append(e.writes, store.FingerprintedUnit{Unit: &u, Text: e.hasher.Text(u.Target, u.State), Meta: fresh.Meta})
	e.entries = append(e.entries, store.Entry{
		Action: action, UnitID: u.ID, State: u.State, OldState: was.State,
		Target: catalog.PadForms(u.Source, u.Target, e.row.PluralNumber), Old: catalog.PadForms(u.Source, was.Target, e.row.PluralNumber),
	})
	return u
}

// store writes what was collected, in the order of ids.
func (e *editing) store(ctx context.Context) error {
	if len(e.entries) == 0 {
		return nil
	}
	slices.SortFunc(e.entries, func(a, b store.Entry) int { return cmp.Compare(a.UnitID, b.UnitID) })
	if err := e.tx.UpdateUnits(ctx, e.writes); err != nil {
		return err
	}
	if err := e.tx.PutTranslation(ctx, e.row); err != nil {
		return err
	}
	day := store.StatDay{TranslationID: e.row.ID, Day: e.at, Stats: e.row.Stats}
	day.Stats.Failing = catalog.Count{} // as in a pull
	if err := e.tx.PutStatDay(ctx, day); err != nil {
		return err
	}
	var author int64
	if !e.by.Time.IsZero() { // else it is no edit
		var err error
		if author, err = e.tx.User(ctx, e.by.Name, e.by.Email, e.by.Time); err != nil {
			return err
		}
	}
	return e.tx.AddDelta(ctx, store.Delta{ComponentID: e.comp.row.ID, TranslationID: e.row.ID, AuthorID: author, Entries: e.entries})
}
