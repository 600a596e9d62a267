package flush

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource/derive"
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
