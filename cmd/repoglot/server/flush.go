package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

const (
	// flushTick is the time between two looks for edits that are due.
	flushTick = 2 * time.Second
	// expirePause is the time between two looks for edits that have waited in vain.
	expirePause = time.Hour
)

func newPusher(e *Engine, c *config.Config, base func() string) *push.Pusher {
	name, email, _ := c.CommitterParts()
	return push.New(push.Options{
		DB: e.db, Syncer: e.syncer, Editor: e.editor, Languages: e.languages, Name: cmp.Or(name, wire.SiteTitle), Email: func() string { return cmp.Or(email, committerEmail(base())) },
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

// watchEdits has branches pulled, and so flushed, whose edits are due, and ends edits
// that have waited in vain. last is the plan whose pauses were forgotten.
func (s *supervisor) watchEdits(ctx context.Context, last *Plan) {
	var expired time.Time
	every(ctx, flushTick, func() {
		p := s.current()
		s.forgetWaits(ctx, last, p)
		last = p
		taken := false
		for i := range p.branches {
			b := &p.branches[i]
			if !takesEdits(b) {
				continue
			}
			if taken = true; s.flushDue(ctx, b) || s.flusher.LookDue(*b) {
				s.sched.Trigger(b.Key)
			}
		}
		if now := time.Now(); taken && now.Sub(expired) >= expirePause {
			expired = now
			s.expireEdits(ctx)
		}
	})
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
	if len(keys) == 0 {
		return
	}
	err := s.flusher.DB.ForgetPushWaits(ctx, keys)
	s.failed(ctx, slog.LevelError, err, "edits keep the pauses of their pushes")
}

// failed logs an error of work with edits, unless there is none or the work was stopped.
func (s *supervisor) failed(ctx context.Context, level slog.Level, err error, message string, about ...any) {
	if err != nil && ctx.Err() == nil {
		s.log.Log(ctx, level, message, append(about, "error", err)...)
	}
}

// expireEdits ends edits whose strings are gone for long, and forgets those long taken back.
func (s *supervisor) expireEdits(ctx context.Context) {
	now, err := s.engine.db.Clock(ctx)
	if err == nil {
		var ended, forgotten int
		if ended, forgotten, err = s.engine.editor.Expire(ctx, now); ended+forgotten > 0 {
			s.log.Info("edits have expired", "suggestions", ended, "forgotten", forgotten)
		}
	}
	s.failed(ctx, slog.LevelError, err, "edits cannot be expired")
}

// flushDue reports whether edits of a branch are to be pushed now.
func (s *supervisor) flushDue(ctx context.Context, b *ingest.Branch) bool {
	due, err := s.flusher.Ready(ctx, *b)
	s.failed(ctx, slog.LevelError, err, "edits that are due cannot be found", "branch", b.Key)
	return due
}

// show has clones of a branch see the edits that clients asked to commit, on its head.
func (s *supervisor) show(ctx context.Context, b *ingest.Branch) error {
	if !takesEdits(b) {
		return nil
	}
	return s.flusher.Show(ctx, *b, s.destinations())
}

func (s *supervisor) destinations() func(*store.BranchComponent) push.Destination {
	p := s.current()
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
		err := s.show(ctx, b)
		s.failed(ctx, slog.LevelError, err, "clones do not have the edits that were committed", "branch", b.Key)
		return
	}
	if err := s.flushNow(ctx, b, everyOne); err != nil && ctx.Err() == nil {
		s.flusher.Note(ctx, b.Key, func(w store.PushWait) store.PushWait {
			s.log.Error("edits cannot be pushed and stay pending", "branch", b.Key, "again", w.Later.Sub(w.Ended), "error", err)
			w.Wish = wish // it is due again, whatever waits
			return w
		})
		return
	}
	s.tried(ctx, cluster.WorkPush, b, wish)
}

// wished returns what a client of some process of the cluster wishes for a branch, or 0.
func (s *supervisor) wished(ctx context.Context, w cluster.Work, b *ingest.Branch) int64 {
	if s.engine.cluster == nil {
		return 0
	}
	wish, err := s.engine.cluster.table.WishedFor(ctx, w, b.Key)
	s.failed(ctx, slog.LevelError, err, "whether more than a pull is wished cannot be read", "branch", b.Key)
	return wish
}

// tried ends such a wish. Who was stopped leaves it to the next.
func (s *supervisor) tried(ctx context.Context, w cluster.Work, b *ingest.Branch, wish int64) {
	if wish == 0 || ctx.Err() != nil {
		return
	}
	err := s.engine.cluster.table.Tried(ctx, w, b.Key, wish)
	s.failed(ctx, slog.LevelWarn, err, "what was wished will be tried again", "branch", b.Key)
}

// cloneWished clones the mirror of a branch anew, if that is wished.
func (s *supervisor) cloneWished(ctx context.Context, b *ingest.Branch) {
	wish := s.wished(ctx, cluster.WorkClone, b)
	if wish == 0 {
		return
	}
	err := s.engine.syncer.Reclone(ctx, *b)
	s.failed(ctx, slog.LevelError, err, "the mirror cannot be cloned anew and stays", "branch", b.Key)
	s.tried(ctx, cluster.WorkClone, b, wish)
}

func everyOne(*store.BranchComponent) bool { return true }

func (s *supervisor) flushNow(ctx context.Context, b *ingest.Branch, of func(*store.BranchComponent) bool) error {
	report, err := s.flusher.Try(ctx, *b, s.destinations(), of)
	if report.Commits > 0 {
		s.log.Info("edits pushed", "branch", b.Key, "commits", report.Commits, "edits", report.Edits)
	}
	for reason, ids := range report.Told {
		s.log.Warn("edits stay pending", "branch", b.Key, "edits", ids, "reason", reason)
	}
	if err != nil {
		return fmt.Errorf("edits: %w", err)
	}
	return nil
}

// operations pull and push for requests to the API. Processes that share a database leave
// that to the one that has the mirror.
type operations struct{ *supervisor }

func (o operations) branchOf(ctx context.Context, component int64) (*ingest.Branch, error) {
	row, err := o.engine.db.ComponentByID(ctx, component)
	if err != nil {
		return nil, fmt.Errorf("finding the branch: %w", err)
	}
	b := o.current().branch(ingest.BranchKey(row.Repo, row.Branch))
	if b == nil {
		return nil, errors.New("the configuration has changed: try again")
	}
	return b, nil
}

// Push flushes at once what the token may push. The process of a cluster that has the mirror
// does not know the token: it is asked for a pull, which pushes what is due.
func (o operations) Push(ctx context.Context, component int64, by *catalog.Token) (waits bool, err error) {
	may := func(row *store.BranchComponent) bool {
		return by.May(catalog.ScopeWrite, row.Project.Slug, row.Settings.Private(&row.Project), "")
	}
	b, err := o.branchOf(ctx, component)
	if err != nil {
		return false, err
	}
	rows, err := o.engine.rows(ctx, b)
	if err != nil {
		return false, fmt.Errorf("push: %w", err)
	}
	if slices.ContainsFunc(rows, func(row store.BranchComponent) bool { return row.Settings.Edits.Taken() && !may(&row) }) {
		return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error { return o.flushNow(ctx, b, may) })
	}
	return o.onBranch(ctx, component, cluster.WorkPush, func(b *ingest.Branch) error { return o.flushNow(ctx, b, everyOne) })
}

// Reclone clones the mirror anew, and pulls.
func (o operations) Reclone(ctx context.Context, component int64) (waits bool, err error) {
	return o.onBranch(ctx, component, cluster.WorkClone, func(b *ingest.Branch) error {
		err := o.engine.syncer.Reclone(ctx, *b)
		if err == nil {
			_, err = o.engine.Pull(ctx, b)
		}
		if err == nil {
			err = o.show(ctx, b) // the old one had the commits
		}
		return err
	})
}

// Commit has clones see edits of translations of a component.
func (o operations) Commit(ctx context.Context, component int64, translations []int64) (waits bool, err error) {
	if len(translations) > 0 {
		if _, err := o.engine.editor.Commit(ctx, component, translations); err != nil {
			return false, err
		}
	}
	return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error {
		due, err := o.flusher.Due(ctx, *b, true)
		switch {
		case err != nil:
			return err
		case due && len(translations) > 0:
			return o.flushNow(ctx, b, everyOne) // which shows them, too
		}
		return o.show(ctx, b)
	})
}

// Pull pulls at once.
func (o operations) Pull(ctx context.Context, component int64) (waits bool, err error) {
	return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error {
		for i := range b.Templates { // what they fail with is told of b, and by their jobs
			_ = o.pull(ctx, &b.Templates[i])
			o.sched.Trigger(b.Templates[i].Key)
		}
		_, err := o.engine.Pull(ctx, b)
		return err
	})
}

// Merge merges a request by meaning, as its author saw its head, and pushes that to its branch.
func (o operations) Merge(ctx context.Context, component int64, number int, head string, by edit.Author) (waits bool, err error) {
	wish := catalog.MergeWish{Name: by.Name, Email: by.Email, At: o.flusher.Now()}
	if err := o.engine.db.WishMerge(ctx, component, number, head, wish); err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error {
		return o.flusher.Look(ctx, *b, o.destinations())
	})
}

// workPull is a pull alone, which shows what is committed and flushes what is due.
const workPull = cluster.Work("")

// onBranch calls do for the branch of a component, and reports that it waited for it; in
// a cluster it wishes for a pull with a work.
func (o operations) onBranch(ctx context.Context, component int64, w cluster.Work, do func(*ingest.Branch) error) (waits bool, err error) {
	b, err := o.branchOf(ctx, component)
	switch {
	case err != nil:
		return false, err
	case o.engine.cluster == nil:
		return true, do(b)
	case w == workPull:
		return false, o.engine.cluster.table.Wish(ctx, o.current().fetched(b.Key), "a request")
	}
	return false, o.engine.cluster.table.WishFor(ctx, w, b.Key, "a request")
}
