// Package terms has the expressions of searches as the store rewrites them: terms that SQL or a
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
)

// Simplify replaces every term of an expression and removes terms that are then
// constant.
func Simplify(e query.Expr, term func(query.Expr) (query.Expr, error)) (query.Expr, error) {
	switch e := e.(type) {
	case query.And:
		list, decided, err := simplifyAll(e, query.None, term)
		if err != nil || decided {
			return query.None, err
		}
		if len(list) == 0 {
			return query.All, nil
		}
		return query.And(list), nil
	case query.Or:
		list, decided, err := simplifyAll(e, query.All, term)
		if err != nil || decided {
			return query.All, err
		}
		if len(list) == 0 {
			return query.None, nil
		}
		return query.Or(list), nil
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

// simplifyAll simplifies operands and removes constants. decided is true if one is
// the decisive constant.
func simplifyAll(list []query.Expr, decisive query.Const, term func(query.Expr) (query.Expr, error)) (kept []query.Expr, decided bool, err error) {
	for _, x := range list {
		x, err := Simplify(x, term)
		if err != nil {
			return nil, false, err
		}
		c, ok := x.(query.Const)
		if ok && c == decisive {
			return nil, true, nil
		}
		if !ok {
			kept = append(kept, x)
		}
	}
	return kept, false, nil
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

// IDsToSet makes a set of a list of ids.
func IDsToSet(n query.Number) query.Expr {
	var ids []int64
	for _, s := range n.Spans {
		if n.Field != query.ID || s.Lo != s.Hi {
			return n
		}
		ids = append(ids, s.Lo)
	}
	return NewInSet(ids, false)
}

// NewInSet takes ids in any order. It may keep the slice.
func NewInSet(ids []int64, ofSource bool) query.Expr {
	if len(ids) == 0 {
		return query.None
	}
	slices.Sort(ids)
	return InSet{ofSource, idset.New(slices.Compact(ids))}
}

// PriceOfRow is what reading a string costs.
const PriceOfRow = 2

// The prices of terms, for one string. Regular expressions take some ten times as long as
// looking for a text.
const (
	priceOfText   = 1
	priceOfRegexp = 10
	priceOfTerm   = 1
	anyColumns    = 3 // that a text without a field is compared with
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

// Narrow looks for a condition on ids among the terms of a conjunction: only units of few,
// if that is not nil, and from lo to hi match.
func Narrow(e query.Expr) (few []int64, lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	list, ok := e.(query.And)
	if !ok {
		list = query.And{e}
	}
	for _, e := range list {
		switch e := e.(type) {
		case InSet:
			ids, listed := e.Set.Listed()
			if !e.OfSource && listed && len(ids) <= idset.Few && (few == nil || len(ids) < len(few)) {
				few = ids
			}
		case query.Number:
			if e.Field == query.ID && len(e.Spans) == 1 {
				lo, hi = max(lo, e.Spans[0].Lo), min(hi, e.Spans[0].Hi)
			}
		}
	}
	return few, lo, hi
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
		match, err := e.Match.Compile(fold)
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
