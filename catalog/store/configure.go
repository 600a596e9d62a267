package store

import (
	"cmp"
	"context"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/roster"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ComponentSpec is a component as given by the configuration or by discovery.
type ComponentSpec = roster.Spec

// TemplateKey names a pattern of the configuration that discovers components.
type TemplateKey = roster.TemplateKey

// Configure stores the projects and components of the configuration, in one
// transaction. The others become inactive: they are neither served nor pulled, but
// keep their rows, ids, units and history, and return with their ids when they are
// named again. A discovered component stays while
// templates has its template. A component whose Repo, Branch or ReadKey changed is
// to be read again against its stored units (BranchComponent.Reread), and loses its
// head unless its first import is under way. Only rows that changed get the next generation.
// Duplicates, unknown projects and addresses with a password are ErrInvalid.
func (db *DB) Configure(ctx context.Context, projects []catalog.Project, components []ComponentSpec, templates []TemplateKey) error {
	return db.fail(ctx, "configure", db.write(ctx, func(s *sqldb.Session) error {
		return roster.Set(ctx, s, projects, components, templates)
	}))
}

// AddComponents stores discovered components and returns them in the order of
// specs. Their project must be configured (ErrNotFound). A slug of a configured
// component or of another template is ErrInvalid.
func (db *DB) AddComponents(ctx context.Context, specs []ComponentSpec) ([]catalog.Component, error) {
	out := make([]catalog.Component, len(specs))
	err := db.write(ctx, func(s *sqldb.Session) error {
		ids, err := roster.Add(ctx, s, specs)
		for i, id := range ids {
			var row ComponentRow
			if err == nil {
				row, err = componentByID(ctx, s, id)
			}
			out[i] = row.Component
		}
		return err
	})
	return out, db.fail(ctx, "add components", err)
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
		if err := s.Query(ctx, `SELECT id, email_hash, full_name, bot FROM users`, nil, func(scan sqldb.Scan) error {
			var id, bot int64
			var key, name string
			err := scan(&id, &key, &name, &bot)
			if now := sqldb.Smallint(b.has(key, name)); now != bot {
				marked[now] = append(marked[now], id)
			}
			return err
		}); err != nil || len(marked) == 0 {
			return err
		}
		if _, err := rows.NextConfigured(ctx, s); err != nil {
			return err
		}
		return cmp.Or(s.Do(ctx, `UPDATE clock SET public = generation`),
			s.DoIn(ctx, `UPDATE users SET bot = 1 WHERE id IN $ids`, nil, marked[1]), s.DoIn(ctx, `UPDATE users SET bot = 0 WHERE id IN $ids`, nil, marked[0]))
	})
	return db.fail(ctx, "mark programs among the authors", err)
}
