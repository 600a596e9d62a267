package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/edit/message"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
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
		beside, err = snap.PushedBeside(ctx, r.group.rows[0].Repo, r.known, idsOf(r.group.rows))
		return err
	})
	if err != nil || beside {
		return err
	}
	now := r.known.Requestless()
	if !to.At.IsZero() || now != r.stored {
		// Before the request is closed: else the next flush, after a crash, would take that for
		// refused.
		if err := r.DB.LeavePushBranch(ctx, r.stored, r.known, idsOf(r.group.rows)); err != nil {
			return err
		}
		r.stored = r.known
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
		edits, err := snap.OnBranch(ctx, r.stored, idsOf(r.group.rows))
		for _, e := range edits {
			refused[e.ID] = e
		}
		return err
	})
	reason := fmt.Sprintf("the request %d was closed without a merge", request.Number)
	for _, id := range idsOf(r.group.rows) {
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
		draft, err := r.draft(ctx, written)
		if err != nil {
			return err
		}
		last := forge.Texts{Title: r.known.Title, Body: r.known.Body, Base: r.known.Base}
		request, last, err := forge.Keep(ctx, r.group.to.Forge, r.known.Request, last, draft)
		if err != nil {
			return err
		}
		if r.known.Request == 0 && request.State == forge.Open { // before it is stored: told twice rather than never
			event := map[string]string{catalog.EventRequest: strconv.Itoa(request.Number), catalog.EventURL: request.URL}
			if err := r.Syncer.RecordPush(ctx, r.branch, catalog.ActionPush, idsOf(r.group.rows), event); err != nil {
				return err
			}
		}
		r.known.Request, r.known.URL, r.known.Title, r.known.Body, r.known.Base = request.Number, request.URL, last.Title, last.Body, last.Base
		ended = request.State != forge.Open
	}
	return r.DB.SetPushBranch(ctx, r.known, written, ended)
}

// draft makes the texts of the request.
func (r *run) draft(ctx context.Context, written []store.Edit) (forge.Draft, error) {
	failing, err := store.Get(ctx, r.DB, (*store.Snapshot).FailingOf, catalog.Each(written, func(e *store.Edit) int64 { return e.UnitID }))
	if err != nil {
		return forge.Draft{}, err
	}
	row := &r.group.rows[0]
	text := ""
	if t, err := message.Parse(message.Component, row.Settings.PullMessage); err == nil {
		text = t.Render(r.componentValues(row))
	}
	title, intro, _ := strings.Cut(strings.TrimSpace(text), "\n")
	title = cmp.Or(title, "Update translations")
	if about := r.about(); about != "" {
		title += " (" + about + ")"
	}
	var rows []forge.Row
	var files []forge.File
	for i := range written {
		e := &written[i]
		if e.Kind != store.EditText {
			file := forge.File{Path: e.Path, Language: e.Language, Removes: e.Kind == store.EditRemoveFile, Source: e.Source}
			if e.Kind == store.EditUpdateFile {
				u := r.updated[slices.IndexFunc(r.ofFiles, func(o store.Edit) bool { return o.ID == e.ID })]
				if u.Same {
					continue
				}
				file.Source, file.Update = "", &forge.Update{Added: u.Added, Reworded: u.Reworded + u.Fuzzied, Gone: u.Gone - u.Taken, Stopped: u.Stopped}
			}
			files = append(files, file)
			continue
		}
		row := forge.Row{
			Component: r.group.row(e.ComponentID).Settings.Name, Language: r.language(e.TranslationID),
			Context: e.Context, Source: e.Source, Before: e.Base.Target, After: e.Ours.Target, Fuzzy: e.Ours.State.Fuzzy(),
		}
		for id := range checks.Mask(failing[e.UnitID]).All() {
			row.Checks = append(row.Checks, id.String())
		}
		rows = append(rows, row)
	}
	return forge.Draft{Head: r.group.branch, Base: r.tracking(), Title: title, Body: forge.Body(intro, files, rows)}, nil
}

// language is the code of a translation.
func (r *run) language(translation int64) (code string) {
	for f := range r.edits {
		if r.edits[f][0].TranslationID == translation { // all of a file are of one
			return r.files[f].Language
		}
	}
	return ""
}

// strays returns the branches of our own that have edits of components which go elsewhere
// now, or to a branch without a request: another push_mode, push_branch or push was set since.
func (p *Pusher) strays(ctx context.Context, rows []store.BranchComponent) ([]store.PushBranch, error) {
	list, err := store.Get(ctx, p.DB, (*store.Snapshot).Strays, idsOf(rows))
	return slices.DeleteFunc(list, func(b store.PushBranch) bool {
		return slices.ContainsFunc(rows, func(row store.BranchComponent) bool {
			if row.Settings.Edits.Mode == catalog.PushRequest {
				return placeOf(&row).Has(b.Place())
			}
			return placeOf(&row) == b.Place() && b.Request == 0
		})
	}), err
}

// withdrawStrays withdraws them, with their requests: merged later, they would bring back
// texts of long ago. What one of them fails with does not stop the push.
func (p *Pusher) withdrawStrays(ctx context.Context, held *ingest.Held, b ingest.Branch, rows []store.BranchComponent, to func(*store.BranchComponent) Destination) error {
	strays, err := p.strays(ctx, rows)
	if err != nil {
		return err
	}
	var errs []error
	for _, stray := range strays {
		g := &group{mode: catalog.PushRequest, branch: stray.Branch, keyed: true, rows: rows}
		r := &run{Pusher: p, held: held, branch: b, group: g}
		for i := range rows {
			if d := to(&rows[i]); placeOf(&rows[i]).Repo == stray.Repo && (g.to.Forge == nil || d.Forge != nil) {
				g.to = d
			}
		}
		target := flush.Target{Repository: g.to.Repository, Branch: stray.Branch, Derived: true}
		err := ErrForeign
		if r.repository().String() == stray.Repo {
			err = r.settle(ctx, &target)
		}
		switch {
		case errors.Is(err, ErrForeign):
			p.Logger.Warn("nothing is pushed to this branch any more: remove it", "branch", b.Key, "repository", stray.Repo, "pushed", stray.Branch, "request", stray.URL)
			err = r.DB.ClaimPushBranch(ctx, stray, store.PushBranch{Repo: stray.Repo, Branch: stray.Branch}, nil)
		case err == nil:
			err = r.withdraw(ctx, &target)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("withdraw the branch %s: %w", stray.Branch, err))
		}
	}
	return errors.Join(errs...)
}

// isRenewed reports whether the tip of our branch has nothing but what we put there and what
// the branch that is read has: a forge's button merged that into ours, or made our commits
// anew on it. Whatever its commits are, nobody's work is lost then if it is replaced.
func (r *run) isRenewed(ctx context.Context, tip object.Hash) (bool, error) {
	mirror := r.held.Mirror()
	if err := mirror.Bring(ctx, r.group.to.Repository, object.Head{Hash: tip, Branch: r.known.Branch}); err != nil {
		return false, err
	}
	reader, err := mirror.Reader(ctx)
	if err != nil {
		return false, err
	}
	defer reader.Close()
	for _, at := range []string{r.known.At, r.known.Next} {
		ours, err := object.ParseHash(at)
		if err != nil || !reader.Has(ours) {
			continue
		}
		if only, err := onlyOf(ctx, reader, tip, ours); only || err != nil {
			return only, err
		}
	}
	return false, nil
}

// onlyOf compares the files of a commit with those of ours and of the branch that is read.
func onlyOf(ctx context.Context, reader *gitsource.Reader, tip, ours object.Hash) (bool, error) {
	theirBase, ok, err := baseOf(ctx, reader, tip)
	if !ok || err != nil {
		return false, err
	}
	ourBase, ok, err := baseOf(ctx, reader, ours)
	if !ok || err != nil {
		return false, err
	}
	var at [3]map[string]gitsource.Change // by path: what we wrote, what was read since, the tip
	for i, between := range [][2]object.Hash{{ourBase, ours}, {ourBase, theirBase}, {theirBase, tip}} {
		step, err := reader.Between(ctx, between[0], between[1], filemask.Matcher{})
		if err != nil {
			return false, err
		}
		at[i] = make(map[string]gitsource.Change, len(step.Changes))
		for _, ch := range step.Changes {
			at[i][ch.Path] = ch
		}
	}
	for path := range at[2] {
		if _, touched := at[0][path]; !touched {
			return false, nil
		}
	}
	for path, our := range at[0] {
		read, now := our.Old, our.Old
		if ch, moved := at[1][path]; moved {
			read, now = ch.New, ch.New
		}
		if ch, differs := at[2][path]; differs {
			now = ch.New
		}
		if merged, err := isMerge(ctx, reader, now, our.Old, our.New, read); !merged || err != nil {
			return false, err
		}
	}
	return true, nil
}

// isMerge is edit.IsMerge of the contents of blobs. A file that one side lacks is what the
// other one made of it.
func isMerge(ctx context.Context, reader *gitsource.Reader, now, base, our, read object.Hash) (bool, error) {
	switch {
	case read == base, read == our:
		return now == our, nil
	case now.IsZero(), base.IsZero(), our.IsZero(), read.IsZero():
		return false, nil
	}
	var files [4][]byte
	for i, blob := range []object.Hash{now, base, our, read} {
		data, err := reader.Blob(ctx, blob, maxRenewed)
		if err != nil {
			return false, err
		}
		files[i] = data
	}
	return edit.IsMerge(files[0], files[1], files[2], files[3]), nil
}

// maxRenewed bounds the files that are compared.
const maxRenewed = 64 << 20

// baseOf returns the newest commit of the branch that is read which a commit is made on;
// false if there is no such one.
func baseOf(ctx context.Context, reader *gitsource.Reader, commit object.Hash) (object.Hash, bool, error) {
	bases, err := reader.Bases(ctx, commit)
	if err != nil {
		return object.Hash{}, false, err
	}
	for _, base := range bases {
		newest := true
		for i := 0; i < len(bases) && newest && err == nil; i++ {
			newest, err = reader.IsAncestor(ctx, bases[i], base)
		}
		if newest || err != nil {
			return base, err == nil, err
		}
	}
	return object.Hash{}, false, nil
}
