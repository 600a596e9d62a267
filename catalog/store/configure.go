package store

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// ComponentSpec is a component as given by the configuration or by discovery.
type ComponentSpec struct {
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

// Configure makes the projects and components those of the configuration, in one
// transaction. Whatever the configuration does not name becomes inactive: it is
// neither served nor pulled, but keeps its rows, ids, units and history, and
// returns with its id when it is named again. A discovered component stays while
// templates has its template. A component whose Repo, Branch or ReadKey changed
// loses its head, to be read again against its stored units
// (BranchComponent.Reread). Only rows that changed get the next generation.
// Duplicates, unknown projects and addresses with a password are ErrInvalid.
func (db *DB) Configure(ctx context.Context, projects []catalog.Project, components []ComponentSpec, templates []TemplateKey) error {
	err := db.write(ctx, func(s *session) error {
		c := &configurer{s: s, named: map[int64]bool{}}
		if err := c.putProjects(ctx, projects); err != nil {
			return err
		}
		if _, err := c.putComponents(ctx, components); err != nil {
			return err
		}
		return c.deactivate(ctx, templates)
	})
	return db.fail(ctx, "configure", err)
}

// AddComponents stores discovered components and returns them in the order of
// specs. Their project must be configured (ErrNotFound). A slug of a configured
// component or of another template is ErrInvalid.
func (db *DB) AddComponents(ctx context.Context, specs []ComponentSpec) ([]catalog.Component, error) {
	var out []catalog.Component
	err := db.write(ctx, func(s *session) error {
		c := &configurer{s: s, discovery: true, named: map[int64]bool{}}
		ids, err := c.putComponents(ctx, specs)
		if err != nil {
			return err
		}
		out = make([]catalog.Component, len(ids))
		for i, id := range ids {
			row, err := componentByID(ctx, s, id)
			if err != nil {
				return err
			}
			out[i] = row.Component
		}
		return nil
	})
	return out, db.fail(ctx, "add components", err)
}

// configurer is one run of Configure or AddComponents.
type configurer struct {
	s          *session
	discovery  bool
	generation int64            // taken when the first row changes; 0 before
	projects   map[string]int64 // active, by slug
	named      map[int64]bool   // components
}

func (c *configurer) takeGeneration(ctx context.Context) (int64, error) {
	var err error
	if c.generation == 0 {
		c.generation, err = nextGeneration(ctx, c.s)
	}
	return c.generation, err
}

func nextGeneration(ctx context.Context, s *session) (int64, error) {
	var g int64
	_, err := s.first(ctx, `UPDATE clock SET generation = generation + 1 WHERE one = 1 RETURNING generation`, nil, &g)
	return g, err
}

func (c *configurer) putProjects(ctx context.Context, projects []catalog.Project) error {
	c.projects = map[string]int64{}
	for i := range projects {
		p := &projects[i]
		if _, dup := c.projects[p.Slug]; dup || p.Slug == "" {
			return invalid("project %q is named twice or has no slug", p.Slug)
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
	found, err := c.s.first(ctx, `SELECT id, settings, active FROM projects WHERE slug = $1`, []any{p.Slug}, &id, &old, &active)
	if err != nil || found && active && old == string(settings) {
		return id, err
	}
	g, err := c.takeGeneration(ctx)
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
		_, err = c.s.exec(ctx, `UPDATE projects SET settings = $1, active = 1, settings_generation = $2, generation = $2 WHERE id = $3`, string(settings), g, id)
		return id, err
	}
	_, err = c.s.first(ctx, `INSERT INTO projects (id, slug, settings, active, settings_generation, generation)
		SELECT COALESCE(MAX(id), 0) + 1, $1, $2, 1, $3, $3 FROM projects RETURNING id`, []any{p.Slug, string(settings), g}, &id)
	return id, err
}

func (c *configurer) putComponents(ctx context.Context, specs []ComponentSpec) ([]int64, error) {
	ids := make([]int64, len(specs))
	for i := range specs {
		id, err := c.putComponent(ctx, &specs[i])
		if err != nil {
			return nil, err
		}
		if c.named[id] {
			return nil, invalid("component %s/%s is named twice", specs[i].Project, specs[i].Slug)
		}
		c.named[id], ids[i] = true, id
	}
	return ids, nil
}

// storedComponent is what putComponent compares with the new spec.
type storedComponent struct {
	id                                        int64
	settings, readKey, repo, branch, template string
	active, imported, reread                  bool
}

func (c *configurer) putComponent(ctx context.Context, spec *ComponentSpec) (int64, error) {
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
	var old storedComponent
	found, err := c.s.first(ctx, `SELECT id, settings, read_key, repo, branch, template, active, imported, reread FROM components
		WHERE project_id = $1 AND slug = $2`, []any{project, spec.Slug},
		&old.id, &old.settings, &old.readKey, &old.repo, &old.branch, &old.template, &old.active, &old.imported, &old.reread)
	switch {
	case err != nil:
		return 0, err
	case !found:
		return c.insertComponent(ctx, project, spec, string(settings))
	case c.discovery && old.active && old.template != spec.Template:
		return 0, invalid("component %s/%s, discovered by %q, has the slug of another component: change one of the slugs in the configuration",
			spec.Project, spec.Slug, spec.Template)
	}
	return old.id, c.updateComponent(ctx, project, spec, string(settings), &old)
}

func (spec *ComponentSpec) check() error {
	if spec.Slug == "" {
		return invalid("a component of project %s has no slug", spec.Project)
	}
	if repourl.Redact(spec.Repo) != spec.Repo {
		return invalid("the repository address of component %s/%s carries credentials: they must be removed before it is stored", spec.Project, spec.Slug)
	}
	return nil
}

func (c *configurer) project(ctx context.Context, spec *ComponentSpec) (int64, error) {
	if c.projects != nil {
		id, ok := c.projects[spec.Project]
		if !ok {
			return 0, invalid("component %s/%s: the configuration has no project %q", spec.Project, spec.Slug, spec.Project)
		}
		return id, nil
	}
	var id int64
	found, err := c.s.first(ctx, `SELECT id FROM projects WHERE slug = $1 AND active = 1`, []any{spec.Project}, &id)
	if err == nil && !found {
		err = notFound("component %s/%s: no project %q", spec.Project, spec.Slug, spec.Project)
	}
	return id, err
}

func (c *configurer) insertComponent(ctx context.Context, project int64, spec *ComponentSpec, settings string) (id int64, err error) {
	g, err := c.takeGeneration(ctx)
	if err != nil {
		return 0, err
	}
	_, err = c.s.first(ctx, `INSERT INTO components (id, project_id, slug, settings, read_key, repo, branch, template, active, settings_generation, generation)
		SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, $5, $6, $7, 1, $8, $8 FROM components RETURNING id`,
		[]any{project, spec.Slug, settings, spec.Settings.ReadKey(), spec.Repo, spec.Branch, spec.Template, g}, &id)
	if err != nil {
		return 0, err
	}
	return id, touchProject(ctx, c.s, project, g)
}

func touchProject(ctx context.Context, s *session, id, generation int64) error {
	_, err := s.exec(ctx, `UPDATE projects SET generation = $1 WHERE id = $2`, generation, id)
	return err
}

// updateComponent also reactivates a component. A new repository or branch clears
// the problem and the tracked branch.
func (c *configurer) updateComponent(ctx context.Context, project int64, spec *ComponentSpec, settings string, old *storedComponent) error {
	moved := old.repo != spec.Repo || old.branch != spec.Branch
	reread := moved || old.readKey != spec.Settings.ReadKey()
	if old.active && !reread && old.settings == settings && old.template == spec.Template {
		return nil
	}
	g, err := c.takeGeneration(ctx)
	if err != nil {
		return err
	}
	if _, err = c.s.exec(ctx, `UPDATE components SET settings = $1, read_key = $2, repo = $3, branch = $4, template = $5, active = 1,
		settings_generation = $6, generation = $6 WHERE id = $7`,
		settings, spec.Settings.ReadKey(), spec.Repo, spec.Branch, spec.Template, g, old.id); err != nil {
		return err
	}
	if reread {
		if _, err := c.s.exec(ctx, `UPDATE components SET head = '', reread = 1 WHERE id = $1`, old.id); err != nil {
			return err
		}
	}
	if err := c.resetChecksIfNeeded(ctx, project, &spec.Settings, old); err != nil {
		return err
	}
	if moved {
		if _, err := c.s.exec(ctx, `UPDATE components SET problem = '', tracking = '' WHERE id = $1`, old.id); err != nil {
			return err
		}
	}
	return touchProject(ctx, c.s, project, g)
}

// resetChecksIfNeeded resets the checks of a project if settings changed that
// checks depend on.
func (c *configurer) resetChecksIfNeeded(ctx context.Context, project int64, settings *catalog.ComponentSettings, old *storedComponent) error {
	var before catalog.ComponentSettings
	if err := json.Unmarshal([]byte(old.settings), &before); err != nil {
		return err
	}
	if old.active && before.CheckKey() == settings.CheckKey() {
		return nil
	}
	return c.resetChecks(ctx, project)
}

// resetChecks makes the next pulls check a project again.
func (c *configurer) resetChecks(ctx context.Context, project int64) error {
	_, err := c.s.exec(ctx, `UPDATE translations SET checked = '' WHERE component_id IN (SELECT id FROM components WHERE project_id = $1)`, project)
	return err
}

// deactivate makes inactive what the configuration does not name.
func (c *configurer) deactivate(ctx context.Context, templates []TemplateKey) error {
	kept := make([]int64, 0, len(c.projects))
	for _, id := range c.projects {
		kept = append(kept, id)
	}
	type row struct {
		id, project      int64
		template, ofSlug string
	}
	var gone []row
	err := c.s.query(ctx, `SELECT c.id, c.project_id, c.template, p.slug FROM components c JOIN projects p ON p.id = c.project_id
		WHERE c.active = 1 ORDER BY c.id`, nil, func(scan scan) error {
		var r row
		if err := scan(&r.id, &r.project, &r.template, &r.ofSlug); err != nil {
			return err
		}
		stays := c.named[r.id] || r.template != "" && slices.Contains(kept, r.project) && slices.Contains(templates, TemplateKey{r.ofSlug, r.template})
		if !stays {
			gone = append(gone, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range gone {
		g, err := c.takeGeneration(ctx)
		if err != nil {
			return err
		}
		if _, err := c.s.exec(ctx, `UPDATE components SET active = 0, settings_generation = $1, generation = $1 WHERE id = $2`, g, r.id); err != nil {
			return err
		}
		if err := touchProject(ctx, c.s, r.project, g); err != nil {
			return err
		}
		if err := c.resetChecks(ctx, r.project); err != nil {
			return err
		}
	}
	return c.deactivateProjects(ctx, kept)
}

func (c *configurer) deactivateProjects(ctx context.Context, kept []int64) error {
	var gone []int64
	err := c.s.query(ctx, `SELECT id FROM projects WHERE active = 1 ORDER BY id`, nil, func(scan scan) error {
		var id int64
		err := scan(&id)
		if !slices.Contains(kept, id) {
			gone = append(gone, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range gone {
		g, err := c.takeGeneration(ctx)
		if err != nil {
			return err
		}
		if _, err := c.s.exec(ctx, `UPDATE projects SET active = 0, settings_generation = $1, generation = $1 WHERE id = $2`, g, id); err != nil {
			return err
		}
	}
	return nil
}
