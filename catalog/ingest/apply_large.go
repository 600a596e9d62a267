package ingest

import (
	"cmp"
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
)

// newTranslation stores the units of a translation in a first import, a block at a time:
// those of a large file are never in memory all at once.
type newTranslation struct {
	a      *application
	row    *catalog.Translation
	placed []catalog.UnitPosition
	bytes  int64 // of placed
}

// add stores a block of units, with checks that run meanwhile, and returns it with ids.
func (n *newTranslation) add(ctx context.Context, units []unit.Unit) (*unitWriter, error) {
	if n.row.ID == 0 {
		if err := n.a.tx.PutTranslation(ctx, n.row); err != nil {
			return nil, err
		}
	}
	for i := range units {
		n.row.Stats.AddUnit(&units[i].Unit)
	}
	w := &unitWriter{a: n.a, row: n.row, units: units}
	w.diff() // all are new
	if err := n.addChecked(ctx, w); err != nil {
		return nil, err
	}
	return w, n.place(w)
}

// addChecked stores a block, and what the checks of its units find.
func (n *newTranslation) addChecked(ctx context.Context, w *unitWriter) error {
	a := n.a
	if err := w.add(ctx); err != nil || a.checkup == nil {
		return err
	}
	units := &checkup.NewUnits{Component: a.comp.checked(), Translation: n.row, Units: w.units, IDs: w.ids}
	if n.row.IsSource {
		return a.checkup.NewSource(ctx, units)
	}
	sources, err := a.sourceIDs(ctx)
	if err != nil {
		return err
	}
	return a.checkup.NewTranslation(ctx, units, sources)
}

// place keeps where units are.
func (n *newTranslation) place(w *unitWriter) error {
	before := len(n.placed)
	n.placed = w.placed(n.placed)
	bytes := int64(layoutBytes(n.placed[before:]))
	n.bytes += bytes
	if n.row.IsSource {
		bytes += sourceIDBytes * int64(len(w.units))
	}
	return n.a.loader.meter.take(bytes)
}

// sourceIDBytes is the memory of an element of application.sources.
const sourceIDBytes = 64

// end stores what is known once all units are.
func (n *newTranslation) end(ctx context.Context) error {
	if err := n.a.tx.PutTranslation(ctx, n.row); err != nil {
		return err
	}
	if len(n.placed) > 0 {
		if err := n.a.tx.PutLayout(ctx, n.row.ID, n.placed); err != nil {
			return err
		}
	}
	n.placed = nil
	n.a.loader.meter.held -= n.bytes
	return nil
}

// storeNewTarget stores a translation in a first import.
func (a *application) storeNewTarget(ctx context.Context, row *catalog.Translation, file *unit.File) error {
	n := newTranslation{a: a, row: row}
	for units := range file.Blocks() {
		if _, err := n.add(ctx, shownUnits(units, row.PluralNumber)); err != nil {
			return err
		}
	}
	return cmp.Or(n.end(ctx), a.putFile(ctx, row, file.Data, nil, file.Plain))
}

// storeNewSource stores the source translation in a first import, as storeSource does: the
// strings of each file that those before it do not have.
func (a *application) storeNewSource(ctx context.Context, row *catalog.Translation, files []unionInput) error {
	own, err := a.describeSource(ctx, row, files)
	if err != nil {
		return err
	}
	n := newTranslation{a: a, row: row}
	a.sources = make(map[catalog.Identity]int64)
	extra := &extraStrings{}
	row.HasTemplate = a.hasSourceFile
	isNew := func(id catalog.Identity) bool { _, ok := a.sources[id]; return !ok }
	err = a.walkStrings(ctx, files, isNew, func(file int, block []unit.Unit, outline int64) error {
		row.Outline = outline
		w, err := n.add(ctx, block)
		if err != nil {
			return err
		}
		for i := range block {
			a.sources[block[i].Identity] = w.ids[i]
		}
		return a.addExtra(extra, file, w)
	})
	if err != nil {
		return err
	}
	if err := a.matchLarge(ctx, extra, files, func(_ int, id catalog.Identity) int64 { return a.sources[id] }); err != nil {
		return err
	}
	return cmp.Or(extra.put(ctx, a, row, false), n.end(ctx), a.endSource(ctx, row, own))
}

// matchLarge reads the template once more, if there are strings that it lacks. sourceID
// returns the id of its i-th string.
func (a *application) matchLarge(ctx context.Context, extra *extraStrings, files []unionInput, sourceID func(i int, id catalog.Identity) int64) error {
	if len(extra.list) == 0 {
		return nil
	}
	file, err := files[0].load(ctx)
	if err != nil {
		return err
	}
	n := 0
	for units := range file.Blocks() {
		for i := range units {
			extra.match(&units[i], sourceID(n, units[i].Identity))
			n++
		}
	}
	return nil
}

// addExtra adds the strings of a block to those that the template lacks, unless it is the template's.
func (a *application) addExtra(extra *extraStrings, file int, w *unitWriter) error {
	if file == 0 || !a.hasSourceFile {
		return nil
	}
	for i := range w.units {
		extra.add(&w.units[i], w.ids[i])
	}
	return a.loader.meter.take(extraBytes * int64(len(w.units)))
}

// walkStrings calls fn for the strings of the source translation, in its order and many at a
// time: those of each file that wanted takes, with the index of the file and the outline up to there.
func (a *application) walkStrings(ctx context.Context, files []unionInput, wanted func(catalog.Identity) bool, fn func(file int, block []unit.Unit, outline int64) error) error {
	var h catalog.Hasher
	position, outline := 0, int64(0)
	for n := range files {
		file, err := files[n].load(ctx)
		if err != nil {
			return err
		}
		for units := range file.Blocks() {
			block := make([]unit.Unit, 0, len(units))
			for i := range units {
				if !wanted(units[i].Identity) {
					continue
				}
				s := newSourceString(&units[i], &h)
				if n > 0 || !a.hasSourceFile {
					s.follow(position, &h)
				}
				position, outline = s.Position, s.outline(outline)
				block = append(block, s.Unit)
			}
			if len(block) == 0 {
				continue
			}
			if err := fn(n, block, outline); err != nil {
				return err
			}
		}
	}
	return nil
}
