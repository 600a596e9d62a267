package ingest

import (
	"cmp"
	"context"
	"slices"

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

// largeSource brings a source translation to a file of its own that is read in parts, in a
// pull. The strings are read several times: only what is compared is in memory of all of them.
// Their texts never change (unit.Source).
type largeSource struct {
	unitWriter // without units
	files      []unionInput
	ends       []int // of the strings of each file
}

// largeBytes is the memory of a string of a largeSource, with its place in the layout.
const largeBytes = 192

// largeSource returns nil unless the source translation's own file is read in parts.
func (a *application) largeSource(ctx context.Context, row *catalog.Translation, files []unionInput) (*largeSource, error) {
	if a.journal == nil || !a.hasSourceFile || !a.sourceRead && int(row.Stats.Total.Units) < a.loader.partSize/8 {
		return nil, nil
	}
	own, err := files[0].load(ctx)
	if err != nil || !own.InParts() {
		return nil, err
	}
	files[0].load = func(context.Context) (*unit.File, error) { return own, nil }
	return &largeSource{unitWriter: unitWriter{a: a, row: row}, files: files, ends: make([]int, len(files))}, nil
}

// store is application.storeSource.
func (l *largeSource) store(ctx context.Context) error {
	a, row := l.a, l.row
	a.comp.dropUnion()
	outline, sum, err := l.read(ctx)
	if err != nil {
		return err
	}
	own, err := a.describeSource(ctx, row, l.files)
	if err != nil {
		return err
	}
	l.moved = row.ID == 0 || row.Outline != outline
	had := row.HasTemplate
	row.Outline, row.Stats, row.Removed, row.HasTemplate, l.oldForms = outline, sum, false, true, row.PluralNumber
	write := func(ctx context.Context) error { return l.write(ctx, had) }
	end := func(ctx context.Context) error { return a.endSource(ctx, row, own) }
	return inTurn(ctx, l.compare, write, end, l.addEntries)
}

// read sets what is compared.
func (l *largeSource) read(ctx context.Context) (outline int64, sum catalog.Stats, err error) {
	found := make(map[catalog.Identity]struct{})
	isNew := func(id catalog.Identity) bool {
		n := len(found)
		found[id] = struct{}{}
		return len(found) > n
	}
	err = l.a.walkStrings(ctx, l.files, isNew, func(file int, block []unit.Unit, at int64) error {
		for i := range block {
			l.seen = append(l.seen, catalog.Seen{Identity: block[i].Identity, Text: block[i].Text, Meta: block[i].Meta})
			sum.AddUnit(&block[i].Unit)
		}
		outline, l.ends[file] = at, len(l.seen)
		return l.a.loader.meter.take(largeBytes * int64(len(block)))
	})
	return outline, sum, err
}

// write stores what differs, the layout, and the strings that the template lacks.
func (l *largeSource) write(ctx context.Context, had bool) error {
	placed, extra := make([]catalog.UnitPosition, 0, len(l.seen)), &extraStrings{}
	err := l.each(ctx, func(file int, part *unitWriter) error {
		if err := inTurn(ctx, part.add, part.update); err != nil {
			return err
		}
		placed = part.placed(placed)
		return l.a.addExtra(extra, file, part)
	})
	if err == nil {
		err = l.remove(ctx)
	}
	if err == nil && (l.moved || len(l.delta.Returned)+len(l.delta.Removed)+len(l.delta.Added) > 0) {
		err = l.a.tx.PutLayout(ctx, l.row.ID, placed)
	}
	if err == nil {
		err = l.a.matchLarge(ctx, extra, l.files, func(i int, _ catalog.Identity) int64 { return l.ids[i] })
	}
	if err != nil {
		return err
	}
	return extra.put(ctx, l.a, l.row, had)
}

// each calls fn with a writer of some strings after the other, that of none that are removed,
// and the index of their file.
func (l *largeSource) each(ctx context.Context, fn func(file int, part *unitWriter) error) error {
	next, from, rest := 0, 0, l.delta
	wanted := func(id catalog.Identity) bool {
		is := next < len(l.seen) && l.seen[next].Identity == id
		if is {
			next++
		}
		return is
	}
	return l.a.walkStrings(ctx, l.files, wanted, func(file int, block []unit.Unit, _ int64) error {
		to := from + len(block)
		part := &unitWriter{a: l.a, row: l.row, units: block, oldForms: l.oldForms, known: l.known, seen: l.seen[from:to], ids: l.ids[from:to]}
		for ; len(rest.Added) > 0 && rest.Added[0] < to; rest.Added = rest.Added[1:] {
			part.delta.Added = append(part.delta.Added, rest.Added[0]-from)
		}
		part.delta.Returned, part.delta.Updated, part.delta.Touched = cut(&rest.Returned, from, to), cut(&rest.Updated, from, to), cut(&rest.Touched, from, to)
		from = to
		return fn(file, part)
	})
}

// cut takes the pairs up to a string off a list, counted from another one.
func cut(list *[]catalog.Pair, from, to int) (part []catalog.Pair) {
	for ; len(*list) > 0 && (*list)[0].Seen < to; *list = (*list)[1:] {
		part = append(part, catalog.Pair{Known: (*list)[0].Known, Seen: (*list)[0].Seen - from})
	}
	return part
}

// addEntries adds the entries, which are made when they are written if they are of one commit.
func (l *largeSource) addEntries(ctx context.Context) error {
	list := &l.a.entries
	n := int64(len(l.delta.Added) + len(l.delta.Returned) + len(l.delta.Updated) + len(l.delta.Removed))
	if l.a.origins.stepOrigin() == 0 {
		list.deltas = append(list.deltas, pendingDelta{path: l.row.Filename, rank: rankSource, translation: l.row.ID, later: l, laterCount: n})
		return nil
	}
	origins, err := l.a.sourceOrigins(ctx, &l.unitWriter, l.files, func(i int) int {
		return slices.IndexFunc(l.ends, func(end int) bool { return i < end })
	})
	if err != nil {
		return err
	}
	var all []attributedEntry
	err = l.eachEntries(ctx, origins, func(entries []attributedEntry) error {
		all = append(all, entries...)
		return nil
	})
	list.units(l.row, all)
	return err
}

// eachEntries makes the entries, many at a time.
func (l *largeSource) eachEntries(ctx context.Context, origins map[catalog.Identity]int, fn func([]attributedEntry) error) error {
	each := func(part *unitWriter) error {
		entries, err := part.entries(origins)
		if err == nil && len(entries) > 0 {
			err = fn(entries)
		}
		return err
	}
	if err := l.each(ctx, func(_ int, part *unitWriter) error { return each(part) }); err != nil {
		return err
	}
	for removed := range slices.Chunk(l.delta.Removed, addBlock) {
		part := &unitWriter{a: l.a, row: l.row, oldForms: l.oldForms, known: l.known, delta: catalog.Delta{Removed: removed}}
		if err := part.readOld(ctx); err != nil {
			return err
		}
		if err := each(part); err != nil {
			return err
		}
	}
	return nil
}
