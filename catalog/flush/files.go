package flush

import (
	"context"
	"fmt"
	"path"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource/derive"
)

// FileEdit adds a translation file, or removes it.
type FileEdit struct {
	// Component is a key as in File.
	Component string
	// Path is where the file is, or will be.
	Path string
	// Removes tells a removal from an addition.
	Removes bool
	// Template is the path of what a file is made of.
	Template string
	// New says how it is made, its language, and who adds or removes it.
	New edit.NewFile
}

// linguas is the path of the file LINGUAS beside a file.
func (f *FileEdit) linguas() string { return path.Join(path.Dir(f.Path), "LINGUAS") }

// changeFile makes the commit of a file that is added or removed, unless that was done
// already.
func (d *deriver) changeFile(ctx context.Context, i int) error {
	f := &d.options.Files[i]
	if _, there := d.data[f.Path]; there != f.Removes {
		return nil
	}
	change := derive.File{Path: f.Path, Remove: f.Removes}
	if !f.Removes {
		template, ok := d.data[f.Template]
		if !ok {
			d.result.FileProblems[i] = fmt.Errorf("%s: there is no template %s", f.Path, f.Template)
			return nil
		}
		var err error
		if change.Data, err = f.New.Make(f.Template, template); err != nil {
			d.result.FileProblems[i] = fmt.Errorf("%s: %w", f.Path, err)
			return nil
		}
	}
	changed := []derive.File{change}
	linguas, ok := d.data[f.linguas()]
	if now := edit.Linguas(linguas, f.New.Code, !f.Removes); ok && string(now) != string(linguas) {
		changed = append(changed, derive.File{Path: f.linguas(), Data: now})
	}
	about := Group{Component: f.Component, Languages: []string{f.New.Code}, Files: []string{f.Path}, Author: f.New.Author, Adds: !f.Removes, Removes: f.Removes}
	if err := d.write(ctx, about, changed); err != nil {
		return err
	}
	delete(d.data, f.Path)
	for _, c := range changed {
		if !c.Remove {
			d.data[c.Path] = c.Data
		}
	}
	return nil
}
