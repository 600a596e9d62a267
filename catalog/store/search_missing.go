package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// The statements about missing strings. The first one reads an index and no row.
const (
	stringsOfFile   = `SELECT source_id FROM units WHERE translation_id = $1 AND removed = 0`
	extraStrings    = `SELECT source_id, changed_to FROM extra_strings WHERE source_id >= $1 AND source_id < $2`
	stringsOfSource = `SELECT l.data FROM translations t JOIN layouts l ON l.translation_id = t.id WHERE t.component_id = $1 AND t.is_source = 1 AND t.template = 1 ORDER BY l.block`
	templateOfFile  = `SELECT t.component_id, t.language, t.file_code, o.id FROM translations t JOIN translations o ON o.component_id = t.component_id AND o.is_source = 1 AND o.template = 1
		WHERE t.id = $1 AND t.is_source = 0 AND t.removed = 0`
	stringByHash = `SELECT u.id FROM translations t CROSS JOIN units u
		WHERE t.component_id = $1 AND t.is_source = 1 AND u.translation_id = t.id AND u.source_id = u.id AND u.id_hash = $2 AND u.removed = 0 ORDER BY u.id LIMIT 1`
	templateStrings = ` WHERE u.removed = 0 AND u.source_id = u.id AND u.id IN (SELECT source_id FROM units WHERE id IN $ids)
		AND u.translation_id IN (SELECT id FROM translations WHERE component_id = $1 AND is_source = 1 AND template = 1 AND removed = 0)
		AND NOT EXISTS (SELECT 1 FROM extra_strings x WHERE x.source_id = u.id)`
	unitsOfStrings = `SELECT source_id, id, removed FROM units WHERE translation_id = $1 AND source_id IN $ids`
	changedStrings = `SELECT x.changed_to FROM extra_strings x CROSS JOIN units o
		WHERE x.changed_to > 0 AND x.changed_to IN $ids AND o.translation_id = $1 AND o.source_id = x.source_id AND o.removed = 0`
)

// missing returns the source units of the strings of a component's template that a
// translation's file has in no form, ascending. Nothing of them is stored: they are what the
// layout of the source translation has, and the file does not.
func missing(ctx context.Context, s *sqldb.Session, codec *stored.Codec, component, translation int64) (ids []int64, err error) {
	first := component * catalog.UnitsPerComponent
	other := &idset.Set{} // strings of the file, and others that are not the template's
	if err = s.Query(ctx, stringsOfFile, []any{translation}, sqldb.Cols1(other.Add)); err != nil {
		return nil, err
	}
	err = s.Query(ctx, extraStrings, []any{first, first + catalog.UnitsPerComponent}, sqldb.Cols2(func(id, changedTo int64) {
		if changedTo > 0 && other.Has(id) {
			other.Add(changedTo)
		}
		other.Add(id)
	}))
	if err != nil {
		return nil, err
	}
	err = sqldb.Each(ctx, s, stringsOfSource, []any{component}, func(data []byte) error {
		return codec.EachID(data, func(id int64) {
			if !other.Has(id) {
				ids = append(ids, id)
			}
		})
	})
	return ids, err
}

// allMissing is the plan of all strings that a translation's file lacks. It is kept until the
// component changes.
func (s *Snapshot) allMissing(ctx context.Context, component, translation int64) (*searchPlan, error) {
	generations, err := s.generations(ctx)
	if err != nil {
		return nil, err
	}
	return s.db.searches.missing.GetOr(translation, generations[component], func() (*searchPlan, int, error) {
		ids, err := missing(ctx, s.s, s.db.codec, component, translation)
		p := &searchPlan{}
		p.add(idset.New(slices.Values(ids)))
		return p, p.size(), err
	})
}

// planMissing is the search of strings that a translation's file lacks, among the units of
// the source translation.
func (s *Snapshot) planMissing(ctx context.Context, q *SearchQuery) (*searchPlan, error) {
	var t searchTranslation
	var component, source int64
	found, err := s.s.First(ctx, templateOfFile, []any{q.TranslationID}, &component, &t.language, &t.fileCode, &source)
	if err != nil || !found {
		return &searchPlan{}, err
	}
	expr, err := terms.Simplify(q.Expr, func(term query.Expr) (query.Expr, error) {
		fold := &s.db.searches.folder
		switch e := term.(type) {
		case query.Scope:
			return query.Const(inScope(e, q.Components[component], &t, fold)), nil
		case query.Filled:
			if e.Column == query.Suggestion {
				return s.suggestedMissing(ctx, q.TranslationID, nil)
			}
		case query.Text:
			if e.Column == query.Suggestion {
				match, _, err := e.Match.Compile(fold)
				if err != nil {
					return nil, err
				}
				return s.suggestedMissing(ctx, q.TranslationID, match)
			}
		}
		return terms.OfMissing(term, fold)
	})
	if err != nil || expr == query.None {
		return &searchPlan{}, err
	}
	all, err := s.allMissing(ctx, component, q.TranslationID)
	if err != nil || all.total == 0 || expr == query.All {
		return all, err
	}
	among := query.And{terms.InSet{Set: all.sets[0]}}
	if list, ok := expr.(query.And); ok {
		among = append(among, list...)
	} else {
		among = append(among, expr)
	}
	return s.search(ctx, &SearchQuery{Components: q.Components, TranslationID: source, Expr: among})
}

// suggestedMissing finds strings that a file lacks, and for which somebody suggested a text.
func (s *Snapshot) suggestedMissing(ctx context.Context, translation int64, match func(string) bool) (query.Expr, error) {
	var found idset.Set
	err := withSuggestions(ctx, s.s, translation, true, match, found.Add)
	return terms.In(&found, false), err
}

// MissingUnit returns the source unit of the string with an id_hash that the file of a
// component's translation lacks, nil if there is none.
func (s *Snapshot) MissingUnit(ctx context.Context, c *ComponentRow, translation, hash int64) (*catalog.Unit, error) {
	defer s.s.About(c.ID).End()
	var id int64
	found, err := s.s.First(ctx, stringByHash, []any{c.ID, hash}, &id)
	if err != nil || !found {
		return nil, s.s.Fail(ctx, fmt.Sprintf("find a string that translation %d lacks", translation), err)
	}
	only := query.Number{Field: query.ID, Spans: []query.Span{{Lo: id, Hi: id}}}
	result, err := s.Search(ctx, SearchQuery{Components: map[int64]*ComponentRow{c.ID: c}, TranslationID: translation, Missing: true, Expr: only})
	if err != nil || result.Count() == 0 {
		return nil, err
	}
	units, _, err := result.Page(ctx, 0, 1)
	if err != nil {
		return nil, err
	}
	return &units[0], nil
}

// TemplateStrings returns those source units of a component that its template has, by id,
// with their locations. ids name them, or units of translations that they are the source of.
func (tx *StepTx) TemplateStrings(ctx context.Context, component int64, ids []int64) (list []catalog.Unit, err error) {
	defer tx.s.Failed(ctx, &err, "read strings of the template of component %d", component)
	list, err = rows.UnitsIn(ctx, tx.s, ids, templateStrings, component)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	slices.SortFunc(list, func(a, b catalog.Unit) int { return cmp.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b catalog.Unit) bool { return a.ID == b.ID })
	return list, (&Snapshot{db: tx.db, s: tx.s}).setPositions(ctx, list)
}

// TemplateOf returns the translation of a component's whose file is the template, nil if it
// has none.
func TemplateOf(all []catalog.Translation) *catalog.Translation {
	return catalog.Find(all, func(t *catalog.Translation) bool { return t.IsSource && t.HasTemplate })
}

// MissingString is a string of a template that a file lacks.
type MissingString struct {
	// Source is the template's unit.
	Source catalog.Unit
	// UnitID is the removed unit that the translation had of it, 0 without one.
	UnitID int64
}

// Missing returns those strings of the template of a component that a translation lacks,
// among those that ids name as for TemplateStrings.
func (tx *StepTx) Missing(ctx context.Context, component, translation int64, ids []int64) (list []MissingString, err error) {
	defer tx.s.Failed(ctx, &err, "read what translation %d lacks", translation)
	units, err := tx.TemplateStrings(ctx, component, ids)
	if err != nil || len(units) == 0 {
		return nil, err
	}
	sources := catalog.Each(units, func(u *catalog.Unit) int64 { return u.ID })
	before := map[int64]int64{}
	has := map[int64]bool{}
	err = tx.s.QueryIn(ctx, unitsOfStrings, []any{translation}, sources, sqldb.Cols3(func(source, id int64, removed bool) { before[source], has[source] = id, !removed }))
	if err == nil {
		err = tx.s.QueryIn(ctx, changedStrings, []any{translation}, sources, sqldb.Cols1(func(source int64) { has[source] = true }))
	}
	for i := range units {
		if id := units[i].ID; !has[id] {
			list = append(list, MissingString{units[i], before[id]})
		}
	}
	return list, err
}
