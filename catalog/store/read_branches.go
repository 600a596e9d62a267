package store

import (
	"context"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// BranchComponent is a component as needed by a pull of its branch.
type BranchComponent struct {
	catalog.Component
	// Project is the component's project.
	Project catalog.Project
	// Reread says that repository, branch or settings that affect reading changed. Its
	// stored units remain, for comparison. Its head was reset, unless it is the commit
	// that a first import has reached.
	Reread bool
	// Outdated says that its units, which came from the export of an older version, were
	// not compared with the template: they must be read again (StepInfo.Reread).
	Outdated bool
	// Template is the pattern that discovered it; "" for a configured component.
	Template string
	// ImportAt is when the first import began; zero if nothing of the component
	// was stored yet, or if an older version imported it.
	ImportAt time.Time
	// LastUnit is the n of the newest unit id, which is component id · 2^28 + n; 0
	// without units.
	LastUnit int64
	// LastAt is the time of the newest change entry; zero without entries.
	LastAt time.Time
	// Configured is the generation of its settings, for StepInfo.Configured.
	Configured int64
}

// Branch returns the active components of a configured repository and branch, by
// id. It is no error if there are none.
func (db *DB) Branch(ctx context.Context, repo, branch string) ([]BranchComponent, error) {
	out, err := db.branchComponents(ctx, `c.repo = $1 AND c.branch = $2`, repo, branch)
	return out, db.fail(ctx, "read the components of a branch", err)
}

// Discovered returns the active components of a project that a discovery made, by id,
// also those of the repository and branch that it had before.
func (db *DB) Discovered(ctx context.Context, project, template string) ([]BranchComponent, error) {
	out, err := db.branchComponents(ctx, `p.slug = $1 AND c.template = $2`, project, template)
	return out, db.fail(ctx, "read the components of a discovery", err)
}

func (db *DB) branchComponents(ctx context.Context, where string, args ...any) (out []BranchComponent, err error) {
	err = db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		err := s.Query(ctx, `SELECT `+componentColumns+componentFrom+`
			WHERE `+where+` AND c.active = 1 AND p.active = 1 ORDER BY c.id`, args,
			func(scan sqldb.Scan) error {
				row, err := scanComponent(s, scan)
				if err == nil {
					out = append(out, BranchComponent{
						Component: row.Component, Project: row.Project,
						Reread: row.reread, Template: row.template, Configured: row.configured,
						ImportAt: sqldb.FromMicros(row.importAt), LastUnit: row.lastUnit, LastAt: sqldb.FromMicros(row.lastAt),
					})
				}
				return err
			})
		if err != nil {
			return err
		}
		return s.Query(ctx, `SELECT c.id`+componentFrom+` WHERE `+where+` AND EXISTS
			(SELECT 1 FROM translations t WHERE t.component_id = c.id AND t.is_source = 1 AND t.template < 0)`, args, func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			for i := range out {
				out[i].Outdated = out[i].Outdated || out[i].ID == id
			}
			return err
		})
	})
	return out, err
}
