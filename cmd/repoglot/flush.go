package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

const (
	// flushTick is the time between two looks for edits that are due.
	flushTick = 2 * time.Second
	// flushPause is the least time between two flushes of a branch whose edits could
	// not all be pushed.
	flushPause = time.Minute
)

// newPusher makes the part that pushes edits.
func newPusher(e *engine, c *config.Config, base string) *push.Pusher {
	return push.New(push.Options{
		DB: e.db, Syncer: e.syncer, Languages: e.languages, Name: wire.SiteTitle, Email: "noreply@" + cmp.Or(remoteHost(base), "localhost"),
		SiteTitle: wire.SiteTitle, BaseURL: base, MaxFile: int64(c.MaxFileSize), Logger: e.log,
	})
}

// flusher pushes the edits of branches when they are due.
type flusher struct {
	*push.Pusher
	later map[string]time.Time // by branch: not before
}

// watchEdits has branches pulled, and so flushed, whose edits are due.
func (s *supervisor) watchEdits(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.mu.Lock()
			p := s.plan
			s.mu.Unlock()
			for i := range p.branches {
				if b := &p.branches[i]; s.flushDue(ctx, b) {
					s.sched.Trigger(b.Key)
				}
			}
		}
	}
}

// flushDue reports whether edits of a branch are to be pushed now.
func (s *supervisor) flushDue(ctx context.Context, b *ingest.Branch) bool {
	if s.flusher == nil || !takesEdits(b) {
		return false
	}
	s.mu.Lock()
	later := s.flusher.later[b.Key]
	s.mu.Unlock()
	if time.Now().Before(later) {
		return false
	}
	due, err := s.flusher.Due(ctx, *b)
	if err != nil && ctx.Err() == nil {
		s.log.Error("edits that are due cannot be found", "branch", b.Key, "error", err)
	}
	return due
}

// flush pushes the edits of a branch, if they are due.
func (s *supervisor) flush(ctx context.Context, b *ingest.Branch) error {
	if !s.flushDue(ctx, b) {
		return nil
	}
	return s.flushNow(ctx, b)
}

// flushNow pushes the edits of a branch.
func (s *supervisor) flushNow(ctx context.Context, b *ingest.Branch) error {
	s.mu.Lock()
	p := s.plan
	s.mu.Unlock()
	report, err := s.flusher.Flush(ctx, *b, func(c *store.BranchComponent) push.Destination {
		return p.pushes[store.TemplateKey{Project: c.Project.Slug, Slug: cmp.Or(c.Template, c.Slug)}]
	})
	if report.Commits > 0 {
		s.log.Info("edits pushed", "branch", b.Key, "commits", report.Commits, "edits", report.Edits)
	}
	for id, reason := range report.Held {
		s.log.Warn("an edit stays pending", "branch", b.Key, "edit", id, "reason", reason)
	}
	if err != nil || len(report.Held) > 0 {
		s.mu.Lock()
		s.flusher.later[b.Key] = time.Now().Add(flushPause)
		s.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("edits: %w", err)
	}
	return nil
}

// operations pull and push for requests to the API. Processes that share a database leave
// that to the one that has the mirror.
type operations struct{ *supervisor }

// branchOf finds the branch of a component.
func (o operations) branchOf(ctx context.Context, component int64) (*ingest.Branch, error) {
	row, err := o.engine.db.ComponentByID(ctx, component)
	if err != nil {
		return nil, fmt.Errorf("finding the branch: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.plan.branch(ingest.BranchKey(row.Repo, row.Branch))
	if b == nil {
		return nil, errors.New("the configuration has changed: try again")
	}
	return b, nil
}

// Push flushes at once.
func (o operations) Push(ctx context.Context, component int64) (waits bool, err error) {
	b, err := o.branchOf(ctx, component)
	if err != nil {
		return false, err
	}
	if o.engine.cluster != nil {
		o.wish(b.Key, "a request")
		return false, nil
	}
	return true, o.flushNow(ctx, b)
}

// Pull pulls at once.
func (o operations) Pull(ctx context.Context, component int64) (waits bool, err error) {
	b, err := o.branchOf(ctx, component)
	if err != nil {
		return false, err
	}
	if o.engine.cluster != nil {
		o.wish(b.Key, "a request")
		return false, nil
	}
	_, err = o.engine.pull(ctx, b)
	return true, err
}
