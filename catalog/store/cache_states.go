package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// componentStates are the states of the live units of a component.
type componentStates struct {
	sources      []sourceString               // of the live source units, by unit
	translations map[int64]*translationStates // live, by id
	source       int64                        // the source translation; 0: none is live
}

// sourceString is a source unit.
type sourceString struct {
	unit int64
	countedString
}

// countedString is what strings have in common of which one counts. Words and
// characters follow from the source, except that source languages without spaces
// count words differently; these strings do not count as the same.
type countedString struct {
	identity     catalog.Identity
	words, chars int64
}

type translationStates struct {
	generation int64
	language   string
	states     []int8 // of the units of sources; or absent
}

// absent is the state of a string that a translation does not have, less than others.
const absent = int8(catalog.StateAbsent)

// maxKeptStates limits the bytes of all states that are kept.
const maxKeptStates = 64 << 20

// size is about the number of bytes of all states.
func (c *componentStates) size() int {
	n := 40 * len(c.sources)
	for _, t := range c.translations {
		n += 100 + len(t.states)
	}
	return n
}

// reuse takes from older states of a component what did not change. It returns the
// translations that are to be read, and whether the source units are.
func (c *componentStates) reuse(old *componentStates) (translations []int64, sources bool) {
	same := func(id int64) bool {
		return old != nil && old.translations[id] != nil && old.translations[id].generation == c.translations[id].generation
	}
	sources = c.source != 0 && !same(c.source)
	if c.source != 0 && !sources {
		c.sources = old.sources
	}
	for _, id := range sqldb.SortedKeys(c.translations) {
		if !sources && same(id) {
			c.translations[id].states = old.translations[id].states
		} else {
			translations = append(translations, id)
		}
	}
	return translations, sources
}

// put stores the state of a unit, given its source unit.
func (c *componentStates) put(translation, source int64, state int8) {
	t := c.translations[translation]
	if t.states == nil {
		t.states = slices.Repeat([]int8{absent}, len(c.sources))
	}
	if i, ok := slices.BinarySearchFunc(c.sources, source, func(s sourceString, unit int64) int { return cmp.Compare(s.unit, unit) }); ok {
		t.states[i] = state
	}
}

// statesOf returns the states of components, which have these generations.
func (s *Snapshot) statesOf(ctx context.Context, components []int64, generations map[int64]int64) ([]*componentStates, error) {
	kept := s.db.caches.lookups.states
	all, read := make([]*componentStates, 0, len(components)), map[int64]*componentStates{}
	for _, id := range components {
		c, ok := kept.Get(id, generations[id])
		if !ok {
			c = &componentStates{translations: map[int64]*translationStates{}}
			read[id] = c
		}
		all = append(all, c)
	}
	err := s.readStates(ctx, read)
	for id, c := range read {
		if err == nil {
			kept.Put(id, generations[id], c, c.size())
		}
	}
	return all, err
}

// readStates reads the states of components, unless they are kept.
func (s *Snapshot) readStates(ctx context.Context, read map[int64]*componentStates) error {
	if err := s.readStateTranslations(ctx, read); err != nil {
		return err
	}
	owners := map[int64]*componentStates{} // of what is to be read
	var sources, translations []int64
	for _, id := range sqldb.SortedKeys(read) {
		c := read[id]
		changed, all := c.reuse(s.db.caches.lookups.states.Newest(id))
		if all {
			sources = append(sources, c.source)
		}
		for _, t := range changed {
			owners[t] = c
		}
		translations = append(translations, changed...)
	}
	if err := s.readSources(ctx, sources, owners); err != nil {
		return err
	}
	return s.s.QueryIn(ctx, `SELECT translation_id, source_id, state FROM units WHERE removed = 0 AND translation_id IN $ids`, nil, translations, func(scan sqldb.Scan) error {
		var translation, source, state int64
		err := scan(&translation, &source, &state)
		if err == nil {
			owners[translation].put(translation, source, int8(state))
		}
		return err
	})
}

// readStateTranslations reads which live translations components have.
func (s *Snapshot) readStateTranslations(ctx context.Context, components map[int64]*componentStates) error {
	return sqldb.Chunks(sqldb.SortedKeys(components), func(chunk []any) error {
		return s.s.Query(ctx, `SELECT id, component_id, generation, language, is_source FROM translations WHERE removed = 0 AND component_id IN `+sqldb.List(1, len(chunk)),
			chunk, func(scan sqldb.Scan) error {
				var id, component, source int64
				var t translationStates
				if err := scan(&id, &component, &t.generation, &t.language, &source); err != nil {
					return err
				}
				c := components[component]
				c.translations[id] = &t
				if source != 0 {
					c.source = id
				}
				return nil
			})
	})
}

// readSources reads the units of source translations.
func (s *Snapshot) readSources(ctx context.Context, translations []int64, owners map[int64]*componentStates) error {
	err := sqldb.Chunks(translations, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT translation_id, id, id_hash, id_key, words, chars FROM units WHERE removed = 0 AND source_id = id AND translation_id IN `+sqldb.List(1, len(chunk)),
			chunk, func(scan sqldb.Scan) error {
				var translation int64
				var u sourceString
				if err := scan(&translation, &u.unit, &u.identity.Hash, &u.identity.Key, &u.words, &u.chars); err != nil {
					return err
				}
				owners[translation].sources = append(owners[translation].sources, u)
				return nil
			})
	})
	for _, t := range translations {
		slices.SortFunc(owners[t].sources, func(a, b sourceString) int { return cmp.Compare(a.unit, b.unit) })
	}
	return err
}
