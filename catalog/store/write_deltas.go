package store

import (
	"context"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Delta is the set of changes of one commit in one file, or a set of events of a
// component.
type Delta struct {
	// ComponentID is the component; it must be in the convoy.
	ComponentID int64
	// TranslationID is the translation; 0 for events of the component, which are
	// in no translation's list (docs/compatibility.md#component-events).
	TranslationID int64
	// AuthorID is the git author, from StepTx.User; 0 if unknown.
	AuthorID int64
	// Commit is the commit of origin, "" if unknown.
	Commit string
	// CommitTime is its committer time; zero if unknown.
	CommitTime time.Time
	// CoAuthors are the names in the commit's Co-authored-by trailers.
	CoAuthors []string
	// At is the time of the entries; zero means StepInfo.At. An entry is never
	// older than the newest one of its component.
	At time.Time
	// Entries are the changes in the order of the file.
	Entries []Entry
}

// Entry is one change of a Delta.
type Entry struct {
	// Action is the kind of change: 2, 4, 5, 7, 26, 31, 37, 59 or 63 for strings, any other for
	// events. A delta with an edit (2, 5, 7, 37) has nothing but edits, and one with a
	// suggestion (4, 26) nothing but suggestions.
	Action catalog.Action
	// UnitID is the unit; 0 for events.
	UnitID int64
	// State and OldState are the states after and before the change; StateAbsent
	// if the unit did not exist. Events always have StateAbsent.
	State, OldState catalog.State
	// Target and Old are the texts after and before, forms joined. A removed
	// string has its text in both (docs/compatibility.md#change-entries).
	Target, Old string
	// Event holds the details of an event, such as file, line, message, language;
	// for a string only previous_source and, made by the step, catalog.EventConflict; or nil.
	Event map[string]string
}

// pendingDelta is a delta that gets its ids at the end of the step.
type pendingDelta struct {
	id, component, translation, author int64
	n, added, updated, removed         int
	at                                 int64
	commit                             string
	commitTime, coAuthors              any
	suggests                           bool // it is about suggestions
}

// AddDelta appends entries to the ledger. Their ids are in the order of the calls.
// A delta without entries is ignored.
func (tx *StepTx) AddDelta(ctx context.Context, d Delta) (err error) {
	if len(d.Entries) == 0 {
		return nil
	}
	defer tx.s.Failed(ctx, &err, "add changes of component %d, translation %d", d.ComponentID, d.TranslationID)
	m, err := tx.member(d.ComponentID)
	if err != nil {
		return err
	}
	if d.TranslationID != 0 {
		c, err := tx.componentOf(ctx, d.TranslationID)
		if err != nil {
			return err
		}
		if c != d.ComponentID {
			return sqldb.Invalid("the translation belongs to component %d", c)
		}
		if err := tx.markChanged(ctx, d.TranslationID); err != nil {
			return err
		}
	}
	p, err := tx.prepareDelta(&d, m)
	if err != nil {
		return err
	}
	for i := range d.Entries {
		if err := tx.addEntry(ctx, &d, &p, i); err != nil {
			return err
		}
	}
	tx.deltas = append(tx.deltas, p)
	return nil
}

// AddDeltaBy is AddDelta with the author of the entries. Its Time is the commit's time.
func (tx *StepTx) AddDeltaBy(ctx context.Context, by edit.Author, d Delta) (err error) {
	if d.AuthorID, err = tx.User(ctx, by.Name, by.Email, by.Time); err != nil {
		return err
	}
	return tx.AddDelta(ctx, d)
}

func (tx *StepTx) prepareDelta(d *Delta, m *convoyMember) (pendingDelta, error) {
	if d.AuthorID < -int64(len(tx.authors)) {
		return pendingDelta{}, sqldb.Invalid("author %d is not of this step", d.AuthorID)
	}
	if m.lastDelta++; m.lastDelta >= catalog.UnitsPerComponent {
		return pendingDelta{}, sqldb.Invalid("component %d has no room for another delta", d.ComponentID)
	}
	at := d.At
	if at.IsZero() {
		at = tx.info.At
	}
	stamp, _ := sqldb.Micros(at).(int64) // never zero: StepInfo.check
	if m.lastAt.Valid {
		stamp = max(stamp, m.lastAt.Int64)
	}
	m.lastAt.Int64, m.lastAt.Valid = stamp, true
	names, err := sqldb.JsonText(d.CoAuthors, len(d.CoAuthors) == 0)
	if err != nil {
		return pendingDelta{}, err
	}
	m.dirty, m.countersChanged = true, true
	return pendingDelta{
		id: d.ComponentID*catalog.UnitsPerComponent + m.lastDelta, component: d.ComponentID, translation: d.TranslationID,
		author: d.AuthorID, n: len(d.Entries), at: stamp, commit: d.Commit, commitTime: sqldb.Micros(d.CommitTime),
		coAuthors: names,
	}, nil
}

func (tx *StepTx) addEntry(ctx context.Context, d *Delta, p *pendingDelta, i int) error {
	e := &d.Entries[i]
	if ofString := d.TranslationID != 0; ofString != e.Action.OfString() || ofString != (e.UnitID != 0) {
		return sqldb.Invalid("entry %d: action %d with unit %d does not belong there", i, e.Action, e.UnitID)
	}
	switch e.Action {
	case catalog.ActionNewUnit:
		p.added++
	case catalog.ActionStringRepoUpdate:
		p.updated++
	case catalog.ActionStringRemove:
		p.removed++
	case catalog.ActionSuggestion, catalog.ActionSuggestionDelete:
		p.suggests = true
	}
	state, old := e.State, e.OldState
	if e.UnitID == 0 {
		state, old = catalog.StateAbsent, catalog.StateAbsent
	}
	if _, ended := tx.conflicts[e.UnitID]; ended && e.UnitID != 0 && e.Event == nil {
		e.Event = map[string]string{catalog.EventConflict: "1"}
	}
	event, err := sqldb.JsonText(e.Event, e.Event == nil)
	if err != nil {
		return err
	}
	return tx.entries.Add(ctx, tx.s, p.id, i, int64(e.Action), sqldb.OrNull(e.UnitID), int64(state), int64(old), e.Target, e.Old, event)
}
