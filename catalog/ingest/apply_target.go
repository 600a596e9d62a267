package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
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
	if err := a.putStats(ctx, row); err != nil {
		return err
	}
	if err := a.putFile(ctx, row, file.Data, nil, file.Plain); err != nil {
		return err
	}
	origins, err := a.origins.origins(ctx, t.slot.path, shownTranslation(row.PluralNumber), w.changed())
	if err != nil {
		return err
	}
	entries, err := w.entries(origins)
	a.entries.units(t.slot.path, rankTarget, row.ID, entries)
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

// putFile stores a version of a file; pieces are nil if it was not cut, and plain is
// unit.File.Plain.
func (a *application) putFile(ctx context.Context, row *catalog.Translation, data []byte, pieces *store.Pieces, plain bool) error {
	return a.tx.PutFile(ctx, store.File{
		TranslationID: row.ID, Blob: row.Revision, Modified: a.step.Commit.Committer.When, Data: data, Pieces: pieces, Plain: plain,
	})
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
