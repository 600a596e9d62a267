package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ProjectRow is a project as it is served.
type ProjectRow struct {
	catalog.Project
	// Generation is the generation of the newest change of the project or anything
	// below.
	Generation int64

	configured int64 // the generation of its settings
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

	// ImportedChange is the newest change when its first import ended; 0 before.
	ImportedChange int64

	// Reread says that repository, branch or settings that affect reading changed. Its
	// stored units remain, for comparison. Its head was reset, unless it is the commit
	// that a first import has reached.
	Reread bool
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

	projectConfigured int64
}

// BranchComponent is a component as pulls and edits of its branch read it.
type BranchComponent = ComponentRow

// Projects returns the active projects by id.
func (s *Snapshot) Projects(ctx context.Context) ([]ProjectRow, error) {
	out, err := projectsWhere(ctx, s.s, ` WHERE active = 1 ORDER BY id`)
	return out, s.s.Fail(ctx, "read projects", err)
}

// Project returns an active project, or ErrNotFound.
func (s *Snapshot) Project(ctx context.Context, slug string) (row ProjectRow, err error) {
	defer s.s.About().End()
	found, err := projectsWhere(ctx, s.s, ` WHERE slug = $1 AND active = 1`, slug)
	if row, err = sqldb.Only(found, err, "no such project"); err == nil {
		s.s.Reading.AddProject(row.ID)
	}
	return row, s.s.Fail(ctx, fmt.Sprintf("read project %q", slug), err)
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
	err = s.Query(ctx, `SELECT `+componentColumns+rows.ComponentFrom+where, args, func(scan sqldb.Scan) error {
		row, err := scanComponent(s, scan)
		out = append(out, row)
		return err
	})
	return out, err
}

func componentByID(ctx context.Context, s *sqldb.Session, id int64) (ComponentRow, error) {
	return oneComponent(ctx, s, ` WHERE c.id = $1`, id)
}

func oneComponent(ctx context.Context, s *sqldb.Session, where string, args ...any) (row ComponentRow, err error) {
	found, err := componentsWhere(ctx, s, where, args...)
	return sqldb.Only(found, err, "no such component")
}

func projectsWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) (out []ProjectRow, err error) {
	err = s.Query(ctx, `SELECT id, slug, settings, changes, generation, settings_generation FROM projects`+where, args, func(scan sqldb.Scan) error {
		var p ProjectRow
		var settings sql.RawBytes
		err := scan(&p.ID, &p.Slug, &settings, &p.Changes, &p.Generation, &p.configured)
		if err == nil {
			p.Settings, err = s.DB.Projects.Decode(p.ID, settings)
		}
		out = append(out, p)
		return err
	})
	return out, err
}

const (
	componentColumns = `c.id, c.project_id, c.slug, c.settings, c.repo, c.branch, c.tracking, c.head, c.changes, c.problem, c.problem_kind, c.problem_since,
		c.push_problem, c.push_problem_kind, c.push_problem_since,
		c.imported, c.reread, c.import_at, c.last_unit, c.last_at, c.template, c.settings_generation, c.content_generation,
		c.locked, c.imported_change, p.slug, p.settings, p.settings_generation`
)

func scanComponent(s *sqldb.Session, scan sqldb.Scan) (c ComponentRow, err error) {
	var settings, projectSettings sql.RawBytes
	err = scan(&c.ID, &c.ProjectID, &c.Slug, &settings, &c.Repo, &c.Branch, &c.Tracking, &c.Head, &c.Changes, &c.Problem.Words, &c.Problem.Kind, &c.Problem.Since,
		&c.PushProblem.Words, &c.PushProblem.Kind, &c.PushProblem.Since,
		&c.Imported, &c.Reread, &c.ImportAt, &c.LastUnit, &c.LastAt, &c.Template, &c.Configured, &c.Generation,
		&c.Locked, &c.ImportedChange, &c.Project.Slug, &projectSettings, &c.projectConfigured)
	if err != nil {
		return c, err
	}
	c.Head, c.TemplateHead, _ = strings.Cut(c.Head, "+")
	c.Project.ID = c.ProjectID
	c.Generation = max(c.Generation, c.settingsGeneration())
	if c.Settings, err = s.DB.Components.Decode(c.ID, settings); err != nil {
		return c, err
	}
	if !c.Settings.Edits.Taken() {
		c.PushProblem = catalog.Failure{} // of when it took them
	}
	c.Project.Settings, err = s.DB.Projects.Decode(c.ProjectID, projectSettings)
	return c, err
}

// settingsGeneration is the newest generation of the settings of a component and
// of its project. All answers about the component show them.
func (c *ComponentRow) settingsGeneration() int64 { return max(c.Configured, c.projectConfigured) }

// Branch returns the active components of a configured repository and branch, by
// id. An empty list is no error.
func (db *DB) Branch(ctx context.Context, repo, branch string) ([]BranchComponent, error) {
	return db.branchComponents(ctx, "read the components of a branch", `c.repo = $1 AND c.branch = $2`, repo, branch)
}

// Discovered returns the active components of a project that a discovery made, by id,
// also those of the repository and branch that it had before.
func (db *DB) Discovered(ctx context.Context, project, template string) ([]BranchComponent, error) {
	return db.branchComponents(ctx, "read the components of a discovery", `p.slug = $1 AND c.template = $2`, project, template)
}

// ComponentByID returns a component as pulls and edits need it, or ErrNotFound.
func (db *DB) ComponentByID(ctx context.Context, id int64) (BranchComponent, error) {
	return ask(ctx, db, fmt.Sprintf("read component %d", id), func(s *sqldb.Session) (BranchComponent, error) {
		return oneComponent(ctx, s, ` WHERE c.id = $1 AND c.active = 1 AND p.active = 1`, id)
	})
}

func (db *DB) branchComponents(ctx context.Context, op, where string, args ...any) ([]BranchComponent, error) {
	return ask(ctx, db, op, func(s *sqldb.Session) ([]BranchComponent, error) {
		return componentsWhere(ctx, s, ` WHERE `+where+` AND c.active = 1 AND p.active = 1 ORDER BY c.id`, args...)
	})
}
