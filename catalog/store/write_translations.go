package store

import (
	"context"
	"fmt"
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
func (tx *StepTx) PutTranslation(ctx context.Context, t *catalog.Translation) error {
	return tx.fail(ctx, fmt.Sprintf("store translation %s of component %d", t.Language, t.ComponentID), tx.putTranslation(ctx, t))
}

func (tx *StepTx) putTranslation(ctx context.Context, t *catalog.Translation) error {
	if _, err := tx.member(t.ComponentID); err != nil {
		return err
	}
	tx.codesChanged = true
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
	tx.translations[t.ID] = t.ComponentID
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
