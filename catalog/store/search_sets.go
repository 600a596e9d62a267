package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// resolve replaces the terms that no column of a unit answers by the set of
// matching units: positions are in layouts, times and authors of changes in the
// ledger.
func (s *Snapshot) resolve(ctx context.Context, c *searchComponent, group []searchTranslation, e query.Expr) (query.Expr, error) {
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
			return s.unitsWithNotes(ctx, c, group, e.Column, match)
		}
		return s.unitsByLayout(ctx, group, func(p catalog.UnitPosition) bool { return match(p.Location) })
	case query.Filled:
		switch e.Column {
		case query.Location:
			return s.unitsByLayout(ctx, group, func(p catalog.UnitPosition) bool { return p.Location != "" })
		case query.Comment, query.Suggestion:
			return s.unitsWithNotes(ctx, c, group, e.Column, nil)
		}
		return e, nil
	case query.Number:
		if e.Field == query.Position {
			return s.unitsByLayout(ctx, group, func(p catalog.UnitPosition) bool { return terms.InSpans(e.Spans, int64(p.Position)) })
		}
		return terms.IDsToSet(e), nil
	case query.Pending:
		return s.unitsPending(ctx, c)
	case terms.HasEntry:
		return s.withEntries(ctx, c, group, &e)
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

func (s *Snapshot) unitsByLayout(ctx context.Context, group []searchTranslation, holds func(catalog.UnitPosition) bool) (query.Expr, error) {
	var ids []int64
	err := s.eachInLayout(ctx, group, func(p catalog.UnitPosition) {
		if holds(p) {
			ids = append(ids, p.ID)
		}
	})
	return terms.NewInSet(ids, false), err
}

// unitsWithNotes finds units that have comments or suggestions; if match is not
// nil, only matching ones.
func (s *Snapshot) unitsWithNotes(ctx context.Context, c *searchComponent, group []searchTranslation, column query.Column, match func(string) bool) (query.Expr, error) {
	var ids []int64
	take := func(unit int64, text string) {
		if match == nil || match(text) {
			ids = append(ids, unit)
		}
	}
	if column == query.Suggestion {
		for _, t := range group {
			if err := eachSuggestion(ctx, s.s, t.id, take); err != nil {
				return nil, err
			}
		}
		return terms.NewInSet(ids, false), nil
	}
	source, template, err := rows.ComponentTemplate(ctx, s.s, c.ID)
	if err != nil {
		return nil, err
	}
	for _, t := range group {
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
func (s *Snapshot) withEntries(ctx context.Context, c *searchComponent, group []searchTranslation, e *terms.HasEntry) (query.Expr, error) {
	l := entryList{table: `components`, column: `component_id`, first: `first_in_component`, id: c.ID}
	if len(group) == 1 && !e.OfSource {
		l = entryList{table: `translations`, column: `translation_id`, first: `first_in_translation`, id: group[0].id}
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
	var id int64
	return s.s.Query(ctx, b.text.String(), b.args, func(scan sqldb.Scan) error {
		err := scan(&id)
		found.Add(id)
		return err
	})
}
