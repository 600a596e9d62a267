package store

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// bigScan finds a scan of a whole table that grows.
var bigScan = regexp.MustCompile(`Seq Scan on (units|changes|deltas|layouts|failing|files|file_pieces|occurrences)\b`)

// TestPlans: the statements of pages and steps have an index for every table that grows.
// Without sequential scans PostgreSQL chooses one only where no index fits.
func TestPlans(t *testing.T) {
	onlyPostgres(t)
	dsn := database(t, filepath.Join(t.TempDir(), "x.db")) + "&options=-c%20enable_seqscan%3Doff%20-c%20jit%3Doff"
	db, err := Open(t.Context(), dsn, Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	configure(t, db, "app", "docs", "more")
	step(t, db, info(0, 1, 1), writeAll)
	step(t, db, info(1, 2, 1), nothing)
	showAll(t, db)
	read(t, db, func(ctx context.Context, s *Snapshot) error { return hotReads(ctx, s) })
	seen := 0
	for name, p := range map[string]*pool{"reader": db.pools.readers, "writer": db.pools.writer} {
		err := p.lend(t.Context(), func(s *session) error {
			c := s.conn.(*pgConnection)
			for query, sd := range c.stmts {
				if !strings.HasPrefix(query, "SELECT") && !strings.HasPrefix(query, "UPDATE") && !strings.HasPrefix(query, "DELETE") {
					continue
				}
				if len(sd.ParamOIDs) == 0 && !strings.Contains(query, "WHERE") {
					continue // for the types of columns of COPY: it is never run
				}
				seen++
				explain := "EXPLAIN EXECUTE " + sd.Name
				if n := len(sd.ParamOIDs); n > 0 {
					explain += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
				}
				results, err := c.conn.Exec(t.Context(), explain).ReadAll()
				if err != nil {
					return fmt.Errorf("%s: %w", query, err)
				}
				var plan strings.Builder
				for _, row := range results[0].Rows {
					fmt.Fprintf(&plan, "%s\n", row[0])
				}
				if bigScan.MatchString(plan.String()) {
					t.Errorf("the %s reads a whole table:\n%s\n%s", name, query, plan.String())
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if seen < 40 {
		t.Errorf("only %d statements", seen)
	}
}

// hotReads are what pages and answers read most.
func hotReads(ctx context.Context, s *Snapshot) error {
	row, err := s.Translation(ctx, "demo", "app", "en")
	if err != nil {
		return err
	}
	units, err := s.Units(ctx, row.ID, 0, 50)
	if err != nil {
		return err
	}
	if _, err := s.Unit(ctx, units[0].ID); err != nil {
		return err
	}
	for _, q := range []ChangeQuery{
		{},
		{AfterID: 3},
		{ProjectID: 1},
		{ComponentID: 1},
		{TranslationID: row.ID},
		{UnitID: units[0].ID},
		{Actions: []catalog.Action{catalog.ActionNewUnit}},
		{User: "ann"},
	} {
		l, err := s.ChangeList(ctx, q)
		if err != nil {
			return err
		}
		for _, offset := range []int{0, max(0, int(l.Count())-1)} {
			if _, err := l.Page(ctx, offset, 20); err != nil {
				return err
			}
		}
	}
	return nil
}
