package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Problem is a file that cannot be read. Its translation keeps its last good state
// (docs/compatibility.md#unreadable-files).
type Problem struct {
	// ComponentID is the component.
	ComponentID int64
	// Path is the file's path in the repository.
	Path string
	// Blob is the git blob id of the unreadable content, which need not be tried
	// again.
	Blob string
	// Line and Column count from 1; 0 if unknown.
	Line, Column int
	// Message says what is wrong.
	Message string
}

// SetProblem records a file that cannot be read. It replaces an older problem of
// the file.
func (tx *StepTx) SetProblem(ctx context.Context, p Problem) error {
	m, err := tx.member(p.ComponentID)
	if err == nil {
		var n int64
		args := []any{p.ComponentID, p.Path, p.Blob, p.Line, p.Column, p.Message}
		n, err = tx.s.exec(ctx, `UPDATE problems SET blob = $3, line = $4, col = $5, message = $6
			WHERE component_id = $1 AND path = $2 AND (blob <> $3 OR line <> $4 OR col <> $5 OR message <> $6)`, args...)
		if err == nil && n == 0 {
			n, err = tx.s.exec(ctx, `INSERT INTO problems (component_id, path, blob, line, col, message) SELECT $1, $2, $3, $4, $5, $6
				WHERE NOT EXISTS (SELECT 1 FROM problems WHERE component_id = $1 AND path = $2)`, args...)
		}
		m.dirty = m.dirty || n > 0
	}
	return tx.fail(ctx, fmt.Sprintf("record problem of %s in component %d", p.Path, p.ComponentID), err)
}

// ClearProblem deletes the problem of a file, if it has one.
func (tx *StepTx) ClearProblem(ctx context.Context, componentID int64, path string) error {
	m, err := tx.member(componentID)
	if err == nil {
		var n int64
		n, err = tx.s.exec(ctx, `DELETE FROM problems WHERE component_id = $1 AND path = $2`, componentID, path)
		m.dirty = m.dirty || n > 0
	}
	return tx.fail(ctx, fmt.Sprintf("clear problem of %s in component %d", path, componentID), err)
}

// Problems returns the problems of a component by path.
func (tx *StepTx) Problems(ctx context.Context, componentID int64) ([]Problem, error) {
	ps, err := problemsOf(ctx, tx.s, componentID)
	return ps, tx.fail(ctx, fmt.Sprintf("read problems of component %d", componentID), err)
}

// Problems returns the problems of a component by path.
func (s *Snapshot) Problems(ctx context.Context, componentID int64) ([]Problem, error) {
	defer s.about(componentID).end()
	ps, err := problemsOf(ctx, s.s, componentID)
	return ps, s.db.fail(ctx, fmt.Sprintf("read problems of component %d", componentID), err)
}

// ProblemsOf returns problems of components, by component and path: up to limit.
func (s *Snapshot) ProblemsOf(ctx context.Context, components []int64, limit int) (out []Problem, err error) {
	defer s.about(components...).end()
	err = chunks(components, func(chunk []any) error {
		n := len(chunk)
		return s.s.query(ctx, `SELECT component_id, path, blob, line, col, message FROM problems WHERE component_id IN `+list(1, n)+
			` ORDER BY component_id, path LIMIT `+list(n+1, 1), append(chunk, limit), func(scan scan) error {
			var p Problem
			err := scan(&p.ComponentID, &p.Path, &p.Blob, &p.Line, &p.Column, &p.Message)
			if len(out) < limit {
				out = append(out, p)
			}
			return err
		})
	})
	return out, s.db.fail(ctx, "read problems", err)
}

func problemsOf(ctx context.Context, s *session, component int64) ([]Problem, error) {
	var out []Problem
	err := s.query(ctx, `SELECT path, blob, line, col, message FROM problems WHERE component_id = $1 ORDER BY path`, []any{component}, func(scan scan) error {
		p := Problem{ComponentID: component}
		err := scan(&p.Path, &p.Blob, &p.Line, &p.Column, &p.Message)
		out = append(out, p)
		return err
	})
	return out, err
}

// SetPullProblem records that the pull of components failed, or with "" that it
// recovered. changed is false if the components had this problem already, so that
// callers record one event per failure. Passwords in addresses are removed,
// although callers should have done so.
func (db *DB) SetPullProblem(ctx context.Context, componentIDs []int64, problem string) (changed bool, err error) {
	problem = repourl.RedactText(problem)
	err = db.write(ctx, func(s *session) error {
		ids, public, err := anyPublic(ctx, s, componentIDs, ` AND c.problem <> $1`, problem)
		if err != nil || len(ids) == 0 {
			return err
		}
		changed = true
		g, err := nextGeneration(ctx, s, public)
		if err != nil {
			return err
		}
		return chunks(ids, func(chunk []any) error {
			err := s.do(ctx, `UPDATE components SET problem = $1, generation = $2, content_generation = $2 WHERE id IN `+list(3, len(chunk)),
				append([]any{problem, g}, chunk...)...)
			return err
		})
	})
	if err != nil {
		changed = false
	}
	return changed, db.fail(ctx, "set problem", err)
}

// SetPullProblem is DB.SetPullProblem for one component of the convoy, within the
// step, so that the problem and its entry are stored together.
func (tx *StepTx) SetPullProblem(ctx context.Context, componentID int64, problem string) error {
	m, err := tx.member(componentID)
	if err == nil {
		m.dirty = true
		err = tx.s.do(ctx, `UPDATE components SET problem = $1 WHERE id = $2`, repourl.RedactText(problem), componentID)
	}
	return tx.fail(ctx, "set problem", err)
}
