package rows

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TemplateComments are the translator comments of a template, by source unit. Most
// templates have none.
type TemplateComments map[int64]string

// Take takes rows of an id, a note and the length of its comment.
func (t TemplateComments) Take() func(sqldb.Scan) error {
	return sqldb.Cols3(func(id int64, note string, bytes int) {
		u := catalog.Unit{Note: note, TranslatorBytes: bytes}
		t[id] = u.TranslatorNote()
	})
}

// ComponentTemplate returns the source translation of a component, 0 if it has
// none, and the comments of its template.
func ComponentTemplate(ctx context.Context, s *sqldb.Session, component int64) (source int64, template TemplateComments, err error) {
	template = TemplateComments{}
	found, err := s.First(ctx, `SELECT id FROM translations WHERE component_id = $1 AND is_source = 1`, []any{component}, &source)
	if err == nil && found {
		err = s.Query(ctx, `SELECT id, note, remark FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{source}, template.Take())
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
	return sqldb.Each(ctx, s, `SELECT id FROM units WHERE translation_id = $1 AND remark > 0 AND removed = 0`, []any{translation}, func(id int64) error {
		each(id, "")
		return nil
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

// RecentChanges counts the entries of a translation in the RecentSpan that ends at
// last, the time of its newest entry. Times of a component never decrease, so it
// reads from the end and stops at the first older delta.
func RecentChanges(ctx context.Context, s *sqldb.Session, translation, last int64) (n int64, err error) {
	err = s.Query(ctx, `SELECT n, at FROM deltas d WHERE translation_id = $1`+NotSuggestions+` ORDER BY first_in_translation DESC`, []any{translation}, func(scan sqldb.Scan) error {
		var count, at int64
		if err := scan(&count, &at); err != nil {
			return err
		}
		if at <= last-catalog.RecentSpan.Microseconds() {
			return sqldb.ErrEnough
		}
		n += count
		return nil
	})
	return n, err
}

// Conditions of deltas d. OfSuggestions selects those that are about suggestions, of the
// ones that have no entries 31, 59 and 63; NotSuggestions selects all others.
var (
	OfSuggestions = fmt.Sprintf(`EXISTS (SELECT 1 FROM changes c WHERE c.delta_id = d.id AND c.n = 0 AND c.action IN (%d, %d))`,
		catalog.ActionSuggestion, catalog.ActionSuggestionDelete)
	NotSuggestions = ` AND (d.added + d.updated + d.removed > 0 OR NOT ` + OfSuggestions + `)`
)

// SuggestionCount counts the units of a translation with suggestions.
func SuggestionCount(ctx context.Context, s *sqldb.Session, translation int64) (n int64, err error) {
	_, err = s.First(ctx, `SELECT COUNT(DISTINCT n.unit_id) FROM suggestions n JOIN units u ON u.id = n.unit_id WHERE n.translation_id = $1 AND u.removed = 0`, []any{translation}, &n)
	return n, err
}

// CountAgainst counts the live units of translations of a component, by translation.
func CountAgainst(ctx context.Context, s *sqldb.Session, component int64, translations []int64) (map[int64]catalog.Against, error) {
	all := map[int64]catalog.Against{}
	args := []any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}
	return all, s.QueryIn(ctx, `SELECT u.translation_id, CASE WHEN x.changed_to > 0 AND u.id <> x.source_id THEN 1 ELSE 0 END, u.state, s.words, COUNT(*)
		FROM translations t CROSS JOIN extra_strings x CROSS JOIN units u CROSS JOIN units s
		WHERE t.id IN $ids AND t.removed = 0 AND x.source_id >= $1 AND x.source_id < $2
		AND u.translation_id = t.id AND u.source_id = x.source_id AND u.removed = 0 AND s.id = x.source_id GROUP BY 1, 2, 3, 4`, args, translations, func(scan sqldb.Scan) error {
		var id, changed, state, words, n int64
		err := scan(&id, &changed, &state, &words, &n)
		a := all[id]
		a.Add(n, words, changed != 0, catalog.State(state))
		all[id] = a
		return err
	})
}

// AgainstColumns are the columns of a translation t with its catalog.Against.
const AgainstColumns = `t.extra, t.extra_words, t.changed, t.changed_translated, t.changed_translated_words, t.changed_fuzzy`

// AgainstOf returns pointers to the values of AgainstColumns.
func AgainstOf(a *catalog.Against) []any {
	return []any{&a.Extra, &a.ExtraWords, &a.Changed, &a.ChangedTranslated, &a.ChangedTranslatedWords, &a.ChangedFuzzy}
}

// ComponentFrom is where the columns of a component c and its project p are from.
const ComponentFrom = ` FROM components c JOIN projects p ON p.id = c.project_id`

// Private reports whether strangers do not see a component with these settings.
func Private(s *sqldb.Session, component int64, settings []byte, project int64, projectSettings []byte) (bool, error) {
	of, err := s.DB.Projects.Decode(project, projectSettings)
	if err != nil {
		return false, err
	}
	own, err := s.DB.Components.Decode(component, settings)
	return own.Private(&catalog.Project{ID: project, Settings: of}), err
}

// NextConfigured takes the next generation for changes that may be in every answer.
func NextConfigured(ctx context.Context, s *sqldb.Session) (int64, error) {
	var g int64
	_, err := s.First(ctx, `UPDATE clock SET generation = generation + 1, configured = generation + 1 WHERE one = 1 RETURNING generation`, nil, &g)
	return g, err
}

// StringCounts selects the live translations of a component's strings.
const StringCounts = `SELECT u.source_id, COALESCE(s.since, s.created), COUNT(*), SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END)
	FROM translations t JOIN units u ON u.translation_id = t.id JOIN units s ON s.id = u.source_id
	WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND u.removed = 0 AND s.removed = 0 AND COALESCE(s.since, s.created) IS NOT NULL`

// HavingLagging selects the lagging ones of StringCounts.
const HavingLagging = ` GROUP BY u.source_id, COALESCE(s.since, s.created) HAVING 2 * SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END) < COUNT(*)`

// IsAt reports whether a commit is that of what a component was read from (Component.At).
func IsAt(c *catalog.Commit, at string) bool { return c.Hash != "" && strings.HasPrefix(at, c.Hash) }

// HeadCommit returns the stored description of a component's head; zero without one.
func HeadCommit(ctx context.Context, s *sqldb.Session, component int64) (c catalog.Commit, err error) {
	var text string
	found, err := s.First(ctx, `SELECT COALESCE(head_commit, '') FROM components WHERE id = $1`, []any{component}, &text)
	if err != nil || !found || text == "" {
		return c, err
	}
	return sqldb.CommitOf(text)
}

// Columns of units u, with the texts of their source units s and the failing checks f, and
// where they are from.
const (
	UnitColumns = `u.id, u.translation_id, u.source_id, u.id_hash, u.id_key, COALESCE(s.source, ''), COALESCE(s.context, ''),
		u.target, u.previous_source, u.note, u.flags, u.priority, u.state, COALESCE(s.words, 0), COALESCE(s.chars, 0), u.removed, u.created, u.remark,
		COALESCE(f.low, 0), COALESCE(f.high, 0)`
	UnitFrom = ` FROM units u LEFT JOIN units s ON s.id = u.source_id LEFT JOIN failing f ON f.unit_id = u.id`
)

// UnitFields are the fields that UnitColumns are copied to.
func UnitFields(u *catalog.Unit) []any {
	return []any{
		&u.ID, &u.TranslationID, &u.SourceID, &u.Identity.Hash, &u.Identity.Key, &u.Source, &u.Context,
		&u.Target, &u.PreviousSource, &u.Note, &u.Flags, &u.Priority, &u.State, &u.Words, &u.Chars, &u.Removed, &u.Created, &u.TranslatorBytes,
		&u.Failing[0], &u.Failing[1],
	}
}

// Units returns units by a condition, which may name an order.
func Units(ctx context.Context, s *sqldb.Session, where string, args ...any) ([]catalog.Unit, error) {
	return sqldb.Rows(ctx, s, `SELECT `+UnitColumns+UnitFrom+where, args, UnitFields)
}

// UnitsIn is Units for a condition with $ids.
func UnitsIn(ctx context.Context, s *sqldb.Session, ids []int64, where string, args ...any) ([]catalog.Unit, error) {
	return sqldb.RowsIn(ctx, s, `SELECT `+UnitColumns+UnitFrom+where, args, ids, UnitFields)
}
