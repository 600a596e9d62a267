package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// writeSource stores the source translation, before the targets, since their
// units point to its units.
func (a *application) writeSource(ctx context.Context) error {
	row := a.sourceRow()
	if !a.sourceStale(row) {
		return a.followFirst(ctx, row)
	}
	files, err := a.sourceFiles(ctx, row)
	if err != nil {
		return err
	}
	if row == nil && len(files) == 0 {
		return nil // nothing could be read yet: there is no translation at all
	}
	if row == nil {
		row = &catalog.Translation{ComponentID: a.comp.row.ID, IsSource: true}
		row.Language = a.comp.layout.source.Code
		a.comp.translations[row.Language] = row
	}
	return a.storeSource(ctx, row, files)
}

// sourceRow is the stored source translation, or nil.
func (a *application) sourceRow() *catalog.Translation {
	return a.comp.translations[a.comp.layout.source.Code]
}

// readOwn reads the source translation's own file. One that cannot be parsed
// keeps its last good version; if there is none, it is added to lost.
func (a *application) readOwn(ctx context.Context, lost map[string]bool) error {
	a.own, a.ownRead = nil, false
	p, row := a.places.own, a.sourceRow()
	if p == nil {
		return nil
	}
	var err error
	if a.changed(p, row) {
		if a.own, err = a.read(ctx, p); err != nil {
			return err
		}
	}
	switch {
	case a.own != nil:
		a.ownRead = true
	case row != nil && row.Filename == p.path && a.hadOwn(row):
		a.own, err = a.current(ctx, p, row)
	default:
		lost[p.path] = true
	}
	return err
}

// current reads the version of a place's file that is served: its blob, or
// where that cannot be parsed the last good one.
func (a *application) current(ctx context.Context, p *place, row *catalog.Translation) (*poFile, error) {
	if row.Filename == p.path && row.Revision == p.blob.String() {
		file, err := a.load.load(ctx, a.comp.row.ID, p.path, p.blob, a.comp.rules)
		if fault(err) == nil {
			return file, err
		}
	}
	return a.lastGood(ctx, row)
}

// lastGood parses the stored bytes of a translation's file.
func (a *application) lastGood(ctx context.Context, row *catalog.Translation) (*poFile, error) {
	stored, err := a.tx.File(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("last good version of %s: %w", row.Filename, err)
	}
	file, bad := parse(row.Filename, stored.Data, a.comp.rules)
	if bad != nil {
		return nil, fmt.Errorf("last good version of %s: %w", row.Filename, bad)
	}
	return file, nil
}

// sourceStale reports whether the source translation may have changed: its own
// file did, or the strings of another file did, not only their translations.
func (a *application) sourceStale(row *catalog.Translation) bool {
	if row == nil || a.comp.reread || a.ownRead || len(a.gone) > 0 {
		return true
	}
	if a.own != nil && row.Filename != a.places.own.path {
		return true
	}
	if a.own == nil && a.hadOwn(row) {
		return true
	}
	for i := range a.ready {
		t := &a.ready[i]
		if t.fresh || t.row.Filename != t.place.path || t.row.Outline != t.file.outline {
			return true
		}
	}
	return false
}

// hadOwn reports whether the stored source translation has a file that is no
// other translation's.
func (a *application) hadOwn(row *catalog.Translation) bool {
	for _, t := range a.comp.translations {
		if !t.IsSource && t.Filename == row.Filename {
			return false
		}
	}
	return true
}

// followFirst keeps filename and revision of a source translation without own
// file equal to those of the first file (decision 11).
func (a *application) followFirst(ctx context.Context, row *catalog.Translation) error {
	if a.own != nil {
		return nil
	}
	for i := range a.ready {
		t := &a.ready[i]
		if t.place.path == row.Filename && t.place.blob.String() != row.Revision {
			row.Revision = t.place.blob.String()
			return a.tx.PutTranslation(ctx, row)
		}
	}
	return nil
}

// sourceFiles are the current versions of the files whose strings make up the
// source translation, in the order of decision 11.
func (a *application) sourceFiles(ctx context.Context, row *catalog.Translation) ([]sourceFile, error) {
	var files []sourceFile
	if a.own != nil {
		p := a.places.own
		if !a.ownRead {
			p = p.served(row)
		}
		files = append(files, sourceFile{place: p, file: a.own})
	}
	ready := make(map[string]*poFile, len(a.ready))
	for i := range a.ready {
		ready[a.ready[i].place.language] = a.ready[i].file
	}
	for i := range a.places.targets {
		p := &a.places.targets[i]
		file := ready[p.language]
		if stored := a.comp.translations[p.language]; file == nil && stored != nil && !stored.Removed && !stored.IsSource {
			var err error
			if file, err = a.current(ctx, p, stored); err != nil {
				return nil, err
			}
			p = p.served(stored)
		}
		if file != nil {
			files = append(files, sourceFile{place: p, file: file})
		}
	}
	return files, nil
}

// storeSource writes the source translation made of the files.
func (a *application) storeSource(ctx context.Context, row *catalog.Translation, files []sourceFile) error {
	own := a.own
	units, holders, outline := union(files, own != nil, a.comp.rules)
	if len(files) > 0 {
		first := files[0]
		row.FileCode, row.Filename, row.Revision = row.Language, first.place.path, first.place.blob.String()
		if own != nil {
			row.FileCode = first.place.fileCode
		}
	}
	pluralRule(row, a.comp.layout.source, own)
	moved := row.ID == 0 || row.Outline != outline
	row.Outline, row.Stats, row.Removed = outline, stats(units), false
	w := unitWriter{a: a, row: row, units: units, moved: moved}
	if err := w.write(ctx); err != nil {
		return err
	}
	if own != nil {
		if err := a.putFile(ctx, row, own.data); err != nil {
			return err
		}
	}
	if !a.record {
		return nil
	}
	origins, err := a.sourceOrigins(ctx, &w, files, holders)
	if err != nil {
		return err
	}
	a.entries.units(row.Filename, rankSource, row.ID, w.entries(origins))
	return nil
}

// sourceOrigins attributes what changed in the source translation: a string
// that appeared to the commit that brought it into the file it is taken from,
// one that disappeared to the commit that dropped it from the first changed
// file that had it.
func (a *application) sourceOrigins(ctx context.Context, w *unitWriter, files []sourceFile, holders []int) (map[catalog.Identity]int, error) {
	byPath := make(map[string][]catalog.Identity)
	var removed []catalog.Identity
	w.each(func(id catalog.Identity, i int) {
		if i < 0 {
			removed = append(removed, id)
			return
		}
		path := files[holders[i]].place.path
		byPath[path] = append(byPath[path], id)
	})
	if err := a.droppedFrom(ctx, removed, byPath); err != nil {
		return nil, err
	}
	result := make(map[catalog.Identity]int)
	for path, ids := range byPath {
		origins, err := a.origins.origins(ctx, path, presence, ids)
		if err != nil {
			return nil, err
		}
		for id, o := range origins {
			result[id] = o
		}
	}
	return result, nil
}

// droppedFrom adds each removed string to the changed path that had it: the
// first whose old version has it, or else the first whose old version cannot
// be parsed, so that an older one was served. The source translation's own file
// comes before the others.
func (a *application) droppedFrom(ctx context.Context, removed []catalog.Identity, byPath map[string][]catalog.Identity) error {
	if len(removed) == 0 {
		return nil
	}
	old := make(map[string]version)
	var order []string
	broken := ""
	for _, ch := range a.step.Changes {
		if !a.comp.layout.wants(ch.Path) {
			continue
		}
		v, err := a.origins.version(ctx, ch.Path, ch.Old)
		if err != nil {
			return err
		}
		old[ch.Path] = v
		if v.broken && broken == "" {
			broken = ch.Path
		}
		if a.places.own != nil && ch.Path == a.places.own.path {
			order = slices.Insert(order, 0, ch.Path)
		} else {
			order = append(order, ch.Path)
		}
	}
	for _, id := range removed {
		path := broken
		if i := slices.IndexFunc(order, func(p string) bool { return old[p].has(id) }); i >= 0 {
			path = order[i]
		}
		byPath[path] = append(byPath[path], id)
	}
	return nil
}
