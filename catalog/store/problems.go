package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
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
		n, err = tx.s.Exec(ctx, `UPDATE problems SET blob = $3, line = $4, col = $5, message = $6
			WHERE component_id = $1 AND path = $2 AND (blob <> $3 OR line <> $4 OR col <> $5 OR message <> $6)`, args...)
		if err == nil && n == 0 {
			n, err = tx.s.Exec(ctx, `INSERT INTO problems (component_id, path, blob, line, col, message) SELECT $1, $2, $3, $4, $5, $6
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
		n, err = tx.s.Exec(ctx, `DELETE FROM problems WHERE component_id = $1 AND path = $2`, componentID, path)
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
	defer s.s.About(componentID).End()
	ps, err := problemsOf(ctx, s.s, componentID)
	return ps, s.s.Fail(ctx, fmt.Sprintf("read problems of component %d", componentID), err)
}

// ProblemsOf returns problems of components, by component and path: up to limit.
func (s *Snapshot) ProblemsOf(ctx context.Context, components []int64, limit int) ([]Problem, error) {
	defer s.s.About(components...).End()
	out, err := sqldb.RowsIn(ctx, s.s, problemColumns+` WHERE component_id IN $ids ORDER BY component_id, path LIMIT $1`, []any{limit}, components, (*Problem).fields)
	return out[:min(len(out), limit)], s.s.Fail(ctx, "read problems", err)
}

const problemColumns = `SELECT component_id, path, blob, line, col, message FROM problems`

func (p *Problem) fields() []any {
	return []any{&p.ComponentID, &p.Path, &p.Blob, &p.Line, &p.Column, &p.Message}
}

func problemsOf(ctx context.Context, s *sqldb.Session, component int64) ([]Problem, error) {
	return sqldb.Rows(ctx, s, problemColumns+` WHERE component_id = $1 ORDER BY path`, []any{component}, (*Problem).fields)
}

// SetPullProblem records that the pull of components failed, or with the zero failure that
// it recovered. What was failing before keeps its Since. changed is false if the components
// had this problem already, so that callers record one event per failure.
func (db *DB) SetPullProblem(ctx context.Context, componentIDs []int64, problem catalog.Failure) (changed bool, err error) {
	problem = StoredFailure(problem)
	err = db.write(ctx, func(s *sqldb.Session) error {
		ids, public, err := anyPublic(ctx, s, componentIDs, ` AND (c.problem <> $1 OR c.problem_kind <> $2)`, problem.Words, string(problem.Kind))
		if err != nil || len(ids) == 0 {
			return err
		}
		changed = true
		g, err := nextGeneration(ctx, s, public)
		if err != nil {
			return err
		}
		return s.DoIn(ctx, `UPDATE components SET `+setFailure("problem")+`, generation = $4, content_generation = $4 WHERE id IN $ids`, []any{problem.Words, string(problem.Kind), sqldb.Micros(problem.Since), g}, ids)
	})
	if err != nil {
		changed = false
	}
	return changed, db.fail(ctx, "set problem", err)
}

// setFailure sets the columns of a failure to words, kind and time. One that goes on keeps
// the time of its beginning.
func setFailure(column string) string {
	return strings.ReplaceAll(`X = $1, X_kind = $2, X_since = CASE WHEN $2 = '' OR X_kind = '' THEN $3 ELSE X_since END`, "X", column)
}

// SetPullProblem is DB.SetPullProblem for one component of the convoy, within the
// step, so that the problem and its entry are stored together.
func (tx *StepTx) SetPullProblem(ctx context.Context, componentID int64, problem catalog.Failure) error {
	m, err := tx.member(componentID)
	if err == nil {
		m.dirty = true
		problem = StoredFailure(problem)
		err = tx.s.Do(ctx, `UPDATE components SET `+setFailure("problem")+` WHERE id = $4`, problem.Words, string(problem.Kind), sqldb.Micros(problem.Since), componentID)
	}
	return tx.fail(ctx, "set problem", err)
}

// StoredFailure is a failure as it is stored: of a known kind, with words that may be shown
// to those who may write there. One that is none has no time.
func StoredFailure(f catalog.Failure) catalog.Failure {
	if f.Kind == "" {
		return catalog.Failure{}
	}
	return catalog.Failure{Kind: catalog.KnownFailure(string(f.Kind)), Words: problemText(f.Words), Since: f.Since}
}

// maxProblemText bounds a problem, in bytes.
const maxProblemText = 1_000

// problemText makes a text that may be the words of a remote fit to be stored and shown to
// those who may write: without secrets of addresses, e-mail addresses, paths of this machine
// and bytes that a database refuses.
func problemText(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(catalog.WithoutPrivate(repourl.RedactText(text)), "\x00", ""), "")
	if len(text) <= maxProblemText {
		return text
	}
	const gap = " … "
	const half = (maxProblemText - len(gap)) / 2
	return strings.ToValidUTF8(text[:half]+gap+text[len(text)-half:], "")
}
