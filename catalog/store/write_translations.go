package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// Translations returns the translations of a component by id, including removed
// ones.
func (tx *StepTx) Translations(ctx context.Context, componentID int64) ([]catalog.Translation, error) {
	ts, err := translationsOf(ctx, tx.s, componentID, true)
	for i := range ts {
		if _, ok := tx.convoy[componentID]; ok {
			tx.translations[ts[i].ID] = componentID
		}
	}
	return ts, tx.fail(ctx, fmt.Sprintf("read translations of component %d", componentID), err)
}

// PutTranslation stores a translation: with ID 0 it is new and gets its ID. It
// ignores fields that follow from other data: Stats.Suggestions, Stats.Comments,
// Stats.Failing, Against, Checked, Changes, RecentChanges, LastChange and LastAuthor.
// Removed does not change its units. At the end of the step no two live
// translations of a component may have the same Language.
func (tx *StepTx) PutTranslation(ctx context.Context, t *catalog.Translation) (err error) {
	defer tx.s.Failed(ctx, &err, "store translation %s of component %d", t.Language, t.ComponentID)
	if _, err := tx.member(t.ComponentID); err != nil {
		return err
	}
	if t.ID == 0 {
		return tx.insertTranslation(ctx, t)
	}
	old, found, err := translationByID(ctx, tx.s, t.ID)
	switch {
	case err != nil:
		return err
	case !found || old.ComponentID != t.ComponentID:
		return sqldb.NotFound("translation %d", t.ID)
	}
	want := *t
	want.Stats.Suggestions, want.Stats.Comments = old.Stats.Suggestions, old.Stats.Comments
	want.Changes, want.RecentChanges, want.LastChange, want.LastAuthor = old.Changes, old.RecentChanges, old.LastChange, old.LastAuthor
	want.Checked, want.Stats.Failing, want.Against = old.Checked, old.Stats.Failing, old.Against
	if want == old {
		return nil
	}
	tx.codesChanged = tx.codesChanged || t.Language != old.Language || t.Removed != old.Removed
	if err := tx.s.Do(ctx, `UPDATE translations SET language = $1, file_code = $2, filename = $3, revision = $4, is_source = $5, removed = $6,
		plural_number = $7, plural_formula = $8, outline = $9, template = $10, (`+stored.ColumnList(stored.FileCounts, "%s")+`) = `+sqldb.List(11, 3*len(stored.FileCounts))+`
		WHERE id = `+fmt.Sprintf("$%d", 11+3*len(stored.FileCounts)), append(translationValues(t), t.ID)...); err != nil {
		return err
	}
	return tx.markChanged(ctx, t.ID)
}

func (tx *StepTx) insertTranslation(ctx context.Context, t *catalog.Translation) error {
	if err := tx.s.WillTakeIDs(ctx); err != nil {
		return err
	}
	_, err := tx.s.First(ctx, `INSERT INTO translations (language, file_code, filename, revision, is_source, removed,
		plural_number, plural_formula, outline, template, `+stored.ColumnList(stored.FileCounts, "%s")+`, component_id, failing, failing_words, failing_chars, generation)
		VALUES `+strings.TrimSuffix(sqldb.List(1, 11+3*len(stored.FileCounts)), ")")+`, 0, 0, 0, 0) RETURNING id`, append(translationValues(t), t.ComponentID), &t.ID)
	if err != nil {
		return err
	}
	tx.translations[t.ID], tx.codesChanged = t.ComponentID, true
	return tx.markChanged(ctx, t.ID)
}

// translationValues are the columns that a caller sets.
func translationValues(t *catalog.Translation) []any {
	v := []any{t.Language, t.FileCode, t.Filename, t.Revision, sqldb.Smallint(t.IsSource), sqldb.Smallint(t.Removed), t.PluralNumber, t.PluralFormula, t.Outline, sqldb.Smallint(t.HasTemplate)}
	for _, n := range stored.NumbersOf(stored.FileCounts, &t.Stats) {
		v = append(v, *n)
	}
	return v
}

// PutLayout stores the positions and locations of all live units of a translation,
// ascending by ID. It writes only blocks whose bytes differ.
func (tx *StepTx) PutLayout(ctx context.Context, translation int64, placed []catalog.UnitPosition) (err error) {
	defer tx.s.Failed(ctx, &err, "store layout of translation %d", translation)
	for i := 1; i < len(placed); i++ {
		if placed[i].ID <= placed[i-1].ID {
			return sqldb.Invalid("unit %d after unit %d: not ascending", placed[i].ID, placed[i-1].ID)
		}
	}
	if _, err := tx.componentOf(ctx, translation); err != nil {
		return err
	}
	old, err := tx.blocks(ctx, translation)
	if err != nil {
		return err
	}
	changed := false
	n := 0
	for ; len(placed) > 0; n++ {
		block := placed[:min(len(placed), stored.BlockUnits)]
		placed = placed[len(block):]
		data := tx.db.codec.DeflateBlock(stored.EncodeBlock(block))
		if n < len(old) && bytes.Equal(old[n], data) {
			continue
		}
		changed = true
		if err := tx.s.Do(ctx, `INSERT INTO layouts (translation_id, block, first_unit, data) VALUES ($1, $2, $3, $4)
			ON CONFLICT (translation_id, block) DO UPDATE SET first_unit = excluded.first_unit, data = excluded.data`,
			translation, n, block[0].ID, data); err != nil {
			return err
		}
	}
	if n < len(old) {
		changed = true
		if err := tx.s.Do(ctx, `DELETE FROM layouts WHERE translation_id = $1 AND block >= $2`, translation, n); err != nil {
			return err
		}
	}
	if changed {
		return tx.markChanged(ctx, translation)
	}
	return nil
}

func (tx *StepTx) blocks(ctx context.Context, translation int64) ([][]byte, error) {
	return sqldb.Rows(ctx, tx.s, `SELECT data FROM layouts WHERE translation_id = $1 ORDER BY block`, []any{translation}, func(data *[]byte) []any { return []any{data} })
}

// Layout returns the layout stored by PutLayout, if any.
func (tx *StepTx) Layout(ctx context.Context, translation int64) (placed []catalog.UnitPosition, err error) {
	defer tx.s.Failed(ctx, &err, "read layout of translation %d", translation)
	blocks, err := tx.blocks(ctx, translation)
	placed = make([]catalog.UnitPosition, 0, len(blocks)*stored.BlockUnits)
	for _, data := range blocks {
		block, err := tx.db.codec.Block(data)
		if err != nil {
			return nil, err
		}
		placed = append(placed, block...)
	}
	return placed, err
}

// Where several processes write, they lock what they write before they read it, in
// this order: the row of the lease (cluster.Fenced), projects by id, at last the clock. A step
// locks the projects of its components, since what is counted and compared belongs to
// projects; everything else locks all of them, but for tokens and sessions, which have a
// lock of their own in their place. Authors belong to no project: steps write them under
// the clock. In SQLite there is one writer, and nothing is locked.

// locking waits for others that write what a table stands for, and keeps more from beginning:
// projects for all steps, tokens for tokens and sessions. Readers go on.
func locking(table string) func(context.Context, *sqldb.Session) error {
	return func(ctx context.Context, s *sqldb.Session) error {
		if s.DB.Dialect.Sqlite {
			return nil
		}
		return s.Do(ctx, `LOCK TABLE `+table+` IN EXCLUSIVE MODE`)
	}
}

// lock locks the projects of a step.
func (info *StepInfo) lock(ctx context.Context, s *sqldb.Session) error {
	if s.DB.Dialect.Sqlite {
		return nil
	}
	var projects, locked []int64
	if err := s.IDsIn(ctx, `SELECT DISTINCT project_id FROM components WHERE id IN $ids`, nil, info.Components, &projects); err != nil {
		return err
	}
	slices.Sort(projects)
	return s.IDsIn(ctx, `SELECT id FROM projects WHERE id IN $ids ORDER BY id FOR NO KEY UPDATE`, nil, slices.Compact(projects), &locked)
}
