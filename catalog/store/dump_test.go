package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// dump prints every row of every table, to compare two databases, or one at two
// times.
func dump(tb testing.TB, db *DB) string {
	tb.Helper()
	var b strings.Builder
	ctx := context.Background()
	err := db.engine.readers.transact(ctx, snapshotOptions(), func(s *session) error {
		for _, table := range []string{"clock", "projects", "components", "translations", "units", "layouts", "users", "deltas", "changes", "files", "problems"} {
			fmt.Fprintf(&b, "== %s\n", table)
			rows, err := s.conn.QueryContext(ctx, `SELECT * FROM `+table+` ORDER BY 1, 2`)
			if err != nil {
				return err
			}
			defer rows.Close()
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			for rows.Next() {
				values, dest := make([]any, len(columns)), make([]any, len(columns))
				for i := range values {
					dest[i] = &values[i]
				}
				if err := rows.Scan(dest...); err != nil {
					return err
				}
				for i, v := range values {
					fmt.Fprintf(&b, " %s=%q", columns[i], fmt.Sprint(v))
				}
				b.WriteByte('\n')
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b.String()
}
