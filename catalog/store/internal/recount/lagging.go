package recount

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
	if err != nil || commit.Hash != head {
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
			[]any{c.id, sqldb.Micros(before), int64(catalog.Percent(translated, total, 1000))}, func(scan sqldb.Scan) error {
				var id int64
				var flags string
				err := scan(&id, &flags)
				if !checks.Ignores(flags, checks.LongUntranslated) {
					counted[id] = 1
				}
				return err
			})
	}
	stored := map[int64]int64{}
	v.query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{source}, func(scan sqldb.Scan) error {
		var id, low, high int64
		err := scan(&id, &low, &high)
		if (checks.Mask{uint64(low), uint64(high)}).Has(checks.LongUntranslated) {
			stored[id] = 1
		}
		return err
	})
	named, all := 0, maps.Clone(stored)
	maps.Copy(all, counted)
	for _, id := range sqldb.SortedKeys(all) {
		if stored[id] != counted[id] && named < maxNamed {
			named++
			v.compare(c, fmt.Sprintf("long_untranslated of unit %d", id), stored[id], counted[id])
		}
	}
}
