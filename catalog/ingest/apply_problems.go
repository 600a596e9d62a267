package ingest

import (
	"context"
	"strconv"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
)

// noBlob is the blob of a problem that is not in a file's contents.
var noBlob = object.Hash{}.String()

// problem stores why a file is not served. With entry, for faults of the file and
// not of the configuration, it records entry 24 once per version.
func (a *application) problem(ctx context.Context, path string, blob object.Hash, bad *fileError, entry bool) error {
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
		event := map[string]string{"file": path, "message": bad.msg}
		if bad.line > 0 {
			event["line"] = strconv.Itoa(bad.line)
		}
		a.entries.event(path, catalog.ActionParseError, event)
	}
	return nil
}

// refuse reports the files that the mask selects and that are not served.
func (a *application) refuse(ctx context.Context) error {
	for _, r := range a.slots.refused {
		if err := a.problem(ctx, r.path, object.Hash{}, &fileError{msg: r.reason}, false); err != nil {
			return err
		}
	}
	return nil
}

// forgetProblems clears the problems of files that are good again, gone, or no
// longer refused.
func (a *application) forgetProblems(ctx context.Context) error {
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
