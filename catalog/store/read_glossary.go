package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
			[]any{glossaries[i].ID, q.Language, int64(catalog.StateTranslated), maxTerms - len(out)}, func(scan sqldb.Scan) error {
				var u GlossaryUnit
				err := scan(&u.Source, &u.Target, &u.Flags, &u.State)
				if size += len(u.Source) + len(u.Target); size < maxTermBytes {
					u.Flags = strings.Trim(c.CheckFlags+","+u.Flags, ",")
					out = append(out, u)
				}
				return err
			})
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
