package store

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// generations knows for every component and project in which generation it last
// changed. It learns that from the database only: from the transaction of a step of
// this process, from the poll of a Watch, and from any snapshot that is announced
// (Snapshot.Announce), so it does not matter which process wrote. It is safe for
// concurrent use.
type generations struct {
	mu         sync.RWMutex
	known      int64        // everything up to this generation is taken into account
	published  atomic.Int64 // a copy of known, to be read without mu
	configured int64        // the newest generation that may have changed every answer
	public     int64        // the newest one of anything that strangers may see
	history    string
	components map[int64]componentGeneration
	projects   map[int64]lastChange // the newest of any of its components
	slugs      map[int64]string     // of projects
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
	slug        string // of the project
	lastChange
}

func newGenerations() *generations {
	return &generations{components: map[int64]componentGeneration{}, projects: map[int64]lastChange{}, slugs: map[int64]string{}}
}

// newest is the generation up to which everything is known.
func (g *generations) newest() int64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.known
}

// news is what changed after a generation.
type news struct {
	generation, configured, public int64
	history                        string
	components                     []componentGeneration
}

// newsSince reads what changed after a generation: an index has it in order.
func newsSince(ctx context.Context, s *sqldb.Session, since int64) (n news, err error) {
	_, err = s.First(ctx, `SELECT generation, configured, public, history FROM clock WHERE one = 1`, nil, &n.generation, &n.configured, &n.public, &n.history)
	if err != nil || n.generation <= since {
		return n, err
	}
	n.components, err = sqldb.Rows(ctx, s, `SELECT c.id, c.project_id, p.slug, c.generation, c.content_generation`+rows.ComponentFrom+` WHERE c.generation > $1`, []any{since},
		func(c *componentGeneration) []any {
			return []any{&c.id, &c.project, &c.slug, &c.generation, &c.content}
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
		g.projects[c.project], g.slugs[c.project] = c.newer(g.projects[c.project]), c.slug
	}
	if n.generation >= g.known { // a new history has higher generations, but for that of a backup, which is read at the start
		g.history = n.history
	}
	g.configured, g.public, g.known = max(g.configured, n.configured), max(g.public, n.public), max(g.known, n.generation)
	g.published.Store(g.known) // with the lock held: whoever has seen known sees it
}

// publish makes news known to the bases of answers, and then wakes the watches.
func (db *DB) publish(n *news) {
	db.generations.learn(n)
	db.notifier.publish(n.generation)
	db.metrics.generation.Set(float64(db.Published()))
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
	s.s.Reading.Begin() // clients do not see this
	defer s.s.Reading.End()
	n, err := newsSince(ctx, s.s, s.db.generations.newest())
	if err == nil {
		s.db.publish(&n)
	}
	return s.s.Fail(ctx, "read what changed", err)
}

// Position is how far the answers of a database are.
type Position struct {
	// History names what the generations count. It is renewed when a backup becomes
	// the database: clients may have seen later generations than the backup has.
	History string
	// Generation is the newest generation of anything that the client may see.
	Generation int64
}

// Position is the newest state that this process knows (Published), for a client with a
// token, or the zero token. Who does not see private components is not told when these
// were pulled.
func (db *DB) Position(token *catalog.Token) Position {
	g := db.generations
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.position(token)
}

// position is Position with the lock held.
func (g *generations) position(token *catalog.Token) Position {
	at := Position{g.history, g.public}
	switch {
	case token.SeesAll():
		at.Generation = g.known
	case token.ID != 0: // of some projects
		at.Generation = max(at.Generation, g.configured)
		for project, slug := range g.slugs {
			if token.Sees(slug) {
				at.Generation = max(at.Generation, g.projects[project].generation)
			}
		}
	}
	return at
}

// Position is the state that the snapshot shows to a client with a token, or the zero
// token.
func (s *Snapshot) Position(ctx context.Context, token *catalog.Token) (Position, error) {
	generation, err := s.currentGeneration(ctx)
	at := Position{s.history, s.public}
	switch {
	case err != nil:
		return at, err
	case token.SeesAll():
		at.Generation = generation
	case token.ID != 0:
		at.Generation = max(s.public, s.configured)
		if newest, ok := s.db.generations.positionAt(generation, token); ok {
			return newest, nil
		}
		s.s.Reading.Begin() // clients do not see this
		defer s.s.Reading.End()
		err = s.s.Query(ctx, `SELECT p.slug, MAX(c.generation)`+rows.ComponentFrom+` GROUP BY p.slug`, nil, sqldb.Cols2(func(slug string, newest int64) {
			if token.Sees(slug) {
				at.Generation = max(at.Generation, newest)
			}
		}))
	}
	return at, s.s.Fail(ctx, "read what the client may see", err)
}

// positionAt is position if nothing newer than a generation is known.
func (g *generations) positionAt(generation int64, token *catalog.Token) (at Position, ok bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.position(token), g.known == generation
}

// Refresh asks the database what other processes have written.
func (db *DB) Refresh(ctx context.Context) error {
	return db.Read(ctx, func(ctx context.Context, s *Snapshot) error { return s.Announce(ctx) })
}

// anyPublic returns those of components that fulfil a condition, and whether strangers
// see one of these.
func anyPublic(ctx context.Context, s *sqldb.Session, components []int64, condition string, args ...any) (found []int64, public bool, err error) {
	err = s.QueryIn(ctx, `SELECT c.id, c.settings, p.id, p.settings`+rows.ComponentFrom+` WHERE c.id IN $ids`+condition, args, components, func(scan sqldb.Scan) error {
		var id, project int64
		var settings, of sql.RawBytes
		if err := scan(&id, &settings, &project, &of); err != nil {
			return err
		}
		private, err := rows.Private(s, id, settings, project, of)
		found, public = append(found, id), public || !private
		return err
	})
	return found, public, err
}

// noteChanged gives components a new generation: answers about them have changed.
func noteChanged(ctx context.Context, s *sqldb.Session, components []int64) error {
	slices.Sort(components)
	ids, public, err := anyPublic(ctx, s, slices.Compact(components), "")
	if err != nil || len(ids) == 0 {
		return err
	}
	g, err := nextGeneration(ctx, s, public)
	if err != nil {
		return err
	}
	return s.DoIn(ctx, `UPDATE components SET generation = $1, content_generation = $1 WHERE id IN $ids`, []any{g}, ids)
}

// Basis says what an answer was read from: some components, some projects, or
// everything, in a generation. DB.Unchanged tells whether it still holds.
type Basis struct {
	// Generation is the generation of the snapshot that was read.
	Generation int64
	// At is the state that a client is shown (Snapshot.Position). Whoever shows the
	// snapshot sets it.
	At Position

	read sqldb.Footprint
}

// Basis is what was read from the snapshot so far. It is everything, unless all
// reads were about components that their methods name; so a new method cannot be
// forgotten, and one that names its components has to be right
// (TestKeptAnswersAreFresh in package api).
func (s *Snapshot) Basis(ctx context.Context) (b Basis, err error) {
	b.read = s.s.Reading.Footprint
	b.Generation, err = s.currentGeneration(ctx)
	return b, err
}

// Unchanged reports whether the same reads would still give the same, as far as
// Published: no component of the basis changed since, nor any settings. A snapshot
// that was announced before the call counts.
func (db *DB) Unchanged(b *Basis) bool {
	g := db.generations
	g.mu.RLock()
	defer g.mu.RUnlock()
	if b.Generation >= g.known {
		return true
	}
	if b.read.Everything || b.Generation < g.configured {
		return false
	}
	for _, id := range b.read.Components {
		if g.components[id].since(b.Generation, b.read.Heads) {
			return false
		}
	}
	for _, id := range b.read.Projects {
		if g.projects[id].since(b.Generation, b.read.Heads) {
			return false
		}
	}
	return true
}

// projectOf returns the project of a component; 0 if it is not known.
func (g *generations) projectOf(component int64) int64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.components[component].project
}

// nextGeneration takes the next generation for changes of components, which the
// caller gives it to.
func nextGeneration(ctx context.Context, s *sqldb.Session, public bool) (int64, error) {
	var g int64
	_, err := s.First(ctx, `UPDATE clock SET generation = generation + 1, public = CASE WHEN $1 = 1 THEN generation + 1 ELSE public END WHERE one = 1 RETURNING generation`,
		[]any{sqldb.Smallint(public)}, &g)
	return g, err
}
