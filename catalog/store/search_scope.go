package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// searchComponent is a component to search with its translations.
type searchComponent struct {
	*ComponentRow
	live                          []searchTranslation // to search, by id
	other                         []int64             // the component's other translations
	translations, units, lastUnit int64               // numbers of live ones and of their units; of the last unit
	expr                          query.Expr          // what is searched for in it
	long                          bool                // whether the search is long: other snapshots help
}

// searchTranslation is what a search needs of a translation.
type searchTranslation struct {
	id                 int64
	language, fileCode string
	units              int64
}

// mayHold reports whether a string of a component may be found, by what is known of the
// component: a search of an id, or of a path, reads nothing of thousands of others.
func mayHold(e query.Expr, c *ComponentRow, fold *query.Folder) bool {
	lo, hi := c.ID*catalog.UnitsPerComponent, (c.ID+1)*catalog.UnitsPerComponent
	e, _ = terms.Simplify(e, func(term query.Expr) (query.Expr, error) {
		switch t := term.(type) {
		case query.Number:
			if t.Field == query.ID && !slices.ContainsFunc(t.Spans, func(s query.Span) bool { return s.Hi >= lo && s.Lo < hi }) {
				return query.None, nil
			}
		case query.Scope:
			parts := strings.Split(t.Value, "/")
			if t.Level == query.Language {
				return term, nil
			}
			ofLanguage := t.Level == query.Path && len(parts) == 3
			if ofLanguage {
				t.Value = strings.Join(parts[:2], "/")
			}
			in := inScope(t, c, &searchTranslation{}, fold)
			if in && ofLanguage {
				return term, nil
			}
			return query.Const(in), nil
		}
		return term, nil
	})
	return e != query.Expr(query.None)
}

// searchScope returns the components of a query that have live translations and may
// have strings that are found, by id, and the number of their units.
func (s *Snapshot) searchScope(ctx context.Context, q *SearchQuery) (out []searchComponent, units int64, err error) {
	byID := make(map[int64]*searchComponent, len(q.Components))
	fold := &s.db.searches.folder
	ids := slices.DeleteFunc(sqldb.SortedKeys(q.Components), func(id int64) bool { return !mayHold(q.Expr, q.Components[id], fold) })
	for _, id := range ids {
		byID[id] = &searchComponent{ComponentRow: q.Components[id]}
	}
	err = s.s.QueryIn(ctx, `SELECT id, last_unit FROM components WHERE id IN $ids`, nil, ids, sqldb.Cols2(func(id, last int64) { byID[id].lastUnit = last }))
	if err == nil && (q.TranslationID != 0 || query.Has(q.Expr, terms.NeedsTranslations)) {
		err = s.s.QueryIn(ctx, `SELECT id, component_id, language, file_code, removed, total FROM translations WHERE component_id IN $ids`, nil, ids, func(scan sqldb.Scan) error {
			var t searchTranslation
			var component int64
			var removed bool
			if err := scan(&t.id, &component, &t.language, &t.fileCode, &removed, &t.units); err != nil {
				return err
			}
			c := byID[component]
			if removed || q.TranslationID != 0 && q.TranslationID != t.id {
				c.other = append(c.other, t.id)
				return nil
			}
			c.live = append(c.live, t)
			c.translations, c.units = c.translations+1, c.units+t.units
			return nil
		})
	} else if err == nil { // thousands of rows less
		err = s.s.QueryIn(ctx, `SELECT component_id, COUNT(*), SUM(total) FROM translations WHERE component_id IN $ids AND removed = 0 GROUP BY component_id`, nil, ids,
			sqldb.Cols3(func(id, n, sum int64) { byID[id].translations, byID[id].units = n, sum }))
		if err == nil {
			err = s.s.QueryIn(ctx, `SELECT id, component_id FROM translations WHERE component_id IN $ids AND removed = 1`, nil, ids,
				sqldb.Cols2(func(id, component int64) { byID[component].other = append(byID[component].other, id) }))
		}
	}
	for _, id := range ids {
		if c := byID[id]; c.translations > 0 {
			slices.SortFunc(c.live, func(a, b searchTranslation) int { return cmp.Compare(a.id, b.id) })
			out = append(out, *c)
			units += c.units
		}
	}
	return out, units, err
}

// eachInLayout calls fn for all live units of translations.
func (s *Snapshot) eachInLayout(ctx context.Context, translations []searchTranslation, fn func(catalog.UnitPosition)) error {
	for i := range translations {
		err := sqldb.Each(ctx, s.s, `SELECT data FROM layouts WHERE translation_id = $1 ORDER BY block`, []any{translations[i].id}, func(data []byte) error {
			block, err := s.db.codec.Block(data)
			for _, p := range block {
				fn(p)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
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
		name := cmp.Or(c.Settings.Name, c.Slug)
		return strings.EqualFold(p.Value, c.Slug) || strings.Contains(fold.String(name), fold.String(p.Value))
	case query.Path:
		whole := []string{c.Project.Slug, c.Slug, t.language}
		parts := strings.Split(p.Value, "/")
		return len(parts) <= len(whole) && strings.EqualFold(strings.Join(whole[:len(parts)], "/"), p.Value)
	}
	return false
}

// resolve replaces the terms that no column of a unit answers by the set of
// matching units: positions are in layouts, times and authors of changes in the
// ledger.
func (s *Snapshot) resolve(ctx context.Context, c *searchComponent, e query.Expr) (query.Expr, error) {
	switch e := e.(type) {
	case query.Text:
		if !terms.IsApart(e.Column) {
			return e, nil
		}
		match, _, err := e.Match.Compile(&s.db.searches.folder)
		if err != nil {
			return nil, err
		}
		if e.Column != query.Location {
			return s.unitsWithNotes(ctx, c, e.Column, match)
		}
		return s.unitsByLayout(ctx, c, func(p catalog.UnitPosition) bool { return match(p.Location) })
	case query.Filled:
		switch e.Column {
		case query.Location:
			return s.unitsByLayout(ctx, c, func(p catalog.UnitPosition) bool { return p.Location != "" })
		case query.Comment, query.Suggestion:
			return s.unitsWithNotes(ctx, c, e.Column, nil)
		}
		return e, nil
	case query.Number:
		if e.Field == query.Position {
			return s.unitsByLayout(ctx, c, func(p catalog.UnitPosition) bool { return terms.InSpans(e.Spans, int64(p.Position)) })
		}
		return e, nil
	case query.Pending:
		return s.unitsPending(ctx, c)
	case terms.HasEntry:
		return s.withEntries(ctx, c, &e)
	}
	return e, nil
}

// pendingUnits reads pending edits by the index that has only these.
const pendingUnits = `SELECT unit_id FROM edits WHERE status = 'pending' AND unit_id BETWEEN $1 AND $2`

// unitsPending finds the units of a component with pending edits.
func (s *Snapshot) unitsPending(ctx context.Context, c *searchComponent) (query.Expr, error) {
	var found idset.Set
	first := c.ID * catalog.UnitsPerComponent
	err := s.s.Query(ctx, pendingUnits, []any{first, first + catalog.UnitsPerComponent - 1}, sqldb.Cols1(found.Add))
	return terms.In(&found, false), err
}

func (s *Snapshot) unitsByLayout(ctx context.Context, c *searchComponent, holds func(catalog.UnitPosition) bool) (query.Expr, error) {
	var found idset.Set
	err := s.eachInLayout(ctx, c.live, func(p catalog.UnitPosition) {
		if holds(p) {
			found.Add(p.ID)
		}
	})
	return terms.In(&found, false), err
}

// unitsWithNotes finds units that have comments or suggestions; if match is not
// nil, only matching ones.
func (s *Snapshot) unitsWithNotes(ctx context.Context, c *searchComponent, column query.Column, match func(string) bool) (query.Expr, error) {
	var found idset.Set
	if column == query.Suggestion {
		err := catalog.Try(c.live, func(t *searchTranslation) error { return withSuggestions(ctx, s.s, t.id, false, match, found.Add) })
		return terms.In(&found, false), err
	}
	take := func(unit int64, text string) {
		if match == nil || match(text) {
			found.Add(unit)
		}
	}
	source, template, err := rows.ComponentTemplate(ctx, s.s, c.ID)
	for i := 0; i < len(c.live) && err == nil; i++ {
		if id := c.live[i].id; id != source {
			err = rows.EachComment(ctx, s.s, id, template, match != nil, take)
		}
	}
	return terms.In(&found, false), err
}

// withEntries reads the ledger of the component, or of a single translation.
func (s *Snapshot) withEntries(ctx context.Context, c *searchComponent, e *terms.HasEntry) (query.Expr, error) {
	l := entryList{table: `components`, column: `component_id`, first: `first_in_component`, id: c.ID}
	if len(c.live) == 1 && !e.OfSource {
		l = entryList{table: `translations`, column: `translation_id`, first: `first_in_translation`, id: c.live[0].id}
	}
	where, args := "", []any{}
	add := func(piece string, arg any) {
		args = append(args, arg)
		where += fmt.Sprintf(piece, len(args)+rankArgs)
	}
	if e.From != terms.MinTime {
		add(` AND d.at >= $%d`, e.From)
	}
	if e.To != terms.MaxTime {
		add(` AND d.at < $%d`, e.To)
	}
	if e.Author != "" {
		var author int64
		found, err := s.s.First(ctx, `SELECT id FROM users WHERE username = $1`, []any{strings.ToLower(e.Author)}, &author)
		if !found || err != nil {
			return query.None, err
		}
		add(` AND d.author_id = $%d`, author)
	}
	if e.Action >= 0 {
		add(` AND c.Action = $%d`, e.Action)
	}
	if e.Content {
		where += fmt.Sprintf(` AND d.translation_id IS NOT NULL AND d.n > d.removed AND (c.Action IN (%d, %d, %d, %d, %d) OR c.Action = %d AND c.target <> '')`,
			catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit, catalog.ActionNewUnit)
	}
	found, err := s.entryUnits(ctx, c, &l, where, args)
	return terms.In(found, e.OfSource), err
}

// entryList is the list of entries of a component or of a translation. The rank of
// an entry is the rank of its delta plus n.
type entryList struct {
	table, column, first string // the owner's table, and the ranks of deltas in its list
	id                   int64
}

// rankArgs is the number of arguments of unitsBetween, before those of its condition.
const rankArgs = 4

// entryUnits finds the units of entries that meet a condition on deltas d and
// changes c. A commit may have one entry or a million, so the work is divided by
// ranks.
func (s *Snapshot) entryUnits(ctx context.Context, c *searchComponent, l *entryList, where string, args []any) (*idset.Set, error) {
	var entries int64
	if _, err := s.s.First(ctx, `SELECT changes FROM `+l.table+` WHERE id = $1`, []any{l.id}, &entries); err != nil {
		return nil, err
	}
	span := s.db.searches.spanUnits
	return s.collect(ctx, c, int((entries+span-1)/span), func(s *Snapshot, i int, found *idset.Set) error {
		lo := int64(i)*span + 1
		return s.unitsBetween(ctx, l, where, args, lo, lo+span, found)
	})
}

// unitsBetween is entryUnits for the entries with ranks in [lo, hi).
func (s *Snapshot) unitsBetween(ctx context.Context, l *entryList, where string, args []any, lo, hi int64, found *idset.Set) error {
	begin := lo // the rank of the delta with the first entry
	if _, err := s.s.First(ctx, `SELECT `+l.first+` FROM deltas WHERE `+l.column+` = $1 AND `+l.first+` <= $2 ORDER BY `+l.first+` DESC LIMIT 1`,
		[]any{l.id, lo}, &begin); err != nil {
		return err
	}
	return s.s.Query(ctx, `SELECT c.unit_id FROM deltas d CROSS JOIN changes c WHERE c.delta_id = d.id AND c.unit_id IS NOT NULL
		AND d.`+l.column+` = $1 AND d.`+l.first+` >= $2 AND d.`+l.first+` < $4 AND c.n >= $3 - d.`+l.first+` AND c.n < $4 - d.`+l.first+where,
		append([]any{l.id, begin, lo, hi}, args...), sqldb.Cols1(found.Add))
}

// decide sets the expression for a component, with sets of translations in place of the terms
// about places. Translations in which nothing can match are left out.
func (c *searchComponent) decide(e query.Expr, fold *query.Folder) {
	c.expr = e
	isScope := func(term query.Expr) bool {
		_, is := term.(query.Scope)
		return is
	}
	if !query.Has(e, isScope) {
		return
	}
	c.live = slices.DeleteFunc(c.live, func(t searchTranslation) bool {
		here := terms.Decided(e, func(p query.Scope) query.Expr { return query.Const(inScope(p, c.ComponentRow, &t, fold)) })
		if here == query.None {
			c.other = append(c.other, t.id)
			c.translations, c.units = c.translations-1, c.units-t.units
		}
		return here == query.None
	})
	c.expr = terms.Decided(e, func(p query.Scope) query.Expr {
		var in []int64
		for i := range c.live {
			if inScope(p, c.ComponentRow, &c.live[i], fold) {
				in = append(in, c.live[i].id)
			}
		}
		if len(in) == 0 || len(in) == len(c.live) {
			return query.Const(len(in) > 0)
		}
		return terms.InTranslations{Set: idset.New(slices.Values(in))}
	})
}

// resolved returns the expression of a component with sets in place of the terms that no
// column of blocks answers.
func (s *Snapshot) resolved(ctx context.Context, c *searchComponent) (query.Expr, error) {
	e, err := terms.Simplify(c.expr, terms.RewriteHistory)
	if err != nil {
		return nil, err
	}
	bytes := 0
	e, err = terms.Simplify(e, func(e query.Expr) (query.Expr, error) {
		e, err := s.resolve(ctx, c, e)
		if in, ok := e.(terms.InSet); ok {
			bytes += in.Set.Size()
		}
		if err == nil && bytes > maxSearchBytes {
			err = ErrTooSlow
		}
		return e, err
	})
	if err != nil {
		return nil, err
	}
	return terms.Simplify(e, terms.Lower)
}

// place is the condition that a unit is in one of the translations to search. It names
// those, or the others of the component if they are fewer.
func (c *searchComponent) place() query.Expr {
	if len(c.other) == 0 {
		return query.All
	}
	if len(c.other) < len(c.live) || c.live == nil {
		return query.Not{X: terms.InTranslations{Set: idset.New(slices.Values(c.other))}}
	}
	in := catalog.Each(c.live, func(t *searchTranslation) int64 { return t.id })
	return terms.InTranslations{Set: idset.New(slices.Values(in))}
}

// MaxSearchPrice bounds the price of a search: what takes about searchTime on two
// cores.
const MaxSearchPrice = 100_000_000

// ErrPrice says that a search is not run, since it would compare too much.
type ErrPrice struct {
	// Price is the estimated number of comparisons, Most what is allowed.
	Price, Most int64
}

func (e *ErrPrice) Error() string {
	return fmt.Sprintf("the search would make about %d comparisons; at most %d are made", e.Price, e.Most)
}

type priceKey struct{}

// WithSearchPrice returns a context in which searches above a price fail with
// *ErrPrice before they read any string. Searches whose result is kept cost nothing.
func WithSearchPrice(ctx context.Context, most int64) context.Context {
	return context.WithValue(ctx, priceKey{}, most)
}

// searchPrice decides the terms about places, and estimates how many comparisons a search
// makes: those of one string, for each string of the translations. Conditions on ids leave
// fewer, but not of source strings, which are searched once for all translations.
func (s *Snapshot) searchPrice(list []searchComponent, e query.Expr) (price int64, err error) {
	lowered, err := terms.Simplify(e, terms.Lower)
	if err != nil {
		return 0, err
	}
	most, cost, sources := terms.Most(e), terms.PriceOfRow+terms.Price(e), int64(0)
	for i := range list {
		c := &list[i]
		c.decide(e, &s.db.searches.folder)
		if price += c.units; c.translations > 0 && query.Has(lowered, terms.IsOfSource) {
			sources += c.units / c.translations
		}
	}
	return min(price, min(price, most)+sources) * cost, nil
}
