package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// VerifiedMirrors counts what VerifyMirrors has compared.
type VerifiedMirrors struct{ Mirrors, Files int }

// VerifyMirrors reads every mirror whole and compares the stored files with the commits
// of their components there. It calls each with a line for every difference. A mirror
// that is not there, and a commit that a mirror does not have any more, are no
// differences: mirrors are a cache. It changes nothing; a server may go on.
func VerifyMirrors(ctx context.Context, snap *store.Snapshot, mirrorDir string, each func(line string)) (seen VerifiedMirrors, err error) {
	rows, err := snap.Components(ctx, "")
	if err != nil {
		return seen, err
	}
	byBranch, templates := map[string][]*store.ComponentRow{}, map[string][]*store.ComponentRow{}
	for _, row := range rows {
		key := BranchKey(row.Repo, row.Branch)
		byBranch[key] = append(byBranch[key], row)
	}
	for _, row := range rows {
		if key := templateKey(&row.Component); key != "" && byBranch[key] == nil {
			templates[key] = nil // only integrity: its file is compared with those of its components
		}
	}
	table, err := lang.New()
	if err != nil {
		return seen, err
	}
	v := mirrorVerifier{snap: snap, all: mirrorDir, damaged: map[string]bool{}, each: each, table: table}
	for _, list := range []map[string][]*store.ComponentRow{templates, byBranch} {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			if err := v.run(ctx, key, list[key]); err != nil {
				return v.seen, fmt.Errorf("verify the mirror of %s: %w", key, err)
			}
		}
	}
	return v.seen, nil
}

// mirrorVerifier verifies mirrors.
type mirrorVerifier struct {
	snap *store.Snapshot
	all  string // the folder of all mirrors
	// damaged has the folders of mirrors of templates that were found damaged: they are told of once.
	damaged map[string]bool
	each    func(line string)
	seen    VerifiedMirrors
	// table has the languages.
	table *lang.Table
}

// tries is how often a mirror is read that a server replaces meanwhile.
const tries = 3

// run verifies the mirror of a branch.
func (v *mirrorVerifier) run(ctx context.Context, key string, rows []*store.ComponentRow) error {
	dir := mirrorPath(v.all, key)
	for try := 1; ; try++ {
		reader, path, err := gitsource.OpenIn(ctx, dir)
		if errors.Is(err, gitsource.ErrNotFetched) {
			return nil
		}
		var lines []string
		files := 0
		if err == nil {
			if err = errors.Join(object.VerifyAll(ctx, path), object.Verify(ctx, path, reader.Head().Hash)); err == nil {
				lines, files, err = v.compare(ctx, reader, rows)
			}
			_ = reader.Close() // reading is over
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if of := (*storeError)(nil); errors.As(err, &of) {
			return of.error
		}
		_, now, _ := gitsource.OpenIn(ctx, dir)
		if err != nil && now != path && try < tries {
			continue
		}
		v.seen.Mirrors++
		v.seen.Files += files
		for _, line := range lines {
			v.each(key + ": " + line)
		}
		if err != nil {
			v.damaged[dir] = true
			v.each(key + ": the mirror is damaged; remove " + dir + " while no server runs, or let the next pull clone again: " + shortened(err.Error()))
		}
		return nil
	}
}

// storeError is an error of the database, not of a mirror.
type storeError struct{ error }

// compare compares the stored files of components with their commits.
func (v *mirrorVerifier) compare(ctx context.Context, r *gitsource.Reader, rows []*store.ComponentRow) (lines []string, files int, err error) {
	for _, row := range rows {
		at, err := gitsource.ParseState(row.At())
		if err != nil || !r.Has(at.Commit) || !row.Imported {
			continue
		}
		stored, err := v.storedFiles(ctx, row)
		if err != nil {
			return lines, files, &storeError{err}
		}
		other, err := v.elsewhere(ctx, row)
		if err != nil {
			return lines, files, err
		}
		base := row.Settings.NewBase
		view := r.With(other, map[string]bool{base: other != nil})
		if other == nil || !other.Has(at.Elsewhere) {
			if at.Elsewhere = (object.Hash{}); row.Settings.TemplateElsewhere() {
				delete(stored, base)
			}
		}
		there, err := view.Snapshot(ctx, at, filemask.NewMatcher(nil, slices.Collect(maps.Keys(stored))...))
		if err != nil {
			return lines, files, err
		}
		if other != nil {
			_ = other.Close() // reading is over
		}
		for _, f := range there {
			if !r.Has(f.Blob) && f.Path != base {
				return lines, files, fmt.Errorf("%s has no blob %s: %w", f.Path, f.Blob, object.ErrCorrupt)
			}
			if files++; stored[f.Path].blob != f.Blob.String() {
				lines = append(lines, fmt.Sprintf("%s/%s: %s: blob %s is stored, commit %.12s has %s: please report it", row.Project.Slug, row.Slug, f.Path, stored[f.Path].blob, row.Head, f.Blob))
			}
			delete(stored, f.Path)
		}
		for path, f := range stored {
			if !f.renamed {
				lines = append(lines, fmt.Sprintf("%s/%s: %s is stored, commit %.12s does not have it: please report it", row.Project.Slug, row.Slug, path, row.Head))
			}
		}
	}
	slices.Sort(lines)
	return lines, files, nil
}

// elsewhere opens the mirror of the template of a component; nil if there is none, or a damaged one.
func (v *mirrorVerifier) elsewhere(ctx context.Context, row *store.ComponentRow) (*gitsource.Reader, error) {
	key := templateKey(&row.Component)
	dir := mirrorPath(v.all, key)
	if key == "" || v.damaged[dir] {
		return nil, nil
	}
	r, _, err := gitsource.OpenIn(ctx, dir)
	if errors.Is(err, gitsource.ErrNotFetched) {
		return nil, nil
	}
	return r, err
}

// verifiedFile is a file that is stored.
type verifiedFile struct {
	blob string
	// renamed says that the newest file of its language cannot be read, and may have another name.
	renamed bool
}

// storedFiles returns the files that a component serves as they are at its
// commit, by path: not of those whose newest version cannot be read.
func (v *mirrorVerifier) storedFiles(ctx context.Context, row *store.ComponentRow) (map[string]verifiedFile, error) {
	translations, err := v.snap.Translations(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	problems, err := v.snap.Problems(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	selection, err := newSelection(&row.Settings, v.table)
	if err != nil {
		return nil, err
	}
	unreadable := map[string]bool{} // languages
	for _, p := range problems {
		if code, ok := selection.code(p.Path); ok {
			unreadable[v.table.Match(code).Code] = true
		}
	}
	served := slices.DeleteFunc(translations, func(t catalog.Translation) bool { return t.Removed || t.Filename == "" })
	files, err := v.snap.StoredFiles(ctx, catalog.Each(served, func(t *catalog.Translation) int64 { return t.ID }))
	if err != nil {
		return nil, err
	}
	list := make(map[string]verifiedFile, len(served))
	for i := range served {
		if f, ok := files[served[i].ID]; ok {
			list[served[i].Filename] = verifiedFile{f.Blob, unreadable[served[i].Language]}
		}
	}
	for _, p := range problems {
		delete(list, p.Path)
	}
	return list, nil
}
