package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ErrNotPending says that something of a push is not pending any more: what is pushed must
// be made anew.
var ErrNotPending = fmt.Errorf("not pending any more: %w", catalog.ErrConflict)

// Sending is what a push is about to send.
type Sending struct {
	Place
	// Commit is where the push puts the branch.
	Commit string
	// Edits are what the commits have.
	Edits []Edit
}

// Send notes what is about to be pushed to the branch that is read. before is the commit of
// the last attempt, which certainly did not arrive, "" without one. The error wraps
// ErrNotPending.
func (db *DB) Send(ctx context.Context, before string, o Sending) error {
	return db.fail(ctx, "note what is pushed", db.write(ctx, func(s *sqldb.Session) error {
		if err := unsend(ctx, s, o.Place, before); err != nil {
			return err
		}
		return send(ctx, s, &o)
	}))
}

// Unsend forgets a push that certainly did not arrive.
func (db *DB) Unsend(ctx context.Context, at Place, commit string) error {
	return db.fail(ctx, "forget a push", db.write(ctx, func(s *sqldb.Session) error { return unsend(ctx, s, at, commit) }))
}

func unsend(ctx context.Context, s *sqldb.Session, at Place, commit string) error {
	if commit == "" {
		return nil
	}
	if err := s.Do(ctx, `DELETE FROM sent WHERE repo = $1 AND branch = $2 AND next_commit = $3 AND at_commit = '' AND left_at = 0`, at.Repo, at.Branch, commit); err != nil {
		return err
	}
	return s.Do(ctx, `UPDATE sent SET next_commit = '' WHERE repo = $1 AND branch = $2 AND next_commit = $3`, at.Repo, at.Branch, commit)
}

// send adds rows, or notes the commit in those that are there, for what is still pending.
func send(ctx context.Context, s *sqldb.Session, o *Sending) error {
	written := make(map[int64]*Edit, len(o.Edits))
	for i := range o.Edits {
		written[o.Edits[i].ID] = &o.Edits[i]
	}
	var same, changed []int64 // since they were read
	ids := make([]int64, len(o.Edits))
	for i := range ids {
		ids[i] = o.Edits[i].ID
	}
	err := sqldb.Chunks(ids, func(chunk []any) error {
		return s.Query(ctx, `SELECT id, target, state FROM edits WHERE status = 'pending' AND id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var now Edit
			err := scan(&now.ID, &now.Ours.Target, &now.Ours.State)
			if e := written[now.ID]; e.Ours == now.Ours {
				same = append(same, now.ID)
			} else {
				changed = append(changed, now.ID)
			}
			return err
		})
	})
	if err == nil {
		err = sqldb.Chunks(same, func(chunk []any) error { return o.sendCurrent(ctx, s, chunk) })
	}
	for i := 0; i < len(changed) && err == nil; i++ {
		err = o.sendOne(ctx, s, written[changed[i]])
	}
	missing := len(written) - len(same) - len(changed)
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d edits are %w", missing, ErrNotPending)
	}
	return err
}

const sentColumns = `INSERT INTO sent (unit_id, edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at) `

// sendCurrent notes what edits are now, by id.
func (o *Sending) sendCurrent(ctx context.Context, s *sqldb.Session, ids []any) error {
	args := append([]any{o.Commit, o.Repo, o.Branch}, ids...)
	pending := ` FROM edits e WHERE e.id IN ` + sqldb.List(4, len(ids))
	if err := s.Do(ctx, `UPDATE sent SET next_commit = $1 WHERE repo = $2 AND branch = $3 AND at_commit <> $1
		AND unit_id IN (SELECT e.unit_id`+pending+` AND e.target = sent.target AND e.state = sent.state AND sent.edit_id = `+editOfFile+`)`, args...); err != nil {
		return err
	}
	return s.Do(ctx, sentColumns+`SELECT e.unit_id, `+editOfFile+`, COALESCE((SELECT MAX(o.n) FROM sent o WHERE o.unit_id = e.unit_id AND o.edit_id = `+editOfFile+`), 0) + 1,
		e.component_id, e.translation_id, e.target, e.state, CAST($2 AS TEXT), CAST($3 AS TEXT), '', CAST($1 AS TEXT), 0`+pending+`
		AND NOT EXISTS (SELECT 1 FROM sent s WHERE `+sameText+` AND s.repo = $2 AND s.branch = $3)`, args...)
}

// sendOne notes a text of an edit that has another one by now.
func (o *Sending) sendOne(ctx context.Context, s *sqldb.Session, e *Edit) error {
	args := []any{o.Commit, o.Repo, o.Branch, e.UnitID, e.Ours.Target, int64(e.Ours.State)}
	var n int64
	found, err := s.First(ctx, `SELECT n FROM sent WHERE unit_id = $1 AND edit_id = 0 AND target = $2 AND state = $3 AND repo = $4 AND branch = $5`,
		[]any{e.UnitID, e.Ours.Target, int64(e.Ours.State), o.Repo, o.Branch}, &n)
	switch {
	case err != nil:
		return err
	case found:
		return s.Do(ctx, `UPDATE sent SET next_commit = $1 WHERE unit_id = $2 AND edit_id = 0 AND n = $3 AND at_commit <> $1`, o.Commit, e.UnitID, n)
	}
	return s.Do(ctx, sentColumns+`SELECT $4, 0, COALESCE(MAX(n), 0) + 1, $7, $8, $5, $6, $2, $3, '', $1, 0 FROM sent WHERE unit_id = $4 AND edit_id = 0`,
		append(args, e.ComponentID, e.TranslationID)...)
}
