package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
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
