package push

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
)

const (
	// firstPause is the time between two flushes of a branch whose edits could not all
	// be pushed; it doubles up to longestPause.
	firstPause   = time.Minute
	longestPause = time.Hour
	// requestPause is the time between two looks at a request.
	requestPause = 5 * time.Minute
	// lookPause is the time between two looks at the requests of others, which come with pulls.
	lookPause = time.Minute
)

// Ready reports whether edits of a branch are to be pushed now. It is the one place that
// keeps the pauses after failures: only a push by hand does not ask it.
func (p *Pusher) Ready(ctx context.Context, b ingest.Branch) (bool, error) {
	now := p.Now()
	w, err := p.DB.PushWait(ctx, b.Key)
	if err != nil || w.Unreached || now.Before(w.Later) {
		return false, err
	}
	due := w.Wish != 0
	if !due {
		due, err = p.Due(ctx, b, !now.Before(w.HeldTill))
	}
	if err == nil && !due && now.Sub(w.Ended) >= requestPause { // perhaps its request has ended
		due, err = p.Requested(ctx, b)
	}
	return due, err
}

// Due reports whether edits of a branch must be flushed: a file is added or removed, the
// oldest is old enough, there are many, a client asked to commit them and push_on_commit is
// set, or the last push failed. What the last one could not write counts only with held.
func (p *Pusher) Due(ctx context.Context, b ingest.Branch, held bool) (bool, error) {
	rows, err := p.rows(ctx, b)
	if err != nil {
		return false, err
	}
	if err := p.noteTemplates(ctx, rows); err != nil {
		return false, err
	}
	due := false
	err = p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		for i := 0; i < len(rows) && !due && err == nil; i++ {
			due, err = p.dueOf(ctx, snap, &rows[i], held)
		}
		return err
	})
	return due, err
}

func (p *Pusher) dueOf(ctx context.Context, snap *store.Snapshot, row *store.BranchComponent, held bool) (bool, error) {
	n, left, oldest, err := snap.Unpushed(ctx, row.ID, placeOf(row))
	if err != nil {
		return false, err
	}
	files, err := snap.PendingFiles(ctx, row.ID)
	switch {
	case err != nil:
		return false, err
	case row.PushProblem.Failed(), held && left > 0, n > 0 && dueAt(&row.Settings, n, p.Now().Sub(oldest)):
		return true, nil
	case slices.ContainsFunc(files, func(e store.Edit) bool {
		return !placeOf(row).Has(e.Pushed) && (held || e.Reason == "") && !p.waits(row, &e)
	}):
		return true, nil
	case n == 0 || !row.Settings.PushOnCommit:
		return false, nil
	}
	_, committed, err := snap.Waiting(ctx, row.ID, placeOf(row))
	return committed > 0, err
}

// Requested reports whether edits of a branch are on one of our own: its request may have
// ended, somebody may have removed it, it may have what was taken back since, or nothing
// goes there any more.
func (p *Pusher) Requested(ctx context.Context, b ingest.Branch) (bool, error) {
	rows, err := p.rows(ctx, b)
	if err != nil {
		return false, err
	}
	for i := range rows {
		if rows[i].Settings.Edits.Mode == catalog.PushDirect {
			continue
		}
		place := placeOf(&rows[i])
		known, err := p.DB.PushBranches(ctx, place.Repo, place.Branch)
		if len(known) > 0 || err != nil {
			return len(known) > 0, err
		}
	}
	strays, err := p.strays(ctx, rows)
	return len(strays) > 0, err
}

// ahead is how far clocks may differ. What is newer than that was stored while the clock of
// this machine was wrong, and is due: it would never become old enough.
const ahead = time.Minute

// dueAt reports whether a number of edits, the oldest of an age, are to be flushed.
func dueAt(s *catalog.ComponentSettings, n int, age time.Duration) bool {
	wait := s.Edits.Flush
	if s.CommitPendingAge > 0 {
		wait = time.Duration(s.CommitPendingAge) * time.Hour
	}
	return age >= wait || age < -ahead || s.Edits.FlushMax > 0 && n >= s.Edits.FlushMax
}

// Try is FlushOnly, from which the pauses of Ready follow. It asks no forge that wants no
// requests.
func (p *Pusher) Try(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination, of func(*store.BranchComponent) bool) (Report, error) {
	w, err := p.DB.PushWait(ctx, b.Key)
	if err != nil {
		return Report{}, err
	}
	if p.Now().Before(w.Until) {
		return Report{}, fmt.Errorf("the forge wants no requests until %s", w.Until.UTC().Format(time.RFC3339))
	}
	report, err := p.FlushOnly(ctx, b, to, of)
	if ctx.Err() == nil {
		p.Note(ctx, b.Key, func(w store.PushWait) store.PushWait { return after(w, p.Now(), len(report.Held) > 0, err) })
	}
	return report, err
}

// pauseAfter is how long a branch waits after a number of pushes in a row.
func pauseAfter(failures int) time.Duration {
	wait := firstPause
	for ; failures > 1 && wait < longestPause; failures-- {
		wait *= 2
	}
	return min(wait, longestPause)
}

// after returns when a branch is flushed again after a flush. What cannot be written waits
// alone, with pauses that grow; after a failure everything does, and not shorter than a
// forge asks for.
func after(w store.PushWait, now time.Time, held bool, err error) store.PushWait {
	next := store.PushWait{Ended: now}
	if held {
		next.Held = w.Held + 1
		next.HeldTill = now.Add(pauseAfter(next.Held))
	}
	if err != nil {
		next.Failures = w.Failures + 1
		next.Later = now.Add(pauseAfter(next.Failures))
	}
	if errors.Is(err, ErrForeign) { // until its request is merged, which is looked for as ever
		next.Later = now.Add(min(pauseAfter(next.Failures), requestPause))
	}
	return limited(next, now, err)
}

// limited lets a branch wait as long as the forge of an error wants no requests.
func limited(w store.PushWait, now time.Time, err error) store.PushWait {
	if limit, ok := errors.AsType[*forge.LimitError](err); ok && now.Add(limit.After).After(w.Until) {
		w.Until = now.Add(limit.After)
	}
	if w.Until.After(w.Later) {
		w.Later = w.Until
	}
	return w
}

// Note changes when the edits of a branch, by its key, are pushed again.
func (p *Pusher) Note(ctx context.Context, key string, change func(store.PushWait) store.PushWait) {
	w, err := p.DB.PushWait(ctx, key)
	if now := change(w); err == nil && now != w {
		err = p.DB.SetPushWait(ctx, key, now)
	}
	if err != nil && ctx.Err() == nil {
		p.Logger.Error("when edits are pushed again cannot be stored", "branch", key, "error", err)
	}
}

// Reached notes whether a pull reached the repository of a branch: while none does, the
// pauses of pulls count.
func (p *Pusher) Reached(ctx context.Context, key string, reached bool) {
	p.Note(ctx, key, func(w store.PushWait) store.PushWait {
		w.Unreached = !reached
		return w
	})
}

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
		_ = r.read(ctx) // on error it concerns all
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
	with, begun, at := map[catalog.Failure][]int64{}, map[catalog.FailureKind][]int64{}, r.Now()
	for i := range r.group.rows {
		row := &r.group.rows[i]
		problem := r.failureOf(row, at)
		with[problem] = append(with[problem], row.ID)
		if problem.Failed() && !row.PushProblem.Failed() {
			begun[problem.Kind] = append(begun[problem.Kind], row.ID)
		}
	}
	errs := []error{failed}
	for kind, ids := range begun { // before it is stored: told twice rather than never
		errs = append(errs, r.Syncer.RecordPush(ctx, r.branch, catalog.ActionFailedPush, ids, map[string]string{"error": string(kind)}))
	}
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

// looks is what this process knows of the requests of others, by the key of a branch. Another
// one that takes over asks anew.
type looks struct {
	mu    sync.Mutex
	waits map[string]lookWait
	known map[string]map[int]*verdict // by branch and repository of the forge
}

// lookWait says when requests are looked at again.
type lookWait struct {
	later    time.Time
	failures int
	missed   bool // a pull came before later
	nowhere  bool // no forge is asked, and nothing is stored
}

// wait returns what change, if there is one, makes of the wait of a key.
func (l *looks) wait(key string, change func(*lookWait)) lookWait {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waits[key]
	if change != nil {
		change(&w)
		l.waits[key] = w
	}
	return w
}

// verdicts is what is known of the requests of a key, for the holder of the mirror.
func (l *looks) verdicts(key string) map[int]*verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[key] == nil {
		l.known[key] = map[int]*verdict{}
	}
	return l.known[key]
}

// mayLook reports whether requests for a branch may be looked at now: a wish does not wait for
// the pauses, but for a forge that wants no requests.
func (p *Pusher) mayLook(ctx context.Context, key string, wished bool) (bool, error) {
	w, err := p.DB.PushWait(ctx, key)
	if err != nil || p.Now().Before(w.Until) {
		return false, err
	}
	may := wished
	p.looks.wait(key, func(w *lookWait) {
		may = may || !p.Now().Before(w.later)
		w.missed = w.missed || !may
	})
	return may, nil
}

// LookDue reports, once, that requests were not looked at after a pull, since that was too soon
// after another look, and that the pause is over: what a webhook told would wait for the next pull.
func (p *Pusher) LookDue(b ingest.Branch) bool {
	due := false
	p.looks.wait(b.Key, func(w *lookWait) {
		due = w.missed && !p.Now().Before(w.later)
		w.missed = w.missed && !due
	})
	return due
}

// afterLook notes when they are looked at again.
func (p *Pusher) afterLook(ctx context.Context, key string, err error) {
	p.looks.wait(key, func(w *lookWait) {
		failures := w.failures + 1
		if *w = (lookWait{later: p.Now().Add(lookPause)}); err != nil {
			*w = lookWait{later: p.Now().Add(pauseAfter(failures)), failures: failures}
		}
	})
	if _, ok := errors.AsType[*forge.LimitError](err); ok {
		p.Note(ctx, key, func(w store.PushWait) store.PushWait { return limited(w, p.Now(), err) })
	}
}
