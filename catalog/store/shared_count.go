package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// sharedCount keeps the counts of strings that components of one project share.
// Only strings of two or more counted components have counts; to find them, each
// live source string of a counted component has a row of occurrences. So a string
// that nobody shares costs that row, whatever the number of languages, and a string
// that many share costs the same for each of them.
type sharedCount struct {
	s          *sqldb.Session
	project    int64
	components map[int64]*countedComponent
	repeats    map[repeatsKey]catalog.Stats // changes to store
	known      KnownStates                  // nil: none
}

// KnownStates sets the states of a translation's live units, given their source
// units, and leaves StateAbsent where there is none. It reports whether it knows the
// translation.
type KnownStates func(translation int64, sources []int64, states []catalog.State) bool

// countedComponent is what sharedCount needs of a component.
type countedComponent struct {
	private      bool
	translations []countedTranslation // live
}

type countedTranslation struct {
	id       int64
	language string
}

// repeatsKey is the key of a row of repeats within its project.
type repeatsKey struct {
	language string
	private  int64
}

func (k repeatsKey) compare(o repeatsKey) int {
	return cmp.Or(cmp.Compare(k.language, o.language), cmp.Compare(k.private, o.private))
}

// sharedPage is the number of strings that are counted at a time.
const sharedPage = 256

func newSharedCount(s *sqldb.Session, project int64) *sharedCount {
	return &sharedCount{s: s, project: project, components: map[int64]*countedComponent{}, repeats: map[repeatsKey]catalog.Stats{}}
}

// identified is a unit with the identity of its string.
type identified struct {
	identity catalog.Identity
	unit     int64
}

// extent is the first and the last occurrence of a string; 0 without any.
type extent struct{ first, last int64 }

func (e extent) shared() bool { return e.first != e.last }

// extents returns where strings occur. Each is given by any of its units.
func (c *sharedCount) extents(ctx context.Context, units []int64) (map[catalog.Identity]extent, error) {
	all := make(map[catalog.Identity]extent, len(units))
	const of = ` FROM occurrences o WHERE o.project_id = $1 AND o.id_hash = u.id_hash AND o.id_key = u.id_key`
	return all, sqldb.Chunks(units, func(chunk []any) error {
		return c.s.Query(ctx, `SELECT u.id_hash, u.id_key, COALESCE((SELECT MIN(o.source_id)`+of+`), 0), COALESCE((SELECT MAX(o.source_id)`+of+`), 0)
			FROM units u WHERE u.id IN `+sqldb.List(2, len(chunk)), append([]any{c.project}, chunk...), func(scan sqldb.Scan) error {
			var id catalog.Identity
			var e extent
			err := scan(&id.Hash, &id.Key, &e.first, &e.last)
			all[id] = e
			return err
		})
	})
}

// component counts all strings of a component, or no longer counts them. Its row
// says already, or still, how it counts.
func (c *sharedCount) component(ctx context.Context, id int64, add bool) error {
	var source int64
	if found, err := c.s.First(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1 AND removed = 0`, []any{id}, &source); err != nil || !found {
		return err
	}
	if add {
		if alone, err := c.addAlone(ctx, source); err != nil || alone {
			return err
		}
	}
	for last := (catalog.Identity{Hash: math.MinInt64, Key: math.MinInt64}); ; {
		var page []identified
		err := c.s.Query(ctx, `SELECT id_hash, id_key, source_id FROM units
			WHERE translation_id = $1 AND source_id = id AND id_hash >= $2 AND (id_hash > $2 OR id_key > $3) AND removed = 0 ORDER BY id_hash, id_key, source_id LIMIT $4`,
			[]any{source, last.Hash, last.Key, sharedPage}, func(scan sqldb.Scan) error {
				var u identified
				err := scan(&u.identity.Hash, &u.identity.Key, &u.unit)
				page = append(page, u)
				return err
			})
		if err == nil {
			err = c.page(ctx, id, page, add)
		}
		if err != nil || len(page) < sharedPage {
			return err
		}
		last = page[len(page)-1].identity
	}
}

// addAlone adds the occurrences of a source translation if its project has none,
// and reports whether it did: no string is shared then. The rows come from an index
// in the order of their keys.
func (c *sharedCount) addAlone(ctx context.Context, source int64) (bool, error) {
	var one int64
	found, err := c.s.First(ctx, `SELECT 1 FROM occurrences WHERE project_id = $1 LIMIT 1`, []any{c.project}, &one)
	if err != nil || found {
		return false, err
	}
	err = c.s.Do(ctx, `INSERT INTO occurrences (project_id, id_hash, id_key, source_id)
		SELECT CAST($1 AS BIGINT), id_hash, id_key, source_id FROM units WHERE translation_id = $2 AND source_id = id AND removed = 0 ORDER BY id_hash, id_key, source_id`, c.project, source)
	return true, err
}

// page counts some source strings of a component, which have different identities.
func (c *sharedCount) page(ctx context.Context, component int64, page []identified, add bool) error {
	if len(page) == 0 {
		return nil
	}
	units := make([]int64, len(page))
	for i := range page {
		units[i] = page[i].unit
	}
	before, err := c.extents(ctx, units)
	if err != nil {
		return err
	}
	if err := c.putOccurrences(ctx, page, add); err != nil {
		return err
	}
	var after map[catalog.Identity]extent
	if add {
		after = widened(before, page)
	} else if after, err = c.extents(ctx, units); err != nil {
		return err
	}
	p := sharedChange{before: before, after: after}
	var own []identified
	for _, u := range page {
		if p.stays(u.identity) {
			own = append(own, u)
		}
	}
	n := int64(1)
	if !add {
		n = -1
	}
	err = c.occurring(ctx, component, own, func(u *sharedUnits) {
		u.n = n
		p.units = append(p.units, *u)
	})
	if err != nil {
		return err
	}
	return c.apply(ctx, &p)
}

// widened returns the extents of strings with occurrences added.
func widened(before map[catalog.Identity]extent, added []identified) map[catalog.Identity]extent {
	after := maps.Clone(before)
	for _, u := range added {
		e := after[u.identity]
		if e.first == 0 || u.unit < e.first {
			e.first = u.unit
		}
		e.last = max(e.last, u.unit)
		after[u.identity] = e
	}
	return after
}

// putOccurrences adds or removes occurrences of strings.
func (c *sharedCount) putOccurrences(ctx context.Context, units []identified, add bool) error {
	if add {
		in := sqldb.NewInserter("occurrences", "project_id", "id_hash", "id_key", "source_id")
		for _, u := range units {
			if err := in.Add(ctx, c.s, c.project, u.identity.Hash, u.identity.Key, u.unit); err != nil {
				return err
			}
		}
		return in.Flush(ctx, c.s)
	}
	for _, u := range units {
		if err := c.s.Do(ctx, `DELETE FROM occurrences WHERE project_id = $1 AND id_hash = $2 AND id_key = $3 AND source_id = $4`,
			c.project, u.identity.Hash, u.identity.Key, u.unit); err != nil {
			return err
		}
	}
	return nil
}

// sharedChange is a change of at most sharedPage strings.
type sharedChange struct {
	before, after map[catalog.Identity]extent
	units         []sharedUnits // that changed, of strings that were shared and are
}

// stays reports whether a string was shared and is.
func (p *sharedChange) stays(id catalog.Identity) bool {
	return p.before[id].shared() && p.after[id].shared()
}

// apply stores a change. Strings that are shared from now on are counted in all
// components; the counts of those that no longer are shared are deleted.
func (c *sharedCount) apply(ctx context.Context, p *sharedChange) error {
	if err := c.addShared(ctx, p); err != nil {
		return err
	}
	touched := map[catalog.Identity]bool{}
	var hashes []int64
	touch := func(id catalog.Identity) {
		if !touched[id] {
			touched[id] = true
			hashes = append(hashes, id.Hash)
		}
	}
	for i := range p.units {
		touch(p.units[i].identity)
	}
	for id, e := range p.before {
		if e.shared() && !p.after[id].shared() {
			touch(id)
		}
	}
	rows, err := c.rows(ctx, hashes, touched)
	if err != nil {
		return err
	}
	for id := range touched {
		if !p.after[id].shared() {
			c.drop(*rows[id])
			*rows[id] = nil
		}
	}
	for i := range p.units {
		u := &p.units[i]
		c.recount(rows[u.identity], u)
	}
	return c.putRows(ctx, rows)
}

// addShared adds all units of the strings that are shared from now on.
func (c *sharedCount) addShared(ctx context.Context, p *sharedChange) error {
	var hashes []int64
	for id, e := range p.after {
		if e.shared() && !p.before[id].shared() {
			hashes = append(hashes, id.Hash)
		}
	}
	slices.Sort(hashes)
	byComponent := map[int64][]identified{}
	err := sqldb.Chunks(slices.Compact(hashes), func(chunk []any) error {
		return c.s.Query(ctx, `SELECT id_hash, id_key, source_id FROM occurrences WHERE project_id = $1 AND id_hash IN `+sqldb.List(2, len(chunk)),
			append([]any{c.project}, chunk...), func(scan sqldb.Scan) error {
				var u identified
				err := scan(&u.identity.Hash, &u.identity.Key, &u.unit)
				if p.after[u.identity].shared() && !p.before[u.identity].shared() {
					component := u.unit / catalog.UnitsPerComponent
					byComponent[component] = append(byComponent[component], u)
				}
				return err
			})
	})
	for _, component := range sqldb.SortedKeys(byComponent) {
		if err != nil {
			return err
		}
		err = c.occurring(ctx, component, byComponent[component], func(u *sharedUnits) {
			u.n = 1
			p.units = append(p.units, *u)
		})
	}
	return err
}

// occurring calls each for the live units of source strings of a component.
func (c *sharedCount) occurring(ctx context.Context, component int64, sources []identified, each func(*sharedUnits)) error {
	if len(sources) == 0 {
		return nil
	}
	of, err := c.countedComponent(ctx, component)
	if err != nil {
		return err
	}
	units := make(map[int64]*sharedUnits, len(sources))
	ids := make([]int64, len(sources))
	for i, u := range sources {
		units[u.unit] = &sharedUnits{identity: u.identity, private: of.private}
		ids[i] = u.unit
	}
	err = sqldb.Chunks(ids, func(chunk []any) error {
		return c.s.Query(ctx, `SELECT id, words, chars FROM units WHERE id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var id int64
			var k sharedKey
			err := scan(&id, &k.words, &k.chars)
			units[id].sharedKey = k
			return err
		})
	})
	for _, t := range of.translations {
		if err != nil {
			return err
		}
		if c.known != nil && c.eachKnown(&t, ids, units, each) {
			continue
		}
		err = sqldb.Chunks(ids, func(chunk []any) error {
			return c.s.Query(ctx, `SELECT source_id, state FROM units WHERE translation_id = $1 AND removed = 0 AND source_id IN `+sqldb.List(2, len(chunk)),
				append([]any{t.id}, chunk...), func(scan sqldb.Scan) error {
					var source, state int64
					err := scan(&source, &state)
					if u := units[source]; u != nil {
						u.language, u.state = t.language, catalog.State(state)
						each(u)
					}
					return err
				})
		})
	}
	return err
}

// eachKnown calls each for units of which the states are known, and reports whether
// they are.
func (c *sharedCount) eachKnown(t *countedTranslation, sources []int64, units map[int64]*sharedUnits, each func(*sharedUnits)) bool {
	states := slices.Repeat([]catalog.State{catalog.StateAbsent}, len(sources))
	if !c.known(t.id, sources, states) {
		return false
	}
	for i, state := range states {
		if state != catalog.StateAbsent {
			u := units[sources[i]]
			u.language, u.state = t.language, state
			each(u)
		}
	}
	return true
}

// countedComponent reads how a component counts, once.
func (c *sharedCount) countedComponent(ctx context.Context, id int64) (*countedComponent, error) {
	if known := c.components[id]; known != nil {
		return known, nil
	}
	read := &countedComponent{}
	var counted int64
	_, err := c.s.First(ctx, `SELECT counted FROM components WHERE id = $1`, []any{id}, &counted)
	if err != nil {
		return nil, err
	}
	read.private = counted == countedPrivate
	err = c.s.Query(ctx, `SELECT id, language FROM translations WHERE component_id = $1 AND removed = 0 ORDER BY id`, []any{id}, func(scan sqldb.Scan) error {
		var t countedTranslation
		err := scan(&t.id, &t.language)
		read.translations = append(read.translations, t)
		return err
	})
	if len(c.components) >= maxCountedComponents {
		clear(c.components)
	}
	c.components[id] = read
	return read, err
}

// maxCountedComponents limits what a sharedCount remembers.
const maxCountedComponents = 2_000

// rows reads the counts of strings. Each has a row in the result.
func (c *sharedCount) rows(ctx context.Context, hashes []int64, wanted map[catalog.Identity]bool) (map[catalog.Identity]*sharedString, error) {
	rows := make(map[catalog.Identity]*sharedString, len(wanted))
	for id := range wanted {
		rows[id] = new(sharedString)
	}
	slices.Sort(hashes)
	return rows, sqldb.Chunks(slices.Compact(hashes), func(chunk []any) error {
		return c.s.Query(ctx, `SELECT id_hash, id_key, data FROM shared_strings WHERE project_id = $1 AND id_hash IN `+sqldb.List(2, len(chunk)),
			append([]any{c.project}, chunk...), func(scan sqldb.Scan) error {
				var id catalog.Identity
				var data sql.RawBytes
				err := scan(&id.Hash, &id.Key, &data)
				if err == nil && wanted[id] {
					*rows[id], err = decodeSharedString(data)
				}
				return err
			})
	})
}

// recount applies a change to the counts of a string.
func (c *sharedCount) recount(row *sharedString, u *sharedUnits) {
	e := row.add(u)
	now := *e
	e.n[sqldb.Smallint(u.private)][rankOf(u.state)] -= u.n
	c.tally(e, -1)
	*e = now
	c.tally(e, 1)
}

// drop takes the counts of a string away.
func (c *sharedCount) drop(row sharedString) {
	for i := range row {
		c.tally(&row[i], -1)
	}
}

// tally adds the repeats of an entry to those of the project, or subtracts them.
func (c *sharedCount) tally(e *sharedEntry, sign int) {
	for private := range int64(2) {
		k := repeatsKey{e.language, private}
		sum, n := c.repeats[k], e.repeats(private == 1)
		if sign > 0 {
			sum.Add(n)
		} else {
			sum.Subtract(n)
		}
		c.repeats[k] = sum
	}
}

// putRows stores the counts of strings; a row without counts is deleted.
func (c *sharedCount) putRows(ctx context.Context, rows map[catalog.Identity]*sharedString) error {
	if len(rows) == 0 {
		return nil
	}
	in := sqldb.NewInserter("shared_strings", "project_id", "id_hash", "id_key", "data")
	in.OnConflict(" ON CONFLICT (project_id, id_hash, id_key) DO UPDATE SET data = excluded.data")
	ids := slices.SortedFunc(maps.Keys(rows), catalog.Identity.Compare)
	for _, id := range ids {
		data := rows[id].encode()
		var err error
		if len(data) > 0 {
			err = in.Add(ctx, c.s, c.project, id.Hash, id.Key, data)
		} else {
			err = c.s.Do(ctx, `DELETE FROM shared_strings WHERE project_id = $1 AND id_hash = $2 AND id_key = $3`, c.project, id.Hash, id.Key)
		}
		if err != nil {
			return err
		}
	}
	return in.Flush(ctx, c.s)
}

// finish stores the sums.
func (c *sharedCount) finish(ctx context.Context) error {
	for k, sum := range c.repeats {
		if sum == (catalog.Stats{}) {
			continue
		}
		args := append([]any{c.project, k.language, k.private}, scanCounts(fileCounts, &sum)...)
		if err := c.s.Do(ctx, addRepeats, args...); err != nil {
			return err
		}
	}
	clear(c.repeats)
	err := c.s.Do(ctx, `DELETE FROM repeats WHERE project_id = $1 AND total = 0`, c.project)
	return err
}

// addRepeats adds counts to a row of repeats.
var addRepeats = "INSERT INTO repeats (project_id, language, private, " + countList(fileCounts, "%s") + ") VALUES " + sqldb.List(1, 3+3*len(fileCounts)) +
	" ON CONFLICT (project_id, language, private) DO UPDATE SET " + countList(fileCounts, "%[1]s = repeats.%[1]s + excluded.%[1]s")
