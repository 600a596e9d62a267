package editing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse"
)

// Edit stores new texts for strings of one translation, by one author, in one
// transaction with a generation of its own: all or none. When it returns, they are
// durable, served and checked. A text that a string has already changes nothing. A string
// that the file lacks and the template has becomes a unit, whose id the request gets. The
// error wraps edit.ErrNotTaken, edit.ErrReadOnly, edit.ErrChanged, edit.ErrNoRoom, an
// [*edit.InvalidError], or catalog.ErrNotFound for a string that the translation does not
// have. Pulls may run meanwhile. It returns the number of strings that changed.
func (d *Editor) Edit(ctx context.Context, component, translation int64, by edit.Author, edits []edit.Request) (changed int, err error) {
	defer wrap(&err, "edit translation %d", translation)
	err = d.editing(ctx, component, translation, by, func(ctx context.Context, e *transaction) error {
		err := e.run(ctx, edits)
		changed = len(e.entries)
		return err
	})
	return changed, err
}

// editing runs fn, which edits a translation of a component that takes edits, in one
// transaction with a generation of its own: again, if a pull moves the head meanwhile.
func (d *Editor) editing(ctx context.Context, component, translation int64, by edit.Author, fn func(context.Context, *transaction) error) error {
	if err := d.Room(); err != nil {
		return fmt.Errorf("%w: %w", edit.ErrNoRoom, err)
	}
	var rules unit.Rules
	return d.atHead(ctx, component, func(row *store.BranchComponent) error {
		rules = unit.NewRules(row.Settings.CheckFlags, false)
		return editable(row)
	}, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		e := transaction{tx: tx, component: component, translation: translation, by: by, at: at, rules: rules}
		if by.Time.IsZero() {
			e.by.Time = at
		}
		return fn(ctx, &e)
	})
}

// transaction is one of edits of a translation.
type transaction struct {
	component, translation int64
	by, reviewer           edit.Author
	at                     time.Time
	action                 catalog.Action // of its entries; 0: what fits the states
	rules                  unit.Rules

	tx      *store.StepTx
	row     *catalog.Translation
	pending map[int64]store.Edit
	hasher  catalog.Hasher
	writes  []store.FingerprintedUnit
	entries []store.Entry
	placed  map[int64]string // the locations of units that the file lacks
	gone    map[int64]bool   // units that it lacks again
	data    []byte           // of the file, if it was needed
	room    int              // how many suggestions more by.Person may make, once bound is set
	bound   error            // why no more
}

func (e *transaction) run(ctx context.Context, edits []edit.Request) error {
	ids := catalog.Each(edits, func(r *edit.Request) int64 { return cmp.Or(r.SourceID, r.UnitID) })
	units, err := e.load(ctx, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		u, ok := units[id]
		switch {
		case !ok && edits[i].SourceID != 0:
			return edit.ErrChanged // the file has it, or the template lacks it
		case !ok:
			return fmt.Errorf("unit %d: %w", id, catalog.ErrNotFound)
		}
		if units[id], err = e.one(ctx, &edits[i], u); err != nil {
			return err
		}
		edits[i].UnitID = units[id].ID
	}
	return e.store(ctx)
}

// load reads the translation, the units and their pending edits. Units of the template stand
// for those of strings that the file lacks.
func (e *transaction) load(ctx context.Context, ids []int64) (map[int64]catalog.Unit, error) {
	rows, err := e.tx.Translations(ctx, e.component)
	if err != nil {
		return nil, err
	}
	e.row = catalog.Find(rows, func(t *catalog.Translation) bool { return t.ID == e.translation && !t.Removed })
	switch {
	case e.row == nil:
		return nil, fmt.Errorf("translation %d: %w", e.translation, catalog.ErrNotFound)
	case e.row.IsSource:
		return nil, edit.ErrReadOnly
	}
	e.placed, e.gone = map[int64]string{}, map[int64]bool{}
	units, err := e.tx.UnitsToEdit(ctx, e.translation, ids)
	if err != nil {
		return nil, err
	}
	var others, known []int64
	for _, id := range ids {
		if _, ok := units[id]; !ok {
			others = append(others, id)
		}
		known = append(known, id)
	}
	missing, err := e.tx.Missing(ctx, e.component, e.translation, others)
	for i := range missing {
		m := &missing[i]
		u := e.rules.Missing(&m.Source)
		u.ID, u.TranslationID = m.UnitID, e.translation
		if units[m.Source.ID] = u; u.ID != 0 {
			units[u.ID] = u
			known = append(known, u.ID)
		}
	}
	if err == nil {
		e.pending, err = e.tx.PendingTextsOf(ctx, known)
	}
	return units, err
}

// one prepares the change of one string, and returns it as it will be.
func (e *transaction) one(ctx context.Context, want *edit.Request, u catalog.Unit) (catalog.Unit, error) {
	if u.State == catalog.StateReadOnly {
		return u, edit.ErrReadOnly
	}
	if want.If != nil && !want.If(&u) {
		return u, edit.ErrChanged
	}
	text, err := edit.NewText(want.Target, want.State, catalog.FormsOf(u.Source, e.row.PluralNumber))
	if err != nil || text.Equal(edit.Text{Target: u.Target, State: u.State}) {
		return u, err
	}
	if err := e.make(ctx, &u); err != nil {
		return u, err
	}
	j, known := e.pending[u.ID]
	if !known {
		j = store.TextOf(&u)
	} else if u.Removed && !j.Base.Absent() { // it waited for its string
		if err := e.tx.RebaseEdit(ctx, &j, edit.Text{State: catalog.StateAbsent}); err != nil {
			return u, err
		}
	}
	switch j.Ours, j.Reviewer = text, e.reviewer; {
	case !text.State.Fuzzy() || !j.Base.Absent():
		j.Previous = ""
	case want.Previous != "":
		j.Previous = want.Previous
	}
	if err := e.tx.PutEdit(ctx, &j, e.by); err != nil {
		return u, err
	}
	if j.Nothing() { // as the repository has it
		if err := e.tx.EndEdit(ctx, &j, store.EditDiscarded, "the repository's text came back", e.by, e.at); err != nil {
			return u, err
		}
		delete(e.pending, u.ID)
		if j.Base.Absent() {
			return e.forget(ctx, u)
		}
	} else {
		e.pending[u.ID] = j
	}
	action := e.action
	switch {
	case u.Removed:
		action = catalog.ActionNewUnit
	case action == 0:
		action = actionOf(u.State, text.State)
	}
	if j.Base.Absent() {
		u.PreviousSource = j.Previous
	}
	return e.change(u, text, action), nil
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
func (e *transaction) change(u catalog.Unit, text edit.Text, action catalog.Action) catalog.Unit {
	was := u
	if e.uncount(&was); u.Removed {
		u.Removed, e.placed[u.ID] = false, u.Location
		delete(e.gone, u.ID)
	}
	unit.SetText(&u, text.Target, text.State, e.row.PluralNumber)
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

// uncount takes a unit out of the counts.
func (e *transaction) uncount(u *catalog.Unit) {
	if !u.Removed {
		var of catalog.Stats
		of.AddUnit(u)
		e.row.Stats.Subtract(of)
	}
}

// fits returns an error for a string that the file lacks and its charset cannot have.
func (e *transaction) fits(ctx context.Context, u *catalog.Unit) error {
	text := u.Source + u.Context
	if u.ID != 0 || !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil
	}
	if e.data == nil {
		f, err := e.tx.File(ctx, e.translation)
		if err != nil {
			return err
		}
		e.data = f.Data
	}
	return edit.Holds(e.data, text)
}

// make makes a unit of a string that the file lacks, unless the translation had one before:
// a removed one, which has its id for ever.
func (e *transaction) make(ctx context.Context, u *catalog.Unit) error {
	if u.ID != 0 {
		return nil
	}
	if err := e.fits(ctx, u); err != nil {
		return err
	}
	row := *u
	row.State, row.Created = catalog.StateEmpty, e.at
	fresh := unit.Unit{Unit: row}
	unit.SetMeta(&fresh, &e.hasher)
	err := e.tx.AddUnits(ctx, []store.FingerprintedUnit{{Unit: &row, Text: e.hasher.Text("", row.State), Meta: fresh.Meta}})
	u.ID = row.ID
	return err
}

// forget makes a string missing again that was translated though the file lacks it.
func (e *transaction) forget(ctx context.Context, u catalog.Unit) (catalog.Unit, error) {
	e.uncount(&u)
	e.writes = slices.DeleteFunc(e.writes, func(w store.FingerprintedUnit) bool { return w.ID == u.ID })
	e.gone[u.ID] = true
	delete(e.placed, u.ID)
	target := catalog.PadForms(u.Source, u.Target, e.row.PluralNumber)
	e.entries = append(e.entries, store.Entry{
		Action: catalog.ActionStringRemove, UnitID: u.ID, State: catalog.StateAbsent, OldState: u.State, Target: target, Old: target,
	})
	u.Target, u.State, u.Removed = "", catalog.StateAbsent, true
	return u, e.tx.RemoveUnits(ctx, []int64{u.ID})
}

// layout stores where units are that the file lacks: behind its own.
func (e *transaction) layout(ctx context.Context) error {
	if len(e.placed)+len(e.gone) == 0 {
		return nil
	}
	list, err := e.tx.Layout(ctx, e.row.ID)
	if err != nil {
		return err
	}
	at := func(id int64) (int, bool) {
		return slices.BinarySearchFunc(list, id, func(p catalog.UnitPosition, id int64) int { return cmp.Compare(p.ID, id) })
	}
	for _, id := range slices.AppendSeq(slices.Collect(maps.Keys(e.gone)), maps.Keys(e.placed)) {
		if i, found := at(id); found {
			list = slices.Delete(list, i, i+1)
		}
	}
	last := 0
	for i := range list {
		last = max(last, list[i].Position)
	}
	for _, id := range slices.Sorted(maps.Keys(e.placed)) {
		last++
		i, _ := at(id)
		list = slices.Insert(list, i, catalog.UnitPosition{ID: id, Position: last, Location: e.placed[id]})
	}
	return e.tx.PutLayout(ctx, e.row.ID, list)
}

// store writes what was collected, in the order of ids.
func (e *transaction) store(ctx context.Context) error {
	if len(e.entries) == 0 {
		return nil
	}
	if err := e.layout(ctx); err != nil {
		return err
	}
	slices.SortFunc(e.entries, func(a, b store.Entry) int { return cmp.Compare(a.UnitID, b.UnitID) })
	slices.Reverse(e.writes) // of a unit that changed twice the last counts
	slices.SortStableFunc(e.writes, func(a, b store.FingerprintedUnit) int { return cmp.Compare(a.ID, b.ID) })
	e.writes = slices.CompactFunc(e.writes, func(a, b store.FingerprintedUnit) bool { return a.ID == b.ID })
	day := store.StatDay{TranslationID: e.row.ID, Day: e.at, Stats: e.row.Stats}
	day.Stats.Failing = catalog.Count{} // as in a pull
	if err := cmp.Or(e.tx.UpdateUnits(ctx, e.writes), e.tx.PutTranslation(ctx, e.row), e.tx.PutStatDay(ctx, day)); err != nil {
		return err
	}
	delta := store.Delta{ComponentID: e.component, TranslationID: e.row.ID, Entries: e.entries}
	if e.by.Time.IsZero() { // it is no edit
		return e.tx.AddDelta(ctx, delta)
	}
	return e.tx.AddDeltaBy(ctx, e.by, delta)
}

// Upload makes edits, or suggestions, of a PO file for a translation, as Edit does. An
// error of the file is an [*edit.InvalidError] of the field file.
func (d *Editor) Upload(ctx context.Context, component, translation int64, by edit.Author, data []byte, o edit.UploadOptions) (counts edit.Counts, err error) {
	if err := o.Validate(); err != nil {
		return counts, err
	}
	if len(data) == 0 {
		return counts, &edit.InvalidError{Field: "file", Message: "The submitted file is empty."}
	}
	f, err := poparse.Parse("file", data)
	if err != nil {
		return counts, &edit.InvalidError{Field: "file", Message: err.Error()}
	}
	defer wrap(&err, "upload into translation %d", translation)
	err = d.editing(ctx, component, translation, by, func(ctx context.Context, e *transaction) (err error) {
		counts, err = e.upload(ctx, f, o)
		return err
	})
	return counts, err
}

func (e *transaction) upload(ctx context.Context, f *poparse.File, o edit.UploadOptions) (counts edit.Counts, err error) {
	known, err := e.tx.Known(ctx, e.translation)
	if err != nil {
		return counts, err
	}
	all := make(map[catalog.Identity]int64, len(known))
	for i := range known {
		if !known[i].Removed {
			all[known[i].Identity] = known[i].ID
		}
	}
	strings := len(all)
	ids, found := e.idsOf(f, all)
	if !found && o.Method != edit.Replace {
		if err := e.addLacked(ctx, all); err != nil {
			return counts, err
		}
		ids, _ = e.idsOf(f, all)
	}
	units, err := e.load(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return counts, err
	}
	if err := edit.CheckUpload(f, e.row.PluralNumber, e.row.PluralFormula); err != nil {
		return counts, err
	}
	changes, counts, err := edit.Upload(f, o, strings, func(id catalog.Identity) (edit.Current, bool) {
		u, ok := units[all[id]]
		ok = ok && e.fits(ctx, &u) == nil
		return edit.Current{
			Text: edit.Text{Target: u.Target, State: u.State}, ReadOnly: u.State == catalog.StateReadOnly, Forms: catalog.FormsOf(u.Source, e.row.PluralNumber),
		}, ok
	})
	if err != nil {
		return counts, err
	}
	for i := range changes {
		c := &changes[i]
		u := units[all[e.hasher.Identity(c.Source, c.Context)]]
		if o.Method == edit.Suggest {
			if err = e.make(ctx, &u); err == nil {
				_, err = e.suggest(ctx, &u, c.Text)
			}
			bound, bounded := errors.AsType[*edit.BoundError](err)
			if bounded && counts.Accepted > len(changes)-i { // some were taken
				err = errSuggested
				if !slices.Contains(counts.Problems, bound.Message) {
					counts.Problems = append(counts.Problems, bound.Message)
				}
			}
			if errors.Is(err, errSuggested) {
				counts.Accepted, counts.Skipped, err = counts.Accepted-1, counts.Skipped+1, nil
			}
		} else {
			_, err = e.one(ctx, &edit.Request{UnitID: u.ID, Target: catalog.SplitForms(c.Text.Target), State: c.Text.State}, u)
		}
		if err != nil {
			return counts, err
		}
	}
	return counts, e.store(ctx)
}

// idsOf are the ids of the strings of a file, and whether all have one.
func (e *transaction) idsOf(f *poparse.File, all map[catalog.Identity]int64) (ids []int64, found bool) {
	found = true
	for p := range f.Live() {
		id, ok := all[e.hasher.Identity(edit.SourceOf(p), p.Context)]
		if found = found && ok; ok {
			ids = append(ids, id)
		}
	}
	return ids, found
}

// addLacked adds to the strings of a translation those that only the source translation has,
// by its units: load finds which of these the file lacks.
func (e *transaction) addLacked(ctx context.Context, all map[catalog.Identity]int64) error {
	rows, err := e.tx.Translations(ctx, e.component)
	source := catalog.Find(rows, func(t *catalog.Translation) bool { return t.IsSource })
	if err != nil || source == nil {
		return err
	}
	known, err := e.tx.Known(ctx, source.ID)
	for i := range known {
		if k := &known[i]; !k.Removed && all[k.Identity] == 0 {
			all[k.Identity] = k.ID
		}
	}
	return err
}
