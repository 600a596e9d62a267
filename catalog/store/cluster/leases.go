package cluster

import (
	"cmp"
	"context"
	_ "embed" // of take_lease.sql
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Lease is the right to pull a branch. It ends when it is given back, or when
// another process takes the branch after it expired.
type Lease struct {
	Fence
	// Failures counts the pulls in a row that failed before.
	Failures int
}

// Room is what a process can pull.
type Room struct {
	// Process is its id, and Configuration the fingerprint of its copy of the
	// configuration: with an older one than others have, it pulls nothing.
	Process, Configuration string
	// Length is how long a lease lasts unless it is renewed.
	Length time.Duration
	// Local are the branches of local repositories that it has.
	Local []string
	// Pulling are branches that it still pulls, perhaps under a lease that it lost.
	Pulling []string
	// Full are hosts of which it takes no more.
	Full []string
	// PerHost bounds the pulls of one host, in all processes together. A few more are
	// possible if several processes take one at the same moment.
	PerHost int
	// Only, if set, is the branch to take, also if it is not due.
	Only string
}

// takeLease chooses a branch. One that is wished counts as due ten minutes earlier,
// and one that has waited for ten minutes goes before others. Among the rest, hosts
// with the fewest pulls and those that were served the longest time ago go first, and
// so do the projects of one host. A row that a transaction holds is left out: it
// belongs to a pull that is writing although its lease has expired. The best sixteen are
// looked at, since several processes choose at once. If none is there to take, indexes say
// so.
//
//go:embed take_lease.sql
var takeLease string

// Take takes the lease of a branch that is due, or whose holder has died. taken is
// false if there is none for which there is room.
func (c *Cluster) Take(ctx context.Context, r *Room) (lease Lease, taken bool, err error) {
	lease.Configuration = r.Configuration
	err = c.Do(ctx, "take a lease", func(s *sqldb.Session) error {
		taken, err = s.First(ctx, fmt.Sprintf(takeLease, sqldb.Clock, textsOf(8), textsOf(4), textsOf(5)),
			[]any{r.Process, r.Configuration, r.Length.Microseconds(), textList(r.Local), textList(r.Full), r.PerHost, r.Only, textList(r.Pulling)},
			&lease.Branch, &lease.Token, &lease.Failures)
		return err
	})
	return lease, taken && err == nil, err
}

// Renew makes a lease last for another length. held is false if another process has
// taken the branch.
func (c *Cluster) Renew(ctx context.Context, l *Lease, length time.Duration) (held bool, err error) {
	err = c.Do(ctx, "renew a lease", func(s *sqldb.Session) error {
		rows, err := s.Exec(ctx, `UPDATE mirrors SET expires = `+sqldb.Clock+` + $3 WHERE branch = $1 AND token = $2 AND holder <> ''`,
			l.Branch, l.Token, length.Microseconds())
		held = rows == 1
		return err
	})
	return held && err == nil, err
}

// Outcome is how a pull ended.
type Outcome struct {
	// Cut says that it was broken off: the branch is due at once, or after Next.
	Cut bool
	// Err says why it failed; nil if it did not.
	Err error
	// Excused says that the repository did not cause the error: it does not count among
	// its failures.
	Excused bool
	// Next is the time to the next pull; below zero: it is pulled if that is wished.
	Next time.Duration
}

// Give gives a lease back. It does nothing if another process has taken the branch.
func (c *Cluster) Give(ctx context.Context, l *Lease, o Outcome) error {
	var due any
	counted, problem := int64(1), ""
	if o.Err != nil {
		problem = o.Err.Error()
	}
	if o.Excused {
		counted = 0
	}
	if o.Next >= 0 {
		due = o.Next.Microseconds()
	}
	return c.Do(ctx, "give a lease back", func(s *sqldb.Session) error {
		if o.Cut {
			return cmp.Or(s.Do(ctx, sqldb.NotifyPullers),
				s.Do(ctx, `UPDATE mirrors SET holder = '', expires = NULL, due = `+sqldb.Clock+` + $3 WHERE branch = $1 AND token = $2`, l.Branch, l.Token, due))
		}
		return s.Do(ctx, `UPDATE mirrors SET holder = '', expires = NULL, due = `+sqldb.Clock+` + $3, ended = `+sqldb.Clock+`, problem = $4,
			succeeded = CASE WHEN $4 = '' THEN `+sqldb.Clock+` ELSE succeeded END, failures = CASE WHEN $4 = '' THEN 0 ELSE failures + $5 END
			WHERE branch = $1 AND token = $2`, l.Branch, l.Token, due, problem, counted)
	})
}

// Wish has branches pulled soon, by whoever has room. A pull in progress goes on, and
// one more follows it. Unknown branches are ignored. Branches that somebody wished for
// already are not written again: every process that watches a local repository wishes
// for it when it changes, and a pull begins after the wish is taken, so it finds what
// the later ones were about.
func (c *Cluster) Wish(ctx context.Context, branches []string, by string) error {
	return c.Do(ctx, "wish for a pull", func(s *sqldb.Session) error {
		rows, err := s.Exec(ctx, `UPDATE mirrors SET wished = `+sqldb.Clock+`, wished_by = $2 WHERE wished IS NULL AND branch IN `+textsOf(1), textList(branches), by)
		if err != nil || rows == 0 {
			return err
		}
		return s.Do(ctx, sqldb.NotifyPullers)
	})
}

// A Work is what is done with a branch beside its pull when somebody wishes for it: the
// column that has the wish.
type Work string

// What can be wished for.
const (
	WorkPush  Work = "push_wished"  // its edits are pushed, although none is due
	WorkClone Work = "clone_wished" // its mirror is cloned anew
	// Fetched is no wish: it is when a process began or ended to pull.
	Fetched Work = "GREATEST(started, ended)"
)

// WishFor has a branch pulled soon, and a work done with it then.
func (c *Cluster) WishFor(ctx context.Context, w Work, branch, by string) error {
	return c.Do(ctx, "wish for "+string(w), func(s *sqldb.Session) error {
		return cmp.Or(s.Do(ctx, sqldb.NotifyPullers), s.Do(ctx, `UPDATE mirrors SET `+string(w)+` = `+sqldb.Clock+`, wished = COALESCE(wished, `+sqldb.Clock+`), wished_by = CASE WHEN wished IS NULL THEN $2 ELSE wished_by END
			WHERE branch = $1`, branch, by))
	})
}

// WishedFor returns the wish for a work with a branch; 0 without a wish.
func (c *Cluster) WishedFor(ctx context.Context, w Work, branch string) (wish int64, err error) {
	err = c.Do(ctx, "read "+string(w), func(s *sqldb.Session) error {
		_, err := s.First(ctx, `SELECT COALESCE(`+string(w)+`, 0) FROM mirrors WHERE branch = $1`, []any{branch}, &wish)
		return err
	})
	return wish, err
}

// Tried ends a wish for a work, but no newer one.
func (c *Cluster) Tried(ctx context.Context, w Work, branch string, wish int64) error {
	return c.Do(ctx, "end "+string(w), func(s *sqldb.Session) error {
		return s.Do(ctx, `UPDATE mirrors SET `+string(w)+` = NULL WHERE branch = $1 AND `+string(w)+` = $2`, branch, wish)
	})
}

// Fence keeps what a process writes out of the database if the process no longer
// may: see WithFence.
type Fence struct {
	// Branch and Token are of a lease; "" and 0 without one.
	Branch string
	Token  int64
	// Configuration is the fingerprint of the configuration that the process follows.
	Configuration string
}

// ErrFenced says that a process wrote nothing, since it may not: another process has
// taken its lease, or a newer copy of the configuration was seen. It is a conflict.
var ErrFenced = fmt.Errorf("another process goes on: %w", catalog.ErrConflict)

type fenceKey struct{}

// WithFence returns a context for the work of a lease, or of a copy of the
// configuration. A transaction of the context commits only if the lease is still the
// last one of its branch, and the configuration the newest, otherwise it fails with
// ErrFenced; nobody can take the lease while it runs.
func WithFence(ctx context.Context, f Fence) context.Context {
	return context.WithValue(ctx, fenceKey{}, f)
}

// FenceOf returns the fence of a context.
func FenceOf(ctx context.Context) (f Fence, ok bool) {
	f, ok = ctx.Value(fenceKey{}).(Fence)
	return f, ok
}

// Fenced is lock with the checks of the fence of the context, if it has one. The row
// of the lease is locked before everything else, against Take only: the lease is
// renewed meanwhile. The configuration is read after the lock, as are the rows that
// the transaction writes: a newer copy is stored under the lock on all projects.
func Fenced(ctx context.Context, s *sqldb.Session, lock func(context.Context, *sqldb.Session) error) error {
	f, ok := FenceOf(ctx)
	if !ok || s.DB.Dialect.Sqlite {
		return lock(ctx, s)
	}
	if f.Branch != "" {
		var token int64
		found, err := s.First(ctx, `SELECT token FROM mirrors WHERE branch = $1 FOR KEY SHARE`, []any{f.Branch}, &token)
		if err != nil {
			return err
		}
		if !found || token != f.Token {
			return fmt.Errorf("the lease of %s was lost: %w", f.Branch, ErrFenced)
		}
	}
	if err := lock(ctx, s); err != nil {
		return err
	}
	newest, err := newestConfiguration(ctx, s)
	if err == nil && newest.Fingerprint != f.Configuration {
		err = fmt.Errorf("another copy of the configuration is newer: %w", ErrFenced)
	}
	return err
}
