package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// PushBranch is a branch of ours at a remote, wholly derived.
type PushBranch struct {
	// Repo is the address that it is pushed to, without credentials; Branch its name.
	Repo, Branch string
	// At is the commit that it was put at last, Next the one that a push that may have
	// been interrupted puts it at; "" without one.
	At, Next string
	// Request is the number of the request to merge it, 0 without one, URL its page.
	Request int
	URL     string
	// Title and Body are the sums of the texts that the request was given last, Base the
	// branch to merge it into (forge.Texts); "" without one.
	Title, Body, Base string
}

// pushBranchColumns are what is stored of a branch of ours.
const pushBranchColumns = `repo, branch, at_commit, next_commit, request, request_url, request_title, request_body, request_base`

func (b *PushBranch) fields() []any {
	return []any{&b.Repo, &b.Branch, &b.At, &b.Next, &b.Request, &b.URL, &b.Title, &b.Body, &b.Base}
}

// Requestless returns b without a request.
func (b PushBranch) Requestless() PushBranch {
	return PushBranch{Repo: b.Repo, Branch: b.Branch, At: b.At, Next: b.Next}
}

// Place is where the branch is.
func (b *PushBranch) Place() Place { return Place{Repo: b.Repo, Branch: b.Branch} }

// PushBranch returns what is stored of a branch of ours; a zero At if nothing is.
func (db *DB) PushBranch(ctx context.Context, repo, branch string) (PushBranch, error) {
	return ask(ctx, db, "read a branch of ours", func(s *sqldb.Session) (PushBranch, error) { return pushBranch(ctx, s, repo, branch) })
}

// PushBranches returns what is stored of a branch of ours and of those below it, by name:
// those that may be at the remote, or have a request.
func (db *DB) PushBranches(ctx context.Context, repo, branch string) ([]PushBranch, error) {
	list, err := ask(ctx, db, "read branches of ours", func(s *sqldb.Session) ([]PushBranch, error) {
		return sqldb.Rows(ctx, s, `SELECT `+pushBranchColumns+` FROM push_branches
			WHERE repo = $1 AND (at_commit <> '' OR next_commit <> '' OR request <> 0) ORDER BY branch`, []any{repo}, (*PushBranch).fields)
	})
	return slices.DeleteFunc(list, func(b PushBranch) bool { return !isBelow(branch, b.Branch) }), err
}

// ClaimPushBranch stores a branch of ours before a push, and what is sent to it, if what is
// stored of it is still was; else another process pushes it, and the error wraps
// catalog.ErrConflict, or ErrNotPending.
func (db *DB) ClaimPushBranch(ctx context.Context, was, b PushBranch, edits []Edit) error {
	return db.fail(ctx, "store a branch of ours", db.write(ctx, func(s *sqldb.Session) error {
		return cmp.Or(db.swapPushBranch(ctx, s, was, b), send(ctx, s, &Sending{Place: b.Place(), Commit: b.Next, Edits: edits}))
	}))
}

// LeavePushBranch is ClaimPushBranch when a branch of ours is withdrawn: what it has of the
// components waits to be pushed again.
func (db *DB) LeavePushBranch(ctx context.Context, was, b PushBranch, components []int64) error {
	return db.fail(ctx, "store that a branch of ours is left", db.write(ctx, func(s *sqldb.Session) error {
		return cmp.Or(db.swapPushBranch(ctx, s, was, b),
			s.DoIn(ctx, `UPDATE sent SET at_commit = '', next_commit = '', left_at = $1 WHERE repo = $2 AND branch = $3 AND component_id IN $ids`, []any{db.now().UnixMicro(), b.Repo, b.Branch}, components),
			noteChanged(ctx, s, slices.Clone(components)))
	}))
}

// SetPushBranch stores a branch of ours after a push, and which pending edits it has. What
// was sent to it by this push first does not count as there if its request had ended
// meanwhile (ended): that may not have had it.
func (db *DB) SetPushBranch(ctx context.Context, b PushBranch, edits []Edit, ended bool) error {
	err := db.write(ctx, func(s *sqldb.Session) error {
		err := send(ctx, s, &Sending{Place: b.Place(), Commit: b.At, Edits: edits})
		if err != nil && !errors.Is(err, ErrNotPending) {
			return err
		}
		if ended {
			if err := s.Do(ctx, `UPDATE sent SET next_commit = '', left_at = $1 WHERE repo = $2 AND branch = $3 AND next_commit = $4 AND at_commit = ''`,
				db.now().UnixMicro(), b.Repo, b.Branch, b.At); err != nil {
				return err
			}
		}
		return db.putPushBranch(ctx, s, b)
	})
	return db.fail(ctx, "store a branch of ours", err)
}

// swapPushBranch stores b if was is stored.
func (db *DB) swapPushBranch(ctx context.Context, s *sqldb.Session, was, b PushBranch) error {
	now, err := pushBranch(ctx, s, was.Repo, was.Branch)
	if err == nil && now != was {
		err = fmt.Errorf("another process pushes %s: %w", was.Branch, catalog.ErrConflict)
	}
	if err != nil {
		return err
	}
	return db.putPushBranch(ctx, s, b)
}

func pushBranch(ctx context.Context, s *sqldb.Session, repo, branch string) (PushBranch, error) {
	b := PushBranch{Repo: repo, Branch: branch}
	_, err := s.First(ctx, `SELECT `+pushBranchColumns+` FROM push_branches WHERE repo = $1 AND branch = $2`, []any{repo, branch}, b.fields()...)
	return b, err
}

// putPushBranch stores where a branch of ours is, and what follows for what was sent to it:
// it has what was sent with that commit, and nothing else. Components of which that was not
// known have changed.
func (db *DB) putPushBranch(ctx context.Context, s *sqldb.Session, b PushBranch) error {
	if err := s.Do(ctx, `INSERT INTO push_branches (`+pushBranchColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (repo, branch) DO UPDATE SET at_commit = excluded.at_commit, next_commit = excluded.next_commit,
		request = excluded.request, request_url = excluded.request_url, request_title = excluded.request_title, request_body = excluded.request_body, request_base = excluded.request_base`,
		b.Repo, b.Branch, b.At, b.Next, b.Request, b.URL, b.Title, b.Body, b.Base); err != nil {
		return err
	}
	var changed []int64
	err := s.IDs(ctx, `SELECT DISTINCT component_id FROM sent WHERE repo = $1 AND branch = $2 AND (next_commit <> '' AND next_commit <> $4 OR at_commit <> '' AND at_commit <> $3)`,
		[]any{b.Repo, b.Branch, b.At, b.Next}, &changed)
	if err != nil || len(changed) == 0 {
		return err
	}
	if b.At != "" {
		err = s.Do(ctx, `UPDATE sent SET at_commit = $3, next_commit = '', left_at = 0 WHERE repo = $1 AND branch = $2 AND next_commit = $3`, b.Repo, b.Branch, b.At)
	}
	return cmp.Or(err, s.Do(ctx, `UPDATE sent SET at_commit = '', next_commit = CASE WHEN next_commit = $4 THEN next_commit ELSE '' END, left_at = $5
		WHERE repo = $1 AND branch = $2 AND (at_commit = '' OR at_commit <> $3) AND (at_commit <> '' OR next_commit <> '' AND next_commit <> $4)`,
		b.Repo, b.Branch, b.At, b.Next, db.now().UnixMicro()),
		s.Do(ctx, `UPDATE sent SET next_commit = '' WHERE repo = $1 AND branch = $2 AND next_commit <> '' AND next_commit <> $3`, b.Repo, b.Branch, b.Next),
		noteChanged(ctx, s, changed))
}

// OnBranch returns the pending edits of components that a branch of ours has.
func (s *Snapshot) OnBranch(ctx context.Context, b PushBranch, components []int64) ([]Edit, error) {
	edits, err := editsIn(ctx, s.s, components, ` WHERE e.status = 'pending' AND EXISTS (SELECT 1 FROM sent s WHERE `+sameText+`
		AND s.repo = $1 AND s.branch = $2 AND s.at_commit <> '' AND s.component_id IN $ids) ORDER BY e.id`, b.Repo, b.Branch)
	return edits, s.s.Fail(ctx, "read what a branch of ours has", err)
}

// PushedBeside reports whether a branch of ours has pending edits of other components of a
// repository than some.
func (s *Snapshot) PushedBeside(ctx context.Context, repo string, b PushBranch, components []int64) (beside bool, err error) {
	args := sqldb.Append([]any{b.Repo, b.Branch, repo}, components)
	var one int64
	beside, err = s.s.First(ctx, `SELECT 1 FROM sent s JOIN components c ON c.id = s.component_id
		WHERE s.repo = $1 AND s.branch = $2 AND s.at_commit <> '' AND c.repo = $3 AND c.active = 1 AND c.id NOT IN `+sqldb.List(4, len(components))+` AND
		EXISTS (SELECT 1 FROM edits e WHERE e.status = 'pending' AND `+sameText+`) LIMIT 1`, args, &one)
	return beside, s.s.Fail(ctx, "read what a branch of ours has", err)
}

// Strays returns branches of ours that have, or may get, what was sent of components: all
// that are stored.
func (s *Snapshot) Strays(ctx context.Context, components []int64) (found []PushBranch, err error) {
	err = s.s.QueryIn(ctx, `SELECT `+pushBranchColumns+` FROM push_branches b
		WHERE (b.at_commit <> '' OR b.next_commit <> '' OR b.request <> 0) AND EXISTS (
		SELECT 1 FROM sent s WHERE s.branch = b.branch AND s.repo = b.repo AND s.component_id IN $ids) ORDER BY b.repo, b.branch`, nil, components, func(scan sqldb.Scan) error {
		var b PushBranch
		err := scan(b.fields()...)
		if !slices.Contains(found, b) {
			found = append(found, b)
		}
		return err
	})
	return found, s.s.Fail(ctx, "read branches of ours", err)
}

// PushWait says when the edits of a branch are pushed again. All processes go by it.
type PushWait struct {
	// Failures counts the pushes in a row that failed, Held those that left edits pending
	// which cannot be written.
	Failures, Held int
	// Unreached says that the repository could not be fetched: pulls try again with pauses
	// of their own, and one that succeeds is followed by a push.
	Unreached bool
	// Ended is when the last push ended; zero: there was none.
	Ended time.Time
	// Later is before when nothing is pushed, HeldTill before when what was left pending is
	// not tried again, Until before when the forge wants no requests.
	Later, HeldTill, Until time.Time
	// Wish is what a client of the cluster wished when a push failed; 0: nothing.
	Wish int64
}

// PushWait returns when the edits of a branch, by its ingest.BranchKey, are pushed again.
func (db *DB) PushWait(ctx context.Context, branch string) (PushWait, error) {
	return ask(ctx, db, "read when edits are pushed again", func(s *sqldb.Session) (w PushWait, err error) {
		_, err = s.First(ctx, `SELECT failures, held, unreached, ended, later, held_till, until, wish FROM push_waits WHERE branch = $1`, []any{branch},
			&w.Failures, &w.Held, &w.Unreached, &w.Ended, &w.Later, &w.HeldTill, &w.Until, &w.Wish)
		return w, err
	})
}

// SetPushWait stores when the edits of a branch are pushed again.
func (db *DB) SetPushWait(ctx context.Context, branch string, w PushWait) error {
	return db.fail(ctx, "store when edits are pushed again", db.write(ctx, func(s *sqldb.Session) error {
		return s.Do(ctx, `INSERT INTO push_waits (branch, failures, held, unreached, ended, later, held_till, until, wish) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (branch) DO UPDATE SET failures = excluded.failures, held = excluded.held, unreached = excluded.unreached, ended = excluded.ended,
			later = excluded.later, held_till = excluded.held_till, until = excluded.until, wish = excluded.wish`,
			branch, w.Failures, w.Held, sqldb.Smallint(w.Unreached), sqldb.Micros(w.Ended), sqldb.Micros(w.Later), sqldb.Micros(w.HeldTill), sqldb.Micros(w.Until), w.Wish)
	}))
}

// ForgetPushWaits has the edits of branches pushed, and their requests looked at, at once,
// unless a forge wants no requests.
func (db *DB) ForgetPushWaits(ctx context.Context, branches []string) error {
	return db.fail(ctx, "have edits pushed at once", db.write(ctx, func(s *sqldb.Session) error {
		return catalog.Try(branches, func(branch *string) error {
			return s.Do(ctx, `UPDATE push_waits SET failures = 0, held = 0, unreached = 0, ended = NULL, later = until, held_till = NULL WHERE branch = $1`, *branch)
		})
	}))
}
