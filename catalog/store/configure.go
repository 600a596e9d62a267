package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
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

// Configure stores the projects and components of the configuration, in one
// transaction. The others become inactive: they are neither served nor pulled, but
// keep their rows, ids, units and history, and return with their ids when they are
// named again. A discovered component stays while
// templates has its template. A component whose Repo, Branch or ReadKey changed is
// to be read again against its stored units (BranchComponent.Reread), and loses its
// head unless its first import is under way. Only rows that changed get the next generation.
// Duplicates, unknown projects and addresses with a password are ErrInvalid.
func (db *DB) Configure(ctx context.Context, projects []catalog.Project, components []ComponentSpec, templates []TemplateKey) error {
	err := db.write(ctx, func(s *sqldb.Session) error {
		c := newConfigurer(s)
		if err := c.putProjects(ctx, projects); err != nil {
			return err
		}
		if err := c.readStored(ctx); err != nil {
			return err
		}
		if _, err := c.putComponents(ctx, components); err != nil {
			return err
		}
		if err := c.deactivate(ctx, templates); err != nil {
			return err
		}
		return c.settle(ctx)
	})
	return db.fail(ctx, "configure", err)
}

// AddComponents stores discovered components and returns them in the order of
// specs. Their project must be configured (ErrNotFound). A slug of a configured
// component or of another template is ErrInvalid.
func (db *DB) AddComponents(ctx context.Context, specs []ComponentSpec) ([]catalog.Component, error) {
	var out []catalog.Component
	err := db.write(ctx, func(s *sqldb.Session) error {
		c := newConfigurer(s)
		c.discovery = true
		ids, err := c.putComponents(ctx, specs)
		if err != nil {
			return err
		}
		if err := c.settle(ctx); err != nil {
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
	s          *sqldb.Session
	discovery  bool
	generation int64                             // taken when the first row changes; 0 before
	public     bool                              // strangers see, or saw, something that changes
	projects   map[string]int64                  // active, by slug
	known      map[int64]catalog.Project         // those of projects, by id, with their new settings
	named      map[int64]bool                    // components
	stored     map[componentKey]*storedComponent // before; nil: read one by one
	inserted   bool                              // stored lacks components that were inserted since
}

func newConfigurer(s *sqldb.Session) *configurer {
	return &configurer{s: s, named: map[int64]bool{}, known: map[int64]catalog.Project{}}
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
		c.generation, err = nextConfigured(ctx, c.s)
	}
	return c.generation, err
}

// nextConfigured takes the next generation for changes that may be in every answer.
func nextConfigured(ctx context.Context, s *sqldb.Session) (int64, error) {
	var g int64
	_, err := s.First(ctx, `UPDATE clock SET generation = generation + 1, configured = generation + 1 WHERE one = 1 RETURNING generation`, nil, &g)
	return g, err
}

// nextGeneration takes the next generation for changes of components, which the
// caller gives it to.
func nextGeneration(ctx context.Context, s *sqldb.Session, public bool) (int64, error) {
	var g int64
	_, err := s.First(ctx, `UPDATE clock SET generation = generation + 1, public = CASE WHEN $1 = 1 THEN generation + 1 ELSE public END WHERE one = 1 RETURNING generation`,
		[]any{sqldb.Smallint(public)}, &g)
	return g, err
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
	err := c.s.Do(ctx, `UPDATE projects SET generation = $1 WHERE id = $2`, generation, id)
	return err
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

// bots are the authors that are programs: names and authorKeys.
type bots struct {
	names map[string]bool // in lower case
	keys  map[string]bool // as in users.email_hash
}

// has reports whether an author is a bot; a nil list is empty.
func (b *bots) has(key, name string) bool {
	return b != nil && (b.keys[key] || b.names[strings.ToLower(name)])
}

// SetBots sets which authors are programs: names or e-mail addresses, in any case.
// It updates the stored authors; authors stored later are compared with the list.
func (db *DB) SetBots(ctx context.Context, authors []string) error {
	b := &bots{names: map[string]bool{}, keys: map[string]bool{}}
	for _, who := range authors {
		if who = strings.TrimSpace(who); strings.Contains(who, "@") {
			b.keys[authorKey("", who)] = true
		} else if who != "" {
			b.names[strings.ToLower(who)] = true
		}
	}
	err := db.write(ctx, func(s *sqldb.Session) error {
		db.bots.Store(b) // no step is running now
		marked := map[int64][]int64{}
		err := s.Query(ctx, `SELECT id, email_hash, full_name, bot FROM users`, nil, func(scan sqldb.Scan) error {
			var id, bot int64
			var key, name string
			err := scan(&id, &key, &name, &bot)
			if now := sqldb.Smallint(b.has(key, name)); now != bot {
				marked[now] = append(marked[now], id)
			}
			return err
		})
		if err == nil && len(marked) > 0 {
			if _, err = nextConfigured(ctx, s); err == nil {
				err = s.Do(ctx, `UPDATE clock SET public = generation`)
			}
		}
		for bot, ids := range marked {
			if err != nil {
				return err
			}
			err = sqldb.Chunks(ids, func(chunk []any) error {
				err := s.Do(ctx, `UPDATE users SET bot = $1 WHERE id IN `+sqldb.List(2, len(chunk)), append([]any{bot}, chunk...)...)
				return err
			})
		}
		return err
	})
	return db.fail(ctx, "mark programs among the authors", err)
}
