package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// finish is the last part of a step: compare-and-swap, the clock, the authors, the
// deltas, the generations. It is short because only one writer can be in it.
func (tx *StepTx) finish(ctx context.Context) (res StepResult, err error) {
	if err := tx.entries.Flush(ctx, tx.s); err != nil {
		return res, err
	}
	for _, part := range []func(context.Context) error{
		tx.checkCodes, tx.advanceHeads, tx.countAgainst,
		func(ctx context.Context) (err error) { res, err = tx.takeIDs(ctx); return err },
		tx.storeAuthors,
		func(ctx context.Context) error { return tx.insertDeltas(ctx, res.FirstChange) },
		tx.refreshSuggestions, tx.countComments, tx.storeBlocks,
		func(ctx context.Context) error { return tx.storeGenerations(ctx, res.Generation) },
	} {
		if err := part(ctx); err != nil {
			return StepResult{}, err
		}
	}
	return res, nil
}

// checkCodes ensures that codes are unique. An index could not allow two
// translations to swap codes.
func (tx *StepTx) checkCodes(ctx context.Context) error {
	if !tx.codesChanged {
		return nil
	}
	var twice error
	err := tx.s.QueryIn(ctx, `SELECT component_id, language FROM translations WHERE removed = 0 AND component_id IN $ids GROUP BY component_id, language HAVING COUNT(*) > 1`,
		nil, tx.info.Components, sqldb.Cols2(func(component int64, language string) {
			twice = sqldb.Invalid("two translations of component %d have the code %q", component, language)
		}))
	return cmp.Or(err, twice)
}

func (tx *StepTx) advanceHeads(ctx context.Context) error {
	commit, err := sqldb.JsonText(tx.info.Commit, tx.info.Commit == nil)
	if err != nil {
		return err
	}
	var moved []int64
	err = tx.s.IDsIn(ctx, `UPDATE components SET head = $1, tracking = $2, imported = CASE WHEN $7 = 1 THEN 1 ELSE imported END, reread = 0,
		import_at = COALESCE(import_at, $8), head_commit = COALESCE($9, head_commit)
		WHERE head = $3 AND repo = $4 AND branch = $5 AND active = 1 AND ($6 = 0 OR settings_generation <= $6) AND id IN $ids RETURNING id`, []any{
		tx.info.To, tx.info.Tracking, tx.info.From, tx.info.Repo, tx.info.Branch, tx.info.Configured,
		sqldb.Smallint(!tx.info.Partial), sqldb.Micros(tx.info.ImportAt), commit,
	}, tx.info.Components, &moved)
	if err == nil && len(moved) != len(tx.info.Components) {
		err = tx.conflict(len(moved))
	}
	return err
}

func (tx *StepTx) takeIDs(ctx context.Context) (StepResult, error) {
	var res StepResult
	for i := range tx.deltas {
		res.Changes += int64(tx.deltas[i].n)
	}
	var last int64
	_, err := tx.s.First(ctx, `UPDATE clock SET generation = generation + 1, last_change = last_change + $1 WHERE one = 1 RETURNING generation, last_change`,
		[]any{res.Changes}, &res.Generation, &last)
	if res.Changes > 0 {
		res.FirstChange = last - res.Changes + 1
	}
	if err == nil && !tx.info.Partial && slices.ContainsFunc(tx.info.Components, func(id int64) bool { return !tx.convoy[id].imported }) {
		err = tx.s.DoIn(ctx, `UPDATE components SET imported_change = $1 WHERE imported_change = 0 AND id IN $ids`, []any{last}, slices.DeleteFunc(slices.Clone(tx.info.Components), func(id int64) bool { return tx.convoy[id].imported }))
	}
	return res, err
}

// changeList is the list of changes of a project, component or translation while the step
// adds to it.
type changeList struct {
	added    int64 // by the step
	next     int64 // rank of the next entry, from 1
	lastAt   int64 // of the newest entry that is about no suggestion; only for translations
	authorID int64
}

// take returns the rank of the first entry of a delta.
func (l *changeList) take(d *pendingDelta) int64 {
	first := l.next
	l.next += int64(d.n)
	return first
}

// changeLists are changeLists by id.
type changeLists map[int64]*changeList

func (all changeLists) of(id int64) *changeList {
	if all[id] == nil {
		all[id] = &changeList{}
	}
	return all[id]
}

// grow adds to the lengths of lists, in the order of their ids.
func (all changeLists) grow(ctx context.Context, s *sqldb.Session, table string) error {
	for _, id := range sqldb.SortedKeys(all) {
		l := all[id]
		if _, err := s.First(ctx, `UPDATE `+table+` SET changes = changes + $1 WHERE id = $2 RETURNING changes + 1 - $1`, []any{l.added, id}, &l.next); err != nil {
			return err
		}
	}
	return nil
}

func (tx *StepTx) insertDeltas(ctx context.Context, firstChange int64) error {
	projects, components, translations := changeLists{}, changeLists{}, changeLists{}
	for i := range tx.deltas {
		d := &tx.deltas[i]
		projects.of(tx.convoy[d.component].project).added += int64(d.n)
		components.of(d.component).added += int64(d.n)
		if d.translation != 0 {
			t := translations.of(d.translation)
			t.added += int64(d.n)
			if !d.suggests {
				t.lastAt, t.authorID = d.at, d.author
			}
		}
	}
	if err := cmp.Or(projects.grow(ctx, tx.s, "projects"), components.grow(ctx, tx.s, "components"), translations.grow(ctx, tx.s, "translations")); err != nil {
		return err
	}
	before := firstChange - 1
	in := sqldb.NewInserter("deltas", "id", "project_id", "component_id", "translation_id", "first_change", "first_in_project", "first_in_component",
		"first_in_translation", "n", "added", "updated", "removed", "author_id", "at", "commit_hash", "commit_time", "co_authors")
	for i := range tx.deltas {
		d := &tx.deltas[i]
		project := tx.convoy[d.component].project
		var inTranslation any
		if d.translation != 0 {
			inTranslation = translations[d.translation].take(d)
		}
		_ = in.Add(ctx, tx.s, d.id, project, d.component, sqldb.OrNull(d.translation), firstChange, projects[project].take(d), components[d.component].take(d),
			inTranslation, d.n, d.added, d.updated, d.removed, sqldb.OrNull(d.author), d.at, d.commit, d.commitTime, d.coAuthors)
		firstChange += int64(d.n)
	}
	err := in.Flush(ctx, tx.s)
	spans := func(q history.Query, from, to int64) {
		err = cmp.Or(err, history.NewReader(tx.s, tx.db.spans).CloseSpans(ctx, q, from, to))
	}
	spans(history.Query{}, before, firstChange-1)
	for id, l := range projects {
		spans(history.Query{ProjectID: id}, l.next-1-l.added, l.next-1)
	}
	for id, l := range components {
		spans(history.Query{ComponentID: id}, l.next-1-l.added, l.next-1)
	}
	if err != nil {
		return err
	}
	for _, id := range sqldb.SortedKeys(translations) {
		t := translations[id]
		if t.lastAt == 0 {
			continue
		}
		recent, err := rows.RecentChanges(ctx, tx.s, id, t.lastAt)
		if err != nil {
			return err
		}
		if err := tx.s.Do(ctx, `UPDATE translations SET last_change_at = $1, last_author_id = $2, recent_changes = $3 WHERE id = $4`,
			t.lastAt, sqldb.OrNull(t.authorID), recent, id); err != nil {
			return err
		}
	}
	return nil
}

// storeGenerations gives the generation to everything that changed. A moved head
// changes its component, but not its content, its translations or its project.
func (tx *StepTx) storeGenerations(ctx context.Context, generation int64) error {
	projects := map[int64]bool{}
	var moved []int64
	changed, err := tx.storeFailing(ctx)
	if err != nil {
		return err
	}
	for _, id := range tx.info.Components {
		m := tx.convoy[id]
		if m.dirty {
			projects[m.project] = true
		}
		if m.dirty || m.reread || !m.imported || m.tracking != tx.info.Tracking {
			changed = append(changed, id)
		} else if tx.info.From != tx.info.To {
			moved = append(moved, id)
		}
		if m.countersChanged {
			if err := tx.s.Do(ctx, `UPDATE components SET last_unit = $1, last_delta = $2, last_at = $3, oldest = $4 WHERE id = $5`,
				m.lastUnit, m.lastDelta, sqldb.Nullable(m.lastAt), sqldb.Nullable(m.oldest), id); err != nil {
				return err
			}
		}
	}
	if err := tx.storePublic(ctx, generation, slices.Concat(changed, moved)); err != nil {
		return err
	}
	for _, set := range []struct {
		update string
		ids    []int64
	}{
		{`translations SET generation = $1`, sqldb.SortedKeys(tx.dirty)},
		{`components SET generation = $1, content_generation = $1`, changed},
		{`components SET generation = $1`, moved},
		{`projects SET generation = $1`, sqldb.SortedKeys(projects)},
	} {
		if err := tx.s.DoIn(ctx, `UPDATE `+set.update+` WHERE id IN $ids`, []any{generation}, set.ids); err != nil {
			return err
		}
	}
	return nil
}

// storePublic stores the generation as one of which strangers see something, if they see
// one of the components that changed.
func (tx *StepTx) storePublic(ctx context.Context, generation int64, components []int64) error {
	public := false
	others := slices.DeleteFunc(components, func(id int64) bool {
		m, ok := tx.convoy[id]
		public = public || ok && !m.private
		return ok
	})
	var err error
	if !public {
		_, public, err = anyPublic(ctx, tx.s, others, ``)
	}
	if err != nil || !public {
		return err
	}
	return tx.s.Do(ctx, `UPDATE clock SET public = $1`, generation)
}
