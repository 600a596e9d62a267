package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
)

// Suggestions of people have a row in the journal, like edits, and one beside those of
// branches. In place of a branch that has a colon, with which no branch's name begins, and
// the id of the journal's row.
const ofBranches = ` AND branch <> '' AND substr(branch, 1, 1) <> ':'`

func suggestedAs(edit int64) string { return ":" + strconv.FormatInt(edit, 10) }

// setOrigin sets Branch or EditID by what is stored.
func (n *Suggestion) setOrigin(stored string) {
	n.Branch = stored
	if id, ok := strings.CutPrefix(stored, ":"); ok {
		n.Branch = ""
		n.EditID, _ = strconv.ParseInt(id, 10, 64)
	}
}

// Suggest makes a text a suggestion for a unit and returns the id of its row in the
// journal.
func (tx *StepTx) Suggest(ctx context.Context, u *catalog.Unit, text edit.Text, by edit.Author) (id int64, err error) {
	e := TextOf(u)
	e.Ours = text
	if err = tx.markChanged(ctx, u.TranslationID); err == nil {
		err = tx.addEdit(ctx, &e, EditSuggested, "suggested", by)
	}
	if err == nil {
		err = tx.putSuggested(ctx, &e, by)
	}
	return e.ID, tx.fail(ctx, fmt.Sprintf("store a suggestion for unit %d", u.ID), err)
}

// Suggested returns the suggestions of people for a unit with the last author of each.
func (tx *StepTx) Suggested(ctx context.Context, unit int64) ([]Edit, error) {
	list, err := editsWhere(ctx, tx.s, ` WHERE e.id IN (
		SELECT CAST(substr(n.branch, 2) AS BIGINT) FROM suggestions n WHERE n.unit_id = $1 AND substr(n.branch, 1, 1) = ':') ORDER BY e.id`, unit)
	for i := range list {
		var by edit.Author
		if err == nil {
			by, err = tx.lastAuthor(ctx, list[i].ID)
		}
		list[i].Authors = []edit.Author{by}
	}
	return list, tx.fail(ctx, fmt.Sprintf("read the suggestions for unit %d", unit), err)
}

// EndSuggestion takes a suggestion of somebody away: event says whether it was accepted or
// rejected, by is who did that.
func (tx *StepTx) EndSuggestion(ctx context.Context, e *Edit, event, by string, at time.Time) error {
	e.Status, e.Reason = EditDiscarded, event
	err := tx.markChanged(ctx, e.TranslationID)
	if err == nil {
		err = tx.s.Do(ctx, `UPDATE edits SET status = $1, reason = $2, updated_at = $3 WHERE id = $4`, string(e.Status), event, at.UnixMicro(), e.ID)
	}
	if err == nil {
		err = tx.noteEdit(ctx, e, by, event, at)
	}
	if err == nil {
		err = tx.s.Do(ctx, `DELETE FROM suggestions WHERE unit_id = $1 AND branch = $2`, e.UnitID, suggestedAs(e.ID))
	}
	return tx.fail(ctx, fmt.Sprintf("end the suggestion %d", e.ID), err)
}

// voidSuggestion says in the journal why nobody can answer a suggestion any more.
const voidSuggestion = "the string has this text, or is read-only"

// endSuggested ends suggestions that nobody answered and that are void. Texts that were
// edits keep their status, which says what became of the edit.
func (tx *StepTx) endSuggested(ctx context.Context, ids []int64) error {
	slices.Sort(ids)
	list, err := editsIn(ctx, tx.s, ids, ` WHERE e.status = $1 AND e.id IN $ids`, string(EditSuggested))
	for i := range list {
		if err == nil {
			err = tx.EndSuggestion(ctx, &list[i], voidSuggestion, "", tx.info.At)
		}
	}
	return err
}

// suggestEdit makes the text of an edit a suggestion. At the end of the step it goes the
// way of all suggestions: away, if the unit has its text.
func (tx *StepTx) suggestEdit(ctx context.Context, e *Edit) error {
	by, err := tx.lastAuthor(ctx, e.ID)
	if err != nil {
		return err
	}
	return tx.putSuggested(ctx, e, by)
}

func (tx *StepTx) lastAuthor(ctx context.Context, id int64) (by edit.Author, err error) {
	_, err = tx.s.First(ctx, `SELECT name, email, at FROM edit_authors WHERE edit_id = $1 ORDER BY n DESC, at DESC, name, email LIMIT 1`, []any{id}, &by.Name, &by.Email, &by.Time)
	return by, err
}

func (tx *StepTx) putSuggested(ctx context.Context, e *Edit, by edit.Author) error {
	return tx.s.Do(ctx, `INSERT INTO suggestions (unit_id, branch, translation_id, target, author_name, author_key, at, commit_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, '')
		ON CONFLICT (unit_id, branch) DO UPDATE SET target = excluded.target, author_name = excluded.author_name, author_key = excluded.author_key, at = excluded.at`,
		e.UnitID, suggestedAs(e.ID), e.TranslationID, e.Ours.Target, by.Name, authorKey(by.Name, by.Email), by.Time.UnixMicro())
}
