package store

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Where several processes write, they lock what they write before they read it, in
// this order: the row of the lease (cluster.Fenced), projects by id, at last the clock. A step
// locks the projects of its components, since what is counted and compared belongs to
// projects; everything else locks all of them, but for tokens and sessions, which have a
// lock of their own in their place. Authors belong to no project: steps write them under
// the clock. In SQLite there is one writer, and nothing is locked.

// lockAll waits for all steps and keeps others from beginning. Readers go on.
func lockAll(ctx context.Context, s *sqldb.Session) error {
	if s.DB.Dialect.Sqlite {
		return nil
	}
	return s.Do(ctx, `LOCK TABLE projects IN EXCLUSIVE MODE`)
}

// lockTokens waits for others that write tokens or sessions.
func lockTokens(ctx context.Context, s *sqldb.Session) error {
	if s.DB.Dialect.Sqlite {
		return nil
	}
	return s.Do(ctx, `LOCK TABLE tokens IN EXCLUSIVE MODE`)
}

// lock locks the projects of a step.
func (info *StepInfo) lock(ctx context.Context, s *sqldb.Session) error {
	if s.DB.Dialect.Sqlite {
		return nil
	}
	var projects, locked []int64
	if err := s.IDsIn(ctx, `SELECT DISTINCT project_id FROM components WHERE id IN $ids`, nil, info.Components, &projects); err != nil {
		return err
	}
	slices.Sort(projects)
	return s.IDsIn(ctx, `SELECT id FROM projects WHERE id IN $ids ORDER BY id FOR NO KEY UPDATE`, nil, slices.Compact(projects), &locked)
}
