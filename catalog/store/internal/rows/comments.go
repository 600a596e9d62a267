package rows

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TemplateComments are the translator comments of a template, by source unit. Most
// templates have none.
type TemplateComments map[int64]string

// readTemplateComments reads the comments from the source translation.
func readTemplateComments(ctx context.Context, s *sqldb.Session, source int64) (TemplateComments, error) {
	var all TemplateComments
	err := s.Query(ctx, `SELECT id, note, remark FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{source}, func(scan sqldb.Scan) error {
		var u catalog.Unit
		err := scan(&u.ID, &u.Note, &u.TranslatorBytes)
		if all == nil {
			all = TemplateComments{}
		}
		all[u.ID] = u.TranslatorNote()
		return err
	})
	return all, err
}

// ComponentTemplate returns the source translation of a component, 0 if it has
// none, and the comments of its template.
func ComponentTemplate(ctx context.Context, s *sqldb.Session, component int64) (source int64, template TemplateComments, err error) {
	found, err := s.First(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1`, []any{component}, &source)
	if err == nil && found {
		template, err = readTemplateComments(ctx, s, source)
	}
	return source, template, err
}

// EachComment calls each for the live units of a translation that have a comment.
// The comment is "" unless text is true: it costs a row for each unit.
func EachComment(ctx context.Context, s *sqldb.Session, translation int64, template TemplateComments, text bool, each func(unit int64, comment string)) error {
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

// CommentCount counts the units of a translation that have a comment.
func CommentCount(ctx context.Context, s *sqldb.Session, translation int64, template TemplateComments) (n int64, err error) {
	if len(template) == 0 {
		_, err = s.First(ctx, `SELECT COUNT(*) FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{translation}, &n)
		return n, err
	}
	err = EachComment(ctx, s, translation, template, false, func(int64, string) { n++ })
	return n, err
}
