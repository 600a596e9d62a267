package recount

import (
	"context"
	_ "embed" // of none.sql
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// none has a paragraph for each count that must be 0: a comment says of what, for example that
// every edit of the journal has its component, an author and a past.
//
//go:embed none.sql
var none string

// server verifies what belongs to no project.
func (v *verifier) server(ctx context.Context) {
	where := &scope{id: 1}
	v.compareSum(ctx, where, "changes", `SELECT last_change FROM clock WHERE one = $1`, `SELECT COALESCE(SUM(n), 0) FROM deltas WHERE $1 = 1`)
	v.wantNoRows(ctx, where, "ids of changes that are missing or there twice", misplaced("first_change", "1 = 1"))
	for _, table := range []string{"projects", "components", "translations"} {
		v.wantNoRows(ctx, where, table+" of a generation to come", `SELECT COUNT(*) FROM `+table+` WHERE generation > (SELECT generation FROM clock)`)
	}
	for _, o := range []struct{ table, of, column string }{
		{"components", "projects", "project_id"}, {"translations", "components", "component_id"}, {"deltas", "components", "component_id"},
	} {
		v.wantNoRows(ctx, where, o.table+" of none of the "+o.of, `SELECT COUNT(*) FROM `+o.table+` x WHERE NOT EXISTS (SELECT 1 FROM `+o.of+` o WHERE o.id = x.`+o.column+`)`)
	}
	// Rows without a translation, which the counts above do not see.
	for _, table := range []string{"units", "layouts", "files", "stat_days", "failing", "suggestions", "check_counts"} {
		v.wantNoRows(ctx, where, table+" of no translation", `SELECT COUNT(*) FROM `+table+` x WHERE NOT EXISTS (SELECT 1 FROM translations t WHERE t.id = x.translation_id)`)
	}
	for paragraph := range strings.SplitSeq(none, "\n\n") {
		what, query, _ := strings.Cut(strings.TrimPrefix(paragraph, "-- "), "\n")
		v.wantNoRows(ctx, where, what, query)
	}
	v.pieces(ctx, where)
	v.spans(ctx, where, history.Query{})
}

// pieces verifies that all pieces of files belong to files.
func (v *verifier) pieces(ctx context.Context, where *scope) {
	listed := map[int64]struct{}{}
	v.query(ctx, `SELECT pieces FROM files WHERE pieces IS NOT NULL`, nil, sqldb.Cols1(func(list []byte) {
		if p, err := files.Decode(list); err == nil { // else the file is damaged
			for _, id := range p.IDs() {
				listed[id] = struct{}{}
			}
		}
	}))
	var ids []int64
	v.fail(v.s.IDs(ctx, `SELECT id FROM file_pieces`, nil, &ids))
	lost := int64(0)
	for _, id := range ids {
		if _, ok := listed[id]; !ok {
			lost++
		}
	}
	v.compare(where, "pieces of no file", lost, 0)
}

// spans verifies the sums that are kept of a list of changes.
func (v *verifier) spans(ctx context.Context, where *scope, q history.Query) {
	if v.err == nil {
		n, err := history.NewReader(v.s, v.sums).DamagedSpans(ctx, q)
		v.fail(err)
		v.compare(where, "wrong sums of changes", n, 0)
	}
}

// misplaced counts the deltas of a scope whose entries do not follow the previous
// delta's.
func misplaced(first, scope string) string {
	return `SELECT COUNT(*) FROM (SELECT ` + first + ` AS at, LAG(` + first + ` + n, 1, 1) OVER (ORDER BY ` + first + `) AS due FROM deltas WHERE ` + scope + `) AS x WHERE at <> due`
}

// project verifies the list of changes of a project, and its groups of strings.
func (v *verifier) project(ctx context.Context, p *scope) {
	v.compareSum(ctx, p, "changes", `SELECT changes FROM projects WHERE id = $1`, `SELECT COALESCE(SUM(n), 0) FROM deltas WHERE project_id = $1`)
	v.wantNoRows(ctx, p, "places in the list of changes that are empty or taken twice", misplaced("first_in_project", "project_id = $1"), p.id)
	v.spans(ctx, p, history.Query{ProjectID: p.id})
	v.compared(ctx, p)
}

// componentLedger verifies the list of changes of a component, and its entries.
func (v *verifier) componentLedger(ctx context.Context, c *scope) {
	const changes = `SELECT changes FROM components WHERE id = $1`
	var n int64
	v.first(ctx, changes, []any{c.id}, &n)
	v.seen.Changes += n
	v.compareSum(ctx, c, "changes", changes, `SELECT COALESCE(SUM(n), 0) FROM deltas WHERE component_id = $1`)
	entries := fmt.Sprintf(`SELECT COUNT(*) FROM changes WHERE delta_id >= $1 * %d AND delta_id < ($1 + 1) * %[1]d`, catalog.UnitsPerComponent)
	v.compareSum(ctx, c, "entries of changes", changes, entries)
	v.wantNoRows(ctx, c, "places in the list of changes that are empty or taken twice", misplaced("first_in_component", "component_id = $1"), c.id)
	v.spans(ctx, c, history.Query{ComponentID: c.id})
	of := func(action catalog.Action) string {
		return fmt.Sprintf("COALESCE(SUM(CASE WHEN c.action = %d THEN 1 ELSE 0 END), 0)", action)
	}
	v.wantNoRows(ctx, c, "commits whose entries are counted wrongly", `SELECT COUNT(*) FROM (SELECT d.id FROM deltas d LEFT JOIN changes c ON c.delta_id = d.id WHERE d.component_id = $1
		GROUP BY d.id, d.n, d.added, d.updated, d.removed HAVING COUNT(c.n) <> d.n OR MAX(c.n) <> d.n - 1 OR `+of(catalog.ActionNewUnit)+` <> d.added OR `+
		of(catalog.ActionStringRepoUpdate)+` <> d.updated OR `+of(catalog.ActionStringRemove)+` <> d.removed) AS x`, c.id)
	v.compareSum(ctx, c, "time of the newest change", `SELECT COALESCE(last_at, 0) FROM components WHERE id = $1`, `SELECT COALESCE(MAX(at), 0) FROM deltas WHERE component_id = $1`)
	for _, n := range []struct{ what, column, table, of string }{
		{"last unit", "last_unit", "units", "id"}, {"last commit", "last_delta", "deltas", "id"},
	} {
		newest := fmt.Sprintf(`SELECT COALESCE(MAX(%s), $1 * %[2]d) - $1 * %[2]d FROM %s WHERE %[1]s >= $1 * %[2]d AND %[1]s < ($1 + 1) * %[2]d`, n.of, catalog.UnitsPerComponent, n.table)
		v.compareSum(ctx, c, n.what, `SELECT `+n.column+` FROM components WHERE id = $1`, newest)
	}
}

// ledger verifies the list of changes of a translation, and what the translation
// stores about its newest changes.
func (v *verifier) ledger(ctx context.Context, t *scope) {
	var stored, counted struct{ n, recent, last, author int64 }
	v.first(ctx, `SELECT changes, recent_changes, COALESCE(last_change_at, 0), COALESCE(last_author_id, 0) FROM translations WHERE id = $1`, []any{t.id},
		&stored.n, &stored.recent, &stored.last, &stored.author)
	v.first(ctx, `SELECT COALESCE(SUM(n), 0) FROM deltas WHERE translation_id = $1`, []any{t.id}, &counted.n)
	v.first(ctx, `SELECT COALESCE(MAX(at), 0) FROM deltas d WHERE translation_id = $1`+rows.NotSuggestions, []any{t.id}, &counted.last)
	v.first(ctx, `SELECT COALESCE(author_id, 0) FROM deltas d WHERE translation_id = $1`+rows.NotSuggestions+` ORDER BY first_in_translation DESC LIMIT 1`, []any{t.id}, &counted.author)
	if counted.last > 0 {
		var err error
		counted.recent, err = rows.RecentChanges(ctx, v.s, t.id, counted.last)
		v.fail(err)
	}
	v.compare(t, "changes", stored.n, counted.n)
	v.compare(t, "last_change", stored.last, counted.last)
	v.compare(t, "recent_changes", stored.recent, counted.recent)
	v.compare(t, "user of last_author", stored.author, counted.author)
	v.wantNoRows(ctx, t, "places in the list of changes that are empty or taken twice", misplaced("first_in_translation", "translation_id = $1"), t.id)
}

// lagging compares the stored lagging strings of a component with a recount.
func (v *verifier) lagging(ctx context.Context, c *scope) {
	const stored, counted = `SELECT source_id, created, total, translated FROM behind WHERE component_id = $1`,
		rows.StringCounts + ` AND (SELECT behind FROM components WHERE id = $1) = 1` + rows.HavingLagging
	v.wantNoRows(ctx, c, "lagging strings that are not", `SELECT COUNT(*) FROM (`+stored+` EXCEPT `+counted+`) AS x`, c.id)
	v.wantNoRows(ctx, c, "lagging strings that are not stored", `SELECT COUNT(*) FROM (`+counted+` EXCEPT `+stored+`) AS x`, c.id)
}

// longUntranslated decides anew which source strings of a component fail
// long_untranslated, by its units and its head, and compares that with what is stored.
// It leaves out what is to be checked by the next pull.
func (v *verifier) longUntranslated(ctx context.Context, c *scope) {
	var settings, head string
	var source, translated, total int64
	found := v.first(ctx, `SELECT c.settings, c.head, s.id, (SELECT CAST(SUM(t.translated) AS BIGINT) FROM translations t WHERE t.component_id = c.id AND t.removed = 0),
			(SELECT CAST(SUM(t.total) AS BIGINT) FROM translations t WHERE t.component_id = c.id AND t.removed = 0)
		FROM components c JOIN translations s ON s.component_id = c.id AND s.is_source = 1 AND s.removed = 0 AND s.checked <> ''
		WHERE c.id = $1 AND c.imported = 1 AND (c.behind = 1 AND c.behind_before IS NOT NULL OR c.behind = 0 AND c.oldest IS NOT NULL)`,
		[]any{c.id}, &settings, &head, &source, &translated, &total)
	if !found {
		return
	}
	commit, err := rows.HeadCommit(ctx, v.s, c.id)
	if err != nil || !rows.IsAt(&commit, head) {
		v.fail(err)
		return
	}
	of, err := v.s.DB.Components.Decode(c.id, []byte(settings))
	if err != nil {
		v.fail(err)
		return
	}
	counted := map[int64]int64{}
	if !of.IsGlossary && !checks.Ignores(of.CheckFlags, checks.LongUntranslated) {
		before := commit.CommitTime.Add(-checks.LongUntranslatedDays * 24 * time.Hour)
		v.query(ctx, `SELECT id, flags FROM units WHERE id IN (SELECT source_id FROM (`+rows.StringCounts+` AND COALESCE(s.since, s.created) < $2
				GROUP BY u.source_id, COALESCE(s.since, s.created) HAVING 2000 * SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END) < $3 * COUNT(*)) AS x)`,
			[]any{c.id, sqldb.Micros(before), int64(catalog.Percent(translated, total, 1000))}, sqldb.Cols2(func(id int64, flags string) {
				if !checks.Ignores(flags, checks.LongUntranslated) {
					counted[id] = 1
				}
			}))
	}
	stored := map[int64]int64{}
	v.query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{source}, sqldb.Cols3(func(id int64, low, high uint64) {
		if (checks.Mask{low, high}).Has(checks.LongUntranslated) {
			stored[id] = 1
		}
	}))
	named, all := 0, maps.Clone(stored)
	maps.Copy(all, counted)
	for _, id := range sqldb.SortedKeys(all) {
		if stored[id] != counted[id] && named < maxNamed {
			named++
			v.compare(c, fmt.Sprintf("long_untranslated of unit %d", id), stored[id], counted[id])
		}
	}
}
