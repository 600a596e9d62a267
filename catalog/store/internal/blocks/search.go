package blocks

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// Search is an expression, compiled for blocks. It is for one goroutine; Copy makes others.
type Search struct {
	expr   query.Expr // its terms are places in leaves
	leaves []leaf
	place  place
	column column
}

// leaf is a term.
type leaf struct {
	term    query.Expr
	kind    Kind     // what it is decided by; ids: the ids alone
	needles [][]byte // one of which each text that matches has, folded; nil: not known
	exact   bool     // the text is the needle, but for case
	test    func(text string) bool
	folded  func(text string) bool // tests a folded text; nil: needles do
}

// ids is the kind of terms about ids alone.
const ids Kind = -1

// Found is what is known of the units of a block: all of Sure match, and none that is not of Maybe.
type Found struct{ Sure, Maybe idset.Bits }

// Block is what a search knows of a block so far.
type Block struct {
	Number int64
	Built  bool    // from rows, with all columns
	known  []Found // by leaf
}

// Compile compiles an expression of terms that terms.Lower leaves.
func Compile(e query.Expr, fold *query.Folder) (*Search, error) {
	s := &Search{}
	var err error
	s.expr, err = terms.Simplify(e, func(term query.Expr) (query.Expr, error) {
		l := leaf{term: term}
		switch t := term.(type) {
		case query.Text:
			l.kind, l.exact = Kind(slices.Index(texts[:], t.Column)), t.Match.Kind == query.Exact
			if l.test, l.needles, err = t.Match.Compile(fold); err != nil {
				return nil, err
			}
		case terms.Similar:
			l.kind, l.folded = Source, t.Holds
			l.test = func(text string) bool { return t.Holds(fold.String(text)) }
		case query.Failing:
			l.kind = Checks
		case query.Number:
			if t.Field == query.ID {
				l.kind = ids
			}
		case terms.InSet:
			if !t.OfSource {
				l.kind = ids
			}
		}
		s.leaves = append(s.leaves, l)
		return len(s.leaves) - 1, nil
	})
	return s, err
}

// Copy returns a search for another goroutine.
func (s *Search) Copy() *Search { return &Search{expr: s.expr, leaves: s.leaves} }

// Needs reports whether a kind of column decides any term, for some units at least.
func (s *Search) Needs(kind Kind) bool {
	return slices.ContainsFunc(s.leaves, func(l leaf) bool {
		return l.kind == kind && (l.test == nil || l.folded != nil || l.needles != nil) || kind == Grams && l.filtered()
	})
}

// Tests reports whether a term tests the texts of a kind.
func (s *Search) Tests(kind Kind) bool {
	for i := range s.leaves {
		if l := &s.leaves[i]; l.kind == kind && l.test != nil {
			return true
		}
	}
	return false
}

// Begin begins with a block, of which only the ids are known.
func (s *Search) Begin(number int64) *Block {
	b := &Block{Number: number, known: make([]Found, len(s.leaves))}
	first := number * idset.BlockUnits
	for i := range s.leaves {
		b.known[i].Maybe = idset.Bits{}.Not()
		switch t := s.leaves[i].term.(type) {
		case terms.InSet:
			if !t.OfSource {
				b.decide(i, t.Set.Block(first))
			}
		case query.Number:
			if t.Field != query.ID {
				continue
			}
			var in idset.Bits
			for _, span := range t.Spans {
				if lo, hi := max(span.Lo, first), min(span.Hi, first+idset.BlockUnits-1); lo <= hi {
					in.Add(int(lo-first), int(hi-first)+1)
				}
			}
			b.decide(i, in)
		}
	}
	return b
}

func (b *Block) decide(leaf int, found idset.Bits) { b.known[leaf] = Found{found, found} }

// Load adds what a column says; data is nil for one without any text.
func (s *Search) Load(b *Block, kind Kind, data []byte) error {
	switch kind {
	case Place:
		return s.loadPlace(b, data)
	case Checks:
		return s.loadChecks(b, data)
	case Grams:
		return s.loadGrams(b, data)
	}
	if bytes.Equal(data, longColumn) {
		return nil
	}
	if err := s.column.decode(data); err != nil {
		return err
	}
	for i := range s.leaves {
		l := &s.leaves[i]
		if l.kind == kind && l.folded != nil {
			b.decide(i, s.column.where(l.folded))
		}
		if l.kind != kind || l.needles == nil {
			continue
		}
		var found idset.Bits
		for _, needle := range l.needles {
			has := s.column.having(needle, l.exact)
			found.Or(&has)
		}
		b.known[i].Maybe = found
		if t := l.term.(query.Text); t.Match.Kind == query.Contains || t.Match.Pattern == "" {
			b.known[i].Sure = found
		}
	}
	return nil
}

func (s *Search) loadPlace(b *Block, data []byte) error {
	p := &s.place
	if err := p.decode(data); err != nil {
		return err
	}
	for i := range s.leaves {
		switch t := s.leaves[i].term.(type) {
		case terms.Live:
			b.decide(i, p.live)
		case terms.Source:
			b.decide(i, p.of(source).where(func(less int64) bool { return less == 0 }))
		case terms.InTranslations:
			b.decide(i, p.of(translation).where(t.Set.Has))
		case query.Number:
			if of, ok := map[query.NumericField]int{query.State: state, query.Priority: priority}[t.Field]; ok {
				b.decide(i, p.of(of).where(func(n int64) bool { return terms.InSpans(t.Spans, n) }))
			}
		case terms.CreatedIn:
			b.decide(i, p.of(created).where(t.Has))
		case terms.InSet:
			if t.OfSource {
				b.decide(i, p.withSources(t.Set, b.Number*idset.BlockUnits))
			}
		}
	}
	return p.end()
}

func (s *Search) loadChecks(b *Block, data []byte) error {
	data, err := stored.Unversioned(data, errBlock)
	if err != nil {
		return err
	}
	r := stored.Reader{B: data}
	failing, err := readBits(&r)
	if err != nil {
		return err
	}
	for i := range s.leaves {
		t, ok := s.leaves[i].term.(query.Failing)
		if !ok {
			continue
		}
		id, ok := checks.ByName(t.Check)
		if !ok {
			b.decide(i, failing)
			continue
		}
		masks, of, found := stored.Reader{B: r.B}, checks.Mask{}.With(id), idset.Bits{}
		for word := range of {
			s.place.runs[word] = s.place.runs[word].decode(&masks)
			found.Or(new(s.place.runs[word].where(func(mask int64) bool { return uint64(mask)&of[word] != 0 })))
		}
		if masks.Bad || len(masks.B) > 0 {
			return errBlock
		}
		n, these := 0, failing
		failing.Each(func(unit int) {
			if !found.Has(n) {
				these.Remove(unit)
			}
			n++
		})
		b.decide(i, these)
	}
	return nil
}

// loadGrams rules out blocks without the texts that are looked for.
func (s *Search) loadGrams(b *Block, data []byte) error {
	if data == nil {
		return nil
	}
	filter, err := stored.Unversioned(data, errBlock)
	if err != nil || bits.OnesCount(uint(len(filter))) != 1 {
		return cmp.Or(err, errBlock)
	}
	for i := range s.leaves {
		l := &s.leaves[i]
		if l.filtered() && !slices.ContainsFunc(l.needles, func(needle []byte) bool { return mayHave(filter, needle) }) {
			b.decide(i, idset.Bits{})
		}
	}
	return nil
}

// filtered reports whether grams may rule a term out.
func (l *leaf) filtered() bool {
	return l.kind == Target && len(l.needles) > 0 && !slices.ContainsFunc(l.needles, func(needle []byte) bool { return len(needle) < 3 })
}

// withSources are the units whose source units are in a set.
func (p *place) withSources(set *idset.Set, first int64) (b idset.Bits) {
	var in idset.Bits // of the block at
	at := int64(-1)
	p.of(source).each(func(lo, hi, less int64) {
		for i := lo; i < hi; i++ {
			id := first + less + i
			if number := Number(id); number != at {
				at, in = number, set.Block(number*idset.BlockUnits)
			}
			if in.Has(int(id % idset.BlockUnits)) {
				b.Add(int(i), int(i)+1)
			}
		}
	})
	return b
}

// Test decides the terms that columns could not decide by the texts of a unit, by kind.
func (s *Search) Test(b *Block, unit int64, texts *[Kinds]string) {
	i := int(unit - b.Number*idset.BlockUnits)
	for n := range s.leaves {
		l, known := &s.leaves[n], &b.known[n]
		if l.test == nil || known.Sure.Has(i) || !known.Maybe.Has(i) {
			continue
		}
		if l.test(texts[l.kind]) {
			known.Sure.Add(i, i+1)
		} else {
			known.Maybe.Remove(i)
		}
	}
}

// Result is what is known of the units of a block.
func (s *Search) Result(b *Block) Found { return result(s.expr, b.known) }

func result(e query.Expr, known []Found) (f Found) {
	switch e := e.(type) {
	case int:
		return known[e]
	case query.Const:
		if e {
			f.Sure = f.Sure.Not()
		}
		return Found{f.Sure, f.Sure}
	case query.Not:
		f = result(e.X, known)
		return Found{f.Maybe.Not(), f.Sure.Not()}
	case query.And:
		return joined(e, known, (*idset.Bits).And)
	case query.Or:
		return joined(e, known, (*idset.Bits).Or)
	}
	return f
}

func joined(list []query.Expr, known []Found, join func(b, other *idset.Bits)) Found {
	f := result(list[0], known)
	for _, e := range list[1:] {
		other := result(e, known)
		join(&f.Sure, &other.Sure)
		join(&f.Maybe, &other.Maybe)
	}
	return f
}
