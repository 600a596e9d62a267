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
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// searchComponent is a component to search with its translations.
type searchComponent struct {
	*ComponentRow
	live  []searchTranslation // to search, by id
	other []int64             // the component's other translations
	expr  query.Expr          // what is searched for in it
	long  bool                // whether the search is long: other snapshots help
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
		units += t.units
		return nil
	})
	for _, id := range ids {
		if c := byID[id]; len(c.live) > 0 {
			slices.SortFunc(c.live, func(a, b searchTranslation) int { return cmp.Compare(a.id, b.id) })
			out = append(out, *c)
		}
	}
	return out, units, err
}

// idRange is the range [lo, hi) of the ids of live units of a component, or of one
// translation.
func (s *Snapshot) idRange(ctx context.Context, c *searchComponent, translation int64) (lo, hi int64, err error) {
	lo, hi = c.ID*catalog.UnitsPerComponent, (c.ID+1)*catalog.UnitsPerComponent
	if translation == 0 {
		var last int64
		found, err := s.s.First(ctx, `SELECT id FROM units WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 1`, []any{lo, hi}, &last)
		if !found || err != nil {
			return lo, lo, err
		}
		return lo, last + 1, nil
	}
	var first int64
	var data []byte
	found, err := s.s.First(ctx, `SELECT (SELECT MIN(first_unit) FROM layouts WHERE translation_id = $1), data FROM layouts WHERE translation_id = $1 ORDER BY first_unit DESC LIMIT 1`,
		[]any{translation}, &first, &data)
	if !found || err != nil {
		return lo, lo, err
	}
	block, err := s.db.codec.Block(data)
	if err != nil || len(block) == 0 {
		return lo, lo, err
	}
	return first, block[len(block)-1].ID + 1, nil
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

// countLive counts the spans of a component if the only condition is whether a
// unit is in a set. Layouts say which units are live, for a fifth of the cost of
// reading the units.
func (s *Snapshot) countLive(ctx context.Context, p *searchPlan, c *searchComponent, e query.Expr) error {
	in, ok := e.(terms.InSet)
	if !ok || in.OfSource {
		return nil
	}
	if _, listed := in.Set.Listed(); listed {
		return nil
	}
	live, err := s.liveUnits(ctx, c)
	if err != nil {
		return err
	}
	part := len(p.parts) - 1
	for i := range p.spans {
		if span := &p.spans[i]; span.part == part {
			span.count, span.counted = live.Common(in.Set, span.lo, span.hi), true
		}
	}
	return nil
}

// blockSpan is a range [lo, hi) of the blocks of a translation's layout.
type blockSpan struct{ translation, lo, hi int64 }

// blockSpans divides layouts; the last span of each layout is open-ended, in case
// it has more blocks than the number of units says.
func blockSpans(translations []searchTranslation, units int64) (spans []blockSpan) {
	blocks := max(1, units/stored.BlockUnits)
	for _, t := range translations {
		lo := int64(0)
		for ; (lo+blocks)*stored.BlockUnits < t.units; lo += blocks {
			spans = append(spans, blockSpan{t.id, lo, lo + blocks})
		}
		spans = append(spans, blockSpan{t.id, lo, terms.MaxTime})
	}
	return spans
}

// liveUnits collects the live units of the translations to search.
func (s *Snapshot) liveUnits(ctx context.Context, c *searchComponent) (*idset.Collector, error) {
	spans := blockSpans(c.live, s.db.searches.spanUnits)
	return s.collect(ctx, c, len(spans), func(s *Snapshot, i int, found *idset.Collector) error {
		b := &spans[i]
		return sqldb.Each(ctx, s.s, `SELECT data FROM layouts WHERE translation_id = $1 AND block >= $2 AND block < $3`, []any{b.translation, b.lo, b.hi},
			func(data []byte) error { return s.db.codec.EachID(data, found.Add) })
	})
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
		if e.Column != query.Location && e.Column != query.Comment && e.Column != query.Suggestion {
			return e, nil
		}
		match, err := e.Match.Compile(&s.db.searches.folder)
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
		return terms.IDsToSet(e), nil
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
	var ids []int64
	first := c.ID * catalog.UnitsPerComponent
	err := s.s.IDs(ctx, pendingUnits, []any{first, first + catalog.UnitsPerComponent - 1}, &ids)
	return terms.NewInSet(ids, false), err
}

func (s *Snapshot) unitsByLayout(ctx context.Context, c *searchComponent, holds func(catalog.UnitPosition) bool) (query.Expr, error) {
	var ids []int64
	err := s.eachInLayout(ctx, c.live, func(p catalog.UnitPosition) {
		if holds(p) {
			ids = append(ids, p.ID)
		}
	})
	return terms.NewInSet(ids, false), err
}

// unitsWithNotes finds units that have comments or suggestions; if match is not
// nil, only matching ones.
func (s *Snapshot) unitsWithNotes(ctx context.Context, c *searchComponent, column query.Column, match func(string) bool) (query.Expr, error) {
	var ids []int64
	if column == query.Suggestion {
		for _, t := range c.live {
			found, err := withSuggestions(ctx, s.s, t.id, false, match)
			if err != nil {
				return nil, err
			}
			ids = append(ids, found...)
		}
		return terms.NewInSet(ids, false), nil
	}
	take := func(unit int64, text string) {
		if match == nil || match(text) {
			ids = append(ids, unit)
		}
	}
	source, template, err := rows.ComponentTemplate(ctx, s.s, c.ID)
	if err != nil {
		return nil, err
	}
	for _, t := range c.live {
		if t.id == source {
			continue
		}
		if err := rows.EachComment(ctx, s.s, t.id, template, match != nil, take); err != nil {
			return nil, err
		}
	}
	return terms.NewInSet(ids, false), nil
}

// withEntries reads the ledger of the component, or of a single translation.
func (s *Snapshot) withEntries(ctx context.Context, c *searchComponent, e *terms.HasEntry) (query.Expr, error) {
	l := entryList{table: `components`, column: `component_id`, first: `first_in_component`, id: c.ID}
	if len(c.live) == 1 && !e.OfSource {
		l = entryList{table: `translations`, column: `translation_id`, first: `first_in_translation`, id: c.live[0].id}
	}
	var b sqlText
	if e.From != terms.MinTime {
		b.add(` AND d.at >= `, e.From)
	}
	if e.To != terms.MaxTime {
		b.add(` AND d.at < `, e.To)
	}
	if e.Author != "" {
		var author int64
		found, err := s.s.First(ctx, `SELECT id FROM users WHERE username = $1`, []any{strings.ToLower(e.Author)}, &author)
		if !found || err != nil {
			return query.None, err
		}
		b.add(` AND d.author_id = `, author)
	}
	if e.Action >= 0 {
		b.add(` AND c.Action = `, e.Action)
	}
	if e.Content {
		b.text.WriteString(fmt.Sprintf(` AND d.translation_id IS NOT NULL AND d.n > d.removed AND (c.Action IN (%d, %d, %d, %d, %d) OR c.Action = %d AND c.target <> '')`,
			catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit, catalog.ActionNewUnit))
	}
	found, err := s.entryUnits(ctx, c, &l, &b)
	if err != nil || found.N == 0 {
		return query.None, err
	}
	return terms.InSet{OfSource: e.OfSource, Set: found.Set()}, nil
}

// entryList is the list of entries of a component or of a translation. The rank of
// an entry is the rank of its delta plus n.
type entryList struct {
	table, column, first string // the owner's table, and the ranks of deltas in its list
	id                   int64
}

// entryUnits finds the units of entries that meet a condition on deltas d and
// changes c. A commit may have one entry or a million, so the work is divided by
// ranks.
func (s *Snapshot) entryUnits(ctx context.Context, c *searchComponent, l *entryList, where *sqlText) (*idset.Collector, error) {
	var entries int64
	if _, err := s.s.First(ctx, `SELECT changes FROM `+l.table+` WHERE id = $1`, []any{l.id}, &entries); err != nil {
		return nil, err
	}
	span := s.db.searches.spanUnits
	return s.collect(ctx, c, int((entries+span-1)/span), func(s *Snapshot, i int, found *idset.Collector) error {
		lo := int64(i)*span + 1
		return s.unitsBetween(ctx, l, where, lo, lo+span, found)
	})
}

// unitsBetween is entryUnits for the entries with ranks in [lo, hi).
func (s *Snapshot) unitsBetween(ctx context.Context, l *entryList, where *sqlText, lo, hi int64, found *idset.Collector) error {
	begin := lo // the rank of the delta with the first entry
	if _, err := s.s.First(ctx, `SELECT `+l.first+` FROM deltas WHERE `+l.column+` = $1 AND `+l.first+` <= $2 ORDER BY `+l.first+` DESC LIMIT 1`,
		[]any{l.id, lo}, &begin); err != nil {
		return err
	}
	b := sqlText{args: append([]any(nil), where.args...)}
	b.text.WriteString(`SELECT c.unit_id FROM deltas d CROSS JOIN changes c WHERE c.delta_id = d.id AND c.unit_id IS NOT NULL` + where.text.String())
	b.add(` AND d.`+l.column+` = `, l.id)
	b.add(` AND d.`+l.first+` >= `, begin)
	b.add(` AND d.`+l.first+` < `, hi)
	b.add(` AND c.n >= `, lo)
	b.add(` - d.`+l.first+` AND c.n < `, hi)
	b.text.WriteString(` - d.` + l.first)
	return sqldb.Each(ctx, s.s, b.text.String(), b.args, func(id int64) error {
		found.Add(id)
		return nil
	})
}
