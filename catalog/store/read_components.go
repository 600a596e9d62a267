package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ProjectRow is a project as it is served.
type ProjectRow struct {
	catalog.Project
	// Generation is the generation of the newest change of the project or anything
	// below.
	Generation int64
}

// ComponentRow is a component as it is served.
type ComponentRow struct {
	catalog.Component
	// Project is the component's project, without Changes: these are of its other
	// components, too.
	Project catalog.Project
	// Generation is the generation of the newest change of the component, of
	// anything below it, or of the project's settings. It leaves out that the head
	// moved.
	Generation int64

	reread                        bool
	importAt, lastAt              sql.NullInt64
	lastUnit                      int64
	template                      string
	configured, projectConfigured int64
}

// Projects returns the active projects by id.
func (s *Snapshot) Projects(ctx context.Context) ([]ProjectRow, error) {
	var out []ProjectRow
	err := s.s.Query(ctx, projectQuery+` WHERE active = 1 ORDER BY id`, nil, func(scan sqldb.Scan) error {
		row, err := scanProject(s.s, scan)
		out = append(out, row)
		return err
	})
	return out, s.s.Fail(ctx, "read projects", err)
}

// Project returns an active project, or ErrNotFound.
func (s *Snapshot) Project(ctx context.Context, slug string) (ProjectRow, error) {
	defer s.s.About().End()
	var out ProjectRow
	found := false
	err := s.s.Query(ctx, projectQuery+` WHERE slug = $1 AND active = 1`, []any{slug}, func(scan sqldb.Scan) (err error) {
		found = true
		out, err = scanProject(s.s, scan)
		return err
	})
	if err == nil && !found {
		err = sqldb.NotFound("no such project")
	}
	if found {
		s.s.Reading.AddProject(out.ID)
	}
	return out, s.s.Fail(ctx, fmt.Sprintf("read project %q", slug), err)
}

// Components returns the active components of a project by id, or with "" of all
// projects. An unknown project has none. The rows are shared: callers must not
// modify them.
func (s *Snapshot) Components(ctx context.Context, project string) ([]*ComponentRow, error) {
	if project != "" {
		defer s.s.About().End()
	}
	kept, err := s.components(ctx)
	if err != nil {
		return nil, s.s.Fail(ctx, fmt.Sprintf("read components of %q", project), err)
	}
	if project == "" {
		return slices.Clip(kept.all), nil
	}
	rows := slices.Clip(kept.byProject[project])
	if len(rows) > 0 { // none: only a change of settings can add one
		s.s.Reading.AddProject(rows[0].ProjectID)
	}
	return rows, nil
}

// Component returns an active component, or ErrNotFound.
func (s *Snapshot) Component(ctx context.Context, project, slug string) (ComponentRow, error) {
	defer s.s.About().End()
	row, err := oneComponent(ctx, s.s, ` WHERE p.slug = $1 AND c.slug = $2 AND c.active = 1 AND p.active = 1`, project, slug)
	if err == nil {
		s.s.Reading.AddComponents(row.ID)
	}
	return row, s.s.Fail(ctx, fmt.Sprintf("read component %q/%q", project, slug), err)
}

func componentsWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) (out []ComponentRow, err error) {
	err = s.Query(ctx, `SELECT `+componentColumns+componentFrom+where, args, func(scan sqldb.Scan) error {
		row, err := scanComponent(s, scan)
		out = append(out, row)
		return err
	})
	return out, err
}

func componentByID(ctx context.Context, s *sqldb.Session, id int64) (ComponentRow, error) {
	return oneComponent(ctx, s, ` WHERE c.id = $1`, id)
}

func oneComponent(ctx context.Context, s *sqldb.Session, where string, args ...any) (ComponentRow, error) {
	var out ComponentRow
	found := false
	err := s.Query(ctx, `SELECT `+componentColumns+componentFrom+where, args, func(scan sqldb.Scan) (err error) {
		found = true
		out, err = scanComponent(s, scan)
		return err
	})
	if err == nil && !found {
		err = sqldb.NotFound("no such component")
	}
	return out, err
}

const projectQuery = `SELECT id, slug, settings, changes, generation FROM projects`

func scanProject(s *sqldb.Session, scan sqldb.Scan) (ProjectRow, error) {
	var p ProjectRow
	var settings sql.RawBytes
	if err := scan(&p.ID, &p.Slug, &settings, &p.Changes, &p.Generation); err != nil {
		return p, err
	}
	var err error
	p.Settings, err = s.DB.Projects.Decode(p.ID, settings)
	return p, err
}

const (
	componentColumns = `c.id, c.project_id, c.slug, c.settings, c.repo, c.branch, c.tracking, c.head, c.changes, c.problem, c.problem_kind, c.problem_since,
		c.push_problem, c.push_problem_kind, c.push_problem_since,
		c.imported, c.reread, c.import_at, c.last_unit, c.last_at, c.template, c.settings_generation, c.content_generation,
		c.locked, p.slug, p.settings, p.settings_generation`
	componentFrom = ` FROM components c JOIN projects p ON p.id = c.project_id`
)

func scanComponent(s *sqldb.Session, scan sqldb.Scan) (ComponentRow, error) {
	var c ComponentRow
	var settings, projectSettings sql.RawBytes
	var since, pushSince sql.NullInt64
	err := scan(&c.ID, &c.ProjectID, &c.Slug, &settings, &c.Repo, &c.Branch, &c.Tracking, &c.Head, &c.Changes, &c.Problem.Words, &c.Problem.Kind, &since,
		&c.PushProblem.Words, &c.PushProblem.Kind, &pushSince,
		&c.Imported, &c.reread, &c.importAt, &c.lastUnit, &c.lastAt, &c.template, &c.configured, &c.Generation,
		&c.Locked, &c.Project.Slug, &projectSettings, &c.projectConfigured)
	if err != nil {
		return c, err
	}
	c.Project.ID = c.ProjectID
	c.Generation = max(c.Generation, c.settingsGeneration())
	if c.Settings, err = s.DB.Components.Decode(c.ID, settings); err != nil {
		return c, err
	}
	c.Problem.Since, c.PushProblem.Since = sqldb.FromMicros(since), sqldb.FromMicros(pushSince)
	if !c.Settings.Edits.Taken() {
		c.PushProblem = catalog.Failure{} // of when it took them
	}
	c.Project.Settings, err = s.DB.Projects.Decode(c.ProjectID, projectSettings)
	return c, err
}

// settingsGeneration is the newest generation of the settings of a component and
// of its project. All answers about the component show them.
func (c *ComponentRow) settingsGeneration() int64 { return max(c.configured, c.projectConfigured) }

// ComponentByID returns a component as pulls and edits need it, or ErrNotFound.
func (db *DB) ComponentByID(ctx context.Context, id int64) (c BranchComponent, err error) {
	err = db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		row, err := oneComponent(ctx, s, ` WHERE c.id = $1 AND c.active = 1 AND p.active = 1`, id)
		c = BranchComponent{
			Component: row.Component, Project: row.Project,
			Reread: row.reread, Template: row.template, Configured: row.configured,
			ImportAt: sqldb.FromMicros(row.importAt), LastUnit: row.lastUnit, LastAt: sqldb.FromMicros(row.lastAt),
		}
		return err
	})
	return c, db.fail(ctx, fmt.Sprintf("read component %d", id), err)
}
