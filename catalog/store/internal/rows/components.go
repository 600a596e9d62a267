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
