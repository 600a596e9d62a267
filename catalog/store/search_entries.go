package store

import "context"

// entryList is the list of entries of a component or of a translation. The rank of
// an entry is the rank of its delta plus n.
type entryList struct {
	table, column, first string // the owner's table, and the ranks of deltas in its list
	id                   int64
}

// entryUnits finds the units of entries that meet a condition on deltas d and
// changes c. A commit may have one entry or a million, so the work is divided by
// ranks.
func (s *Snapshot) entryUnits(ctx context.Context, c *searchComponent, l *entryList, where *sqlText) (*idCollector, error) {
	var entries int64
	if _, err := s.s.first(ctx, `SELECT changes FROM `+l.table+` WHERE id = $1`, []any{l.id}, &entries); err != nil {
		return nil, err
	}
	span := s.db.searches.spanUnits
	return s.collect(ctx, c, int((entries+span-1)/span), func(s *Snapshot, i int, found *idCollector) error {
		lo := int64(i)*span + 1
		return s.unitsBetween(ctx, l, where, lo, lo+span, found)
	})
}

// unitsBetween is entryUnits for the entries with ranks in [lo, hi).
func (s *Snapshot) unitsBetween(ctx context.Context, l *entryList, where *sqlText, lo, hi int64, found *idCollector) error {
	begin := lo // the rank of the delta with the first entry
	if _, err := s.s.first(ctx, `SELECT `+l.first+` FROM deltas WHERE `+l.column+` = $1 AND `+l.first+` <= $2 ORDER BY `+l.first+` DESC LIMIT 1`,
		[]any{l.id, lo}, &begin); err != nil {
		return err
	}
	b := sqlText{args: append([]any(nil), where.args...)}
	b.text.WriteString(`SELECT c.unit_id FROM deltas d CROSS JOIN changes c ON c.delta_id = d.id WHERE c.unit_id IS NOT NULL` + where.text.String())
	b.add(` AND d.`+l.column+` = `, l.id)
	b.add(` AND d.`+l.first+` >= `, begin)
	b.add(` AND d.`+l.first+` < `, hi)
	b.add(` AND c.n >= `, lo)
	b.add(` - d.`+l.first+` AND c.n < `, hi)
	b.text.WriteString(` - d.` + l.first)
	var id int64
	return s.s.queryMany(ctx, b.text.String(), b.args, func(scan scan) error {
		err := scan(&id)
		found.add(id)
		return err
	})
}
