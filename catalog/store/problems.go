package store

import (
	"context"
	"fmt"
)

// Problem is a file that cannot be read; its translation keeps its last good
// state (decision 22).
type Problem struct {
	// ComponentID is the component.
	ComponentID int64
	// Path is the file's path in the repository.
	Path string
	// Blob is the git blob id that cannot be read: the same bytes need not be
	// tried again.
	Blob string
	// Line and Column are 1-based; 0 where there is none.
	Line, Column int
	// Message says what is wrong.
	Message string
}

// SetProblem records a file that cannot be read, in place of what was said
// about it before.
func (tx *StepTx) SetProblem(ctx context.Context, p Problem) error {
	m, err := tx.member(p.ComponentID)
	if err == nil {
		var n int64
		n, err = tx.s.exec(ctx, `INSERT INTO problems (component_id, path, blob, line, col, message) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (component_id, path) DO UPDATE SET blob = excluded.blob, line = excluded.line, col = excluded.col, message = excluded.message
			WHERE problems.blob <> excluded.blob OR problems.line <> excluded.line OR problems.col <> excluded.col OR problems.message <> excluded.message`,
			p.ComponentID, p.Path, p.Blob, p.Line, p.Column, p.Message)
		m.dirty = m.dirty || n > 0
	}
	return tx.fail(ctx, fmt.Sprintf("record problem of %s in component %d", p.Path, p.ComponentID), err)
}

// ClearProblem forgets the problem of a file; if there is none it does nothing.
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
	ps, err := problemsOf(ctx, s.s, componentID)
	return ps, s.db.fail(ctx, fmt.Sprintf("read problems of component %d", componentID), err)
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
