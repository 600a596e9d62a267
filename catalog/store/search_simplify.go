package store

import (
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// simplify replaces every term of an expression and removes terms that are then
// constant.
func simplify(e query.Expr, term func(query.Expr) (query.Expr, error)) (query.Expr, error) {
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
		x, err := simplify(e.X, term)
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
		x, err := simplify(x, term)
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

// createdIn matches units that were created, or whose source unit was created, in
// [from, to), in microseconds. Units without a time do not match.
type createdIn struct {
	ofSource bool
	from, to int64
}

func (createdIn) String() string { return "" }

// hasEntry matches units that have, or whose source unit has, an entry in the
// ledger.
type hasEntry struct {
	ofSource bool
	content  bool   // only entries that changed the text: updates, or appearances with a text
	action   int64  // -1: any
	author   string // "": anybody
	from, to int64
}

func (hasEntry) String() string { return "" }

// inSet matches units that are, or whose source unit is, in a set.
type inSet struct {
	ofSource bool
	set      *idset.Set
}

func (inSet) String() string { return "" }

// inTranslations holds for the units of translations.
type inTranslations struct{ set *idset.Set }

func (inTranslations) String() string { return "" }

const (
	minTime = -1 << 63
	maxTime = 1<<63 - 1
)

func bounds(from, to time.Time) (lo, hi int64) {
	lo, hi = minTime, maxTime
	if n, ok := sqldb.Micros(from).(int64); ok {
		lo = n
	}
	if n, ok := sqldb.Micros(to).(int64); ok {
		hi = n
	}
	return lo, hi
}

// rewriteTime rewrites a time to conditions on entries and on createdIn. The
// newest entry is at or after a time if any entry is; without entries the time of
// the unit itself counts.
func rewriteTime(t query.Time) query.Expr {
	from, to := bounds(t.From, t.To)
	switch t.Event {
	case query.Added:
		return createdIn{from: from, to: to}
	case query.Changed, query.ChangeTime:
		return hasEntry{content: t.Event == query.Changed, action: -1, from: from, to: to}
	}
	ofSource := t.Event == query.SourceChanged
	since := func(at int64) query.Expr {
		return query.Or{hasEntry{ofSource: ofSource, action: -1, from: at, to: maxTime}, createdIn{ofSource: ofSource, from: at, to: maxTime}}
	}
	list := query.And{since(from)}
	if to != maxTime {
		list = append(list, query.Not{X: since(to)})
	}
	return list
}

// inScope reports whether the units of a translation are in a scope.
func inScope(p query.Scope, c *ComponentRow, t *searchTranslation, fold *query.Folder) bool {
	switch p.Level {
	case query.Language:
		return strings.EqualFold(p.Value, t.language) || strings.EqualFold(p.Value, t.fileCode)
	case query.SourceLanguage:
		return strings.EqualFold(p.Value, c.Settings.SourceLanguage)
	case query.Project:
		return strings.EqualFold(p.Value, c.Project.Slug)
	case query.Component:
		name := c.Settings.Name
		if name == "" {
			name = c.Slug
		}
		return strings.EqualFold(p.Value, c.Slug) || strings.Contains(fold.String(name), fold.String(p.Value))
	case query.Path:
		whole := []string{c.Project.Slug, c.Slug, t.language}
		parts := strings.Split(p.Value, "/")
		return len(parts) <= len(whole) && strings.EqualFold(strings.Join(whole[:len(parts)], "/"), p.Value)
	}
	return false
}
