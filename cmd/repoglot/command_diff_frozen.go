package main

import (
	"cmp"
	"context"
	"time"

	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/diff"
)

// sourceString identifies a source string; group is "" within a file.
type sourceString struct {
	group, context, id, plural string
	hasContext                 bool
}

// brought reports the source strings that are new or reworded, each once, with the commit that
// brought it: those of the templates, or of all files if there is none.
func (d *differ) brought(ctx context.Context, old, new state, selected map[string]diff.Options, base, head object.Hash) (*diff.Report, error) {
	templates := false
	for _, o := range selected {
		templates = templates || o.Template
	}
	known := map[sourceString]bool{}
	for path, o := range selected {
		o.Checks = nil
		if selected[path] = o; o.Template != templates {
			delete(selected, path)
			continue
		}
		if _, had := old.ids[path]; !had {
			continue
		}
		data, err := old.read(path)
		if err != nil {
			return nil, err
		}
		for s := range sourcesOf(path, data) {
			s.group = o.Group
			known[s] = true
		}
	}
	all, err := d.compare(ctx, old, new, selected)
	if err != nil {
		return nil, err
	}
	b := bringers{WorkTree: d.tree, step: map[string]gitsource.Step{}, sources: map[object.Hash]map[sourceString]bool{}, base: base, head: head}
	if b.mailmap, err = d.tree.Mailmap(ctx, head); err != nil {
		return nil, err
	}
	var files []diff.File
	for _, f := range all.Files {
		broken := diff.File{Path: f.Path, Group: f.Group, Language: f.Language, Template: f.Template, Status: f.Status, Error: f.Error, Header: []diff.Field{}, Strings: []diff.String{}, Checks: []diff.Check{}}
		if f.Status != diff.Unreadable {
			broken.Status = diff.Equal
		}
		for _, s := range f.Strings {
			key := sourceString{id: s.Source, plural: s.Plural, group: f.Group, hasContext: s.Context != nil}
			if key.hasContext {
				key.context = *s.Context
			}
			if s.Kind != "added" && s.Kind != "reworded" || known[key] {
				continue
			}
			known[key], key.group = true, ""
			s.Changes, s.Old, s.New, s.Lines, broken.Status = []string{}, nil, nil, nil, diff.Changed
			if s.Origin, err = b.origin(ctx, f.Path, key); err != nil {
				return nil, err
			}
			if s.Kind == "added" {
				broken.Counts.Added++
			} else {
				broken.Counts.Reworded++
			}
			broken.Strings = append(broken.Strings, s)
		}
		files = append(files, broken)
	}
	r := diff.New(files, 0)
	r.Compared, r.Base, r.Head = all.Compared, all.Base, all.Head
	return &r, nil
}

// sourcesOf has the source strings of a file; nil if it cannot be read.
func sourcesOf(path string, data []byte) map[sourceString]bool {
	f, err := poparse.Parse(path, data)
	if err != nil {
		return nil
	}
	list := map[sourceString]bool{}
	for e := range f.Live() {
		list[sourceString{context: e.Context, id: e.ID, plural: e.IDPlural, hasContext: e.HasContext}] = true
	}
	return list
}

// bringers finds the commits that brought source strings.
type bringers struct {
	*gitsource.WorkTree
	mailmap    object.Mailmap
	base, head object.Hash
	step       map[string]gitsource.Step // of a path, from base to head
	sources    map[object.Hash]map[sourceString]bool
}

// origin returns the commit between base and head that brought a string into a file; an empty one if
// the string is not committed, nil if the history does not tell.
func (b *bringers) origin(ctx context.Context, path string, s sourceString) (*diff.Origin, error) {
	step, ok := b.step[path]
	if !ok {
		var err error
		if step, err = b.Between(ctx, b.base, b.head, filemask.NewMatcher(nil, path)); err != nil {
			return nil, err
		}
		b.step[path] = step
	}
	var readErr error
	has := func(blobs []object.Hash) bool {
		if len(blobs) == 0 || blobs[0].IsZero() {
			return false
		}
		list, known := b.sources[blobs[0]]
		if !known {
			data, err := b.Blob(ctx, blobs[0], maxDiffFile)
			readErr, list = cmp.Or(readErr, err), sourcesOf(path, data)
			b.sources[blobs[0]] = list
		}
		return list[s]
	}
	at := len(step.Origins) - 1
	if at < 0 && len(step.Changes) > 0 {
		return nil, nil
	}
	if at < 0 || !has(step.Origins[at].Blobs) {
		return &diff.Origin{}, readErr
	}
	for next := at; next >= 0; {
		at, next = next, -1
		for _, p := range step.Origins[at].Parents {
			if next < 0 && p >= 0 && has(step.Origins[p].Blobs) {
				next = p
			}
		}
	}
	c := step.Origins[at].Commit
	name, email := b.mailmap.Lookup(c.Author.Name, c.Author.Email)
	return &diff.Origin{Commit: c.Hash.String(), Author: name, Email: email, Date: c.Author.When.Format(time.DateOnly), Subject: c.Subject()}, readErr
}
