package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// recordErrors stores which components failed, and joins their errors.
func (p *pull) recordErrors(ctx context.Context) error {
	var all []error
	mute, more := false, 0
	for _, c := range p.comps {
		err := p.errs[c.row.ID]
		switch {
		case err == nil && p.away[c.row.ID] != nil: // no failure of the branch
			err = p.away[c.row.ID]
			if c.row.Problem.Words != p.failure(err).Words {
				p.s.Logger.Warn("a template cannot be pulled", "component", c.name(), "error", err)
			}
		case err == nil || mute:
		case len(all) < maxErrors || !sameKind(err, all):
			all = append(all, fmt.Errorf("component %s: %w", c.name(), err))
		default:
			more++
		}
		if errors.Is(err, catalog.ErrConflict) {
			continue // another writer was faster, such as a new configuration: no failure
		}
		if mute {
			continue
		}
		if serr := p.recordProblem(ctx, []*component{c}, err); serr != nil {
			if mute = errors.Is(serr, store.ErrUnavailable); mute || len(all) < maxErrors { // the others would wait for the lock, too, with the same error
				all = append(all, serr)
			}
		}
	}
	if more > 0 {
		all = append(all, fmt.Errorf("and %d more components", more))
	}
	return errors.Join(all...)
}

// sameKind reports whether callers learn nothing of an error that they do not learn
// of those in a list.
func sameKind(err error, list []error) bool {
	for _, kind := range []error{catalog.ErrConflict, store.ErrUnavailable} {
		if errors.Is(err, kind) && !errors.Is(errors.Join(list...), kind) {
			return false
		}
	}
	return true
}

// failed stores that the pull of the whole branch failed; for want of room on the disk in one
// small transaction, and without entries.
func (p *pull) failed(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return cause // stopped, not failed
	}
	rows, err := p.s.rows(ctx, &p.branch)
	if err != nil {
		return errors.Join(cause, err)
	}
	comps := catalog.Each(rows, func(row *store.BranchComponent) *component { return &component{row: *row} })
	if _, full := errors.AsType[*errRoom](cause); full {
		_, err = p.s.DB.SetPullProblem(ctx, ids(comps), p.failure(cause))
	} else {
		err = p.recordProblem(ctx, comps, cause)
	}
	return errors.Join(cause, err)
}

// recordProblem stores that components cannot be pulled, or can again. A
// component that could be pulled before gets entry 22
// (docs/compatibility.md#component-events).
func (p *pull) recordProblem(ctx context.Context, comps []*component, cause error) error {
	problem := p.failure(cause)
	for _, c := range comps {
		if was := c.row.Problem; was.Kind == problem.Kind && was.Words == problem.Words {
			continue
		}
		begins := !c.row.Problem.Failed() && c.row.Head != "" && c.row.Imported && // the entries of a replay are of the past
			!errors.Is(cause, store.ErrUnavailable) // the repository did not cause it
		var err error
		if begins {
			err = p.recordFailure(ctx, c, problem)
		} else {
			_, err = p.s.DB.SetPullProblem(ctx, []int64{c.row.ID}, problem)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// failure is what is stored of an error of this pull.
func (p *pull) failure(cause error) catalog.Failure {
	return FailureOf(cause, p.branch.Remote.URL, p.at)
}

// recordFailure stores that a component cannot be pulled, with entry 22. Its head stays.
// Everyone may read the entry, so it has the kind only.
func (p *pull) recordFailure(ctx context.Context, c *component, problem catalog.Failure) error {
	_, err := p.s.DB.Step(ctx, stayingAt(&c.row, p.at, c.row.ID), func(ctx context.Context, tx *store.StepTx) error {
		if err := tx.SetPullProblem(ctx, c.row.ID, problem); err != nil {
			return err
		}
		entry := eventEntry(catalog.ActionFailedMerge, map[string]string{"error": string(problem.Kind)})
		return tx.AddDelta(ctx, store.Delta{ComponentID: c.row.ID, Entries: []store.Entry{entry}})
	})
	return err
}

// FailureOf is what is stored of the error of a pull or a push of a repository. Its words
// have no path of this machine.
func FailureOf(err error, repo string, at time.Time) catalog.Failure {
	if err == nil {
		return catalog.Failure{}
	}
	words := err.Error()
	if path, local := repourl.IsLocal(repo); local && path != "" { // a blank in it would end it
		words = strings.ReplaceAll(words, path, "the repository")
	}
	return store.StoredFailure(catalog.Failure{Kind: KindOf(err), Words: words, Since: at})
}

// KindOf is the kind of an error of a pull, or of a push without its forge.
func KindOf(err error) catalog.FailureKind {
	var quota *errQuota
	var disk *fs.PathError
	var room *errRoom
	switch is := func(kind error) bool { return errors.Is(err, kind) }; {
	case is(context.DeadlineExceeded):
		return catalog.FailureTimedOut
	case errors.As(err, &quota), is(object.ErrTooLarge), is(store.ErrTooMuch):
		return catalog.FailureTooLarge
	case is(remote.ErrAuth), is(remote.ErrDeclined):
		return catalog.FailureRefused
	case is(remote.ErrUnreachable):
		return catalog.FailureUnreachable
	case is(remote.ErrBranchMissing), is(remote.ErrEmptyRepository):
		return catalog.FailureNoBranch
	case is(remote.ErrMoved):
		return catalog.FailureMoved
	case is(remote.ErrUnsupported):
		return catalog.FailureUnsupported
	case errors.As(err, &room), errors.As(err, &disk), is(store.ErrUnavailable), is(store.ErrFull):
		return catalog.FailureServer
	case object.Damaged(err):
		return catalog.FailureUnreadable
	case is(catalog.ErrInvalid), is(filemask.ErrInvalid):
		return catalog.FailureSettings
	}
	return catalog.FailureOther
}

// errRoom says that the disk has too little room.
type errRoom struct{ error }

// Unwrap returns the error of whoever looked.
func (e *errRoom) Unwrap() error { return e.error }

// hasRoom is an *errRoom if there is too little room on the disk.
func (s *Syncer) hasRoom() error {
	if err := s.Room(); err != nil {
		return &errRoom{err}
	}
	return nil
}

const (
	// hookPause is the least time between two entries 53 of a component
	// (docs/compatibility.md#component-events).
	hookPause = time.Minute
	// hookTries bounds the tries, each of which fails if a pull moves the heads
	// meanwhile.
	hookTries = 10
	// hookRecent is how many of a component's newest entries are searched for one
	// that an earlier process wrote.
	hookRecent = 20
)

// hookTimes are the times of the last entry 53 of components. The zero value is
// ready to use.
type hookTimes struct {
	mu sync.Mutex // held while entries are written: the next caller sees them
	at map[int64]time.Time
}

// RecordHook writes entry 53 for components of a branch that, as a webhook says,
// was pushed to. event describes the push and is shown to everybody. A component
// gets at most one entry in a minute, and no entry before its first import or
// when it is no longer of the branch. Pulls may run meanwhile.
func (s *Syncer) RecordHook(ctx context.Context, b Branch, components []int64, event map[string]string) error {
	s.hooked.mu.Lock()
	defer s.hooked.mu.Unlock()
	at := s.Now().UTC().Truncate(time.Microsecond)
	return s.record(ctx, b, catalog.ActionHook, event, at, func() ([]int64, error) { return s.hooked.due(ctx, s.DB, components, at) },
		func(id int64) { s.hooked.at[id] = at })
}

// RecordPush writes an entry of components: that a request to merge edits was opened, or that a
// push of edits failed.
func (s *Syncer) RecordPush(ctx context.Context, b Branch, action catalog.Action, components []int64, event map[string]string) error {
	return s.record(ctx, b, action, event, s.Now().UTC().Truncate(time.Microsecond), func() ([]int64, error) { return components, nil }, func(int64) {})
}

// record writes entries for components of a branch; due says of which ones.
func (s *Syncer) record(ctx context.Context, b Branch, action catalog.Action, event map[string]string, at time.Time, due func() ([]int64, error), written func(int64)) error {
	for try := 1; ; try++ {
		components, err := due()
		if err == nil && len(components) > 0 {
			err = s.writeEvent(ctx, b, components, eventEntry(action, event), at, written)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, catalog.ErrConflict) || try == hookTries { // else a pull was faster: its head is the new one
			return fmt.Errorf("record %q for %s: %w", action.Name(), b.Key, err)
		}
	}
}

// due returns the components that got no entry 53 within the last minute.
func (h *hookTimes) due(ctx context.Context, db *store.DB, components []int64, at time.Time) ([]int64, error) {
	if h.at == nil {
		h.at = make(map[int64]time.Time)
	}
	var due []int64
	for _, id := range components {
		last, known := h.at[id]
		if !known {
			var err error
			if last, err = lastHook(ctx, db, id); err != nil {
				return nil, err
			}
			h.at[id] = last
		}
		if passed := at.Sub(last); passed < 0 || passed >= hookPause {
			due = append(due, id)
		}
	}
	return due, nil
}

// lastHook returns the time of a component's newest entry 53, if it is recent.
func lastHook(ctx context.Context, db *store.DB, component int64) (last time.Time, err error) {
	list, err := store.Get(ctx, db, (*store.Snapshot).Changes, store.ChangeQuery{ComponentID: component, Limit: hookRecent, Newest: true})
	if i := slices.IndexFunc(list, func(c catalog.Change) bool { return c.Action == catalog.ActionHook }); i >= 0 {
		last = list[i].Timestamp
	}
	return last, err
}

// writeEvent writes the entries, in one step for the components of each head.
func (s *Syncer) writeEvent(ctx context.Context, b Branch, components []int64, entry store.Entry, at time.Time, written func(int64)) error {
	rows, err := s.rows(ctx, &b)
	if err != nil {
		return err
	}
	heads := make(map[string]store.StepInfo)
	for i := range rows { // in the order of their ids, as a step wants them
		row := &rows[i]
		if row.Imported && row.Head != "" && slices.Contains(components, row.ID) {
			heads[row.At()] = stayingAt(row, at, append(heads[row.At()].Components, row.ID)...)
		}
	}
	for _, info := range heads {
		ids := info.Components
		_, err := s.DB.Step(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
			return catalog.Try(ids, func(id *int64) error {
				return tx.AddDelta(ctx, store.Delta{ComponentID: *id, Entries: []store.Entry{entry}})
			})
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			written(id)
		}
	}
	return nil
}
