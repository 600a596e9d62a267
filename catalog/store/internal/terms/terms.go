// Package terms has the expressions of searches as the store rewrites them: terms that blocks or a
// set of units answers in place of those of the query language.
//
// Goals: pure functions of expressions, and what a search of one costs.
//
// Non-goals: SQL, and which units a set has.
package terms

import (
	"math"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// Simplify replaces every term of an expression and removes terms that are then
// constant.
func Simplify(e query.Expr, term func(query.Expr) (query.Expr, error)) (query.Expr, error) {
	switch e := e.(type) {
	case query.And:
		kept, constant, err := simplifyAll(e, query.None, term)
		if constant != nil {
			return constant, err
		}
		return query.And(kept), nil
	case query.Or:
		kept, constant, err := simplifyAll(e, query.All, term)
		if constant != nil {
			return constant, err
		}
		return query.Or(kept), nil
	case query.Not:
		x, err := Simplify(e.X, term)
		if c, ok := x.(query.Const); ok {
			return !c, err
		}
		return query.Not{X: x}, err
	case query.Const:
		return e, nil
	}
	return term(e)
}

// simplifyAll simplifies operands and removes constants. constant is what they amount to if
// one is the decisive constant or none is left; nil otherwise.
func simplifyAll(list []query.Expr, decisive query.Const, term func(query.Expr) (query.Expr, error)) (kept []query.Expr, constant query.Expr, err error) {
	for _, x := range list {
		x, err := Simplify(x, term)
		c, ok := x.(query.Const)
		if err != nil || ok && c == decisive {
			return nil, decisive, err
		}
		if !ok {
			kept = append(kept, x)
		}
	}
	if len(kept) == 0 {
		return nil, !decisive, nil
	}
	return kept, nil, nil
}

// CreatedIn matches units that were created, or whose source unit was created, in
// [from, to), in microseconds. Units without a time do not match.
type CreatedIn struct {
	OfSource bool
	From, To int64
}

// HasEntry matches units that have, or whose source unit has, an entry in the
// ledger.
type HasEntry struct {
	OfSource bool
	Content  bool   // only entries that changed the text: updates, or appearances with a text
	Action   int64  // -1: any
	Author   string // "": anybody
	From, To int64
}

// InSet matches units that are, or whose source unit is, in a set.
type InSet struct {
	OfSource bool
	Set      *idset.Set
}

// InTranslations holds for the units of translations.
type InTranslations struct{ Set *idset.Set }

// Live holds for units that are not removed, Source for source units.
type (
	Live   struct{}
	Source struct{}
)

// Similar holds for source units whose first form, folded, has at least a similarity to a string.
type Similar struct {
	To    *msgmerge.Pattern
	Least float64
}

// Holds reports whether a folded text is similar.
func (t Similar) Holds(text string) bool {
	return t.To.Similarity(catalog.FirstForm(text), t.Least) >= t.Least
}

// OfSource matches units whose source unit X matches.
type OfSource struct{ X query.Expr }

// Lower replaces terms by those that blocks of units answer.
func Lower(term query.Expr) (query.Expr, error) {
	switch e := term.(type) {
	case query.Text:
		ofSource := func(c query.Column) query.Expr { return query.Text{Column: c, Match: e.Match} }
		switch {
		case e.Match == query.Match{}: // every text contains ""
			return query.All, nil
		case e.Column == "":
			return query.Or{ofSource(query.Target), OfSource{query.Or{ofSource(query.Source), ofSource(query.Context)}}}, nil
		case e.Column == query.Source || e.Column == query.Context:
			return OfSource{e}, nil
		}
	case query.Filled:
		x, err := Lower(query.Text{Column: e.Column, Match: query.Match{Kind: query.Exact}})
		return query.Not{X: x}, err
	case query.Plural:
		return OfSource{query.Text{Column: query.Source, Match: query.Match{Pattern: catalog.FormSeparator}}}, nil
	case query.Number:
		if e.Field == query.SourceState {
			return OfSource{query.Number{Field: query.State, Spans: e.Spans}}, nil
		}
	case CreatedIn:
		if e.OfSource {
			return OfSource{CreatedIn{From: e.From, To: e.To}}, nil
		}
	}
	return term, nil
}

// Has reports whether a time, MinTime for none, is in it.
func (c CreatedIn) Has(at int64) bool {
	return at != MinTime && at >= c.From && (at < c.To || c.To == MaxTime)
}

// IsOfSource reports whether a term is about the source unit.
func IsOfSource(term query.Expr) bool {
	_, is := term.(OfSource)
	return is
}

// NeedsTranslations reports whether it must be known for a term which translations are
// searched, and not only which are not.
func NeedsTranslations(term query.Expr) bool {
	switch e := term.(type) {
	case query.Scope:
		return true
	case query.Text:
		return IsApart(e.Column)
	case query.Filled:
		return IsApart(e.Column)
	case query.Number:
		return e.Field == query.Position
	}
	return false
}

// IsApart reports whether no column of a unit has a text: a layout or another table has it.
func IsApart(c query.Column) bool {
	return c == query.Location || c == query.Comment || c == query.Suggestion
}

// The times before and after all others, in microseconds.
const (
	MinTime = -1 << 63
	MaxTime = 1<<63 - 1
)

// Bounds are two times in microseconds, open if they are zero.
func Bounds(from, to time.Time) (lo, hi int64) {
	lo, hi = MinTime, MaxTime
	if n, ok := sqldb.Micros(from).(int64); ok {
		lo = n
	}
	if n, ok := sqldb.Micros(to).(int64); ok {
		hi = n
	}
	return lo, hi
}

// rewriteTime rewrites a time to conditions on entries and on CreatedIn. The
// newest entry is at or after a time if any entry is; without entries the time of
// the unit itself counts.
func rewriteTime(t query.Time) query.Expr {
	from, to := Bounds(t.From, t.To)
	switch t.Event {
	case query.Added:
		return CreatedIn{From: from, To: to}
	case query.Changed, query.ChangeTime:
		return HasEntry{Content: t.Event == query.Changed, Action: -1, From: from, To: to}
	}
	ofSource := t.Event == query.SourceChanged
	since := func(at int64) query.Expr {
		return query.Or{HasEntry{OfSource: ofSource, Action: -1, From: at, To: MaxTime}, CreatedIn{OfSource: ofSource, From: at, To: MaxTime}}
	}
	list := query.And{since(from)}
	if to != MaxTime {
		list = append(list, query.Not{X: since(to)})
	}
	return list
}

// RewriteHistory rewrites terms about the history to conditions on entries of the
// ledger.
func RewriteHistory(e query.Expr) (query.Expr, error) {
	switch e := e.(type) {
	case query.Time:
		return rewriteTime(e), nil
	case query.Author:
		if e.Username == "" {
			return query.None, nil
		}
		return HasEntry{Content: true, Action: -1, Author: e.Username, From: MinTime, To: MaxTime}, nil
	case query.Action:
		return HasEntry{Action: int64(e.Action), From: MinTime, To: MaxTime}, nil
	}
	return e, nil
}

// InSpans reports whether a number is in one of the spans.
func InSpans(spans []query.Span, n int64) bool {
	return slices.ContainsFunc(spans, func(s query.Span) bool { return s.Lo <= n && n <= s.Hi })
}

// In is the term of a set of units.
func In(set *idset.Set, ofSource bool) query.Expr {
	if set.Len() == 0 {
		return query.None
	}
	return InSet{ofSource, set}
}

// PriceOfRow is what reading a string costs.
const PriceOfRow = 2

// The prices of terms, for one string. Regular expressions take some ten times as long as
// looking for a text.
const (
	priceOfText    = 1
	priceOfRegexp  = 10
	priceOfTerm    = 1
	priceOfSimilar = 10
	anyColumns     = 3 // that a text without a field is compared with
)

// Price is what the terms of an expression cost for one string, without [PriceOfRow].
func Price(e query.Expr) (sum int64) {
	switch e := e.(type) {
	case query.And:
		for _, x := range e {
			sum += Price(x)
		}
		return sum
	case query.Or:
		return Price(query.And(e))
	case query.Not:
		return Price(e.X)
	case query.Const, query.Scope:
		return 0
	case Similar:
		return priceOfSimilar
	case query.Text:
		sum = priceOfText
		if e.Match.Kind == query.Regexp {
			sum = priceOfRegexp
		}
		if e.Column == "" {
			sum *= anyColumns
		}
		return sum
	}
	return priceOfTerm
}

// Decided is Simplify for the terms about places alone.
func Decided(e query.Expr, place func(query.Scope) query.Expr) query.Expr {
	e, _ = Simplify(e, func(term query.Expr) (query.Expr, error) { // without an error
		if p, is := term.(query.Scope); is {
			return place(p), nil
		}
		return term, nil
	})
	return e
}

// Most is the number of units that match at most, by the conditions on ids among the terms of a
// conjunction.
func Most(e query.Expr) int64 {
	most := int64(math.MaxInt64)
	switch e := e.(type) {
	case query.And:
		for _, x := range e {
			most = min(most, Most(x))
		}
	case InSet:
		if !e.OfSource {
			most = e.Set.Len()
		}
	case query.Number:
		if n := uint64(0); e.Field == query.ID {
			for _, s := range e.Spans {
				n += uint64(s.Hi) - uint64(s.Lo) + 1
			}
			most = int64(min(n, math.MaxInt64))
		}
	}
	return most
}

// OfMissing is what a term about a string of a translation means for one that its file
// lacks, as a term about its source unit: it has no text, no check fails, and nothing has
// happened to it. Whether somebody suggested a text only the store knows.
func OfMissing(term query.Expr, fold *query.Folder) (query.Expr, error) {
	switch e := term.(type) {
	case query.Text:
		return textOfMissing(e, fold)
	case query.Filled:
		if e.Column == query.Target || e.Column == query.Comment {
			return query.None, nil
		}
	case query.Number:
		if e.Field == query.State {
			return query.Const(InSpans(e.Spans, int64(catalog.StateEmpty))), nil
		}
	case query.Time:
		switch e.Event {
		case query.Changed, query.ChangeTime:
			return query.None, nil
		case query.LastChanged:
			e.Event = query.Added
			return e, nil
		}
	case query.Pending, query.Failing, query.Author, query.Action:
		return query.None, nil
	}
	return term, nil
}

func textOfMissing(e query.Text, fold *query.Folder) (query.Expr, error) {
	switch e.Column {
	case query.Comment:
		return query.None, nil
	case query.Target, "":
		match, _, err := e.Match.Compile(fold)
		switch {
		case err != nil || match(""):
			return query.All, err
		case e.Column == query.Target:
			return query.None, nil
		}
		return query.Or{query.Text{Column: query.Source, Match: e.Match}, query.Text{Column: query.Context, Match: e.Match}}, nil
	}
	return e, nil
}
