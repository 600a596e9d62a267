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
)

// FileChange adds a translation file, removes it, or adds a string to it.
type FileChange struct {
	// Component is a key as in File.
	Component string
	// Path is where the file is, or will be; Code is the language there, as in LINGUAS.
	Path, Code string
	// Removes tells a removal from an addition.
	Removes bool
	// Template is the path of what a file is made of.
	Template string
	// New says how it is made, its language, and who adds or removes it.
	New edit.NewFile
	// String is added to the file that is there; nil: the file itself is added or removed.
	// Options say how.
	String  *edit.NewString
	Options edit.Options
}

// linguas is the path of the file LINGUAS beside a file.
func (f *FileChange) linguas() string { return path.Join(path.Dir(f.Path), "LINGUAS") }

// unread says why a file that is there could not be read, nil if it was, or is not there.
func (d *deriver) unread(path string) error {
	if err := d.unreadable[path]; err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// addString makes the commit of a string that is added to a file, unless the file has it.
func (d *deriver) addString(ctx context.Context, i int) error {
	f := &d.options.Files[i]
	data, ok := d.data[f.Path]
	if !ok {
		d.result.FileProblems[i] = cmp.Or(d.unread(f.Path), fmt.Errorf("%s: there is no such file", f.Path))
		return nil
	}
	now, err := f.String.Append(f.Path, data.data, f.Options)
	if err != nil {
		d.result.FileProblems[i] = fmt.Errorf("%s: %w", f.Path, err)
		return nil
	}
	if bytes.Equal(now, data.data) {
		return nil
	}
	about := Group{Component: f.Component, Languages: []string{f.New.Code}, Files: []string{f.Path}, Author: f.New.Author}
	return d.writeFile(ctx, i, about, []derive.File{{Path: f.Path, Data: now}})
}

// changeFile makes the commit of a file that is added or removed, or gets a string, unless
// that was done already.
func (d *deriver) changeFile(ctx context.Context, i int) error {
	f := &d.options.Files[i]
	if f.String != nil {
		return d.addString(ctx, i)
	}
	// What cannot be read, such as a pointer of Git LFS, is there, and can be removed.
	if _, read := d.data[f.Path]; (read || d.unreadable[f.Path] != nil) != f.Removes {
		return nil
	}
	change := derive.File{Path: f.Path, Remove: f.Removes}
	if !f.Removes {
		template, ok := d.data[f.Template]
		if !ok {
			d.result.FileProblems[i] = cmp.Or(d.unread(f.Template), fmt.Errorf("%s: there is no template %s", f.Path, f.Template))
			return nil
		}
		var err error
		if change.Data, err = f.New.Make(f.Template, template.data); err != nil {
			d.result.FileProblems[i] = fmt.Errorf("%s: %w", f.Path, err)
			return nil
		}
	}
	changed := []derive.File{change}
	linguas, ok := d.data[f.linguas()]
	if now := edit.Linguas(linguas.data, f.Code, !f.Removes); ok && string(now) != string(linguas.data) {
		changed = append(changed, derive.File{Path: f.linguas(), Data: now})
	}
	about := Group{Component: f.Component, Languages: []string{f.New.Code}, Files: []string{f.Path}, Author: f.New.Author, Adds: !f.Removes, Removes: f.Removes}
	if err := d.writeFile(ctx, i, about, changed); err != nil || d.result.FileProblems[i] != nil {
		return err
	}
	delete(d.unreadable, f.Path)
	return nil
}

// writeFile is write for the change of a file, which may have a path where none can be.
func (d *deriver) writeFile(ctx context.Context, i int, about Group, changed []derive.File) error {
	err := d.write(ctx, about, changed)
	if errors.Is(err, derive.ErrPath) {
		d.result.FileProblems[i] = err
		return nil
	}
	return err
}
