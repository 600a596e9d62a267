package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/forge"
)

const (
	// flushTick is the time between two looks for edits that are due.
	flushTick = 2 * time.Second
	// flushPause is the time between two flushes of a branch whose edits could not all
	// be pushed; it doubles up to maxFlushPause.
	flushPause    = time.Minute
	maxFlushPause = time.Hour
	// requestPause is the time between two looks at a request.
	requestPause = 5 * time.Minute
	// expirePause is the time between two looks for edits that have waited in vain.
	expirePause = time.Hour
)

// newPusher makes the part that pushes edits.
func newPusher(e *engine, c *config.Config, base string) *push.Pusher {
	name, email, _ := c.CommitterParts()
	return push.New(push.Options{
		DB: e.db, Syncer: e.syncer, Languages: e.languages, Name: cmp.Or(name, wire.SiteTitle), Email: cmp.Or(email, committerEmail(base)),
		SiteTitle: wire.SiteTitle, BaseURL: base, MaxFile: int64(c.MaxFileSize), Logger: e.log,
	})
}

// committerEmail is the committer's address: of the host of this server, without its port.
func committerEmail(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return "noreply@localhost"
	}
	return "noreply@" + u.Hostname()
}

// flusher pushes the edits of branches when they are due.
type flusher struct {
	*push.Pusher
	mu    sync.Mutex
	waits map[string]flushWait // by branch
}

// flushWait says when a branch is flushed again.
type flushWait struct {
	later time.Time     // not before
	pause time.Duration // after the last flush, which failed; 0 if it did not
	ended time.Time     // of the last flush
	until time.Time     // the forge wants no requests before
	wish  int64         // what a client of the cluster wished when that failed; 0: nothing
}

// wait returns what is known of the last flush of a branch.
func (f *flusher) wait(key string) flushWait {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waits[key]
}

// note notes the end of a flush; the pauses grow while edits cannot be pushed, and are not
// shorter than what a forge asks for.
func (f *flusher) note(key string, now time.Time, failed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := flushWait{ended: now}
	if failed {
		w.pause = min(max(2*f.waits[key].pause, flushPause), maxFlushPause)
		w.later = now.Add(w.pause)
	}
	var limit *forge.LimitError
	if errors.As(err, &limit) {
		w.until = now.Add(limit.After)
		w.later = later(w.later, w.until)
	}
	f.waits[key] = w
}

// keep notes that the flush of a branch failed for which a client of the cluster wished: it
// is due again, whatever waits.
func (f *flusher) keep(key string, wish int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.waits[key]
	w.wish = wish
	f.waits[key] = w
}

// tried reports whether the flush for a wish failed that is to be tried again later.
func (f *flusher) tried(key string, wish int64, now time.Time) bool {
	w := f.wait(key)
	return wish == w.wish && now.Before(w.later)
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// watchEdits has branches pulled, and so flushed, whose edits are due, and ends edits
// that have waited in vain.
func (s *supervisor) watchEdits(ctx context.Context, tick <-chan time.Time) {
	var expired time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.mu.Lock()
			p := s.plan
			s.mu.Unlock()
			taken := false
			for i := range p.branches {
				b := &p.branches[i]
				taken = taken || takesEdits(b)
				if s.flushDue(ctx, b) {
					s.sched.Trigger(b.Key)
				}
			}
			if now := time.Now(); taken && now.Sub(expired) >= expirePause {
				expired = now
				s.expireEdits(ctx)
			}
		}
	}
}

// expireEdits ends edits whose strings have been away for long, and forgets those that were
// taken back long ago.
func (s *supervisor) expireEdits(ctx context.Context) {
	now, err := s.engine.db.Clock(ctx)
	if err == nil {
		var ended, forgotten int
		if ended, forgotten, err = s.engine.syncer.Expire(ctx, now); ended+forgotten > 0 {
			s.log.Info("edits have expired", "suggestions", ended, "forgotten", forgotten)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("edits cannot be expired", "error", err)
	}
}

// flushDue reports whether edits of a branch are to be pushed now.
func (s *supervisor) flushDue(ctx context.Context, b *ingest.Branch) bool {
	if s.flusher == nil || !takesEdits(b) {
		return false
	}
	w, now := s.flusher.wait(b.Key), time.Now()
	if now.Before(w.later) {
		return false
	}
	if w.wish != 0 {
		return true
	}
	due, err := s.flusher.Due(ctx, *b)
	if err == nil && !due && now.Sub(w.ended) >= requestPause { // perhaps its request has ended
		due, err = s.flusher.Requested(ctx, *b, s.destinations())
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("edits that are due cannot be found", "branch", b.Key, "error", err)
	}
	return due
}

// show has clones of a branch see the edits that clients asked to commit, on its head.
func (s *supervisor) show(ctx context.Context, b *ingest.Branch) error {
	if s.flusher == nil || !takesEdits(b) {
		return nil
	}
	return s.flusher.Show(ctx, *b, s.destinations())
}

// destinations returns the function that says where the edits of a component go.
func (s *supervisor) destinations() func(*store.BranchComponent) push.Destination {
	s.mu.Lock()
	p := s.plan
	s.mu.Unlock()
	return func(c *store.BranchComponent) push.Destination {
		return p.pushes[store.TemplateKey{Project: c.Project.Slug, Slug: cmp.Or(c.Template, c.Slug)}]
	}
}

// flush pushes the edits of a branch, if they are due or that is wished. A failure is no
// failure of the pull, whose pauses must not grow.
func (s *supervisor) flush(ctx context.Context, b *ingest.Branch) {
	wish := s.wished(ctx, store.WorkPush, b)
	if wish != 0 && s.flusher.tried(b.Key, wish, time.Now()) {
		wish = 0 // it has its pause
	}
	if wish == 0 && !s.flushDue(ctx, b) {
		if err := s.show(ctx, b); err != nil && ctx.Err() == nil {
			s.log.Error("clones do not have the edits that were committed", "branch", b.Key, "error", err)
		}
		return
	}
	if err := s.flushNow(ctx, b); err != nil && ctx.Err() == nil {
		s.log.Error("edits cannot be pushed and stay pending", "branch", b.Key, "again", s.flusher.wait(b.Key).pause, "error", err)
		s.flusher.keep(b.Key, wish)
		return
	}
	s.tried(ctx, store.WorkPush, b, wish)
}

// wished returns the wish of a client of some process of the cluster for a work with a
// branch, 0 if there is none.
func (s *supervisor) wished(ctx context.Context, w store.Work, b *ingest.Branch) int64 {
	if s.engine.cluster == nil || s.flusher == nil || !takesEdits(b) {
		return 0
	}
	wish, err := s.engine.cluster.table.WishedFor(ctx, w, b.Key)
	if err != nil && ctx.Err() == nil {
		s.log.Error("whether more than a pull is wished cannot be read", "branch", b.Key, "error", err)
	}
	return wish
}

// tried ends such a wish. Who was stopped leaves it to the next.
func (s *supervisor) tried(ctx context.Context, w store.Work, b *ingest.Branch, wish int64) {
	if wish == 0 || ctx.Err() != nil {
		return
	}
	if err := s.engine.cluster.table.Tried(ctx, w, b.Key, wish); err != nil && ctx.Err() == nil {
		s.log.Warn("what was wished will be tried again", "branch", b.Key, "error", err)
	}
}

// cloneWished clones the mirror of a branch anew, if that is wished.
func (s *supervisor) cloneWished(ctx context.Context, b *ingest.Branch) {
	wish := s.wished(ctx, store.WorkClone, b)
	if wish == 0 {
		return
	}
	if err := s.engine.syncer.Reclone(ctx, *b); err != nil && ctx.Err() == nil {
		s.log.Error("the mirror cannot be cloned anew and stays", "branch", b.Key, "error", err)
	}
	s.tried(ctx, store.WorkClone, b, wish)
}

// flushNow pushes the edits of a branch.
func (s *supervisor) flushNow(ctx context.Context, b *ingest.Branch) error {
	if until := s.flusher.wait(b.Key).until; time.Now().Before(until) {
		return fmt.Errorf("edits: the forge wants no requests until %s", until.UTC().Format(time.RFC3339))
	}
	report, err := s.flusher.Flush(ctx, *b, s.destinations())
	if report.Commits > 0 {
		s.log.Info("edits pushed", "branch", b.Key, "commits", report.Commits, "edits", report.Edits)
	}
	for id, reason := range report.Held {
		s.log.Warn("an edit stays pending", "branch", b.Key, "edit", id, "reason", reason)
	}
	for path, reason := range report.Files {
		s.log.Warn("a file can neither be added nor removed yet", "branch", b.Key, "path", path, "reason", reason)
	}
	s.flusher.note(b.Key, time.Now(), err != nil || len(report.Held)+len(report.Files) > 0, err)
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
	return o.work(ctx, store.WorkPush, component, func(b *ingest.Branch) error { return o.flushNow(ctx, b) })
}

// Reclone clones the mirror anew, and pulls.
func (o operations) Reclone(ctx context.Context, component int64) (waits bool, err error) {
	return o.work(ctx, store.WorkClone, component, func(b *ingest.Branch) error {
		err := o.engine.syncer.Reclone(ctx, *b)
		if err == nil {
			_, err = o.engine.pull(ctx, b)
		}
		if err == nil {
			err = o.show(ctx, b) // the old one had the commits
		}
		return err
	})
}

// work does more than a pull for the branch of a component; in a cluster it wishes for
// that.
func (o operations) work(ctx context.Context, w store.Work, component int64, do func(*ingest.Branch) error) (waits bool, err error) {
	b, err := o.branchOf(ctx, component)
	switch {
	case err != nil:
		return false, err
	case o.engine.cluster != nil:
		return false, o.engine.cluster.table.WishFor(ctx, w, b.Key, "a request")
	}
	return true, do(b)
}

// Commit has clones see edits of translations of a component.
func (o operations) Commit(ctx context.Context, component int64, translations []int64) (waits bool, err error) {
	if len(translations) > 0 {
		if _, err := o.engine.syncer.Commit(ctx, component, translations); err != nil {
			return false, err
		}
	}
	return o.onBranch(ctx, component, func(b *ingest.Branch) error {
		due, err := o.flusher.Due(ctx, *b)
		switch {
		case err != nil:
			return err
		case due && len(translations) > 0:
			return o.flushNow(ctx, b) // which shows them, too
		}
		return o.show(ctx, b)
	})
}

// DiscardFiles ends pending edits of files of a component.
func (o operations) DiscardFiles(ctx context.Context, component int64, reason string, choose func(*store.FileEdit) bool) (int, error) {
	return o.flusher.DiscardFiles(ctx, component, reason, choose)
}

// Pull pulls at once.
func (o operations) Pull(ctx context.Context, component int64) (waits bool, err error) {
	return o.onBranch(ctx, component, func(b *ingest.Branch) error {
		_, err := o.engine.pull(ctx, b)
		return err
	})
}

// onBranch calls do for the branch of a component, and reports that it waited for it; in
// a cluster it wishes for a pull, which shows what is committed and flushes what is due.
func (o operations) onBranch(ctx context.Context, component int64, do func(*ingest.Branch) error) (waits bool, err error) {
	b, err := o.branchOf(ctx, component)
	if err != nil {
		return false, err
	}
	if o.engine.cluster != nil {
		return false, o.engine.cluster.table.Wish(ctx, []string{b.Key}, "a request")
	}
	return true, do(b)
}
