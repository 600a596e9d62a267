package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// unitWriter stores the units of one translation and finds what changed.
type unitWriter struct {
	a     *application
	row   *catalog.Translation
	units []unit.Unit
	moved bool // positions and locations may differ from the stored ones

	oldForms int // plural forms of the translation before the step

	known []catalog.Known
	seen  []catalog.Seen // of units, parallel
	delta catalog.Delta
	ids   []int64                   // of units, parallel
	old   map[int64]store.Text      // of the updated and removed units, before
	gone  map[catalog.Identity]bool // the removed units, made when it is needed

	hasher catalog.Hasher
}

func (w *unitWriter) write(ctx context.Context) error {
	return inTurn(ctx, w.compare, w.readOld, w.add, w.update, w.remove, w.storeLayout)
}

func inTurn(ctx context.Context, parts ...func(context.Context) error) error {
	return catalog.Try(parts, func(part *func(context.Context) error) error { return (*part)(ctx) })
}

// compare stores the translation's row and finds what differs in its units.
func (w *unitWriter) compare(ctx context.Context) error {
	stored := w.row.ID != 0
	err := w.a.tx.PutTranslation(ctx, w.row)
	if err != nil {
		return err
	}
	if stored {
		if w.known, err = w.a.tx.Known(ctx, w.row.ID); err != nil {
			return err
		}
	}
	w.diff()
	return nil
}

// diff finds what differs between known and units.
func (w *unitWriter) diff() {
	if w.seen == nil {
		w.seen = w.a.comp.seen[:0]
		for i := range w.units {
			w.seen = append(w.seen, catalog.Seen{Identity: w.units[i].Identity, Text: w.units[i].Text, Meta: w.units[i].Meta})
		}
		w.a.comp.seen = w.seen
	}
	w.delta = catalog.Diff(w.known, w.seen)
	w.ids = make([]int64, len(w.seen))
	for _, list := range [][]catalog.Pair{w.delta.Same, w.delta.Touched, w.delta.Updated, w.delta.Returned} {
		for _, p := range list {
			w.ids[p.Seen] = w.known[p.Known].ID
		}
	}
}

// readOld reads the texts that entries show as old.
func (w *unitWriter) readOld(ctx context.Context) error {
	ids := make([]int64, 0, len(w.delta.Updated)+len(w.delta.Removed))
	for _, p := range w.delta.Updated {
		ids = append(ids, w.known[p.Known].ID)
	}
	for _, k := range w.delta.Removed {
		ids = append(ids, w.known[k].ID)
	}
	if err := w.a.loader.meter.take(textBytes * int64(len(ids))); err != nil {
		return err
	}
	var err error
	w.old, err = w.a.tx.Texts(ctx, w.row.ID, ids)
	return err
}

// textBytes is the memory of an element of unitWriter.old, without its text, which is
// that of an entry.
const textBytes = 128

// add stores the units never seen before.
func (w *unitWriter) add(ctx context.Context) error {
	if len(w.delta.Added) == 0 {
		return nil
	}
	var sources map[catalog.Identity]int64
	if !w.row.IsSource {
		var err error
		if sources, err = w.a.sourceIDs(ctx); err != nil {
			return err
		}
	}
	for block := range slices.Chunk(w.delta.Added, addBlock) {
		if err := w.addSome(ctx, block, sources); err != nil {
			return err
		}
	}
	return nil
}

// addBlock is the number of units that are copied at a time to be stored.
const addBlock = 8 << 10

// addSome stores some of the units never seen before.
func (w *unitWriter) addSome(ctx context.Context, added []int, sources map[catalog.Identity]int64) error {
	units := make([]catalog.Unit, len(added))
	list := make([]store.FingerprintedUnit, len(units))
	for n, i := range added {
		units[n] = w.units[i].Unit
		u := &units[n]
		u.TranslationID, u.SourceID, u.Created = w.row.ID, sources[u.Identity], w.a.created
		if u.SourceID == 0 && !w.row.IsSource {
			return fmt.Errorf("line %d of the units: %q has no source unit: this is a bug of repoglot", u.Position, u.Source)
		}
		list[n] = store.FingerprintedUnit{Unit: u, Text: w.units[i].Text, Meta: w.units[i].Meta}
		if w.row.IsSource {
			list[n].Since = committed(w.a.step.Commit) // for long_untranslated, in whatever way it comes
		}
	}
	if err := w.a.tx.AddUnits(ctx, list); err != nil {
		return err
	}
	for n, i := range added {
		w.ids[i] = units[n].ID
	}
	return nil
}

// update stores the units that differ from the stored ones.
func (w *unitWriter) update(ctx context.Context) error {
	list := make([]store.FingerprintedUnit, 0, len(w.delta.Updated)+len(w.delta.Touched)+len(w.delta.Returned))
	for _, pairs := range [][]catalog.Pair{w.delta.Updated, w.delta.Touched, w.delta.Returned} {
		for _, p := range pairs {
			u := w.units[p.Seen]
			u.ID, u.TranslationID = w.known[p.Known].ID, w.row.ID
			list = append(list, store.FingerprintedUnit{Unit: &u.Unit, Text: u.Text, Meta: u.Meta})
		}
	}
	return w.a.tx.UpdateUnits(ctx, list)
}

// remove marks the units that the file no longer has.
func (w *unitWriter) remove(ctx context.Context) error {
	ids := make([]int64, len(w.delta.Removed))
	for i, k := range w.delta.Removed {
		ids[i] = w.known[k].ID
	}
	return w.a.tx.RemoveUnits(ctx, w.row.ID, ids)
}

// storeLayout stores positions and locations, if they may have changed.
func (w *unitWriter) storeLayout(ctx context.Context) error {
	if !w.moved && len(w.delta.Returned)+len(w.delta.Removed)+len(w.delta.Added) == 0 {
		return nil
	}
	return w.a.tx.PutLayout(ctx, w.row.ID, w.placed(nil))
}

// placed appends where the units are. The locations are copied: a layout is kept longer
// than the text of its file.
func (w *unitWriter) placed(list []catalog.UnitPosition) []catalog.UnitPosition {
	var text strings.Builder
	for i := range w.units {
		text.WriteString(w.units[i].Location)
	}
	list, rest := slices.Grow(list, len(w.units)), text.String()
	for i := range w.units {
		u := &w.units[i]
		list = append(list, catalog.UnitPosition{ID: w.ids[i], Position: u.Position, Location: rest[:len(u.Location)]})
		rest = rest[len(u.Location):]
	}
	return list
}

// each calls fn for every string that makes an entry: the strings of the file in
// its order, then the removed ones. i is the index in units; for a removed string
// it is -1 minus the index in known.
func (w *unitWriter) each(fn func(id catalog.Identity, i int)) {
	seen := append([]int(nil), w.delta.Added...)
	for _, pairs := range [][]catalog.Pair{w.delta.Returned, w.delta.Updated} {
		for _, p := range pairs {
			seen = append(seen, p.Seen)
		}
	}
	slices.Sort(seen)
	for _, i := range seen {
		fn(w.seen[i].Identity, i)
	}
	for _, k := range w.delta.Removed {
		fn(w.known[k].Identity, -1-k)
	}
}

func (w *unitWriter) changed() []catalog.Identity {
	var list []catalog.Identity
	w.each(func(id catalog.Identity, _ int) { list = append(list, id) })
	return list
}

// entries makes the change entries (docs/compatibility.md#change-entries). They keep no
// text of files in memory.
func (w *unitWriter) entries(origins map[catalog.Identity]int) (list []attributedEntry, err error) {
	w.each(func(id catalog.Identity, i int) {
		if err != nil {
			return
		}
		e := w.entry(i)
		if i >= 0 {
			e.Target = strings.Clone(e.Target)
		}
		err = w.a.loader.meter.take(int64(changeBytes(&e)))
		list = append(list, attributedEntry{Entry: e, origin: origins[id]})
	})
	return list, err
}

func (w *unitWriter) entry(i int) store.Entry {
	if i < 0 {
		id := w.known[-1-i].ID
		old := w.old[id]
		target := catalog.PadForms("", old.Target, w.oldForms)
		return store.Entry{
			Action: catalog.ActionStringRemove, UnitID: id,
			State: catalog.StateAbsent, OldState: old.State, Target: target, Old: target,
		}
	}
	u, id := &w.units[i], w.ids[i]
	target := catalog.PadForms(u.Source, u.Target, w.row.PluralNumber)
	if old, ok := w.old[id]; ok {
		return store.Entry{
			Action: catalog.ActionStringRepoUpdate, UnitID: id,
			State: u.State, OldState: old.State, Target: target, Old: catalog.PadForms(u.Source, old.Target, w.oldForms),
		}
	}
	return store.Entry{
		Action: catalog.ActionNewUnit, UnitID: id,
		State: u.State, OldState: catalog.StateAbsent, Target: target, Event: w.replaced(u),
	}
}

// replaced returns the previous source of a new string, if this step removed the
// string with that source.
func (w *unitWriter) replaced(u *unit.Unit) map[string]string {
	if u.PreviousSource == "" {
		return nil
	}
	if w.gone == nil {
		w.gone = make(map[catalog.Identity]bool, len(w.delta.Removed))
		for _, k := range w.delta.Removed {
			w.gone[w.known[k].Identity] = true
		}
	}
	if !w.gone[w.hasher.Identity(u.PreviousSource, u.Context)] {
		return nil
	}
	return map[string]string{catalog.EventPreviousSource: strings.Clone(u.PreviousSource)}
}

// stepStore is where an application reads what is stored and writes what a step
// changes: the transaction of a pull's step (direct), or in a replay the staging area that
// many commits share. The methods do what the methods of store.StepTx do.
type stepStore interface {
	Known(ctx context.Context, translation int64) ([]catalog.Known, error)
	// Texts returns the texts of units of one translation.
	Texts(ctx context.Context, translation int64, ids []int64) (map[int64]store.Text, error)
	AddUnits(ctx context.Context, units []store.FingerprintedUnit) error
	UpdateUnits(ctx context.Context, units []store.FingerprintedUnit) error
	// RemoveUnits removes units of one translation.
	RemoveUnits(ctx context.Context, translation int64, ids []int64) error
	// PutLayout takes the units in any order, and may change it.
	PutLayout(ctx context.Context, translation int64, units []catalog.UnitPosition) error

	Translations(ctx context.Context, component int64) ([]catalog.Translation, error)
	PutTranslation(ctx context.Context, t *catalog.Translation) error
	PutExtra(ctx context.Context, component int64, extra []store.ExtraString) error
	File(ctx context.Context, translation int64) (store.File, error)
	PutFile(ctx context.Context, f store.File) error
	PutStatDay(ctx context.Context, d store.StatDay) error

	Problems(ctx context.Context, component int64) ([]store.Problem, error)
	SetProblem(ctx context.Context, p store.Problem) error
	ClearProblem(ctx context.Context, component int64, path string) error

	AddDeltaBy(ctx context.Context, by edit.Author, d store.Delta) error
}

// direct is the transaction of one step as a stepStore.
type direct struct{ *store.StepTx }

func (d direct) Texts(ctx context.Context, _ int64, ids []int64) (map[int64]store.Text, error) {
	return d.StepTx.Texts(ctx, ids)
}

func (d direct) RemoveUnits(ctx context.Context, _ int64, ids []int64) error {
	return d.StepTx.RemoveUnits(ctx, ids)
}

func (d direct) PutLayout(ctx context.Context, translation int64, units []catalog.UnitPosition) error {
	sortByID(units)
	return d.StepTx.PutLayout(ctx, translation, units)
}

// sortByID sorts units as the store wants them.
func sortByID(units []catalog.UnitPosition) {
	slices.SortFunc(units, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
}
