package push

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
)

// failedPush is a push that failed, with the components that have edits in it.
type failedPush struct {
	err  error
	rows []*store.BranchComponent
}

// try is flush, and remembers whose push failed.
func (r *run) try(ctx context.Context) error {
	err := r.flush(ctx)
	if err != nil {
		r.failed = append(r.failed, failedPush{err, r.concerned(ctx)})
	}
	return err
}

// concerned returns the components with edits in the push; all of the group if none has.
func (r *run) concerned(ctx context.Context) (rows []*store.BranchComponent) {
	if len(r.edits)+len(r.ofFiles) == 0 { // it failed before they were read
		_, _ = r.files(ctx) // on error it concerns all
	}
	has := map[int64]bool{}
	for i := range r.ofFiles {
		has[r.ofFiles[i].ComponentID] = true
	}
	for f := range r.edits {
		has[r.edits[f][0].ComponentID] = true
	}
	for i := range r.group.rows {
		if row := &r.group.rows[i]; len(has) == 0 || has[row.ID] {
			rows = append(rows, row)
		}
	}
	return rows
}

// note stores what became of the flush, for those who ask why edits are not pushed: of a
// failure, at the components that have edits in that push. That another process was faster,
// or this one is stopped, is no failure of the push.
func (r *run) note(ctx context.Context, failed error) error {
	if ctx.Err() != nil || errors.Is(failed, catalog.ErrConflict) || errors.Is(failed, store.ErrUnavailable) {
		return failed
	}
	if failed != nil && len(r.failed) == 0 { // before any push
		r.failed = []failedPush{{failed, r.concerned(ctx)}}
	}
	with, at := map[catalog.Failure][]int64{}, r.Now()
	for i := range r.group.rows {
		problem := r.failureOf(&r.group.rows[i], at)
		with[problem] = append(with[problem], r.group.rows[i].ID)
	}
	errs := []error{failed}
	for problem, ids := range with {
		kept := slices.DeleteFunc(slices.Clone(r.kept), func(e store.Edit) bool { return !slices.Contains(ids, e.ComponentID) })
		errs = append(errs, r.DB.NotePush(ctx, ids, problem, kept, at))
	}
	return errors.Join(errs...)
}

// failureOf is what is stored of the failed pushes of a component. What a remote or a forge
// says of edits of several components is for those who may see all of them.
func (r *run) failureOf(row *store.BranchComponent, at time.Time) catalog.Failure {
	var errs []error
	told := true
	for _, f := range r.failed {
		if slices.ContainsFunc(f.rows, func(o *store.BranchComponent) bool { return o.ID == row.ID }) {
			errs = append(errs, f.err)
			told = told && !slices.ContainsFunc(f.rows, func(o *store.BranchComponent) bool {
				return o.ProjectID != row.ProjectID && o.Settings.Private(&o.Project)
			})
		}
	}
	err := errors.Join(errs...)
	problem := ingest.FailureOf(err, r.repository().URL, at)
	switch is := func(kind error) bool { return errors.Is(err, kind) }; {
	case is(forge.ErrAccess), is(forge.ErrRefused), is(forge.ErrExists):
		problem.Kind = catalog.FailureRefused
	case is(forge.ErrNotFound), is(forge.ErrUnavailable):
		problem.Kind = catalog.FailureUnreachable
	}
	if !told {
		problem.Words = ""
	}
	return problem
}
