package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// TranslationRow is a translation with everything that its answer shows.
type TranslationRow struct {
	catalog.Translation
	// Component and Project own it.
	Component catalog.Component
	Project   catalog.Project
	// Generation is the newest generation of the translation and of the settings
	// above it.
	Generation int64
}

// Translation returns a live translation of an active component by the code in its
// URL, otherwise by the code in its file's name, or ErrNotFound.
func (s *Snapshot) Translation(ctx context.Context, project, component, code string) (TranslationRow, error) {
	defer s.s.About().End()
	row, err := s.translationNamed(ctx, translationName{project, component, code})
	if err == nil {
		s.s.Reading.Found(row.ID, row.ComponentID)
		s.s.Reading.AddComponents(row.ComponentID)
		return row, nil
	}
	return row, s.s.Fail(ctx, fmt.Sprintf("read translation %q/%q/%q", project, component, code), err)
}

func (s *Snapshot) translation(ctx context.Context, project, component, code string) (TranslationRow, error) {
	c, err := oneComponent(ctx, s.s, ` WHERE p.slug = $1 AND c.slug = $2 AND c.active = 1 AND p.active = 1`, project, component)
	if err != nil {
		return TranslationRow{}, err
	}
	s.s.Reading.AddComponents(c.ID) // even if it has no such language
	for _, column := range []string{"language", "file_code"} {
		row, found, err := s.translationWhere(ctx, &c, ` WHERE t.component_id = $1 AND t.`+column+` = $2 AND t.removed = 0 ORDER BY t.filename, t.id`, c.ID, code)
		if err != nil || found {
			return row, err
		}
	}
	return TranslationRow{}, sqldb.NotFound("no such language")
}

func (s *Snapshot) translationWhere(ctx context.Context, c *ComponentRow, where string, args ...any) (TranslationRow, bool, error) {
	row := TranslationRow{Component: c.Component, Project: c.Project}
	found, err := s.s.First(ctx, `SELECT `+translationColumns+`, t.generation`+translationFrom+where+` LIMIT 1`, args,
		append(translationFields(&row.Translation), &row.Generation)...)
	row.Generation = max(row.Generation, c.settingsGeneration())
	return row, found, err
}

// Translations returns the live translations of a component by id.
func (s *Snapshot) Translations(ctx context.Context, componentID int64) ([]catalog.Translation, error) {
	defer s.s.About(componentID).End()
	ts, err := translationsOf(ctx, s.s, componentID, false)
	return ts, s.s.Fail(ctx, fmt.Sprintf("read translations of component %d", componentID), err)
}

// AllTranslations returns the translations of a component by id, including removed
// ones.
func (s *Snapshot) AllTranslations(ctx context.Context, componentID int64) ([]catalog.Translation, error) {
	ts, err := translationsOf(ctx, s.s, componentID, true)
	return ts, s.s.Fail(ctx, fmt.Sprintf("read all translations of component %d", componentID), err)
}

func translationsOf(ctx context.Context, s *sqldb.Session, component int64, removed bool) ([]catalog.Translation, error) {
	return sqldb.Rows(ctx, s, `SELECT `+translationColumns+translationFrom+` WHERE t.component_id = $1 AND t.removed <= $2 ORDER BY t.id`,
		[]any{component, sqldb.Smallint(removed)}, translationFields)
}

func translationByID(ctx context.Context, s *sqldb.Session, id int64) (t catalog.Translation, found bool, err error) {
	found, err = s.First(ctx, `SELECT `+translationColumns+translationFrom+` WHERE t.id = $1`, []any{id}, translationFields(&t)...)
	return t, found, err
}

var translationColumns = `t.id, t.component_id, t.language, t.file_code, t.filename, t.revision, t.is_source, t.removed,
		t.plural_number, t.plural_formula, t.outline,
		CASE WHEN t.template > 0 THEN 1 ELSE 0 END, ` + rows.AgainstColumns + `, t.suggestions, t.comments, t.changes, t.recent_changes, t.checked, t.last_change_at, COALESCE(a.full_name, ''), ` + stored.ColumnList(stored.Counts, "t.%s")

const translationFrom = ` FROM translations t LEFT JOIN users a ON a.id = t.last_author_id`

// translationFields are the fields that translationColumns are copied to.
func translationFields(t *catalog.Translation) []any {
	d := []any{&t.ID, &t.ComponentID, &t.Language, &t.FileCode, &t.Filename, &t.Revision, &t.IsSource, &t.Removed, &t.PluralNumber, &t.PluralFormula, &t.Outline, &t.HasTemplate}
	d = append(d, rows.AgainstOf(&t.Against)...)
	d = append(d, &t.Stats.Suggestions, &t.Stats.Comments, &t.Changes, &t.RecentChanges, &t.Checked, &t.LastChange, &t.LastAuthor)
	return append(d, stored.ScanOf(stored.Counts, &t.Stats)...)
}

// TranslationIDs returns the ids of the live translations of components,
// ascending. It reads only what changed since the last call: callers cut a long
// list into pages before they read rows.
func (s *Snapshot) TranslationIDs(ctx context.Context, components []int64) ([]int64, error) {
	defer s.s.About(components...).End()
	var ids []int64
	kept, err := s.keptSums(ctx, components)
	for _, id := range components {
		if err == nil {
			ids = append(ids, kept[id].translations...)
		}
	}
	slices.Sort(ids)
	return ids, s.s.Fail(ctx, "list translations", err)
}

// TranslationsByID returns translations by id, removed ones included. Unknown ids
// are left out.
func (s *Snapshot) TranslationsByID(ctx context.Context, ids []int64) ([]catalog.Translation, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	out, err := sqldb.RowsIn(ctx, s.s, `SELECT `+translationColumns+translationFrom+` WHERE t.id IN $ids ORDER BY t.id`, nil, ids, translationFields)
	return out, s.s.Fail(ctx, "read translations by id", err)
}

// HeadCommit describes the commit to which a component points; nil before the
// first import, or if an older version stored the component and no commit came
// since.
func (s *Snapshot) HeadCommit(ctx context.Context, componentID int64) (c *catalog.Commit, err error) {
	defer s.s.About(componentID).End()
	defer s.s.Failed(ctx, &err, "read the commit of component %d", componentID)
	s.s.Reading.AddHeads()
	var head, text string
	found, err := s.s.First(ctx, `SELECT head, COALESCE(head_commit, '') FROM components WHERE id = $1`, []any{componentID}, &head, &text)
	if err != nil || !found || text == "" {
		return nil, err
	}
	commit, err := sqldb.CommitOf(text)
	if err != nil || !rows.IsAt(&commit, head) {
		return nil, err
	}
	return &commit, nil
}
