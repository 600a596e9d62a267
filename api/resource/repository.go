package resource

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// A repository's state is public (docs/compatibility.md#repository-status), but for the words
// of what failed. It can be read during the first import, too: that is when people look.

// getRepository answers the state of the repository of a component, or of a translation.
func (e *Env) getRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request, row *store.ComponentRow) (any, error) {
	path := wire.ComponentPath(row.Project.Slug, row.Slug)
	if r.PathParam("language") != "" {
		t, err := e.VisibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		path = pathOf(&t)
	}
	commit, err := snap.HeadCommit(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	told := func(f *catalog.Failure) string { return rest.AccessOf(ctx).Failure(&row.Project, f) }
	needsCommit, needsPush, err := waiting(ctx, snap, row)
	return wire.NewRepository(r.Link, &row.Component, commit, path, cmp.Or(told(&row.Problem), told(&row.PushProblem)), needsCommit, needsPush), err
}

// waiting reports whether edits of a component wait to be committed, and to be pushed; files
// that are added or removed are committed when they are pushed.
func waiting(ctx context.Context, snap *store.Snapshot, row *store.ComponentRow) (commit, push bool, err error) {
	if !row.Settings.Edits.Taken() {
		return false, false, nil
	}
	to := store.PlaceOf(&row.Component, row.Project.Slug)
	uncommitted, committed, err := snap.Waiting(ctx, row.ID, to)
	if err != nil || uncommitted+committed > 0 {
		return uncommitted > 0, true, err
	}
	files, err := snap.PendingFiles(ctx, row.ID)
	return false, slices.ContainsFunc(files, func(f store.Edit) bool { return !to.Has(f.Pushed) }), err
}

func getProjectRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request, project *catalog.Project) (any, error) {
	components, err := VisibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return nil, err
	}
	var commits, merges, pushes bool
	for i := range components {
		commit, push, err := waiting(ctx, snap, components[i])
		if err != nil {
			return nil, err
		}
		commits, merges, pushes = commits || commit, merges || wire.NeedsMerge(&components[i].Component), pushes || push
	}
	return wire.NewProjectRepository(r.Link, wire.ProjectPath(project.Slug), commits, merges, pushes), nil
}

var errAdmin = &rest.Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action: it needs a token of scope admin."}

// operations are the values of the field operation.
var operations = []string{"commit", "push", "pull", "pull-rebase", "pull-merge", "pull-merge-noff", "reset", "reset-keep", "cleanup", "file-sync", "file-scan", "msgmerge"}

// operation is what an operation is about, as it was at a generation of the store.
type operation struct {
	components []operated
	generation int64
}

type operated struct {
	row          *store.ComponentRow
	translations []int64 // whose edits are committed
	language     string  // of the translation that is named, "" for all
	force        bool    // msgmerge, although files lose many strings
	sent         int     // edits that were taken back with a text that may still arrive
}

// takingEdits returns those of some components that take edits. The list is a new one: that
// of all components of a project is shared by all answers.
func takingEdits(rows []*store.ComponentRow) []*store.ComponentRow {
	return slices.DeleteFunc(slices.Clone(rows), func(c *store.ComponentRow) bool { return !c.Imported || !c.Settings.Edits.Taken() })
}

func mayRun(ctx context.Context, o *operation) error { return mayOperateOn(ctx, o.components[0].row) }

func mayOperate(ctx context.Context, rows *[]*store.ComponentRow) error {
	return mayOperateOn(ctx, (*rows)[0])
}

// mayOperateOn refuses a client that may not change a component with edits, or its repository.
func mayOperateOn(ctx context.Context, row *store.ComponentRow) error {
	return may(ctx, catalog.ScopeAdmin, row, "")
}

// operable finds the component that the path names, or those of a project, which take edits.
func (e *Env) operable(ctx context.Context, snap *store.Snapshot, r *rest.Request) ([]*store.ComponentRow, error) {
	rows, err := namedComponents(ctx, snap, r)
	if err == nil && r.PathParam("component") != "" {
		_, err = e.ImportedComponent(ctx, snap, r)
	}
	if rows = takingEdits(rows); err == nil && len(rows) == 0 {
		err = rest.ErrReadOnly
	}
	return rows, err
}

// operation finds what an operation is about: a translation, or operable components.
func (e *Env) operation(ctx context.Context, snap *store.Snapshot, r *rest.Request) (o operation, err error) {
	rows, err := e.operable(ctx, snap, r)
	if err != nil {
		return o, err
	}
	if o.generation, err = snap.Generation(ctx); err != nil {
		return o, err
	}
	if r.PathParam("language") != "" {
		t, err := e.VisibleTranslation(ctx, snap, r)
		o.components = []operated{{row: rows[0], translations: []int64{t.ID}, language: t.Language}}
		return o, err
	}
	if err := mayOperateOn(ctx, rows[0]); err != nil {
		return o, err // before the translations of a project are read
	}
	for _, row := range rows {
		all, err := snap.Translations(ctx, row.ID)
		if err != nil {
			return o, err
		}
		ids, err := snap.EditedTranslations(ctx, row.ID) // also those whose file is away
		if err != nil {
			return o, err
		}
		for i := range all {
			if !all[i].IsSource && !slices.Contains(ids, all[i].ID) {
				ids = append(ids, all[i].ID)
			}
		}
		o.components = append(o.components, operated{row: row, translations: ids})
	}
	return o, nil
}

// operate answers POST of a repository: of a project, a component, or a translation. What
// was asked for goes on if the client goes away, and a second request for the same joins it,
// unless something was written in between, which the first may not see.
func (e *Env) operate(ctx context.Context, r *rest.Request, of *operation, body *rest.Body) (any, error) {
	operation, err := body.Text("operation")
	if err != nil || !slices.Contains(operations, operation) {
		return nil, rest.BadParameter("operation", "\""+operation+"\" is not a valid choice.")
	}
	force, err := body.Bool("force")
	if err != nil {
		return nil, err
	}
	for i := range of.components {
		of.components[i].force = force
	}
	if with := func(o operated) bool { return o.row.Settings.Edits.Update.On }; operation == "msgmerge" && slices.ContainsFunc(of.components, with) {
		of.components = slices.DeleteFunc(of.components, func(o operated) bool { return !with(o) }) // of a project those that have it
	}
	token := rest.AccessOf(ctx).Token
	e.Logger.Info("operation on a repository", "operation", operation, "token", token.Name, "path", r.HTTP.URL.Path)
	key := fmt.Sprint(operation, " ", r.HTTP.URL.Path, " ", token.ID, " ", of.generation)
	if !slices.Contains([]string{"commit", "push", "reset", "file-sync"}, operation) {
		// It asks the host, which may have more than when the running one did.
		key = rand.Text()
	}
	return e.Errands.Do(ctx, key, func(ctx context.Context) (any, error) { return e.runAll(ctx, operation, of.components) })
}

// runAll runs an operation: one that is about a branch once for each. What fails is told
// as a result, as in Weblate, and does not keep the others from it.
func (e *Env) runAll(ctx context.Context, operation string, list []operated) (any, error) {
	type branch struct{ repo, name string }
	seen := map[branch]bool{}
	var errs []error
	allWait, sent := true, 0
	for i := range list {
		row := list[i].row
		at := branch{row.Repo, row.Branch}
		if !slices.Contains([]string{"reset", "commit", "msgmerge"}, operation) && seen[at] {
			continue
		}
		seen[at] = true
		waits, err := e.run(ctx, operation, &list[i])
		if _, refused := errors.AsType[*rest.Problem](err); err != nil && (operation == "reset" || refused) {
			return nil, err // of the database, or there is no turn
		}
		if err != nil {
			e.Logger.Warn("an operation on a repository failed", "operation", operation, "component", row.ID, "error", err)
			errs = append(errs, err)
		}
		allWait, sent = allWait && waits, sent+list[i].sent
	}
	switch err := errors.Join(errs...); {
	case err != nil:
		told, err := e.toldOf(ctx, list, err)
		return wire.Done{Detail: told}, err
	case !allWait:
		return wire.Done{Result: true, Detail: strings.TrimSpace("Another process was asked to. " + onItsWay(sent))}, nil
	}
	return wire.Done{Result: true, Detail: onItsWay(sent)}, nil
}

// toldOf is what a client is told of an operation that failed. An error of a branch may be
// about components of other projects: a token that is for some is told what is stored of its own.
func (e *Env) toldOf(ctx context.Context, list []operated, failed error) (string, error) {
	if rest.AccessOf(ctx).SeesAll() {
		f := store.StoredFailure(catalog.Failure{Kind: catalog.FailureOther, Words: failed.Error()})
		return f.Words, nil
	}
	var said []string
	err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		for i := range list {
			row, err := snap.Component(ctx, list[i].row.Project.Slug, list[i].row.Slug)
			if err != nil {
				return err
			}
			for _, f := range []*catalog.Failure{&row.Problem, &row.PushProblem} {
				if f.Failed() {
					said = append(said, row.Slug+": "+rest.AccessOf(ctx).Failure(&row.Project, f))
				}
			}
		}
		return nil
	})
	if len(said) == 0 {
		said = []string{"It failed; the log of the server says why."}
	}
	return strings.Join(said, "\n"), err
}

// run runs an operation on one component. waits says whether it is done.
func (e *Env) run(ctx context.Context, operation string, o *operated) (waits bool, err error) {
	component, access := o.row.ID, rest.AccessOf(ctx)
	switch operation {
	case "commit":
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Commit(ctx, component, o.translations) })
	case "push":
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Push(ctx, component, &access.Token) })
	case "msgmerge":
		how := edit.UpdateWished
		if o.force {
			how = edit.UpdateForced
		}
		if err := e.Edits(ctx, 0, func(to Edits) error { return to.NoteTemplate(ctx, component, how, AuthorOf(ctx)) }); err != nil {
			return true, EditProblem(err)
		}
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Push(ctx, component, &access.Token) })
	case "pull", "pull-rebase", "pull-merge", "pull-merge-noff":
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Pull(ctx, component) })
	case "reset-keep", "cleanup", "file-scan":
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Reclone(ctx, component) })
	case "reset":
		done, err := Take(ctx, e.Edits, 0, func(to Edits) (edit.Discarded, error) {
			return to.Discard(ctx, component, AuthorOf(ctx), "reset", false, func(j *store.Edit) bool { return o.language == "" || j.Language == o.language })
		})
		if err != nil {
			return true, err
		}
		o.sent = done.Sent
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Commit(ctx, component, nil) })
	}
	return true, nil
}

// onItsWay says of how many edits taken back a text was sent and may arrive; "" if of none.
func onItsWay(sent int) string {
	if sent == 0 {
		return ""
	}
	return fmt.Sprintf("A text of %d edit(s) was sent already. It leaves our branch with the next push; if it arrives all the same, the text of before becomes a pending edit of yours.", sent)
}

// lock answers POST of a lock: of a component, or of all of a project that take edits.
func (e *Env) lock(ctx context.Context, _ *rest.Request, rows *[]*store.ComponentRow, body *rest.Body) (any, error) {
	locked, err := body.Bool("lock")
	if err != nil {
		return nil, err
	}
	for _, row := range *rows {
		if _, err := Take(ctx, e.Edits, 0, func(to Edits) (bool, error) { return to.Lock(ctx, row.ID, AuthorOf(ctx), locked) }); err != nil {
			return nil, err
		}
	}
	return wire.Object{"locked", locked}, nil
}

// maxErrand bounds an errand: its hosts have shorter limits, but there may be many.
const maxErrand = 2 * time.Hour

// Errands are what clients ask for and what goes on when they go away: who closes a tab or runs
// into a proxy's time limit has asked for a push all the same. Make them with NewErrands.
type Errands struct {
	log     *slog.Logger
	flights singleflight.Group
	ending  context.Context
	end     context.CancelFunc
	running sync.RWMutex // read by each that runs
}

// NewErrands returns Errands without any. Panics are logged.
func NewErrands(log *slog.Logger) *Errands {
	e := &Errands{log: log}
	e.ending, e.end = context.WithCancel(context.Background())
	return e
}

// Do calls fn, or waits for a running call for the same key. Its result is ctx's error if ctx
// is done first; fn goes on then. The context of fn has the values of ctx and ends with End.
func (e *Errands) Do(ctx context.Context, key string, fn func(context.Context) (any, error)) (any, error) {
	done := e.flights.DoChan(key, func() (any, error) { return e.run(context.WithoutCancel(ctx), fn) })
	select {
	case r := <-done:
		return r.Val, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *Errands) run(ctx context.Context, fn func(context.Context) (any, error)) (result any, err error) {
	if e.ending.Err() != nil || !e.running.TryRLock() { // End waits for those that run
		return nil, context.Canceled
	}
	defer e.running.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, maxErrand)
	defer cancel()
	defer context.AfterFunc(e.ending, cancel)()
	defer func() { // it is no goroutine of the HTTP server, which would survive it
		if p := recover(); p != nil {
			e.log.Error("an operation panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fn(ctx)
}

// End ends all errands, waits for them and refuses new ones. It may be called more than once.
func (e *Errands) End() {
	e.end()
	e.running.Lock()
	defer e.running.Unlock()
}
