package checks

// glossary finds the terms of a glossary.
type glossary struct {
	sources, targets *wordFinder
	terms            [][]choice // by number of the source
}

// choice is one translation of a term.
type choice struct {
	target    int // its number
	forbidden bool
}

func newGlossary(terms []Term) *glossary {
	g := &glossary{sources: newWordFinder(), targets: newWordFinder()}
	for _, t := range terms {
		source, ok := g.sources.add(t.Source)
		target, ok2 := g.targets.add(t.Target)
		if !ok || !ok2 {
			continue
		}
		for len(g.terms) <= source {
			g.terms = append(g.terms, nil)
		}
		g.terms[source] = append(g.terms[source], choice{target, t.Forbidden})
	}
	if len(g.terms) == 0 {
		return nil
	}
	g.sources.finish()
	g.targets.finish()
	return g
}

// checkGlossary fails for a term of the source none of whose translations is
// in the target, or of which a forbidden one is.
func checkGlossary(r *run, s, t string) hit {
	g := r.set.terms
	if g == nil {
		return hit{}
	}
	found := g.sources.find(s)
	if len(found) == 0 {
		return hit{}
	}
	used := make(map[int]Span)
	for _, w := range g.targets.find(t) {
		used[w.number] = w.at
	}
	h := hit{target: Span{0, len(t)}}
	for _, w := range found {
		if w.number < len(g.terms) && !g.follows(w.number, used, &h.target) {
			h.failed = true
			h.sources = append(h.sources, w.at)
		}
	}
	return h
}

// follows reports whether the words used follow the glossary in one term; else
// forbidden is where a forbidden one is, if that is why.
func (g *glossary) follows(term int, used map[int]Span, forbidden *Span) bool {
	kept, wanted := false, false
	for _, c := range g.terms[term] {
		at, ok := used[c.target]
		if c.forbidden && ok {
			*forbidden = at
			return false
		}
		wanted = wanted || !c.forbidden
		kept = kept || !c.forbidden && ok
	}
	return kept || !wanted
}
