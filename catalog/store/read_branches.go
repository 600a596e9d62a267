package store

import (
	"context"
	"regexp"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// BranchComponent is a component as the pull of its branch sees it.
type BranchComponent struct {
	catalog.Component
	// Project is the component's project.
	Project catalog.Project
	// Reread says that its head was reset because repository, branch or what the
	// reading depends on changed: its units are still there to compare with.
	Reread bool
	// Unremarked says that its units were stored by a version that did not know
	// translator comments: they are to be read once more (StepInfo.Reread).
	LacksTranslatorComments bool
	// Template is the pattern that discovered it, "" for a configured one.
	Template string
	// ImportAt is when the first import began; zero if nothing of the component
	// was ever stored, or if it was imported before this was remembered.
	ImportAt time.Time
	// LastUnit is the n of the newest unit id (DESIGN, invariant 4); 0 without.
	LastUnit int64
	// LastAt is the time of the newest change entry; zero without.
	LastAt time.Time
	// Configured is the generation of its settings, for StepInfo.Configured.
	Configured int64
}

// Branch returns the active components of a repository and a branch as they are
// configured, in the order of their ids; none is no error.
func (db *DB) Branch(ctx context.Context, repo, branch string) ([]BranchComponent, error) {
	var out []BranchComponent
	err := db.engine.readers.transact(ctx, snapshotOptions(), func(s *session) error {
		err := s.query(ctx, `SELECT `+componentColumns+componentFrom+`
			WHERE c.repo = $1 AND c.branch = $2 AND c.active = 1 AND p.active = 1 ORDER BY c.id`, []any{repo, branch},
			func(scan scan) error {
				row, err := scanComponent(s, scan)
				if err == nil {
					out = append(out, BranchComponent{
						Component: row.Component, Project: row.Project,
						Reread: row.reread, Template: row.template, Configured: row.configured,
						ImportAt: fromMicros(row.importAt), LastUnit: row.lastUnit, LastAt: fromMicros(row.lastAt),
					})
				}
				return err
			})
		if err != nil {
			return err
		}
		return s.query(ctx, `SELECT id FROM components WHERE repo = $1 AND branch = $2 AND remarked = 0`, []any{repo, branch}, func(scan scan) error {
			var id int64
			err := scan(&id)
			for i := range out {
				out[i].LacksTranslatorComments = out[i].LacksTranslatorComments || out[i].ID == id
			}
			return err
		})
	})
	return out, db.fail(ctx, "read the components of a branch", err)
}

// SetPullProblem records that the pull of components failed, or with "" that it
// recovered. changed is false if all of them said so already: an event per spell
// of failure needs no more. Passwords within addresses are cut out, though the
// caller should have done so.
func (db *DB) SetPullProblem(ctx context.Context, componentIDs []int64, problem string) (changed bool, err error) {
	problem = redact(problem)
	err = db.write(ctx, func(s *session) error {
		var ids []int64
		err := chunks(componentIDs, func(chunk []any) error {
			return s.query(ctx, `SELECT id FROM components WHERE problem <> $1 AND id IN `+list(2, len(chunk)),
				append([]any{problem}, chunk...), func(scan scan) error {
					var id int64
					err := scan(&id)
					ids = append(ids, id)
					return err
				})
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		changed = true
		g, err := nextGeneration(ctx, s)
		if err != nil {
			return err
		}
		return chunks(ids, func(chunk []any) error {
			_, err := s.exec(ctx, `UPDATE components SET problem = $1, generation = $2 WHERE id IN `+list(3, len(chunk)),
				append([]any{problem, g}, chunk...)...)
			return err
		})
	})
	if err != nil {
		changed = false
	}
	return changed, db.fail(ctx, "set problem", err)
}

// SetPullProblem is SetPullProblem for one component of the convoy, within the step: so
// that an entry that tells of it is there if and only if the problem is.
func (tx *StepTx) SetPullProblem(ctx context.Context, componentID int64, problem string) error {
	m, err := tx.member(componentID)
	if err == nil {
		m.dirty = true
		_, err = tx.s.exec(ctx, `UPDATE components SET problem = $1 WHERE id = $2`, redact(problem), componentID)
	}
	return tx.fail(ctx, "set problem", err)
}

// redact cuts user and password out of the addresses in a text; a user alone
// stays where it is no secret (ssh://git@host).
func redact(s string) string {
	s = regexp.MustCompile(`(?i)(https?://)[^/\s@]+@`).ReplaceAllString(s, "$1")
	return regexp.MustCompile(`(://[^/\s:@]*):[^/\s@]*@`).ReplaceAllString(s, "$1@")
}
