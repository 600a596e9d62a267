package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// writeTarget stores the units of a changed file and their entries.
func (a *application) writeTarget(ctx context.Context, t *targetFile) error {
	if t.partial != nil {
		return a.writePartial(ctx, t)
	}
	file, err := a.file(ctx, t.slot)
	if err != nil {
		return err
	}
	row := t.row
	if row == nil {
		row = &catalog.Translation{ComponentID: a.comp.row.ID, Language: t.slot.language}
		a.comp.translations[row.Language] = row
	}
	if t.fresh && a.record {
		a.entries.event(t.slot.path, catalog.ActionAddedLanguage, map[string]string{"file": t.slot.path, "language": row.Language})
	}
	moved := row.ID == 0 || row.Outline != t.outline
	row.FileCode, row.Filename, row.Revision = t.slot.fileCode, t.slot.path, t.slot.blob.String()
	row.Removed, row.Outline = false, t.outline
	oldForms := row.PluralNumber
	a.comp.setPluralRule(row, t.slot.lang, file)
	if !a.record {
		return a.storeNewTarget(ctx, row, file)
	}
	units, err := a.withEdits(ctx, row, shownUnits(file.All(), row.PluralNumber), true)
	if err != nil {
		return err
	}
	row.Stats = stats(units)
	w := unitWriter{a: a, row: row, units: units, moved: moved, oldForms: oldForms}
	if err := w.write(ctx); err != nil {
		return err
	}
	return a.endTarget(ctx, &w, file.Data, nil, file.Plain)
}

// endTarget stores what follows from the units that a writer wrote, and from the file that
// they are of.
func (a *application) endTarget(ctx context.Context, w *unitWriter, data []byte, pieces *store.Pieces, plain bool) error {
	row := w.row
	if err := a.putFile(ctx, row, data, pieces, plain); err != nil {
		return err
	}
	origins, err := a.origins.origins(ctx, row.Filename, shownTranslation(row.PluralNumber), w.changed())
	if err != nil {
		return err
	}
	entries, err := w.entries(origins)
	a.entries.units(row, entries)
	return err
}

// shownUnits returns units with the forms that are shown of their targets. It
// copies the slice, which belongs to the file, if one of them has others.
func shownUnits(units []unit.Unit, number int) []unit.Unit {
	var h catalog.Hasher
	copied := false
	for i := range units {
		shown := units[i].PadForms(number, &h)
		if shown == &units[i] {
			continue
		}
		if !copied {
			units, copied = slices.Clone(units), true
		}
		units[i] = *shown
	}
	return units
}

// putFile stores a version of a file and its statistics; pieces are nil if it was not cut,
// and plain is unit.File.Plain.
func (a *application) putFile(ctx context.Context, row *catalog.Translation, data []byte, pieces *store.Pieces, plain bool) error {
	return cmp.Or(a.putStats(ctx, row), a.tx.PutFile(ctx, store.File{
		TranslationID: row.ID, Blob: row.Revision, Modified: a.step.Commit.Committer.When, Data: data, Pieces: pieces, Plain: plain,
	}))
}

func (a *application) putStats(ctx context.Context, row *catalog.Translation) error {
	d := store.StatDay{TranslationID: row.ID, Day: a.created, Removed: row.Removed}
	if !row.Removed {
		d.Stats = row.Stats
		d.Stats.Failing = catalog.Count{} // known only for the head, not for the past
	}
	return a.tx.PutStatDay(ctx, d)
}

func stats(units []unit.Unit) catalog.Stats {
	var s catalog.Stats
	for i := range units {
		s.AddUnit(&units[i].Unit)
	}
	return s
}

// sourceIDs returns the ids of the units of the source translation, which is
// written first.
func (a *application) sourceIDs(ctx context.Context) (map[catalog.Identity]int64, error) {
	if a.sources != nil {
		return a.sources, nil
	}
	known, err := a.tx.Known(ctx, a.comp.translations[a.comp.selection.source.Code].ID)
	if err == nil {
		err = a.loader.meter.take(sourceIDBytes * int64(len(known)))
	}
	if err != nil {
		return nil, err
	}
	a.sources = make(map[catalog.Identity]int64, len(known))
	for i := range known {
		a.sources[known[i].Identity] = known[i].ID
	}
	return a.sources, nil
}

// partialFile is a version of a file of which only the paragraphs were read that differ
// from the stored version: the usual push into a large file.
type partialFile struct {
	unit.Partial
	before string // the blob of the stored version
	data   []byte
	pieces *store.Pieces

	// Set by isCurrent, parallel to Before:
	known  []catalog.Known // what is stored
	served []unit.Unit     // Before as it is served
}

// findPartial looks among the changes of a step for files of which only translations
// changed, compared with what is stored. All other files are left to be read whole.
func (p *pull) findPartial(ctx context.Context, touched []*component, step *gitsource.Step) error {
	if len(step.Origins) != 1 {
		return nil // who introduced what is found in whole files
	}
	for _, c := range touched {
		if c.reread || !c.isStored() {
			continue
		}
		for _, ch := range step.Changes {
			if ch.Old.IsZero() || ch.New.IsZero() || ch.Path == c.selection.newBase || !c.selection.wants(ch.Path) {
				continue
			}
			partial, err := p.findPartialOf(ctx, c, &ch)
			if err != nil {
				return err
			}
			if partial != nil {
				p.partial[cacheKey{c.row.ID, ch.New}] = partial
			}
		}
	}
	return nil
}

// findPartialOf returns nil for a file that must be read whole, or that cannot be read,
// which whoever reads it reports.
func (p *pull) findPartialOf(ctx context.Context, c *component, ch *gitsource.Change) (*partialFile, error) {
	data, err := p.reader.SharedBlob(ctx, ch.New, p.s.MaxFileSize)
	if err != nil {
		return nil, ctx.Err()
	}
	e := &partialFile{before: ch.Old.String(), data: data, pieces: store.CutFile(data)}
	if e.pieces == nil {
		return nil, nil
	}
	var differences []store.FileDifference
	found := false
	err = p.s.DB.Read(ctx, func(ctx context.Context, s *store.Snapshot) (err error) {
		differences, found, err = s.FileDifferences(ctx, c.row.ID, ch.Path, e.before, e.pieces)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	regions := catalog.Each(differences, func(d *store.FileDifference) unit.Region { return unit.Region{From: d.From, To: d.To, Old: d.Old} })
	if e.Partial, found = unit.ReadPartial(ch.Path, data, regions, c.rules); !found {
		return nil, nil
	}
	return e, nil
}

// partialOf returns what differs between the stored version of a file and the one in a
// slot, or nil if the file must be read whole.
func (a *application) partialOf(ctx context.Context, p *fileSlot, row *catalog.Translation) (*partialFile, error) {
	e := a.partial[cacheKey{a.comp.row.ID, p.blob}]
	if e == nil || row == nil || row.IsSource || row.Removed || row.Filename != p.path || row.FileCode != p.fileCode || row.Revision != e.before {
		return nil, nil
	}
	if current, err := a.isCurrent(ctx, row, e); !current || err != nil {
		return nil, err
	}
	return e, nil
}

// isCurrent reads what is stored of the units that a partial file has, and reports whether
// the version before gives that; it may not after a change of the program.
func (a *application) isCurrent(ctx context.Context, row *catalog.Translation, e *partialFile) (bool, error) {
	place := make(map[catalog.Identity]int, len(e.Before))
	before := shownUnits(e.Before, row.PluralNumber)
	for i := range before {
		place[before[i].Identity] = i
	}
	found, err := a.journal.KnownOf(ctx, row.ID, slices.Collect(maps.Keys(place)))
	if err != nil || len(found) != len(before) {
		return false, err
	}
	edits, err := a.journal.PendingTextsOf(ctx, catalog.Each(found, func(k *catalog.Known) int64 { return k.ID }))
	if err != nil {
		return false, err
	}
	e.served, e.known = slices.Clone(before), make([]catalog.Known, len(before))
	var h catalog.Hasher
	for _, k := range found {
		i := place[k.Identity]
		u := &e.served[i]
		if pending, ok := edits[k.ID]; ok {
			layText(u, &pending, row.PluralNumber, &h)
		}
		if k.Removed || k.Text != u.Text || k.Meta != u.Meta {
			return false, nil
		}
		e.known[i] = k
	}
	return true, nil
}

// writePartial is writeTarget for a file that was read in part: it touches the units that
// were read only. Everything else that is stored of the translation depends on what such a
// version leaves as it is.
func (a *application) writePartial(ctx context.Context, t *targetFile) error {
	row, e := t.row, t.partial
	after, err := a.withEdits(ctx, row, shownUnits(e.After, row.PluralNumber), false)
	if err != nil {
		return err
	}
	row.Stats.Subtract(stats(e.served))
	row.Stats.Add(stats(after))
	row.Revision = t.slot.blob.String()
	if err := a.tx.PutTranslation(ctx, row); err != nil {
		return err
	}
	w := unitWriter{a: a, row: row, units: after, oldForms: row.PluralNumber, known: e.known}
	w.diff()
	if err := inTurn(ctx, w.readOld, w.update); err != nil {
		return err
	}
	return a.endTarget(ctx, &w, e.data, e.pieces, true)
}
