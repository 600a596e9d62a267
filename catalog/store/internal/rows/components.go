package rows

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ComponentFrom is where the columns of a component c and its project p are from.
const ComponentFrom = ` FROM components c JOIN projects p ON p.id = c.project_id`

// Private reports whether strangers do not see a component with these settings.
func Private(s *sqldb.Session, component int64, settings []byte, project int64, projectSettings []byte) (bool, error) {
	of, err := s.DB.Projects.Decode(project, projectSettings)
	if err != nil {
		return false, err
	}
	own, err := s.DB.Components.Decode(component, settings)
	return own.Private(&catalog.Project{ID: project, Settings: of}), err
}

// NextConfigured takes the next generation for changes that may be in every answer.
func NextConfigured(ctx context.Context, s *sqldb.Session) (int64, error) {
	var g int64
	_, err := s.First(ctx, `UPDATE clock SET generation = generation + 1, configured = generation + 1 WHERE one = 1 RETURNING generation`, nil, &g)
	return g, err
}

// StringCounts selects the live translations of a component's strings.
const StringCounts = `SELECT u.source_id, COALESCE(s.since, s.created), COUNT(*), SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END)
	FROM translations t JOIN units u ON u.translation_id = t.id JOIN units s ON s.id = u.source_id
	WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND u.removed = 0 AND s.removed = 0 AND COALESCE(s.since, s.created) IS NOT NULL`

// HavingLagging selects the lagging ones of StringCounts.
const HavingLagging = ` GROUP BY u.source_id, COALESCE(s.since, s.created) HAVING 2 * SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END) < COUNT(*)`

// HeadCommit returns the stored description of a component's head; zero without one.
func HeadCommit(ctx context.Context, s *sqldb.Session, component int64) (c catalog.Commit, err error) {
	var text string
	found, err := s.First(ctx, `SELECT COALESCE(head_commit, '') FROM components WHERE id = $1`, []any{component}, &text)
	if err != nil || !found || text == "" {
		return c, err
	}
	return sqldb.CommitOf(text)
}
