package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

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

// ComponentSum holds the statistics of one component in one language.
type ComponentSum struct {
	Sum
	// ComponentID is the component.
	ComponentID int64
	// Source says that it is the source-language translation.
	Source bool
}

// SumsByComponent returns the statistics of components by component and language, in
// the order of components. Like Sums it reads only components that changed since the
// last call.
func (s *Snapshot) SumsByComponent(ctx context.Context, components []int64) (out []ComponentSum, err error) {
	defer s.s.About(components...).End()
	err = s.sumsOf(ctx, components, func(id int64, row *sumRow) {
		out = append(out, ComponentSum{Sum: row.Sum, ComponentID: id, Source: row.source})
	})
	return out, s.s.Fail(ctx, "read statistics by component", err)
}

// Sources returns the source translations of components with what NewProgress needs of
// them. Like Sums it reads only components that changed since the last call.
func (s *Snapshot) Sources(ctx context.Context, components []int64) (map[int64]*catalog.Translation, error) {
	defer s.s.About(components...).End()
	sources := make(map[int64]*catalog.Translation, len(components))
	for _, id := range components {
		sources[id] = &catalog.Translation{IsSource: true}
	}
	err := s.sumsOf(ctx, components, func(id int64, row *sumRow) {
		if row.source {
			t := row.translation()
			sources[id] = &t
		}
	})
	return sources, s.s.Fail(ctx, "read the sizes of source translations", err)
}

// TranslationsIn returns the live translations of components with these codes, by
// component and language. Its cost grows with their number.
func (s *Snapshot) TranslationsIn(ctx context.Context, components []int64, languages []string) (out []catalog.Translation, err error) {
	defer s.s.About(components...).End()
	for part := range slices.Chunk(languages, 128) {
		more, err := sqldb.RowsIn(ctx, s.s, `SELECT `+translationColumns+translationFrom+` WHERE t.component_id IN $ids AND t.removed = 0 AND t.language IN `+sqldb.List(1, len(part))+` ORDER BY t.component_id, t.language`,
			sqldb.Append(nil, part), components, translationFields)
		if err != nil {
			return nil, s.s.Fail(ctx, "read translations by language", err)
		}
		out = append(out, more...)
	}
	return out, nil
}

// PastStats returns the statistics that translations of components had at the end of
// a day, in UTC. Translations that did not exist then, or had no statistics yet, are
// left out. It looks up one row of a translation, however long its history is.
func (s *Snapshot) PastStats(ctx context.Context, components, translations []int64, day time.Time) (map[int64]catalog.Stats, error) {
	defer s.s.About(components...).End()
	past := make(map[int64]catalog.Stats, len(translations))
	err := s.s.QueryIn(ctx, `SELECT d.translation_id, d.data FROM stat_days d JOIN (
			SELECT translation_id, MAX(day) AS day FROM stat_days WHERE translation_id IN $ids AND day <= $1 GROUP BY translation_id
		) l ON l.translation_id = d.translation_id AND l.day = d.day`, []any{dayNumber(day)}, translations, func(scan sqldb.Scan) error {
		var id int64
		var data []byte
		if err := scan(&id, &data); err != nil {
			return err
		}
		d, err := stored.DecodeDay(data)
		if !d.Removed {
			past[id] = d.Stats
		}
		return err
	})
	return past, s.s.Fail(ctx, "read past statistics", err)
}

// CheckCount counts the strings that fail a check.
type CheckCount struct {
	// ComponentID and TranslationID own the strings; 0 for the sum of several.
	ComponentID, TranslationID int64
	// Check is the check's number, its bit in a checks.Mask.
	Check int64
	// Units is the number of strings, above 0.
	Units int64
}

// CheckCounts counts the strings of components that fail each check, by check. It reads
// counts that steps keep.
func (s *Snapshot) CheckCounts(ctx context.Context, components []int64) (out []CheckCount, err error) {
	defer s.s.About(components...).End()
	units := map[int64]int64{}
	err = s.s.QueryIn(ctx, `SELECT check_id, SUM(units) FROM check_counts WHERE component_id IN $ids GROUP BY check_id`, nil, components, sqldb.Cols2(func(check, n int64) { units[check] += n }))
	for _, check := range sqldb.SortedKeys(units) {
		if units[check] > 0 {
			out = append(out, CheckCount{Check: check, Units: units[check]})
		}
	}
	return out, s.s.Fail(ctx, "count failing checks", err)
}

// CheckPlaces counts the strings that fail one check, by translation.
func (s *Snapshot) CheckPlaces(ctx context.Context, components []int64, check int64) ([]CheckCount, error) {
	defer s.s.About(components...).End()
	out, err := sqldb.RowsIn(ctx, s.s, checkCounts+` WHERE component_id IN $ids AND check_id = $1 AND units > 0`, []any{check}, components, (*CheckCount).fields)
	slices.SortFunc(out, func(a, b CheckCount) int { return cmp.Compare(a.TranslationID, b.TranslationID) })
	return out, s.s.Fail(ctx, "count failing checks by translation", err)
}

// TranslationChecks counts the strings of a translation that fail each check.
func (s *Snapshot) TranslationChecks(ctx context.Context, component, translation int64) ([]CheckCount, error) {
	defer s.s.About(component).End()
	out, err := sqldb.Rows(ctx, s.s, checkCounts+` WHERE component_id = $1 AND translation_id = $2 AND units > 0 ORDER BY check_id`,
		[]any{component, translation}, (*CheckCount).fields)
	return out, s.s.Fail(ctx, "count failing checks of a translation", err)
}

const checkCounts = `SELECT component_id, translation_id, check_id, units FROM check_counts`

func (c *CheckCount) fields() []any {
	return []any{&c.ComponentID, &c.TranslationID, &c.Check, &c.Units}
}

// TargetIDs returns the ids of the live translations of components, except into their
// source languages, ascending. An index of the live translations gives them.
func (s *Snapshot) TargetIDs(ctx context.Context, components []int64) (ids []int64, err error) {
	defer s.s.About(components...).End()
	err = s.s.IDsIn(ctx, `SELECT id FROM translations WHERE component_id IN $ids AND removed = 0 AND is_source = 0`, nil, components, &ids)
	slices.Sort(ids)
	return ids, s.s.Fail(ctx, "list translations", err)
}
