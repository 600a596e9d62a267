// Package roster stores projects and components as the configuration names them: what is
// new, what changed, and what is named no more. Package store says what follows (DB.Configure).
package roster

import (
	"context"
	"encoding/json"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
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
	if err := c.deactivate(ctx, templates); err != nil {
		return err
	}
	return c.settle(ctx)
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
