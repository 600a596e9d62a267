package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
)

// writeSource stores the source translation. It comes before the targets, whose
// units point to its units.
func (a *application) writeSource(ctx context.Context) error {
	row := a.sourceRow()
	if !a.sourceStale(row) {
		return a.followFirst(ctx, row)
	}
	files := a.unionInputs(row)
	if row == nil && len(files) == 0 {
		return nil // nothing could be read yet: the component has no translation
	}
	if row == nil {
		row = &catalog.Translation{ComponentID: a.comp.row.ID, IsSource: true}
		row.Language = a.comp.selection.source.Code
		a.comp.translations[row.Language] = row
	}
	return a.storeSource(ctx, row, files)
}

// sourceRow returns the stored source translation, or nil.
func (a *application) sourceRow() *catalog.Translation {
	return a.comp.translations[a.comp.selection.source.Code]
}

// readSourceFile reads the source translation's own file, if it changed. A file
// that cannot be parsed keeps its last good version; without one, the file is
// added to unreadable.
func (a *application) readSourceFile(ctx context.Context, unreadable map[string]bool) error {
	a.hasSourceFile, a.sourceRead = false, false
	p, row := a.slots.source, a.sourceRow()
	if p == nil {
		return nil
	}
	if a.changed(p, row) {
		file, err := a.read(ctx, p)
		if err != nil {
			return err
		}
		a.sourceRead = file != nil
	}
	a.hasSourceFile = a.sourceRead || row != nil && row.Filename == p.path && a.hadSourceFile(row)
	if !a.hasSourceFile {
		unreadable[p.path] = true
	}
	return nil
}

// current reads the version of a slot's file that is served: its blob, or the
// last good version if that cannot be parsed.
func (a *application) current(ctx context.Context, p *fileSlot, row *catalog.Translation) (*unit.File, error) {
	if row.Filename == p.path && row.Revision == p.blob.String() {
		file, err := a.file(ctx, p)
		if fault(err) == nil {
			return file, err
		}
	}
	return a.lastGood(ctx, row)
}

// lastGood parses the stored bytes of a translation's file.
func (a *application) lastGood(ctx context.Context, row *catalog.Translation) (*unit.File, error) {
	stored, err := a.tx.File(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("last good version of %s: %w", row.Filename, err)
	}
	if row.IsSource && a.journal != nil {
		if file := unit.ReadParts(row.Filename, stored.Data, a.comp.rules, a.loader.partSize); file != nil {
			return file, nil
		}
	}
	if err := a.loader.meter.room(exactBytes(stored.Data, entryBytes)); err != nil {
		return nil, err
	}
	file, err := parse(row.Filename, stored.Data, a.comp.rules, nil)
	if err != nil {
		return nil, fmt.Errorf("last good version of %s: %w", row.Filename, err)
	}
	return file, nil
}

// sourceStale reports whether the source translation may have changed: its own
// file or, apart from their translations, the strings of another file.
func (a *application) sourceStale(row *catalog.Translation) bool {
	switch {
	case row == nil || a.comp.reread || a.sourceRead || len(a.gone) > 0,
		a.hasSourceFile && row.Filename != a.slots.source.path,
		!a.hasSourceFile && a.hadSourceFile(row):
		return true
	}
	return slices.ContainsFunc(a.ready, func(t targetFile) bool {
		return t.fresh || t.row.Filename != t.slot.path || t.row.Outline != t.outline
	})
}

// hadSourceFile reports whether the stored source translation has a file of its
// own, which is no other live translation's file.
func (a *application) hadSourceFile(row *catalog.Translation) bool {
	for _, t := range a.comp.translations {
		if !t.IsSource && !t.Removed && t.Filename == row.Filename {
			return false
		}
	}
	return !row.Removed
}

// followFirst keeps filename and revision of a source translation without a file
// of its own equal to the first file's
// (docs/compatibility.md#source-translation).
func (a *application) followFirst(ctx context.Context, row *catalog.Translation) error {
	if a.hasSourceFile {
		return nil
	}
	for i := range a.ready {
		t := &a.ready[i]
		if t.slot.path == row.Filename && t.slot.blob.String() != row.Revision {
			row.Revision = t.slot.blob.String()
			return a.tx.PutTranslation(ctx, row)
		}
	}
	return nil
}

// unionInputs returns the current versions of the files whose strings make up the
// source translation, in their order (docs/compatibility.md#source-translation).
func (a *application) unionInputs(row *catalog.Translation) []unionInput {
	var files []unionInput
	if p := a.slots.source; a.hasSourceFile {
		files = append(files, a.unionInput(p, a.sourceRead, row))
	}
	ready := catalog.ByKey(a.ready, func(t *targetFile) string { return t.slot.language })
	for i := range a.slots.targets {
		p := &a.slots.targets[i]
		t, stored := ready[p.language], a.comp.translations[p.language]
		if t == nil && (stored == nil || stored.Removed || stored.IsSource) {
			continue
		}
		f := a.unionInput(p, t != nil, stored)
		if t != nil {
			f.outline = t.outline
		} else {
			f.outline = stored.Outline
		}
		files = append(files, f)
	}
	return files
}

// unionInput returns one file of the source translation: the version in its slot
// if that was just read, else the version that is served.
func (a *application) unionInput(p *fileSlot, read bool, stored *catalog.Translation) unionInput {
	if read {
		return unionInput{slot: p, load: func(ctx context.Context) (*unit.File, error) { return a.file(ctx, p) }}
	}
	return unionInput{slot: p.served(stored), load: func(ctx context.Context) (*unit.File, error) { return a.current(ctx, p, stored) }}
}

// storeSource stores the source translation and its units. Without files it is gone,
// as it is after an import, with an entry for each of its strings.
func (a *application) storeSource(ctx context.Context, row *catalog.Translation, files []unionInput) error {
	if !a.record {
		return a.storeNewSource(ctx, row, files)
	}
	if large, err := a.largeSource(ctx, row, files); err != nil {
		return err
	} else if large != nil {
		return large.store(ctx)
	}
	if a.comp.union == nil {
		a.comp.union = newUnion(a.loader.meter)
	}
	all, err := a.comp.union.of(ctx, files, a.hasSourceFile)
	if err != nil {
		return err
	}
	sourceFile, err := a.describeSource(ctx, row, files)
	if err != nil {
		return err
	}
	moved := row.ID == 0 || row.Outline != all.outline
	had := row.HasTemplate
	row.Outline, row.Stats, row.Removed, row.HasTemplate = all.outline, stats(all.units), len(files) == 0, a.hasSourceFile
	w := unitWriter{a: a, row: row, units: all.units, moved: moved, oldForms: row.PluralNumber}
	if err := w.write(ctx); err != nil {
		return err
	}
	if err := a.putExtra(ctx, &w, &all, had); err != nil {
		return err
	}
	if err := a.endSource(ctx, row, sourceFile); err != nil {
		return err
	}
	origins, err := a.sourceOrigins(ctx, &w, files, func(i int) int { return all.holders[i] })
	if err != nil {
		return err
	}
	entries, err := w.entries(origins)
	a.entries.units(row, entries)
	return err
}

// endSource stores the statistics and the own file of the source translation, which is nil if
// there is none to be stored.
func (a *application) endSource(ctx context.Context, row *catalog.Translation, file *unit.File) error {
	if file == nil {
		return a.putStats(ctx, row)
	}
	return a.putFile(ctx, row, file.Data, nil, false)
}

// describeSource sets the fields of the source translation that follow from its files,
// and returns its own file, if there is one to be stored.
func (a *application) describeSource(ctx context.Context, row *catalog.Translation, files []unionInput) (file *unit.File, err error) {
	row.FileCode = row.Language
	if a.hasSourceFile && (a.sourceRead || row.ID == 0 || row.Filename != files[0].slot.path) {
		if file, err = files[0].load(ctx); err != nil {
			return nil, err
		}
	}
	if file != nil || !a.hasSourceFile {
		a.comp.setPluralRule(row, a.comp.selection.source, file)
	}
	if len(files) > 0 {
		row.Filename, row.Revision = files[0].slot.path, files[0].slot.blob.String()
	}
	if a.hasSourceFile {
		row.FileCode = files[0].slot.fileCode
	}
	return file, nil
}

// sourceOrigins attributes the changes of the source translation: a new string to
// the commit that added it to the file that it is taken from, a removed string to
// the commit that removed it from the first changed file that had it.
func (a *application) sourceOrigins(ctx context.Context, w *unitWriter, files []unionInput, holder func(i int) int) (map[catalog.Identity]int, error) {
	if a.origins.stepOrigin() == 0 {
		return nil, nil // the step has one commit
	}
	byPath := make(map[string][]catalog.Identity)
	var removed []catalog.Identity
	w.each(func(id catalog.Identity, i int) {
		if i < 0 {
			removed = append(removed, id)
			return
		}
		path := files[holder(i)].slot.path
		byPath[path] = append(byPath[path], id)
	})
	if err := a.droppedFrom(ctx, removed, byPath); err != nil {
		return nil, err
	}
	result := make(map[catalog.Identity]int, len(removed))
	for path, ids := range byPath {
		origins, err := a.origins.origins(ctx, path, presence, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(result, origins)
	}
	return result, nil
}

// droppedFrom adds each removed string to the changed path that had it: the first
// whose old version has it, or else the first whose old version cannot be parsed,
// so that an older one was served. The source translation's own file comes before
// the others.
func (a *application) droppedFrom(ctx context.Context, removed []catalog.Identity, byPath map[string][]catalog.Identity) error {
	paths := a.changedPaths()
	broken := ""
	for _, path := range paths {
		if len(removed) == 0 {
			return nil
		}
		v, err := a.origins.version(ctx, path, a.step.Changes[a.origins.changes[path]].Old)
		if err != nil {
			return err
		}
		if v.broken && (broken == "" || path < broken) {
			broken = path
		}
		var rest []catalog.Identity
		for _, id := range removed {
			if v.find(id) != nil {
				byPath[path] = append(byPath[path], id)
			} else {
				rest = append(rest, id)
			}
		}
		removed = rest
	}
	if len(removed) > 0 {
		byPath[broken] = append(byPath[broken], removed...)
	}
	return nil
}

// changedPaths returns the paths of the step that the component reads, the source
// translation's own file first.
func (a *application) changedPaths() []string {
	var paths []string
	for _, ch := range a.step.Changes {
		switch {
		case !a.comp.selection.wants(ch.Path):
		case a.slots.source != nil && ch.Path == a.slots.source.path:
			paths = slices.Insert(paths, 0, ch.Path)
		default:
			paths = append(paths, ch.Path)
		}
	}
	return paths
}
