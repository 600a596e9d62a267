package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
)

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
