package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// UnitTotals returns the number of live units of components, by component.
// Components without units may be absent.
func (s *Snapshot) UnitTotals(ctx context.Context, components []int64) (map[int64]int64, error) {
	defer s.s.About(components...).End()
	totals := make(map[int64]int64, len(components))
	err := s.sumsOf(ctx, components, func(component int64, row *sumRow) { totals[component] += row.Stats.Total.Units })
	return totals, s.s.Fail(ctx, "count units", err)
}

// AllUnits returns up to limit live units of the components of totals by id,
// starting at offset, and their translations. The ids of a component are
// contiguous; within it, ids of several translations may alternate. Its cost
// depends on limit, not on offset; the first page of a generation also reads where
// each block of its component begins.
func (s *Snapshot) AllUnits(ctx context.Context, totals map[int64]int64, offset int64, limit int) (units []catalog.Unit, owners map[int64]catalog.Translation, err error) {
	defer s.s.About(sqldb.SortedKeys(totals)...).End()
	defer s.s.Failed(ctx, &err, "read units")
	owners = map[int64]catalog.Translation{}
	var placed []catalog.UnitPosition
	for _, c := range sqldb.SortedKeys(totals) {
		if offset >= totals[c] {
			offset -= totals[c]
			continue
		}
		if len(placed) >= limit {
			break
		}
		order, err := s.orderOf(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		for i := range order.translations {
			owners[order.translations[i].ID] = order.translations[i]
		}
		more, err := s.mergeLayouts(ctx, order.starts, offset, limit-len(placed))
		if err != nil {
			return nil, nil, err
		}
		placed, offset = append(placed, more...), 0
	}
	units, err = s.unitsAt(ctx, placed)
	return units, owners, err
}

// blockStart is where a layout block begins.
type blockStart struct {
	translation int64
	block       int
	first       int64 // unit
}

// mergeLayouts merges the layouts of a component and returns a page. All blocks of
// a translation except the last are full, so the number of units below an id is
// known without reading them; only blocks near the page are read.
func (s *Snapshot) mergeLayouts(ctx context.Context, starts []blockStart, offset int64, limit int) (all []catalog.UnitPosition, err error) {
	if len(starts) == 0 {
		return nil, nil
	}
	// The last block start that has certainly no more than offset units below it.
	from := sort.Search(len(starts), func(i int) bool { return int64(i)*stored.BlockUnits > offset }) - 1
	straddling := map[int64]int{} // by translation: its last block that begins below
	for _, b := range starts[:from] {
		straddling[b.translation] = b.block
	}
	for _, translation := range sqldb.SortedKeys(straddling) {
		if all, err = s.appendBlock(ctx, all, translation, straddling[translation]); err != nil {
			return nil, err
		}
	}
	lo := offset - int64(from-len(straddling))*stored.BlockUnits // all other blocks below are full
	hi := lo + int64(limit)
	for _, b := range starts[from:] {
		if below(all, b.first) >= hi {
			break
		}
		if all, err = s.appendBlock(ctx, all, b.translation, b.block); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b catalog.UnitPosition) int { return cmp.Compare(a.ID, b.ID) })
	n := int64(len(all))
	return all[min(lo, n):min(hi, n)], nil
}

// below counts the units with a smaller id.
func below(placed []catalog.UnitPosition, id int64) (n int64) {
	for i := range placed {
		if placed[i].ID < id {
			n++
		}
	}
	return n
}

// blockStarts lists the blocks of translations by their first units.
func (s *Snapshot) blockStarts(ctx context.Context, translations []catalog.Translation) ([]blockStart, error) {
	ids := catalog.Each(translations, func(t *catalog.Translation) int64 { return t.ID })
	starts, err := sqldb.RowsIn(ctx, s.s, `SELECT translation_id, block, first_unit FROM layouts WHERE translation_id IN $ids`, nil, ids, func(b *blockStart) []any {
		return []any{&b.translation, &b.block, &b.first}
	})
	slices.SortFunc(starts, func(a, b blockStart) int { return cmp.Compare(a.first, b.first) })
	return starts, err
}

func (s *Snapshot) appendBlock(ctx context.Context, all []catalog.UnitPosition, translation int64, block int) ([]catalog.UnitPosition, error) {
	var data []byte
	found, err := s.s.First(ctx, `SELECT data FROM layouts WHERE translation_id = $1 AND block = $2`, []any{translation, block}, &data)
	if err != nil || !found {
		return all, err
	}
	placed, err := s.db.codec.Block(data)
	return append(all, placed...), err
}

// Limits for reading the glossaries of a project in one language: all terms are
// searched at once, in memory. Further units, by id, are left out.
const (
	maxTerms     = 20_000
	maxTermBytes = 512 << 10
)

// GlossaryUnit is a translated string of a glossary.
type GlossaryUnit struct {
	// Source and Target are its texts, forms joined.
	Source, Target string
	// Flags are the check_flags of the component and the flags of the entry,
	// separated by commas.
	Flags string
	// State is translated, approved or read-only.
	State catalog.State
}

// GlossaryQuery selects glossaries.
type GlossaryQuery struct {
	// Project is the project's id.
	Project int64
	// Source is the source language of component and glossary, Language the code
	// in URLs of the target language.
	Source, Language string
	// Private says that the component is private. Private glossaries are used for
	// private components only: a failing check of a public string would reveal
	// their terms.
	Private bool
}

// GlossaryUnits returns the translated strings of glossaries, by unit id. It
// ignores translations that were not checked yet, like all checks across units.
func (s *Snapshot) GlossaryUnits(ctx context.Context, q GlossaryQuery) ([]GlossaryUnit, error) {
	defer s.s.AboutProject(q.Project).End()
	units, err := glossaryUnits(ctx, s.s, q)
	return units, s.s.Fail(ctx, fmt.Sprintf("read glossaries of project %d", q.Project), err)
}

// GlossaryUnits is Snapshot.GlossaryUnits, including what the step has written.
func (tx *StepTx) GlossaryUnits(ctx context.Context, q GlossaryQuery) ([]GlossaryUnit, error) {
	units, err := glossaryUnits(ctx, tx.s, q)
	return units, tx.fail(ctx, fmt.Sprintf("read glossaries of project %d", q.Project), err)
}

func glossaryUnits(ctx context.Context, s *sqldb.Session, q GlossaryQuery) (out []GlossaryUnit, err error) {
	glossaries, err := componentsWhere(ctx, s, ` WHERE c.project_id = $1 AND c.active = 1 AND c.settings LIKE '%"IsGlossary":true%' ORDER BY c.id`, q.Project)
	size := 0
	for i := range glossaries {
		c := &glossaries[i].Settings
		if err != nil || !c.IsGlossary || c.SourceLanguage != q.Source || c.Private(&glossaries[i].Project) && !q.Private || len(out) == maxTerms || size >= maxTermBytes {
			continue
		}
		err = s.Query(ctx, `SELECT s.source, u.target, u.flags, u.state FROM translations t JOIN units u ON u.translation_id = t.id JOIN units s ON s.id = u.source_id
			WHERE t.component_id = $1 AND t.language = $2 AND t.removed = 0 AND t.is_source = 0 AND t.checked <> ''
			AND u.removed = 0 AND u.state >= $3 ORDER BY u.id LIMIT $4`,
			[]any{glossaries[i].ID, q.Language, int64(catalog.StateTranslated), maxTerms - len(out)}, sqldb.Cols4(func(source, target, flags string, state catalog.State) {
				if size += len(source) + len(target); size < maxTermBytes {
					out = append(out, GlossaryUnit{source, target, strings.Trim(c.CheckFlags+","+flags, ","), state})
				}
			}))
	}
	return out, err
}

// GlossaryUser is a translation that may use a glossary.
type GlossaryUser struct {
	// Component is its component, with the project.
	Component ComponentRow
	// Translation is live, checked, and not in the source language.
	Translation catalog.Translation
}

// GlossaryUsers returns the translations of a project into one language, by id,
// except glossaries.
func (tx *StepTx) GlossaryUsers(ctx context.Context, project int64, language string) (out []GlossaryUser, err error) {
	var ids []int64
	err = tx.s.IDs(ctx, `SELECT t.id FROM components c JOIN translations t ON t.component_id = c.id
		WHERE c.project_id = $1 AND c.active = 1 AND t.language = $2 AND t.removed = 0 AND t.is_source = 0 AND t.checked <> '' ORDER BY t.id`,
		[]any{project, language}, &ids)
	for _, id := range ids {
		var u GlossaryUser
		if err == nil {
			u.Translation, _, err = translationByID(ctx, tx.s, id)
		}
		if err == nil {
			u.Component, err = componentByID(ctx, tx.s, u.Translation.ComponentID)
		}
		if err == nil && !u.Component.Settings.IsGlossary {
			out = append(out, u)
		}
	}
	return out, tx.fail(ctx, fmt.Sprintf("read translations of project %d into %s", project, language), err)
}
