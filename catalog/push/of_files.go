package push

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// readOfFiles reads which files of a component are to be added and removed, and strings to be
// added, but for clones, which get them when they are pushed.
func (r *run) readOfFiles(ctx context.Context, snap *store.Snapshot, row *store.BranchComponent) error {
	if r.committed {
		return nil
	}
	list, err := snap.PendingFiles(ctx, row.ID)
	list = slices.DeleteFunc(list, func(e store.Edit) bool { return !r.group.takes(row, e.Language, e.Last()) })
	r.ofFiles = append(r.ofFiles, list...)
	return err
}

// filesToChange returns what flush needs of them.
func (r *run) filesToChange() []flush.FileChange {
	list := make([]flush.FileChange, len(r.ofFiles))
	for i := range r.ofFiles {
		e := &r.ofFiles[i]
		list[i] = flush.FileChange{
			Component: componentKey(e.ComponentID), Path: e.Path, Removes: e.Kind == store.EditRemoveFile,
			New: edit.NewFile{Code: e.Language, Author: e.Last()},
		}
		if l, ok := r.Languages.ByCode(e.Language); ok {
			list[i].New.Name, list[i].New.Plural = l.Name, l.Plural
		}
		for k := range r.group.rows {
			row := &r.group.rows[k]
			if row.ID != e.ComponentID {
				continue
			}
			code, _ := r.Syncer.FileCode(row, e.Path)
			list[i].Code = cmp.Or(code, e.Language)
			if e.Kind == store.EditAddString {
				list[i].String, list[i].Options = stringToAdd(e, &row.Settings.Edits)
			} else {
				list[i].Template = row.Settings.NewBase
			}
		}
	}
	return list
}

// stringToAdd is what flush needs of a string that is added to a file.
func stringToAdd(e *store.Edit, s *catalog.Edits) (*edit.NewString, edit.Options) {
	o := edit.Options{Gate: s.Gate}
	if !s.KeepHeader {
		o.Revision = e.Last().Time
	}
	return &edit.NewString{Context: e.Context, Source: e.Source, Text: e.Ours, Author: e.Last()}, o
}

// settleFiles ends the edits of files and strings that the repository has, as the last pull
// found, and of those that the component would not have.
func (p *Pusher) settleFiles(ctx context.Context, held *ingest.Held, rows []store.BranchComponent) error {
	for i := range rows {
		var pending []store.Edit
		err := p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
			pending, err = snap.PendingFiles(ctx, rows[i].ID)
			return err
		})
		if err != nil {
			return err
		}
		if len(pending) == 0 {
			continue
		}
		there, known, err := filesAt(ctx, held, rows[i].Head, pending)
		if err == nil && known {
			err = p.Editor.Settle(ctx, rows[i], pending, there)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filesAt returns which files of some edits a commit has. It is not known if the commit is
// not the mirror's.
func filesAt(ctx context.Context, held *ingest.Held, commit string, edits []store.Edit) (there map[string]bool, known bool, err error) {
	m := held.Mirror()
	if head, err := m.Head(); err != nil || head.Hash.String() != commit {
		return nil, false, nil // so the next pull finds it
	}
	reader, err := m.Reader(ctx)
	if err != nil {
		return nil, false, err
	}
	defer reader.Close()
	there = map[string]bool{}
	for i := range edits {
		there[edits[i].Path] = false
	}
	list, err := reader.Snapshot(ctx, reader.Head().Hash, func(path string) bool {
		_, asked := there[path]
		return asked
	}, nil)
	list, _ = gitsource.SplitLinks(list)
	for i := range list {
		there[list[i].Path] = true
	}
	return there, true, err
}
