package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Repeats returns by how much the sum of the statistics of a project's components
// exceeds statistics in which strings of one language that have the same source
// and context count once, in the state of the best of them: read-only or
// translated before fuzzy before empty. With private it is about all components,
// otherwise about the public ones. Failing, Suggestions and Comments are 0.
func (s *Snapshot) Repeats(ctx context.Context, project int64, private bool) (all catalog.Stats, err error) {
	defer s.aboutProject(project).End()
	err = s.s.Query(ctx, `SELECT `+countList(fileCounts, "%s")+` FROM repeats WHERE project_id = $1 AND private = $2`, []any{project, sqldb.Smallint(private)}, func(scan sqldb.Scan) error {
		var sum catalog.Stats
		err := scan(scanCounts(fileCounts, &sum)...)
		all.Add(sum)
		return err
	})
	return all, s.db.fail(ctx, fmt.Sprintf("read what components of project %d share", project), err)
}
