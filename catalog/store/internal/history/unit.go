package history

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ofUnit lists the entries of one unit, which are few: an index names them, the other
// conditions of the query are applied here.
func (c *List) ofUnit(ctx context.Context, q *Query) error {
	f, possible, err := c.s.filter(ctx, q)
	if err != nil || !possible {
		return err
	}
	var all []catalog.Change
	err = c.s.s.Query(ctx, `SELECT `+changeColumns+`, d.translation_id, d.component_id, d.project_id, COALESCE(d.author_id, 0)
		FROM changes c JOIN deltas d ON d.id = c.delta_id`+changeJoins+` WHERE c.unit_id = $1 ORDER BY d.first_change, c.n`, []any{q.UnitID}, func(scan sqldb.Scan) error {
		var translation, component, project, author int64
		entry, err := scanChange(func(dest ...any) error { return scan(append(dest, &translation, &component, &project, &author)...) })
		if err != nil {
			return err
		}
		inList := (q.TranslationID == 0 || translation == q.TranslationID) && (q.ComponentID == 0 || component == q.ComponentID) && (q.ProjectID == 0 || project == q.ProjectID)
		if inList && entry.ID > q.AfterID && f.selects(&entry, component, author) {
			all = append(all, entry)
		}
		return nil
	})
	c.count = int64(len(all))
	c.page = func(_ context.Context, lo, hi int64) ([]catalog.Change, error) {
		return slices.Clone(all[lo-1 : hi]), nil
	}
	return err
}
