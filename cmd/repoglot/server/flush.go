package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
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
func newPusher(e *Engine, c *config.Config, base string) *push.Pusher {
	name, email, _ := c.CommitterParts()
	return push.New(push.Options{
		DB: e.db, Syncer: e.syncer, Editor: e.editor, Languages: e.languages, Name: cmp.Or(name, wire.SiteTitle), Email: cmp.Or(email, committerEmail(base)),
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
type flusher struct{ *push.Pusher }

// pauseAfter is how long a branch waits after a number of pushes in a row.
func pauseAfter(failures int) time.Duration {
	wait := flushPause
	for ; failures > 1 && wait < maxFlushPause; failures-- {
		wait *= 2
	}
	return min(wait, maxFlushPause)
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
	if errors.Is(err, push.ErrForeign) { // until its request is merged, which is looked for as ever
		next.Later = now.Add(min(pauseAfter(next.Failures), requestPause))
	}
	var limit *forge.LimitError
	if errors.As(err, &limit) {
		next.Until = now.Add(limit.After)
		next.Later = later(next.Later, next.Until)
	}
	return next
}

// note changes when a branch is flushed again.
func (f *flusher) note(ctx context.Context, key string, change func(store.PushWait) store.PushWait) {
	w, err := f.DB.PushWait(ctx, key)
	if now := change(w); err == nil && now != w {
		err = f.DB.SetPushWait(ctx, key, now)
	}
	if err != nil && ctx.Err() == nil {
		f.Logger.Error("when edits are pushed again cannot be stored", "branch", key, "error", err)
	}
}

// reached notes whether a pull reached the repository: while none does, the pauses of pulls
// count.
func (f *flusher) reached(ctx context.Context, key string, reached bool) {
	f.note(ctx, key, func(w store.PushWait) store.PushWait {
		w.Unreached = !reached
		return w
	})
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// watchEdits has branches pulled, and so flushed, whose edits are due, and ends edits
// that have waited in vain. last is the plan whose pauses were forgotten.
func (s *supervisor) watchEdits(ctx context.Context, last *Plan, tick <-chan time.Time) {
	var expired time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.mu.Lock()
			p := s.plan
			s.mu.Unlock()
			s.forgetWaits(ctx, last, p)
			last = p
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

// forgetWaits has the edits of branches pushed at once that are new or have changed since a
// plan: what was in the way may have been corrected.
func (s *supervisor) forgetWaits(ctx context.Context, last, p *Plan) {
	var keys []string
	for i := range p.branches {
		b := &p.branches[i]
		if before := last.branch(b.Key); last != p && takesEdits(b) && (before == nil || !reflect.DeepEqual(before, b)) {
			keys = append(keys, b.Key)
		}
	}
	if s.flusher == nil || len(keys) == 0 {
		return
	}
	if err := s.flusher.DB.ForgetPushWaits(ctx, keys); err != nil && ctx.Err() == nil {
		s.log.Error("edits keep the pauses of their pushes", "error", err)
	}
}

// expireEdits ends edits whose strings have been away for long, and forgets those that were
// taken back long ago.
func (s *supervisor) expireEdits(ctx context.Context) {
	now, err := s.engine.db.Clock(ctx)
	if err == nil {
		var ended, forgotten int
		if ended, forgotten, err = s.engine.editor.Expire(ctx, now); ended+forgotten > 0 {
			s.log.Info("edits have expired", "suggestions", ended, "forgotten", forgotten)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("edits cannot be expired", "error", err)
	}
}

// flushDue reports whether edits of a branch are to be pushed now. It is the one place that
// keeps the pauses after failures: only a push by hand does not ask it.
func (s *supervisor) flushDue(ctx context.Context, b *ingest.Branch) bool {
	if s.flusher == nil || !takesEdits(b) {
		return false
	}
	now := time.Now()
	w, err := s.flusher.DB.PushWait(ctx, b.Key)
	if err == nil && (w.Unreached || now.Before(w.Later)) {
		return false
	}
	due := w.Wish != 0
	if err == nil && !due {
		due, err = s.flusher.Due(ctx, *b, !now.Before(w.HeldTill))
	}
	if err == nil && !due && now.Sub(w.Ended) >= requestPause { // perhaps its request has ended
		due, err = s.flusher.Requested(ctx, *b)
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
	wish := s.wished(ctx, cluster.WorkPush, b)
	if wish != 0 {
		w, err := s.flusher.DB.PushWait(ctx, b.Key)
		if err == nil && wish == w.Wish && time.Now().Before(w.Later) {
			wish = 0 // it has its pause
		}
	}
	if wish == 0 && !s.flushDue(ctx, b) {
		if err := s.show(ctx, b); err != nil && ctx.Err() == nil {
			s.log.Error("clones do not have the edits that were committed", "branch", b.Key, "error", err)
		}
		return
	}
	if err := s.flushNow(ctx, b); err != nil && ctx.Err() == nil {
		s.flusher.note(ctx, b.Key, func(w store.PushWait) store.PushWait {
			s.log.Error("edits cannot be pushed and stay pending", "branch", b.Key, "again", w.Later.Sub(w.Ended), "error", err)
			w.Wish = wish // it is due again, whatever waits
			return w
		})
		return
	}
	s.tried(ctx, cluster.WorkPush, b, wish)
}

// wished returns the wish of a client of some process of the cluster for a work with a
// branch, 0 if there is none.
func (s *supervisor) wished(ctx context.Context, w cluster.Work, b *ingest.Branch) int64 {
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
func (s *supervisor) tried(ctx context.Context, w cluster.Work, b *ingest.Branch, wish int64) {
	if wish == 0 || ctx.Err() != nil {
		return
	}
	if err := s.engine.cluster.table.Tried(ctx, w, b.Key, wish); err != nil && ctx.Err() == nil {
		s.log.Warn("what was wished will be tried again", "branch", b.Key, "error", err)
	}
}

// cloneWished clones the mirror of a branch anew, if that is wished.
func (s *supervisor) cloneWished(ctx context.Context, b *ingest.Branch) {
	wish := s.wished(ctx, cluster.WorkClone, b)
	if wish == 0 {
		return
	}
	if err := s.engine.syncer.Reclone(ctx, *b); err != nil && ctx.Err() == nil {
		s.log.Error("the mirror cannot be cloned anew and stays", "branch", b.Key, "error", err)
	}
	s.tried(ctx, cluster.WorkClone, b, wish)
}

// flushNow pushes the edits of a branch.
func (s *supervisor) flushNow(ctx context.Context, b *ingest.Branch) error {
	return s.flushOnly(ctx, b, func(*store.BranchComponent) bool { return true })
}

// flushOnly pushes the edits of some components of a branch.
func (s *supervisor) flushOnly(ctx context.Context, b *ingest.Branch, of func(*store.BranchComponent) bool) error {
	w, err := s.flusher.DB.PushWait(ctx, b.Key)
	if err != nil {
		return fmt.Errorf("edits: %w", err)
	}
	if time.Now().Before(w.Until) {
		return fmt.Errorf("edits: the forge wants no requests until %s", w.Until.UTC().Format(time.RFC3339))
	}
	report, err := s.flusher.FlushOnly(ctx, *b, s.destinations(), of)
	if report.Commits > 0 {
		s.log.Info("edits pushed", "branch", b.Key, "commits", report.Commits, "edits", report.Edits)
	}
	for id, reason := range report.Held {
		s.log.Warn("an edit stays pending", "branch", b.Key, "edit", id, "reason", reason)
	}
	if ctx.Err() == nil {
		s.flusher.note(ctx, b.Key, func(w store.PushWait) store.PushWait {
			return after(w, time.Now(), len(report.Held) > 0, err)
		})
	}
	if err != nil {
		return fmt.Errorf("edits: %w", err)
	}
	return nil
}
