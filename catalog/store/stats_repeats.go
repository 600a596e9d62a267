package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Repeats returns by how much the sum of the statistics of a project's components
// exceeds statistics in which strings of one language that have the same source
// and context count once, in the state of the best of them: read-only or
// translated before fuzzy before empty. With private it is about all components,
// otherwise about the public ones. Failing, Suggestions and Comments are 0.
//
// It is counted from the states of all units, of which a byte each is kept. Only
// translations that changed since the last call are read.
func (s *Snapshot) Repeats(ctx context.Context, project int64, private bool) (all catalog.Stats, err error) {
	defer s.s.AboutProject(project).End()
	kept, err := s.components(ctx)
	if err != nil {
		return all, err
	}
	var ids []int64
	for _, c := range kept.all {
		if c.ProjectID == project && c.Imported && (private || !c.Settings.Private(&c.Project)) {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) < 2 {
		return all, nil
	}
	states, err := s.statesOf(ctx, ids, kept.own)
	if err == nil {
		all = repeatsOf(states)
	}
	return all, s.s.Fail(ctx, fmt.Sprintf("count what components of project %d share", project), err)
}

// repeatsOf counts the strings that several components have in one language, all but
// the best of each.
func repeatsOf(components []*componentStates) (all catalog.Stats) {
	places, distinct := map[countedString]int{}, []countedString{}
	byLanguage := map[string][]placedStates{}
	for _, c := range components {
		at := make([]int, len(c.sources))
		for i := range c.sources {
			place, ok := places[c.sources[i].countedString]
			if !ok {
				place = len(distinct)
				places[c.sources[i].countedString] = place
				distinct = append(distinct, c.sources[i].countedString)
			}
			at[i] = place
		}
		for _, t := range c.translations {
			byLanguage[t.language] = append(byLanguage[t.language], placedStates{at, t.states})
		}
	}
	best := make([]int8, len(distinct))
	for _, list := range byLanguage {
		if len(list) < 2 {
			continue
		}
		for i := range best {
			best[i] = absent
		}
		for _, p := range list {
			for i, state := range p.states {
				s := &distinct[p.at[i]]
				b := &best[p.at[i]]
				if worse := min(*b, state); worse != absent {
					all.AddUnits(catalog.Count{Units: 1, Words: s.words, Chars: s.chars}, catalog.State(worse))
				}
				*b = max(*b, state)
			}
		}
	}
	return all
}

// placedStates are the states of a translation, and where each of its strings is in a
// list of all.
type placedStates struct {
	at     []int
	states []int8
}

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
	kept := s.db.lookups.states
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
	if err := s.s.QueryIn(ctx, `SELECT id, component_id, generation, language, is_source FROM translations WHERE removed = 0 AND component_id IN $ids`,
		nil, sqldb.SortedKeys(read), func(scan sqldb.Scan) error {
			var id, component int64
			var t translationStates
			var source bool
			if err := scan(&id, &component, &t.generation, &t.language, &source); err != nil {
				return err
			}
			c := read[component]
			c.translations[id] = &t
			if source {
				c.source = id
			}
			return nil
		}); err != nil {
		return err
	}
	owners := map[int64]*componentStates{} // of what is to be read
	var sources, translations []int64
	for _, id := range sqldb.SortedKeys(read) {
		c := read[id]
		changed, all := c.reuse(s.db.lookups.states.Newest(id))
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
	return s.s.QueryIn(ctx, `SELECT translation_id, source_id, state FROM units WHERE removed = 0 AND translation_id IN $ids`, nil, translations,
		sqldb.Cols3(func(translation, source int64, state int8) { owners[translation].put(translation, source, state) }))
}

// readSources reads the units of source translations.
func (s *Snapshot) readSources(ctx context.Context, translations []int64, owners map[int64]*componentStates) error {
	var translation int64
	var u sourceString
	dest := []any{&translation, &u.unit, &u.identity.Hash, &u.identity.Key, &u.words, &u.chars}
	err := s.s.QueryIn(ctx, `SELECT translation_id, id, id_hash, id_key, words, chars FROM units WHERE removed = 0 AND source_id = id AND translation_id IN $ids`, nil, translations, func(scan sqldb.Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		owners[translation].sources = append(owners[translation].sources, u)
		return nil
	})
	for _, t := range translations {
		slices.SortFunc(owners[t].sources, func(a, b sourceString) int { return cmp.Compare(a.unit, b.unit) })
	}
	return err
}
