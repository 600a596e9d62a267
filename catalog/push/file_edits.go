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
)

// readFileEdits reads which files of a component are to be added and removed, but for
// clones, which get them when they are pushed.
func (r *run) readFileEdits(ctx context.Context, snap *store.Snapshot, row *store.BranchComponent) error {
	if r.committed {
		return nil
	}
	list, err := snap.PendingFileEdits(ctx, row.ID)
	list = slices.DeleteFunc(list, func(e store.FileEdit) bool { return !r.group.takes(row, e.Language, fileAuthor(&e)) })
	r.fileEdits = append(r.fileEdits, list...)
	return err
}

// filesToChange returns what flush needs of them.
func (r *run) filesToChange() []flush.FileEdit {
	list := make([]flush.FileEdit, len(r.fileEdits))
	for i := range r.fileEdits {
		e := &r.fileEdits[i]
		list[i] = flush.FileEdit{
			Component: componentKey(e.ComponentID), Path: e.Path, Removes: e.Removes,
			New: edit.NewFile{Code: e.Language, Author: fileAuthor(e)},
		}
		if l, ok := r.Languages.ByCode(e.Language); ok {
			list[i].New.Name, list[i].New.Plural = l.Name, l.Plural
		}
		for k := range r.group.rows {
			row := &r.group.rows[k]
			if row.ID == e.ComponentID {
				list[i].Code = cmp.Or(r.Syncer.FileCode(row, e.Path), e.Language)
			}
			if row.ID == e.ComponentID && e.AddsString() {
				list[i].String, list[i].Options = stringToAdd(e, &list[i].New.Author, &row.Settings.Edits)
			} else if row.ID == e.ComponentID {
				list[i].Template = row.Settings.NewBase
			}
		}
	}
	return list
}

// stringToAdd is what flush needs of a string that is added to a file.
func stringToAdd(e *store.FileEdit, by *edit.Author, s *catalog.Edits) (*edit.NewString, edit.Options) {
	o := edit.Options{Gate: s.Gate}
	if !s.KeepHeader {
		o.Revision = by.Time
	}
	return &edit.NewString{Context: e.Context, Source: e.Source, Text: edit.Text{Target: e.Target, State: e.State}, Author: *by}, o
}

// done returns the edits of files that a commit has.
func (r *run) done(result flush.Result) (list []store.FileEdit) {
	for i := range r.fileEdits {
		if result.FileProblems[i] == nil {
			list = append(list, r.fileEdits[i])
		}
	}
	return list
}

// pushedFiles notes why edits of files could not be done.
func (r *run) pushedFiles(ctx context.Context, result flush.Result) error {
	byComponent := map[int64][]store.FileEdit{}
	for i, e := range r.fileEdits {
		reason := ""
		if problem := result.FileProblems[i]; problem != nil {
			reason = problem.Error()
			r.report.Files[e.Path] = reason
		}
		if e.Reason != reason {
			e.Reason = reason
			byComponent[e.ComponentID] = append(byComponent[e.ComponentID], e)
		}
	}
	for id, list := range byComponent {
		if err := r.Syncer.UpdateFileEdits(ctx, id, list); err != nil {
			return err
		}
	}
	return nil
}

// settleFiles ends the edits of files and strings that the repository has, as the last pull
// found, and of those that the component would not have.
func (p *Pusher) settleFiles(ctx context.Context, held *ingest.Held, rows []store.BranchComponent) error {
	for i := range rows {
		if err := p.settleFilesOf(ctx, held, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pusher) settleFilesOf(ctx context.Context, held *ingest.Held, row *store.BranchComponent) error {
	var pending []store.FileEdit
	var all []catalog.Translation
	err := p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		if pending, err = snap.PendingFileEdits(ctx, row.ID); err != nil || len(pending) == 0 {
			return err
		}
		if all, err = snap.Translations(ctx, row.ID); err != nil {
			return err
		}
		return ingest.SettleStrings(ctx, snap, pending, all)
	})
	if err != nil || len(pending) == 0 {
		return err
	}
	there, known, err := filesAt(ctx, held, row.Head, pending)
	if err != nil || !known {
		return err
	}
	for i := range pending {
		if pending[i].AddsString() {
			continue
		}
		if err := p.Syncer.SettleFileEdit(*row, &pending[i], there[pending[i].Path], all); err != nil {
			return err
		}
	}
	done := slices.DeleteFunc(pending, func(e store.FileEdit) bool { return e.Status == store.EditPending })
	return p.Syncer.UpdateFileEdits(ctx, row.ID, done)
}

// filesAt returns which files of some edits a commit has. It is not known if the commit is
// not the mirror's.
func filesAt(ctx context.Context, held *ingest.Held, commit string, edits []store.FileEdit) (there map[string]bool, known bool, err error) {
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
	for i := range list {
		there[list[i].Path] = true
	}
	return there, true, err
}

// DiscardFiles ends the pending edits of files of a component that choose selects, and
// returns their number.
func (p *Pusher) DiscardFiles(ctx context.Context, component int64, reason string, choose func(*store.FileEdit) bool) (int, error) {
	var list []store.FileEdit
	err := p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		list, err = snap.PendingFileEdits(ctx, component)
		return err
	})
	if err != nil {
		return 0, err
	}
	list = slices.DeleteFunc(list, func(e store.FileEdit) bool { return !choose(&e) })
	for i := range list {
		list[i].Status, list[i].Reason = store.EditDiscarded, reason
	}
	return len(list), p.Syncer.UpdateFileEdits(ctx, component, list)
}
