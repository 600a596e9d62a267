package store

import (
	"context"
	"sync"
)

// generations knows for every component and project in which generation it last
// changed. It learns that from the database only: from the transaction of a step of
// this process, from the poll of a Watch, and from any snapshot that is announced
// (Snapshot.Announce), so it does not matter which process wrote. It is safe for
// concurrent use.
type generations struct {
	mu         sync.RWMutex
	known      int64 // everything up to this generation is taken into account
	configured int64 // the newest generation that may have changed every answer
	components map[int64]componentGeneration
	projects   map[int64]lastChange // the newest of any of its components
}

// lastChange says when something last changed: content leaves out that a head
// moved.
type lastChange struct{ generation, content int64 }

func (l lastChange) newer(o lastChange) lastChange {
	return lastChange{max(l.generation, o.generation), max(l.content, o.content)}
}

// since reports whether it changed after a generation; heads says that heads count.
func (l lastChange) since(generation int64, heads bool) bool {
	return l.content > generation || heads && l.generation > generation
}

// componentGeneration says when a component, or anything below it, last changed. A
// component never moves to another project.
type componentGeneration struct {
	id, project int64
	lastChange
}

func newGenerations() *generations {
	return &generations{components: map[int64]componentGeneration{}, projects: map[int64]lastChange{}}
}

// newest is the generation up to which everything is known.
func (g *generations) newest() int64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.known
}

// news is what changed after a generation.
type news struct {
	generation, configured int64
	components             []componentGeneration
}

// newsSince reads what changed after a generation: an index has it in order.
func newsSince(ctx context.Context, s *session, since int64) (n news, err error) {
	_, err = s.first(ctx, `SELECT generation, configured FROM clock WHERE one = 1`, nil, &n.generation, &n.configured)
	if err != nil || n.generation <= since {
		return n, err
	}
	err = s.query(ctx, `SELECT id, project_id, generation, content_generation FROM components WHERE generation > $1`, []any{since}, func(scan scan) error {
		var c componentGeneration
		err := scan(&c.id, &c.project, &c.generation, &c.content)
		n.components = append(n.components, c)
		return err
	})
	return n, err
}

// learn adds news. They may arrive in any order: all of them begin at a generation
// that was known before.
func (g *generations) learn(n *news) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range n.components {
		c.lastChange = c.newer(g.components[c.id].lastChange)
		g.components[c.id] = c
		g.projects[c.project] = c.newer(g.projects[c.project])
	}
	g.configured, g.known = max(g.configured, n.configured), max(g.known, n.generation)
}

// publish makes news known to the bases of answers, and then wakes the watches.
func (db *DB) publish(n *news) {
	db.generations.learn(n)
	db.notifier.publish(n.generation)
}

// Announce makes everything that the snapshot shows known to DB.Published and
// DB.Unchanged: another process may have written it, or a step of this process may
// not have come so far. Whoever shows a snapshot to a client announces it first.
// Otherwise the client could get a cached answer afterwards that is older.
func (s *Snapshot) Announce(ctx context.Context) error {
	generation, err := s.currentGeneration(ctx)
	if err != nil || generation <= s.db.Published() {
		return err
	}
	s.reading.sections++ // clients do not see this
	defer s.reading.end()
	n, err := newsSince(ctx, s.s, s.db.generations.newest())
	if err == nil {
		s.db.publish(&n)
	}
	return s.db.fail(ctx, "read what changed", err)
}
