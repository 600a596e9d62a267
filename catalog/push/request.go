package push

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/edit/message"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// repository is where edits are pushed to.
func (r *run) repository() remote.Repository {
	if repo := r.group.to.Repository; repo.URL != "" {
		return repo
	}
	return r.held.Mirror().Remote()
}

// ErrForeign says that somebody else pushed to a branch of ours, which is not overwritten.
var ErrForeign = errors.New("commits that are not of this server")

// settle finds out where our branch is, and what became of its request.
func (r *run) settle(ctx context.Context, to *flush.Target) (err error) {
	if r.known, err = r.DB.PushBranch(ctx, r.repository().String(), to.Branch); err != nil {
		return err
	}
	r.stored = r.known
	tip, err := r.held.Mirror().Tip(ctx, r.group.to.Repository, to.Branch)
	if err != nil {
		return err
	}
	to.At = tip
	request := forge.Request{State: forge.Open}
	if r.group.mode == catalog.PushRequest && r.known.Request != 0 && r.group.to.Forge != nil {
		if request, err = r.readRequest(ctx); err != nil {
			return err
		}
	}
	if request.State != forge.Open {
		r.known = r.known.Requestless()
		if request.State == forge.Closed {
			if err := r.refuse(ctx, request); err != nil {
				return err
			}
		}
		r.stored = r.known
		if err := r.DB.SetPushBranch(ctx, r.known, nil, false); err != nil {
			return err
		}
	}
	// An interrupted push, or a branch that was removed after a merge, is ours to replace.
	if !tip.IsZero() && tip.String() != r.known.At && tip.String() != r.known.Next && request.State != forge.Merged {
		if err := r.foreign(ctx, tip); err != nil {
			return err
		}
	}
	if r.known.At = ""; !tip.IsZero() {
		r.known.At = tip.String()
	}
	return nil
}

// readRequest reads the request of our branch.
func (r *run) readRequest(ctx context.Context) (forge.Request, error) {
	request, err := r.group.to.Forge.Read(ctx, r.known.Request)
	if errors.Is(err, forge.ErrNotFound) {
		// Whoever may read the list may see the request: it was removed, which refuses nothing.
		if _, _, unlisted := r.group.to.Forge.Find(ctx, r.group.branch, r.tracking()); unlisted == nil {
			return forge.Request{Number: r.known.Request}, nil
		}
	}
	return request, err
}

// foreign returns ErrForeign for a tip of our branch that is not ours, unless the branch that
// is read has it, or isRenewed: then nothing is lost if it is replaced.
func (r *run) foreign(ctx context.Context, tip object.Hash) error {
	reader, err := r.held.Mirror().Reader(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	if reader.Has(tip) {
		if merged, err := reader.IsAncestor(ctx, tip, reader.Head().Hash); merged || err != nil {
			return err
		}
	}
	switch renewed, err := r.isRenewed(ctx, tip); {
	case renewed:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.Logger.Info("what our branch has cannot be compared", "branch", r.branch.Key, "of", r.group.branch, "error", err)
	}
	if r.known.Request != 0 {
		return fmt.Errorf("the branch %s has %w: merge the request %d, then edits go on; if it is closed, or its branch is removed, its edits become suggestions", r.group.branch, ErrForeign, r.known.Request)
	}
	return fmt.Errorf("the branch %s has %w: merge it, then remove it, or set another push_branch", r.group.branch, ErrForeign)
}

// withdraw closes the request of a branch that has nothing left, and removes the branch:
// whoever merged it would bring back texts that were taken back since. One that has edits
// of other components, of another branch or mode, stays.
func (r *run) withdraw(ctx context.Context, to *flush.Target) error {
	if r.group.mode == catalog.PushDirect || r.stored == (store.PushBranch{Repo: r.stored.Repo, Branch: r.stored.Branch}) {
		return nil
	}
	beside := false
	err := r.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		beside, err = snap.PushedBeside(ctx, r.group.rows[0].Repo, r.known, r.components())
		return err
	})
	if err != nil || beside {
		return err
	}
	now := r.known.Requestless()
	if !to.At.IsZero() || now != r.stored {
		if err := r.leave(ctx); err != nil {
			return err
		}
	}
	switch request := r.known.Request; {
	case request == 0:
	case r.group.to.Forge == nil:
		r.Logger.Warn("a request has nothing left: close it, as no forge is set", "branch", r.branch.Key, "request", request, "page", r.known.URL)
	default:
		if err := r.group.to.Forge.Close(ctx, request); err != nil {
			return err
		}
		r.Logger.Info("a request has nothing left and was closed", "branch", r.branch.Key, "request", request)
	}
	if !to.At.IsZero() {
		if err := r.removeBranch(ctx, to); err != nil {
			return fmt.Errorf("the branch %s has nothing left and cannot be removed: %w", to.Branch, err)
		}
		r.Logger.Info("a branch has nothing left and was removed", "branch", r.branch.Key, "removed", to.Branch, "at", to.At.String())
	}
	if now.At, now.Next = "", ""; now == r.stored {
		return nil
	}
	return r.DB.ClaimPushBranch(ctx, r.stored, now, nil)
}

// leave notes that our branch has nothing, before its request is closed: else the next
// flush, after a crash, would take that for refused.
func (r *run) leave(ctx context.Context) error {
	err := r.DB.LeavePushBranch(ctx, r.stored, r.known, r.components())
	r.stored = r.known
	return err
}

// components are the ids of the group's components.
func (r *run) components() []int64 {
	ids := make([]int64, len(r.group.rows))
	for i := range ids {
		ids[i] = r.group.rows[i].ID
	}
	return ids
}

// removeBranch removes our branch, if it is still where it was found.
func (r *run) removeBranch(ctx context.Context, to *flush.Target) error {
	w, err := r.held.Mirror().Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := r.stop(false); err != nil {
		return err
	}
	if err := w.Push(ctx, to.Repository, remote.Push{Branch: to.Branch, Replace: true, Expect: to.At}); err != nil {
		return err
	}
	return r.stop(true)
}

// refuse makes suggestions of the edits of a request that was closed without a merge.
// Texts that are newer than the request, or that it never had, stay pending.
func (r *run) refuse(ctx context.Context, request forge.Request) error {
	refused := map[int64]store.Edit{}
	err := r.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		edits, err := snap.OnBranch(ctx, r.stored, r.components())
		for _, e := range edits {
			refused[e.ID] = e
		}
		return err
	})
	reason := fmt.Sprintf("the request %d was closed without a merge", request.Number)
	for _, id := range r.components() {
		if err == nil {
			_, err = r.Editor.Discard(ctx, id, edit.Author{}, reason, true, func(e *store.Edit) bool {
				was := refused[e.ID]
				return was.ID != 0 && was.Ours == e.Ours
			})
		}
	}
	return err
}

// pushed notes what our branch has now, and keeps its request.
func (r *run) pushed(ctx context.Context, result flush.Result, written []store.Edit) error {
	r.known.Next = ""
	ended := false
	if result.Head != result.Parent {
		r.known.At = result.Head.String()
	}
	if r.group.mode == catalog.PushRequest && r.group.to.Forge != nil && result.Head != result.Parent {
		failing, err := r.failing(ctx, written)
		if err != nil {
			return err
		}
		last := forge.Texts{Title: r.known.Title, Body: r.known.Body, Base: r.known.Base}
		request, last, err := forge.Keep(ctx, r.group.to.Forge, r.known.Request, last, r.draft(written, failing))
		if err != nil {
			return err
		}
		r.known.Request, r.known.URL, r.known.Title, r.known.Body, r.known.Base = request.Number, request.URL, last.Title, last.Body, last.Base
		ended = request.State != forge.Open
	}
	return r.DB.SetPushBranch(ctx, r.known, written, ended)
}

// failing returns the failing checks of edited strings, by unit.
func (r *run) failing(ctx context.Context, written []store.Edit) (failing map[int64][2]uint64, err error) {
	ids := make([]int64, len(written))
	for i := range written {
		ids[i] = written[i].UnitID
	}
	err = r.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		failing, err = snap.FailingOf(ctx, ids)
		return err
	})
	return failing, err
}

// draft makes the texts of the request.
func (r *run) draft(written []store.Edit, failing map[int64][2]uint64) forge.Draft {
	row := &r.group.rows[0]
	text := ""
	if t, err := message.Parse(message.Component, row.Settings.PullMessage); err == nil {
		text = t.Render(r.componentValues(row))
	}
	title, intro := splitMessage(text)
	if about := r.about(); about != "" {
		title += " (" + about + ")"
	}
	var rows []forge.Row
	var files []forge.File
	for i := range written {
		e := &written[i]
		if e.Kind != store.EditText {
			files = append(files, forge.File{Path: e.Path, Language: e.Language, Removes: e.Kind == store.EditRemoveFile, Source: e.Source})
			continue
		}
		row := forge.Row{Context: e.Context, Source: e.Source, Before: e.Base.Target, After: e.Ours.Target, Fuzzy: e.Ours.State.Fuzzy(), Language: r.language(e.TranslationID), Component: r.componentName(e.ComponentID)}
		for id := range checks.Mask(failing[e.UnitID]).All() {
			row.Checks = append(row.Checks, id.String())
		}
		rows = append(rows, row)
	}
	return forge.Draft{Head: r.group.branch, Base: r.tracking(), Title: title, Body: forge.Body(intro, files, rows)}
}

// componentName is the name of a component of the group.
func (r *run) componentName(id int64) string {
	for i := range r.group.rows {
		if r.group.rows[i].ID == id {
			return r.group.rows[i].Settings.Name
		}
	}
	return ""
}

// splitMessage returns the first line of a message, and the rest.
func splitMessage(text string) (title, rest string) {
	title, rest, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if title == "" {
		title = "Update translations"
	}
	return title, strings.TrimSpace(rest)
}

// language is the code of a translation.
func (r *run) language(translation int64) (code string) {
	for f := range r.edits {
		for i := range r.edits[f] {
			if r.edits[f][i].TranslationID == translation {
				return r.codes[f]
			}
		}
	}
	return ""
}
