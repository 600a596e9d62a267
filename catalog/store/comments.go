package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// fillNotes sets Comment and HasSuggestion of units for an answer.
func (s *Snapshot) fillNotes(ctx context.Context, units []catalog.Unit) error {
	if err := s.fillSuggestions(ctx, units); err != nil {
		return err
	}
	var sources []int64
	for i := range units {
		if u := &units[i]; u.TranslatorBytes > 0 && u.SourceID != u.ID {
			sources = append(sources, u.SourceID)
		}
	}
	template := rows.TemplateComments{}
	err := s.s.QueryIn(ctx, `SELECT id, note, remark FROM units WHERE remark > 0 AND id IN $ids`, nil, sources, func(scan sqldb.Scan) error {
		var u catalog.Unit
		err := scan(&u.ID, &u.Note, &u.TranslatorBytes)
		template[u.ID] = u.TranslatorNote()
		return err
	})
	for i := range units {
		if u := &units[i]; u.TranslatorBytes > 0 && u.SourceID != u.ID && !u.Removed {
			u.Comment = catalog.OwnComment(u.TranslatorNote(), template[u.SourceID])
		}
	}
	return err
}

// countComments updates the numbers of units with comments in the translations
// that the step wrote. An index of commented units gives them without reading
// units, unless the template has comments, too. If the template was written, all
// translations are counted.
func (tx *StepTx) countComments(ctx context.Context) error {
	written := map[int64][]int64{} // by component
	for _, translation := range sqldb.SortedKeys(tx.dirty) {
		c, err := tx.componentOf(ctx, translation)
		if err != nil {
			return err
		}
		written[c] = append(written[c], translation)
	}
	for _, component := range sqldb.SortedKeys(written) {
		if err := tx.countCommentsOf(ctx, component, written[component]); err != nil {
			return err
		}
	}
	return nil
}

func (tx *StepTx) countCommentsOf(ctx context.Context, component int64, translations []int64) error {
	source, template, err := rows.ComponentTemplate(ctx, tx.s, component)
	if err != nil {
		return err
	}
	if _, written := tx.dirty[source]; written {
		if translations, err = liveTargets(ctx, tx.s, component); err != nil {
			return err
		}
	}
	for _, id := range translations {
		if id == source {
			continue
		}
		n, err := rows.CommentCount(ctx, tx.s, id, template)
		if err != nil {
			return err
		}
		changed, err := tx.s.Exec(ctx, `UPDATE translations SET comments = $1 WHERE id = $2 AND comments <> $1`, n, id)
		if err != nil {
			return err
		}
		if changed > 0 {
			if err := tx.markChanged(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// liveTargets returns the live translations of a component, except the source
// language's.
func liveTargets(ctx context.Context, s *sqldb.Session, component int64) (ids []int64, err error) {
	err = s.IDs(ctx, `SELECT id FROM translations WHERE component_id = $1 AND removed = 0 AND is_source = 0 ORDER BY id`, []any{component}, &ids)
	return ids, err
}
