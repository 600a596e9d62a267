// Package roster stores projects and components as the configuration names them: what is
// new, what changed, and what is named no more. Package store says what follows (DB.Configure).
package roster

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Spec is a component as given by the configuration or by discovery.
type Spec struct {
	// Project and Slug are the component's key.
	Project, Slug string
	// Settings are stored as they are; the caller fills in defaults.
	Settings catalog.ComponentSettings
	// Repo is the address to pull from, without credentials. An address with a
	// password is refused.
	Repo string
	// Branch is the configured branch; "" follows the remote's HEAD.
	Branch string
	// Template is the slug pattern with {component} that discovered the component;
	// "" if the configuration names the component itself.
	Template string
}

// TemplateKey names a pattern of the configuration that discovers components.
type TemplateKey struct {
	// Project is the project's slug.
	Project string
	// Slug is the pattern, such as "docs-{component}".
	Slug string
}

// Set makes projects, components and what templates discover the only active ones.
func Set(ctx context.Context, s *sqldb.Session, projects []catalog.Project, components []Spec, templates []TemplateKey) error {
	c, err := newConfigurer(ctx, s)
	if err != nil {
		return err
	}
	if err := c.putProjects(ctx, projects); err != nil {
		return err
	}
	if _, err := c.putComponents(ctx, components); err != nil {
		return err
	}
	return cmp.Or(c.deactivate(ctx, templates), c.settle(ctx))
}

// Add stores discovered components of active projects and returns their ids.
func Add(ctx context.Context, s *sqldb.Session, specs []Spec) ([]int64, error) {
	c, err := newConfigurer(ctx, s)
	if err != nil {
		return nil, err
	}
	c.discovery = true
	ids, err := c.putComponents(ctx, specs)
	if err != nil {
		return nil, err
	}
	return ids, c.settle(ctx)
}

// configurer is one run of Set or Add.
type configurer struct {
	s          *sqldb.Session
	discovery  bool
	generation int64                             // taken when the first row changes; 0 before
	public     bool                              // strangers see, or saw, something that changes
	projects   map[string]int64                  // active, by slug
	known      map[int64]catalog.Project         // those of projects, by id, with their new settings
	named      map[int64]bool                    // components
	stored     map[componentKey]*storedComponent // before, or inserted since
}

// newConfigurer reads all stored components: a statement for each of 10,000 took most
// of the time of Set.
func newConfigurer(ctx context.Context, s *sqldb.Session) (*configurer, error) {
	c := &configurer{s: s, named: map[int64]bool{}, known: map[int64]catalog.Project{}}
	list, err := sqldb.Rows(ctx, s, `SELECT project_id, slug, id, settings, read_key, repo, branch, template, active, imported, reread FROM components`, nil, func(c *storedComponent) []any {
		return []any{&c.key.project, &c.key.slug, &c.id, &c.settings, &c.readKey, &c.repo, &c.branch, &c.template, &c.active, &c.imported, &c.reread}
	})
	c.stored = catalog.ByKey(list, func(o *storedComponent) componentKey { return o.key })
	return c, err
}

// settle stores whether strangers see what changed.
func (c *configurer) settle(ctx context.Context) error {
	if c.public {
		if err := c.s.Do(ctx, `UPDATE clock SET public = generation`); err != nil {
			return err
		}
	}
	return nil
}

// takeGeneration takes a generation for a change; public says that strangers see what
// changes, or saw it before.
func (c *configurer) takeGeneration(ctx context.Context, public bool) (int64, error) {
	c.public = c.public || public
	var err error
	if c.generation == 0 {
		c.generation, err = rows.NextConfigured(ctx, c.s)
	}
	return c.generation, err
}

func (c *configurer) putProjects(ctx context.Context, projects []catalog.Project) error {
	c.projects = map[string]int64{}
	for i := range projects {
		p := &projects[i]
		if _, dup := c.projects[p.Slug]; dup || p.Slug == "" {
			return sqldb.Invalid("project %q is named twice or has no slug", p.Slug)
		}
		id, err := c.putProject(ctx, p)
		if err != nil {
			return err
		}
		c.projects[p.Slug] = id
	}
	return nil
}

func (c *configurer) putProject(ctx context.Context, p *catalog.Project) (id int64, err error) {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return 0, err
	}
	var old string
	var active bool
	found, err := c.s.First(ctx, `SELECT id, settings, active FROM projects WHERE slug = $1`, []any{p.Slug}, &id, &old, &active)
	if err != nil || found && active && old == string(settings) {
		c.known[id] = *p
		return id, err
	}
	g, err := c.takeGeneration(ctx, found || !p.Private())
	if err != nil {
		return 0, err
	}
	if found {
		var before catalog.ProjectSettings
		if err := json.Unmarshal([]byte(old), &before); err != nil {
			return 0, err
		}
		if before.Name != p.Settings.Name || before.Access != p.Settings.Access { // proper nouns may stay untranslated; hidden components are not compared
			if err := c.resetChecks(ctx, id); err != nil {
				return 0, err
			}
		}
		c.known[id] = *p
		err = c.s.Do(ctx, `UPDATE projects SET settings = $1, active = 1, settings_generation = $2, generation = $2 WHERE id = $3`, string(settings), g, id)
		return id, err
	}
	if err := c.s.WillTakeIDs(ctx); err != nil {
		return 0, err
	}
	_, err = c.s.First(ctx, `INSERT INTO projects (slug, settings, active, settings_generation, generation)
		VALUES ($1, $2, 1, $3, $3) RETURNING id`, []any{p.Slug, string(settings), g}, &id)
	c.known[id] = *p
	return id, err
}

func (c *configurer) touchProject(ctx context.Context, id, generation int64) error {
	return c.s.Do(ctx, `UPDATE projects SET generation = $1 WHERE id = $2`, generation, id)
}

// resetChecks makes the next pulls check a project again. Its strings are compared
// with nothing until then.
func (c *configurer) resetChecks(ctx context.Context, project int64) error {
	for _, query := range []string{
		`DELETE FROM compared_units WHERE scope_id IN (SELECT id FROM compared_scopes WHERE project_id = $1)`,
		`DELETE FROM compared_scopes WHERE project_id = $1`,
		`UPDATE translations SET checked = '', scope_id = 0 WHERE component_id IN (SELECT id FROM components WHERE project_id = $1)`,
	} {
		if err := c.s.Do(ctx, query, project); err != nil {
			return err
		}
	}
	return nil
}

func (c *configurer) putComponents(ctx context.Context, specs []Spec) ([]int64, error) {
	ids := make([]int64, len(specs))
	for i := range specs {
		id, err := c.putComponent(ctx, &specs[i])
		if err != nil {
			return nil, err
		}
		if c.named[id] {
			return nil, sqldb.Invalid("component %s/%s is named twice", specs[i].Project, specs[i].Slug)
		}
		c.named[id], ids[i] = true, id
	}
	return ids, nil
}

// storedComponent is what putComponent compares with the new spec.
type storedComponent struct {
	key                                       componentKey
	id                                        int64
	settings, readKey, repo, branch, template string
	active, imported, reread                  bool
}

// componentKey is how the configuration names a component of a project.
type componentKey struct {
	project int64
	slug    string
}

func (c *configurer) putComponent(ctx context.Context, spec *Spec) (int64, error) {
	if err := spec.check(); err != nil {
		return 0, err
	}
	project, err := c.project(ctx, spec)
	if err != nil {
		return 0, err
	}
	settings, err := json.Marshal(spec.Settings)
	if err != nil {
		return 0, err
	}
	old := c.stored[componentKey{project, spec.Slug}]
	switch {
	case old == nil:
		return c.insertComponent(ctx, project, spec, string(settings))
	case c.discovery && old.active && old.template != spec.Template:
		return 0, sqldb.Invalid("component %s/%s, discovered by %q, has the slug of another component: change one of the slugs in the configuration",
			spec.Project, spec.Slug, spec.Template)
	}
	return old.id, c.updateComponent(ctx, project, spec, string(settings), old)
}

// maxBranchKey bounds what is in an index together: a row of PostgreSQL's has 2,704
// bytes.
const maxBranchKey = 2_500

func (spec *Spec) check() error {
	if spec.Slug == "" {
		return sqldb.Invalid("a component of project %s has no slug", spec.Project)
	}
	if len(spec.Repo)+len(spec.Branch) > maxBranchKey {
		return sqldb.Invalid("the repository address and the branch of component %s/%s have more than %d bytes", spec.Project, spec.Slug, maxBranchKey)
	}
	if repourl.Redact(spec.Repo) != spec.Repo {
		return sqldb.Invalid("the repository address of component %s/%s carries credentials: they must be removed before it is stored", spec.Project, spec.Slug)
	}
	return nil
}

func (c *configurer) project(ctx context.Context, spec *Spec) (int64, error) {
	if c.projects != nil {
		id, ok := c.projects[spec.Project]
		if !ok {
			return 0, sqldb.Invalid("component %s/%s: the configuration has no project %q", spec.Project, spec.Slug, spec.Project)
		}
		return id, nil
	}
	var id int64
	var settings string
	found, err := c.s.First(ctx, `SELECT id, settings FROM projects WHERE slug = $1 AND active = 1`, []any{spec.Project}, &id, &settings)
	if err == nil && !found {
		err = sqldb.NotFound("component %s/%s: no project %q", spec.Project, spec.Slug, spec.Project)
	}
	if err != nil {
		return 0, err
	}
	of := catalog.Project{ID: id}
	of.Settings, err = c.s.DB.Projects.Decode(id, []byte(settings))
	c.known[id] = of
	return id, err
}

// private reports whether strangers do not see a component of a project.
func (c *configurer) private(project int64, settings *catalog.ComponentSettings) bool {
	of := c.known[project]
	return settings.Private(&of)
}

func (c *configurer) insertComponent(ctx context.Context, project int64, spec *Spec, settings string) (id int64, err error) {
	g, err := c.takeGeneration(ctx, !c.private(project, &spec.Settings))
	if err != nil {
		return 0, err
	}
	if err := c.s.WillTakeIDs(ctx); err != nil {
		return 0, err
	}
	_, err = c.s.First(ctx, `INSERT INTO components (project_id, slug, settings, read_key, repo, branch, template, active, settings_generation, generation)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8) RETURNING id`,
		[]any{project, spec.Slug, settings, spec.Settings.ReadKey(), spec.Repo, spec.Branch, spec.Template, g}, &id)
	if err != nil {
		return 0, err
	}
	c.stored[componentKey{project, spec.Slug}] = &storedComponent{
		id: id, settings: settings, readKey: spec.Settings.ReadKey(), repo: spec.Repo, branch: spec.Branch, template: spec.Template, active: true,
	}
	return id, c.touchProject(ctx, project, g)
}

// updateComponent also reactivates a component. A new repository or branch clears
// the problem and the tracked branch.
func (c *configurer) updateComponent(ctx context.Context, project int64, spec *Spec, settings string, old *storedComponent) error {
	moved := old.repo != spec.Repo || old.branch != spec.Branch
	reread := moved || old.readKey != spec.Settings.ReadKey()
	if old.active && !reread && old.settings == settings && old.template == spec.Template {
		return nil
	}
	var before catalog.ComponentSettings
	if err := json.Unmarshal([]byte(old.settings), &before); err != nil {
		return err
	}
	g, err := c.takeGeneration(ctx, !c.private(project, &spec.Settings) || old.active && !c.private(project, &before))
	if err != nil {
		return err
	}
	if err = c.s.Do(ctx, `UPDATE components SET settings = $1, read_key = $2, repo = $3, branch = $4, template = $5, active = 1,
		settings_generation = $6, generation = $6 WHERE id = $7`,
		settings, spec.Settings.ReadKey(), spec.Repo, spec.Branch, spec.Template, g, old.id); err != nil {
		return err
	}
	if reread { // a replay that has only begun goes on from its commit
		if err := c.s.Do(ctx, `UPDATE components SET head = CASE WHEN imported = 1 THEN '' ELSE head END, reread = 1 WHERE id = $1`, old.id); err != nil {
			return err
		}
	}
	if !old.active || before.CheckKey() != spec.Settings.CheckKey() {
		if err := c.resetChecks(ctx, project); err != nil {
			return err
		}
	}
	if moved {
		if err := c.s.Do(ctx, `UPDATE components SET problem = '', problem_kind = '', problem_since = NULL,
			push_problem = '', push_problem_kind = '', push_problem_since = NULL, tracking = '', requests = '' WHERE id = $1`, old.id); err != nil {
			return err
		}
	}
	return c.touchProject(ctx, project, g)
}

// deactivate makes inactive what the configuration does not name.
func (c *configurer) deactivate(ctx context.Context, templates []TemplateKey) error {
	discovers := make(map[TemplateKey]bool, len(templates))
	for _, t := range templates {
		discovers[t] = true
	}
	type row struct {
		id, project      int64
		template, ofSlug string
		private          bool
	}
	var gone []row
	err := c.s.Query(ctx, `SELECT c.id, c.project_id, c.template, p.slug, c.settings, p.settings`+rows.ComponentFrom+`
		WHERE c.active = 1 ORDER BY c.id`, nil, func(scan sqldb.Scan) (err error) {
		var r row
		var settings, of sql.RawBytes
		if err := scan(&r.id, &r.project, &r.template, &r.ofSlug, &settings, &of); err != nil {
			return err
		}
		stays := c.named[r.id] || r.template != "" && c.projects[r.ofSlug] == r.project && discovers[TemplateKey{r.ofSlug, r.template}]
		if !stays {
			r.private, err = rows.Private(c.s, r.id, settings, r.project, of)
			gone = append(gone, r)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range gone {
		g, err := c.takeGeneration(ctx, !r.private)
		if err != nil {
			return err
		}
		if err := cmp.Or(c.s.Do(ctx, `UPDATE components SET active = 0, settings_generation = $1, generation = $1 WHERE id = $2`, g, r.id),
			c.touchProject(ctx, r.project, g), c.resetChecks(ctx, r.project)); err != nil {
			return err
		}
	}
	var active []int64
	if err := c.s.IDs(ctx, `SELECT id FROM projects WHERE active = 1 ORDER BY id`, nil, &active); err != nil {
		return err
	}
	kept := slices.Collect(maps.Values(c.projects))
	for _, id := range active {
		if slices.Contains(kept, id) {
			continue
		}
		g, err := c.takeGeneration(ctx, true)
		if err != nil {
			return err
		}
		if err := c.s.Do(ctx, `UPDATE projects SET active = 0, settings_generation = $1, generation = $1 WHERE id = $2`, g, id); err != nil {
			return err
		}
	}
	return nil
}
