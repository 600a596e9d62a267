package store

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// finish is the last part of a step: compare-and-swap, the clock, the authors, the
// deltas, the generations. It is short because only one writer can be in it.
func (tx *StepTx) finish(ctx context.Context) (StepResult, error) {
	if err := tx.entries.Flush(ctx, tx.s); err != nil {
		return StepResult{}, err
	}
	if err := tx.checkCodes(ctx); err != nil {
		return StepResult{}, err
	}
	if err := tx.advanceHeads(ctx); err != nil {
		return StepResult{}, err
	}
	if err := tx.countAgainst(ctx); err != nil {
		return StepResult{}, err
	}
	res, err := tx.takeIDs(ctx)
	if err != nil {
		return StepResult{}, err
	}
	if err := tx.storeAuthors(ctx); err != nil {
		return StepResult{}, err
	}
	if err := tx.insertDeltas(ctx, res.FirstChange); err != nil {
		return StepResult{}, err
	}
	if err := tx.refreshSuggestions(ctx); err != nil {
		return StepResult{}, err
	}
	if err := tx.countComments(ctx); err != nil {
		return StepResult{}, err
	}
	return res, tx.storeGenerations(ctx, res.Generation)
}

// checkCodes ensures that codes are unique. An index could not allow two
// translations to swap codes.
func (tx *StepTx) checkCodes(ctx context.Context) error {
	if !tx.codesChanged {
		return nil
	}
	return sqldb.Chunks(tx.info.Components, func(chunk []any) error {
		var component int64
		var language string
		found, err := tx.s.First(ctx, `SELECT component_id, language FROM translations WHERE removed = 0 AND component_id IN `+sqldb.List(1, len(chunk))+`
			GROUP BY component_id, language HAVING COUNT(*) > 1`, chunk, &component, &language)
		if err == nil && found {
			err = sqldb.Invalid("two translations of component %d have the code %q", component, language)
		}
		return err
	})
}

func (tx *StepTx) advanceHeads(ctx context.Context) error {
	commit, err := sqldb.JsonText(tx.info.Commit, tx.info.Commit == nil)
	if err != nil {
		return err
	}
	var moved int64
	err = sqldb.Chunks(tx.info.Components, func(chunk []any) error {
		args := append([]any{
			tx.info.To, tx.info.Tracking, tx.info.From, tx.info.Repo, tx.info.Branch, tx.info.Configured,
			sqldb.Smallint(!tx.info.Partial), sqldb.Micros(tx.info.ImportAt), commit,
		}, chunk...)
		rows, err := tx.s.Exec(ctx, `UPDATE components SET head = $1, tracking = $2, imported = CASE WHEN $7 = 1 THEN 1 ELSE imported END, reread = 0,
			import_at = COALESCE(import_at, $8), head_commit = COALESCE($9, head_commit)
			WHERE head = $3 AND repo = $4 AND branch = $5 AND active = 1 AND ($6 = 0 OR settings_generation <= $6) AND id IN `+sqldb.List(10, len(chunk)), args...)
		moved += rows
		return err
	})
	if err == nil && tx.info.Reread { // compared with templates from now on
		err = tx.s.DoIn(ctx, `UPDATE translations SET template = 0 WHERE template < 0 AND component_id IN $ids`, nil, tx.info.Components)
	}
	if err == nil && int(moved) != len(tx.info.Components) {
		err = tx.conflict(int(moved))
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
	return res, err
}

// listGrowth is the length of the list of changes of a scope, and what the step
// adds.
type listGrowth struct {
	next     int64 // rank of the next entry, from 1
	added    int64
	lastAt   int64 // of the newest entry that is about no suggestion; only for translations
	authorID int64
}

func (tx *StepTx) insertDeltas(ctx context.Context, firstChange int64) error {
	projects, components, translations := map[int64]*listGrowth{}, map[int64]*listGrowth{}, map[int64]*listGrowth{}
	rows := sqldb.NewInserter("deltas", "id", "project_id", "component_id", "translation_id", "first_change", "first_in_project", "first_in_component",
		"first_in_translation", "n", "added", "updated", "removed", "author_id", "at", "commit_hash", "commit_time", "co_authors")
	for i := range tx.deltas {
		d := &tx.deltas[i]
		p, err := tx.tally(ctx, projects, `SELECT changes FROM projects WHERE id = $1`, tx.convoy[d.component].project)
		if err != nil {
			return err
		}
		c, err := tx.tally(ctx, components, `SELECT changes FROM components WHERE id = $1`, d.component)
		if err != nil {
			return err
		}
		var inTranslation any
		if d.translation != 0 {
			t, err := tx.tally(ctx, translations, `SELECT changes FROM translations WHERE id = $1`, d.translation)
			if err != nil {
				return err
			}
			inTranslation = t.add(d)
			if !d.suggests {
				t.lastAt, t.authorID = d.at, d.author
			}
		}
		if err := rows.Add(ctx, tx.s, d.id, tx.convoy[d.component].project, d.component, sqldb.OrNull(d.translation), firstChange, p.add(d), c.add(d),
			inTranslation, d.n, d.added, d.updated, d.removed, sqldb.OrNull(d.author), d.at, d.commit, d.commitTime, d.coAuthors); err != nil {
			return err
		}
		firstChange += int64(d.n)
	}
	if err := rows.Flush(ctx, tx.s); err != nil {
		return err
	}
	return tx.storeTallies(ctx, projects, components, translations)
}

func (tx *StepTx) tally(ctx context.Context, all map[int64]*listGrowth, query string, id int64) (*listGrowth, error) {
	if t, ok := all[id]; ok {
		return t, nil
	}
	var t listGrowth
	if _, err := tx.s.First(ctx, query, []any{id}, &t.next); err != nil {
		return nil, err
	}
	t.next++
	all[id] = &t
	return &t, nil
}

func (t *listGrowth) add(d *pendingDelta) int64 {
	first := t.next
	t.next += int64(d.n)
	t.added += int64(d.n)
	return first
}

func (tx *StepTx) storeTallies(ctx context.Context, projects, components, translations map[int64]*listGrowth) error {
	for _, id := range sqldb.SortedKeys(projects) {
		if err := tx.s.Do(ctx, `UPDATE projects SET changes = changes + $1 WHERE id = $2`, projects[id].added, id); err != nil {
			return err
		}
	}
	for _, id := range sqldb.SortedKeys(components) {
		if err := tx.s.Do(ctx, `UPDATE components SET changes = changes + $1 WHERE id = $2`, components[id].added, id); err != nil {
			return err
		}
	}
	for _, id := range sqldb.SortedKeys(translations) {
		t := translations[id]
		if t.lastAt == 0 {
			if err := tx.s.Do(ctx, `UPDATE translations SET changes = changes + $1 WHERE id = $2`, t.added, id); err != nil {
				return err
			}
			continue
		}
		recent, err := rows.RecentChanges(ctx, tx.s, id, t.lastAt)
		if err != nil {
			return err
		}
		if err := tx.s.Do(ctx, `UPDATE translations SET changes = changes + $1, last_change_at = $2, last_author_id = $3, recent_changes = $4 WHERE id = $5`,
			t.added, t.lastAt, sqldb.OrNull(t.authorID), recent, id); err != nil {
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
		err := sqldb.Chunks(set.ids, func(chunk []any) error {
			err := tx.s.Do(ctx, `UPDATE `+set.update+` WHERE id IN `+sqldb.List(2, len(chunk)), append([]any{generation}, chunk...)...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// storePublic stores the generation as one of which strangers see something, if they see
// one of the components that changed.
func (tx *StepTx) storePublic(ctx context.Context, generation int64, components []int64) error {
	var others []int64
	public := false
	for _, id := range components {
		m, ok := tx.convoy[id]
		public = public || ok && !m.private
		if !ok {
			others = append(others, id)
		}
	}
	if !public {
		var err error
		if _, public, err = anyPublic(ctx, tx.s, others, ``); err != nil {
			return err
		}
	}
	if !public {
		return nil
	}
	return tx.s.Do(ctx, `UPDATE clock SET public = $1`, generation)
}
