package push

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/store"
)

// readFileEdits reads which files of a component are to be added and removed, but for
// clones, which get them when they are pushed.
func (r *run) readFileEdits(ctx context.Context, snap *store.Snapshot, component int64) error {
	if r.committed {
		return nil
	}
	list, err := snap.PendingFileEdits(ctx, component)
	r.fileEdits = append(r.fileEdits, list...)
	return err
}

// filesToChange returns what flush needs of them.
func (r *run) filesToChange() []flush.FileEdit {
	list := make([]flush.FileEdit, len(r.fileEdits))
	for i := range r.fileEdits {
		e := &r.fileEdits[i]
		list[i] = flush.FileEdit{
			Component: strconv.FormatInt(e.ComponentID, 10), Path: e.Path, Removes: e.Removes,
			New: edit.NewFile{Code: e.Language, Author: edit.Author{Name: e.Author.Name, Email: e.Author.Email, Time: e.Author.At}},
		}
		if l, ok := r.Languages.ByCode(e.Language); ok {
			list[i].New.Name, list[i].New.Plural = l.Name, l.Plural
		}
		for k := range r.group.rows {
			if row := &r.group.rows[k]; row.ID == e.ComponentID {
				list[i].Template = row.Settings.NewBase
			}
		}
	}
	return list
}

// pushedFiles notes which files are on a branch now, and why others are not.
func (r *run) pushedFiles(ctx context.Context, branch string, result flush.Result) error {
	byComponent := map[int64][]store.FileEdit{}
	for i, e := range r.fileEdits {
		if problem := result.FileProblems[i]; problem != nil {
			r.report.Files[e.Path] = problem.Error()
			continue
		}
		if e.Pushed != branch {
			e.Pushed = branch
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

// settleFiles ends the edits of files that the repository has, as the last pull found, and
// of those that the component would not have.
func (p *Pusher) settleFiles(ctx context.Context, rows []store.BranchComponent) error {
	for i := range rows {
		id, mask := rows[i].ID, rows[i].Settings.Filemask
		var done []store.FileEdit
		err := p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
			pending, err := snap.PendingFileEdits(ctx, id)
			if err != nil || len(pending) == 0 {
				return err
			}
			all, err := snap.Translations(ctx, id)
			for _, e := range pending {
				switch there := slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.Filename == e.Path }); {
				case there != e.Removes:
					e.Status = store.EditFlushed
				case !e.Removes && strings.ReplaceAll(mask, "*", e.Language) != e.Path:
					e.Status, e.Reason = store.EditDiscarded, "the filemask has no such file any more"
				default:
					continue
				}
				done = append(done, e)
			}
			return err
		})
		if err == nil {
			err = p.Syncer.UpdateFileEdits(ctx, id, done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DiscardFiles ends the pending edits of files of a component that choose selects.
func (p *Pusher) DiscardFiles(ctx context.Context, component int64, reason string, choose func(*store.FileEdit) bool) error {
	var list []store.FileEdit
	err := p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		list, err = snap.PendingFileEdits(ctx, component)
		return err
	})
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e store.FileEdit) bool { return !choose(&e) })
	for i := range list {
		list[i].Status, list[i].Reason = store.EditDiscarded, reason
	}
	return p.Syncer.UpdateFileEdits(ctx, component, list)
}
