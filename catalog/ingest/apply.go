package ingest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// application brings one component to the files of one step, inside the
// step's transaction.
type application struct {
	tx      *store.StepTx
	comp    *component
	load    *loader
	step    *gitsource.Step
	origins *attributor
	credit  func(commit gitsource.Commit) (userID int64, err error)
	// record is false for an import without history: units, but no entries.
	record bool
	// created is the time that new units get.
	created time.Time

	places  places
	ready   []targetFile // files to write, by path
	gone    []*catalog.Translation
	entries entryList
	sources map[catalog.Identity]int64 // source unit ids, loaded when needed
	ownRead bool                       // the source translation's own file could be read
}

// targetFile is a translation whose file changed and can be read.
type targetFile struct {
	place *place
	row   *catalog.Translation
	file  *poFile
	fresh bool // the file appeared in this step
}

// run applies the component's part of the step.
func (a *application) run(ctx context.Context) error {
	if err := a.comp.load(ctx, a.tx); err != nil {
		return err
	}
	a.places = a.comp.layout.assign(a.comp.files)
	if err := a.readTargets(ctx); err != nil {
		return err
	}
	if err := a.refuse(ctx); err != nil {
		return err
	}
	a.findGone()
	if err := a.writeSource(ctx); err != nil {
		return err
	}
	if err := a.forgetProblems(ctx); err != nil {
		return err
	}
	for i := range a.ready {
		if err := a.writeTarget(ctx, &a.ready[i]); err != nil {
			return fmt.Errorf("%s: %w", a.ready[i].place.path, err)
		}
	}
	for _, row := range a.gone {
		if err := a.remove(ctx, row); err != nil {
			return err
		}
	}
	a.comp.reread = false
	return a.entries.write(ctx, a)
}

// readTargets parses the files that changed.
func (a *application) readTargets(ctx context.Context) error {
	for i := range a.places.targets {
		p := &a.places.targets[i]
		row := a.comp.translations[p.language]
		if row != nil && row.IsSource {
			row = nil
		}
		if !a.changed(p, row) {
			continue
		}
		file, err := a.read(ctx, p)
		if err != nil {
			return err
		}
		if file == nil {
			continue
		}
		a.ready = append(a.ready, targetFile{place: p, row: row, file: file, fresh: row == nil || row.Removed})
	}
	return nil
}

// changed reports whether a place has to be read: its blob differs from the
// one processed (DESIGN, invariant 1), good or bad.
func (a *application) changed(p *place, row *catalog.Translation) bool {
	if a.comp.reread {
		return true
	}
	if bad, ok := a.comp.problems[p.path]; ok && bad.Blob == p.blob.String() {
		return false
	}
	return row == nil || row.Removed || row.Filename != p.path || row.Revision != p.blob.String()
}

// read parses a place's file. A file that cannot be served is reported, and
// nil is returned: its last good state stays (DESIGN, invariant 7).
func (a *application) read(ctx context.Context, p *place) (*poFile, error) {
	file, err := a.load.load(ctx, a.comp.row.ID, p.path, p.blob, a.comp.rules)
	if bad := fault(err); bad != nil {
		return nil, a.problem(ctx, p.path, p.blob, bad, true)
	}
	return file, err
}

// noBlob stands in a problem that the mask and not the file's contents makes.
var noBlob = gitsource.Hash{}.String()

// problem stores why a file is not served and records it once per version
// (action 24), if it is a fault of the file and not of the configuration.
func (a *application) problem(ctx context.Context, path string, blob gitsource.Hash, bad *fileError, entry bool) error {
	old, known := a.comp.problems[path]
	p := store.Problem{ComponentID: a.comp.row.ID, Path: path, Blob: blob.String(), Line: bad.line, Column: bad.column, Message: bad.msg}
	if known && old == p {
		return nil
	}
	if err := a.tx.SetProblem(ctx, p); err != nil {
		return err
	}
	a.comp.problems[path] = p
	if entry && !(known && old.Blob == p.Blob) {
		a.entries.event(path, catalog.ActionParseError, map[string]string{
			"file": path, "line": strconv.Itoa(bad.line), "message": bad.msg,
		})
	}
	return nil
}

// refuse reports the files that the mask selects and that are not served.
func (a *application) refuse(ctx context.Context) error {
	for _, r := range a.places.refused {
		if err := a.problem(ctx, r.path, gitsource.Hash{}, &fileError{msg: r.reason}, false); err != nil {
			return err
		}
	}
	return nil
}

// forgetProblems clears the problems of files that are good again, gone, or
// not refused any more.
func (a *application) forgetProblems(ctx context.Context) error {
	keep := make(map[string]string, len(a.comp.files))
	for _, f := range a.comp.files {
		keep[f.Path] = f.Blob.String()
	}
	for i := range a.ready {
		delete(keep, a.ready[i].place.path)
	}
	if a.ownRead {
		delete(keep, a.places.own.path)
	}
	for _, r := range a.places.refused {
		keep[r.path] = noBlob
	}
	for path, p := range a.comp.problems {
		if blob, ok := keep[path]; ok && blob == p.Blob {
			continue
		}
		if err := a.tx.ClearProblem(ctx, a.comp.row.ID, path); err != nil {
			return err
		}
		delete(a.comp.problems, path)
	}
	return nil
}

// findGone lists the translations whose file the commit does not have.
func (a *application) findGone() {
	there := make(map[string]bool, len(a.places.targets))
	for i := range a.places.targets {
		there[a.places.targets[i].language] = true
	}
	for _, row := range a.comp.translations {
		if !row.IsSource && !row.Removed && !there[row.Language] {
			a.gone = append(a.gone, row)
		}
	}
}

// remove marks a translation as gone: one entry, none per string, its units
// wait for its return (decision 21).
func (a *application) remove(ctx context.Context, row *catalog.Translation) error {
	row.Removed = true
	if err := a.tx.PutTranslation(ctx, row); err != nil {
		return err
	}
	a.entries.event(row.Filename, catalog.ActionRemoveTranslation, map[string]string{"file": row.Filename, "language": row.Language})
	return nil
}
