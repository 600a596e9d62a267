package ingest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// application brings one component to the files of one step, within the step's
// transaction.
type application struct {
	tx      stepStore
	checkup *checkup.Step // of the step; nil if the step runs no checks
	comp    *component
	loader  *fileLoader
	partial map[cacheKey]*partialFile // of the step
	journal *store.StepTx             // has the edits that people made; nil in a replay, whose strings nobody edits
	log     *slog.Logger
	step    *gitsource.Step
	origins *attributor
	mailmap object.Mailmap
	// record is false for an import without history, which makes units and no
	// entries.
	record bool
	// created is the time that new units get.
	created time.Time
	// maxUnits is quotas.units.
	maxUnits int64
	// at is the time of entries; zero: the time of the pull.
	at time.Time

	slots         fileSlots
	ready         []targetFile // files to write, by path
	hasSourceFile bool         // the source translation serves a file of its own
	sourceRead    bool         // that file is new in this step
	gone          []*catalog.Translation
	entries       entryList
	sources       map[catalog.Identity]int64 // source unit ids, loaded when needed
}

// targetFile is a translation whose file changed and can be read. It does not
// hold the file. All changed files must be read before the first is written,
// since the source translation comes first and unites their strings; the files
// of a first import are more than memory should hold. So writeTarget loads the
// file again: from the loader's cache, or parsed anew where the step's files are
// larger than the cache.
type targetFile struct {
	slot    *fileSlot
	row     *catalog.Translation
	outline int64        // of the file
	units   int64        // of the file
	fresh   bool         // the file appeared in this step
	partial *partialFile // not nil: the file is not read whole
}

func (a *application) run(ctx context.Context) error {
	if err := a.comp.load(ctx, a.tx); err != nil {
		return err
	}
	if err := inTurn(ctx, a.assign, a.countUnits, a.refuse, a.writeSource, a.forgetProblems); err != nil {
		return err
	}
	for _, row := range a.gone {
		if err := a.remove(ctx, row); err != nil {
			return err
		}
	}
	for i := range a.ready { // by path
		path := a.ready[i].slot.path
		err := a.writeTarget(ctx, &a.ready[i])
		if err == nil {
			err = a.entries.writeUpTo(ctx, a, path)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	a.comp.reread, a.comp.retry = false, false
	return a.entries.write(ctx, a)
}

// assign maps the files of the commit to translations, reads the files that
// changed, and finds the translations that are gone or moved. A file without a version that could be parsed counts as missing
// (docs/compatibility.md#unreadable-files), and must not take the place of
// another one: the other files are assigned again without it.
func (a *application) assign(ctx context.Context) error {
	files := a.comp.files
	for {
		a.slots = a.comp.assign(files)
		unreadable := make(map[string]bool)
		if err := a.readSourceFile(ctx, unreadable); err != nil {
			return err
		}
		if err := a.readTargets(ctx, unreadable); err != nil {
			return err
		}
		if len(unreadable) == 0 {
			a.findGone()
			a.findMoved()
			return nil
		}
		files = slices.DeleteFunc(slices.Clone(files), func(f object.File) bool { return unreadable[f.Path] })
	}
}

// countUnits returns an error if the files have more strings than the component may.
func (a *application) countUnits(context.Context) error {
	var units int64
	for _, t := range a.comp.translations {
		if !t.IsSource && !t.Removed {
			units += t.Stats.Total.Units
		}
	}
	for i := range a.ready {
		t := &a.ready[i]
		if units += t.units; t.row != nil && !t.row.Removed {
			units -= t.row.Stats.Total.Units
		}
	}
	return tooManyUnits(units, a.maxUnits)
}

// readTargets parses the files that changed, and adds to unreadable the files
// without a good version.
func (a *application) readTargets(ctx context.Context, unreadable map[string]bool) error {
	a.ready = nil
	for i := range a.slots.targets {
		p := &a.slots.targets[i]
		row := a.comp.translations[p.language]
		if row != nil && row.IsSource {
			row = nil
		}
		var file *unit.File
		var partial *partialFile
		again, err := a.translatesMissing(ctx, row)
		if err == nil && !again && a.changed(p, row) {
			partial, err = a.partialOf(ctx, p, row)
		}
		if err == nil && partial == nil && (again || a.changed(p, row)) {
			file, err = a.read(ctx, p)
		}
		if err != nil {
			return err
		}
		switch {
		case partial != nil:
			a.ready = append(a.ready, targetFile{slot: p, row: row, outline: row.Outline, units: row.Stats.Total.Units, partial: partial})
		case file != nil:
			a.ready = append(a.ready, targetFile{slot: p, row: row, outline: file.Outline, units: int64(file.Len()), fresh: row == nil || row.Removed})
		case row == nil || row.Removed || row.Filename != p.path && a.comp.has(row.Filename): // it has no good version made of this file
			unreadable[p.path] = true
		}
	}
	return nil
}

// file loads the version in a slot that is known to be good.
// The source translation's own file is read in parts in a pull, too.
func (a *application) file(ctx context.Context, p *fileSlot) (*unit.File, error) {
	parts := !a.record || a.journal != nil && a.slots.source != nil && p.path == a.slots.source.path
	return a.loader.load(ctx, a.comp, p.path, p.blob, parts)
}

// changed reports whether the file in a slot must be read: its blob differs from
// the one processed, good or bad.
func (a *application) changed(p *fileSlot, row *catalog.Translation) bool {
	if a.comp.reread {
		return true
	}
	if bad, ok := a.comp.problems[p.path]; ok && bad.Blob == p.blob.String() && !a.comp.retry {
		return false
	}
	return row == nil || row.Removed || row.Filename != p.path || row.Revision != p.blob.String()
}

// read parses the file in a slot. A file that cannot be served is reported, and
// nil is returned: its last good version stays.
func (a *application) read(ctx context.Context, p *fileSlot) (*unit.File, error) {
	file, err := a.file(ctx, p)
	if bad := fault(err); bad != nil {
		return nil, a.problem(ctx, p.path, p.blob, bad)
	}
	if err == nil {
		a.warnOfRepeats(p.path, file)
	}
	return file, err
}

// warnOfRepeats logs that entries of a file repeat earlier ones, once while their
// number does not change: a pull may read many versions of a file.
func (a *application) warnOfRepeats(path string, file *unit.File) {
	if file.Repeated == a.comp.repeats[path] {
		return
	}
	if a.comp.repeats == nil {
		a.comp.repeats = map[string]int{}
	}
	a.comp.repeats[path] = file.Repeated
	if file.Repeated > 0 {
		a.log.Warn("entries repeat earlier ones of the file, which win: remove them",
			"component", a.comp.name(), "file", path, "line", file.RepeatedLine, "entries", file.Repeated)
	}
}

// findGone lists the translations whose file is not in the commit.
func (a *application) findGone() {
	there := catalog.ByKey(a.slots.targets, func(s *fileSlot) string { return s.language })
	for _, row := range a.comp.translations {
		if !row.IsSource && !row.Removed && there[row.Language] == nil {
			a.gone = append(a.gone, row)
		}
	}
}

// findMoved tells the attributor which files moved to another path.
func (a *application) findMoved() {
	for i := range a.ready {
		t := &a.ready[i]
		if t.row != nil && t.row.Filename != t.slot.path {
			a.origins.moved[t.slot.path] = t.row.Filename
		}
	}
}

// remove marks a translation as gone. It makes one entry, and no entries for the
// strings; the units stay stored for the translation's return
// (docs/compatibility.md#component-events).
func (a *application) remove(ctx context.Context, row *catalog.Translation) error {
	row.Removed = true
	if err := cmp.Or(a.tx.PutTranslation(ctx, row), a.putStats(ctx, row)); err != nil {
		return err
	}
	a.entries.event(row.Filename, catalog.ActionRemoveTranslation, map[string]string{"file": row.Filename, "language": row.Language})
	return nil
}

// noBlob is the blob of a problem that is not in a file's contents.
var noBlob = object.Hash{}.String()

// problem stores why a file is not served. Of faults of the file, which have its blob, and
// not of the configuration, it records entry 24 once per version.
func (a *application) problem(ctx context.Context, path string, blob object.Hash, bad *fileError) error {
	old, known := a.comp.problems[path]
	p := store.Problem{ComponentID: a.comp.row.ID, Path: path, Blob: blob.String(), Line: bad.line, Column: bad.column, Message: bad.msg}
	if known && old == p {
		return nil
	}
	if err := a.tx.SetProblem(ctx, p); err != nil {
		return err
	}
	a.comp.problems[path] = p
	if !blob.IsZero() && !(known && old.Blob == p.Blob) {
		event := map[string]string{"file": path, "message": bad.msg}
		if bad.line > 0 {
			event["line"] = strconv.Itoa(bad.line)
		}
		a.entries.event(path, catalog.ActionParseError, event)
	}
	return nil
}

// refuse reports the files that the mask selects and that are not served, a template
// that is missing, and a past that is.
func (a *application) refuse(ctx context.Context) error {
	if a.comp.leapt != "" {
		a.slots.refused = append(a.slots.refused, refusal{pastProblem, a.comp.leapt})
	}
	// Without any file the template is not missing: that is a problem of its own.
	if pot := a.comp.selection.newBase; pot != "" && len(a.comp.files) > 0 && !a.comp.has(pot) {
		a.slots.refused = append(a.slots.refused, refusal{pot, missingTemplate})
	}
	return catalog.Try(a.slots.refused, func(r *refusal) error { return a.problem(ctx, r.path, object.Hash{}, &fileError{msg: r.reason}) })
}

// missingTemplate is the problem of a template that the commit lacks.
const missingTemplate = "new_base does not exist: the source strings are taken from the translations; correct new_base, or leave it empty"

// forgetProblems clears the problems of files that are good again, gone, or no
// longer refused.
func (a *application) forgetProblems(ctx context.Context) error {
	if len(a.comp.problems) == 0 {
		return nil
	}
	keep := make(map[string]string, len(a.comp.files))
	for _, f := range a.comp.files {
		keep[f.Path] = f.Blob.String()
	}
	for i := range a.ready {
		delete(keep, a.ready[i].slot.path)
	}
	if a.sourceRead {
		delete(keep, a.slots.source.path)
	}
	for _, r := range a.slots.refused {
		keep[r.path] = noBlob
	}
	if a.comp.row.Settings.History.Full {
		keep[pastProblem] = noBlob
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
