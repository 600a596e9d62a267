package flush

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// FileChange adds a translation file, removes it, updates it, or adds a string to it.
type FileChange struct {
	// Component is a key as in File.
	Component string
	// Path is where the file is, or will be; Code is the language there, as in LINGUAS.
	Path, Code string
	// Removes tells a removal from an addition.
	Removes bool
	// Template is the path of what a file is made of, or updated to.
	Template string
	// Update says how the file is updated, nil if that is not meant.
	Update *msgmerge.Options
	// New says how it is made, its language, and who adds or removes it.
	New edit.NewFile
	// String is added to the file that is there; nil: the file itself is added or removed.
	// Options say how.
	String  *edit.NewString
	Options edit.Options
}

// linguas is the path of the file LINGUAS beside a file.
func (f *FileChange) linguas() string { return path.Join(path.Dir(f.Path), "LINGUAS") }

// changeFile makes the commit of a file that is added or removed, or gets a string, unless
// that was done already.
func (d *deriver) changeFile(ctx context.Context, i int) error {
	f := &d.options.Files[i]
	about := Group{Component: f.Component, Languages: []string{f.New.Code}, Files: []string{f.Path}, Author: f.New.Author}
	change := d.fileChange
	if f.String != nil {
		change = d.stringChange
	} else {
		about.Adds, about.Removes = !f.Removes, f.Removes
	}
	changed, err := change(f)
	if err == nil && len(changed) > 0 {
		if err = d.write(ctx, about, changed); err != nil && !errors.Is(err, derive.ErrPath) {
			return err
		}
	} else if err != nil {
		err = fmt.Errorf("%s: %w", f.Path, err)
	}
	if err != nil {
		d.result.FileProblems[i] = err
	} else if len(changed) > 0 {
		delete(d.unreadable, f.Path)
	}
	return nil
}

// stringChange adds a string to a file, unless the file has it.
func (d *deriver) stringChange(f *FileChange) ([]derive.File, error) {
	was, ok := d.data[f.Path]
	if !ok {
		return nil, cmp.Or(d.unreadable[f.Path], errGone)
	}
	now, err := f.String.Append(f.Path, was.data, f.Options)
	if err != nil || bytes.Equal(now, was.data) {
		return nil, err
	}
	return []derive.File{{Path: f.Path, Data: now}}, nil
}

// fileChange adds or removes a file, with its language in LINGUAS.
func (d *deriver) fileChange(f *FileChange) ([]derive.File, error) {
	// What cannot be read, such as a pointer of Git LFS, is there, and can be removed.
	if _, read := d.data[f.Path]; (read || d.unreadable[f.Path] != nil) != f.Removes {
		return nil, nil
	}
	change := derive.File{Path: f.Path, Remove: f.Removes}
	if !f.Removes {
		template, ok := d.data[f.Template]
		if err := d.unreadable[f.Template]; err != nil {
			return nil, fmt.Errorf("%s: %w", f.Template, err)
		}
		if !ok {
			return nil, fmt.Errorf("there is no template %s", f.Template)
		}
		var err error
		if change.Data, err = f.New.Make(f.Template, template.data); err != nil {
			return nil, err
		}
	}
	changed := []derive.File{change}
	linguas, ok := d.data[f.linguas()]
	if now := edit.Linguas(linguas.data, f.Code, !f.Removes); ok && !bytes.Equal(now, linguas.data) {
		changed = append(changed, derive.File{Path: f.linguas(), Data: now})
	}
	return changed, nil
}

// Updated is what became of the strings of a file that was updated to its template.
type Updated struct {
	// Same says that the file is as its template wants it.
	Same bool
	// Strings is the number that the file had, Added, Reworded, Gone, Taken and Fuzzied are those
	// of msgmerge.Result.
	Strings, Added, Reworded, Gone, Taken, Fuzzied int
	// Stopped says that not all similar strings were found, since there are too many.
	Stopped bool
}

// Changed reports whether a string came, went or was reworded.
func (u *Updated) Changed() bool { return u.Added+u.Reworded+u.Gone+u.Fuzzied > 0 }

// Compare tells what Update would do, without the similar strings: Reworded are among Added.
func Compare(path string, data []byte, template *msgmerge.Template, o msgmerge.Options) (Updated, error) {
	o.CountOnly = true // without a new string there is none to match
	_, u, err := Update(path, data, template, o)
	return u, err
}

// Update updates a file to its template, as msgmerge does. With CountOnly a file with other
// strings is not written.
func Update(path string, data []byte, template *msgmerge.Template, o msgmerge.Options) (now []byte, u Updated, err error) {
	f, err := poparse.Parse(path, data)
	if err != nil {
		return nil, u, fmt.Errorf("update: %w", err)
	}
	o.Fits = edit.Fits(f)
	r, err := template.Merge(f, o)
	if err != nil {
		return nil, u, fmt.Errorf("update: %w", err)
	}
	for range f.Live() {
		u.Strings++
	}
	u.Added, u.Reworded, u.Gone, u.Taken, u.Fuzzied, u.Stopped = len(r.Added), len(r.Reworded), len(r.Gone), r.Taken, len(r.Fuzzied), r.Stopped
	if o.CountOnly && u.Changed() {
		return nil, u, nil
	}
	var b bytes.Buffer
	if _, err = r.File.WriteTo(&b); err != nil {
		return nil, u, fmt.Errorf("update: %w", err)
	}
	u.Same = bytes.Equal(data, b.Bytes())
	return b.Bytes(), u, nil
}

// updateFiles makes one commit for the files of each component that are updated to their
// template. It comes after those of edits: what somebody wrote is treated as msgmerge treats
// what the repository has.
func (d *deriver) updateFiles(ctx context.Context) error {
	d.result.Updated = map[int]Updated{}
	byComponent := map[string][]int{}
	for i, f := range d.options.Files {
		if f.Update != nil {
			byComponent[f.Component] = append(byComponent[f.Component], i)
		}
	}
	for _, component := range slices.Sorted(maps.Keys(byComponent)) {
		about := Group{Component: component, Updates: true}
		var changed []derive.File
		for _, i := range byComponent[component] {
			f := &d.options.Files[i]
			now, u, err := d.update(ctx, f)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case object.Damaged(err):
				return err
			case err != nil:
				d.result.FileProblems[i] = err
				continue
			}
			if d.result.Updated[i] = u; u.Same {
				continue
			}
			changed = append(changed, now)
			about.Files, about.Languages = append(about.Files, f.Path), append(about.Languages, f.New.Code)
			if about.Stopped = about.Stopped || u.Stopped; f.New.Author.Time.After(about.Author.Time) {
				about.Author = f.New.Author
			}
		}
		if len(changed) == 0 {
			continue
		}
		slices.Sort(about.Languages)
		about.Languages = slices.Compact(about.Languages)
		if err := d.write(ctx, about, changed); errors.Is(err, derive.ErrPath) {
			for _, i := range byComponent[component] {
				d.result.FileProblems[i] = err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// update updates one file, or finds what it became before.
func (d *deriver) update(ctx context.Context, f *FileChange) (now derive.File, u Updated, err error) {
	for _, path := range []string{f.Template, f.Path} {
		if _, ok := d.data[path]; !ok {
			return now, u, fmt.Errorf("%s: %w", path, cmp.Or(d.unreadable[path], errGone))
		}
	}
	was := d.data[f.Path].blob
	key := memoKey(sha256.Sum256(fmt.Appendf(nil, "update %q %s %s %+v", f.Path, was, d.data[f.Template].blob, *f.Update)))
	if known, found := d.options.Memo.get(key); found && d.writer.Has(known.after) {
		known.updated.Same = known.after == was
		return derive.File{Path: f.Path, Blob: known.after}, known.updated, nil
	}
	parsed, err := d.template(ctx, f.Template)
	if err != nil {
		return now, u, fmt.Errorf("update: %w", err)
	}
	template := d.updates[parsed]
	if template == nil {
		if template, err = msgmerge.NewTemplate(parsed); err != nil {
			return now, u, fmt.Errorf("update: %w", err)
		}
		d.updates[parsed] = template
	}
	data, err := d.bytes(ctx, f.Path)
	if err != nil {
		return now, u, err
	}
	now = derive.File{Path: f.Path}
	data, u, err = Update(f.Path, data, template, *f.Update)
	if err == nil && !u.Same {
		now.Blob, err = d.writer.Add(f.Path, data)
	}
	if u.Same {
		d.options.Memo.put(key, memoValue{after: was, updated: u})
	} else if err == nil {
		d.memos[f.Path] = &memo{key: key, updated: u}
	}
	return now, u, err
}

var errGone = errors.New("there is no such file")
