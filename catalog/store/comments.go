package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// templateComments are the translator comments of a template, by source unit. Most
// templates have none.
type templateComments map[int64]string

// readTemplateComments reads the comments from the source translation.
func readTemplateComments(ctx context.Context, s *sqldb.Session, source int64) (templateComments, error) {
	var all templateComments
	err := s.Query(ctx, `SELECT id, note, remark FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{source}, func(scan sqldb.Scan) error {
		var u catalog.Unit
		err := scan(&u.ID, &u.Note, &u.TranslatorBytes)
		if all == nil {
			all = templateComments{}
		}
		all[u.ID] = u.TranslatorNote()
		return err
	})
	return all, err
}

// componentTemplate returns the source translation of a component, 0 if it has
// none, and the comments of its template.
func componentTemplate(ctx context.Context, s *sqldb.Session, component int64) (source int64, template templateComments, err error) {
	found, err := s.First(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1`, []any{component}, &source)
	if err == nil && found {
		template, err = readTemplateComments(ctx, s, source)
	}
	return source, template, err
}

// eachComment calls each for the live units of a translation that have a comment.
// The comment is "" unless text is true: it costs a row for each unit.
func eachComment(ctx context.Context, s *sqldb.Session, translation int64, template templateComments, text bool, each func(unit int64, comment string)) error {
	if text || len(template) > 0 {
		return s.Query(ctx, `SELECT id, source_id, note, remark FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{translation},
			func(scan sqldb.Scan) error {
				var u catalog.Unit
				if err := scan(&u.ID, &u.SourceID, &u.Note, &u.TranslatorBytes); err != nil {
					return err
				}
				if own := catalog.OwnComment(u.TranslatorNote(), template[u.SourceID]); own != "" {
					each(u.ID, own)
				}
				return nil
			})
	}
	return s.Query(ctx, `SELECT id FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{translation}, func(scan sqldb.Scan) error {
		var id int64
		err := scan(&id)
		each(id, "")
		return err
	})
}

// commentCount counts the units of a translation that have a comment.
func commentCount(ctx context.Context, s *sqldb.Session, translation int64, template templateComments) (n int64, err error) {
	if len(template) == 0 {
		_, err = s.First(ctx, `SELECT COUNT(*) FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{translation}, &n)
		return n, err
	}
	err = eachComment(ctx, s, translation, template, false, func(int64, string) { n++ })
	return n, err
}

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
	if len(sources) == 0 {
		return nil
	}
	template := templateComments{}
	err := sqldb.Chunks(sources, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT id, note, remark FROM units WHERE remark > 0 AND id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var u catalog.Unit
			err := scan(&u.ID, &u.Note, &u.TranslatorBytes)
			template[u.ID] = u.TranslatorNote()
			return err
		})
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
	source, template, err := componentTemplate(ctx, tx.s, component)
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
		n, err := commentCount(ctx, tx.s, id, template)
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
