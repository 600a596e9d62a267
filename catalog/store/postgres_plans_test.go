package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// bigScan finds a scan of a whole table that grows, and what needs one.
var bigScan = regexp.MustCompile(`Seq Scan on (units|changes|deltas|layouts|failing|files|file_pieces|occurrences)\b|(Hash|Merge).* Join|Gather|JIT`)

// plansVariable is the address of a large database, with its schema, on which
// TestPlans explains the same statements: there PostgreSQL may choose any plan. `bench -only
// large -engines postgres` makes one, on the server of REPOGLOT_TEST_DATABASE.
const plansVariable = "REPOGLOT_TEST_PLANS"

// TestPlans: the plans that sessions of the store have for statements of pages and steps
// read no table that grows whole.
func TestPlans(t *testing.T) {
	pgtest.PostgresOnly(t, "it is about its plans")
	large := os.Getenv(plansVariable)
	db, err := Open(t.Context(), database(t, filepath.Join(t.TempDir(), "x.db")), sqldb.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	configure(t, db, "app", "docs", "more")
	step(t, db, info(0, 1, 1), writeAll)
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		source, err := tx.Known(ctx, 1)
		if err != nil {
			return err
		}
		if err := tx.s.Do(ctx, `UPDATE translations SET template = 1 WHERE id = $1`, 1); err != nil {
			return err
		}
		_, err = tx.Missing(ctx, 1, 2, []int64{source[0].ID})
		return err
	})
	showAll(t, db)
	read(t, db, func(ctx context.Context, s *Snapshot) error { return hotReads(ctx, s) })
	seen, missing := 0, map[string]string{ // with conditions on indexes
		stringsOfFile: `(translation_id = $1)`, extraStrings: `(source_id >= $1)`, stringsOfSource: `(translation_id = t.id)`,
		templateOfFile: `(id = $1)`, stringByHash: `(id_hash = $2)`,
	}
	for name, p := range map[string]*sqldb.Pool{"reader": db.pools.Readers, "writer": db.pools.Writer} {
		err := p.Lend(t.Context(), func(s *sqldb.Session) error {
			c := s.Conn.(*sqldb.PostgresConnection)
			on := c.Conn
			if large != "" {
				config, err := pgconn.ParseConfig(large)
				if err != nil {
					return err
				}
				maps.Copy(config.RuntimeParams, sqldb.Planning)
				if on, err = pgconn.ConnectConfig(t.Context(), config); err != nil {
					return err
				}
				defer on.Close(t.Context())
			}
			statements := maps.Clone(c.Stmts.Kept)
			for query, sd := range statements {
				if !isPlanned(query, sd) {
					continue
				}
				seen++
				plan, err := explainGeneric(t.Context(), on, query, sd, on != c.Conn)
				if err != nil {
					return fmt.Errorf("%s: %w", query, err)
				}
				if bigScan.MatchString(plan) || !indexed(plan, missing[query]) {
					t.Errorf("the %s reads a whole table:\n%s\n%s", name, query, plan)
				}
				delete(missing, query)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if seen < 60 || len(missing) > 0 {
		t.Errorf("only %d statements, without %q", seen, slices.Collect(maps.Keys(missing)))
	}
}

// indexed says that a plan looks something up in an index by a condition, "" for none.
func indexed(plan, condition string) bool {
	for line := range strings.Lines(plan) {
		if strings.Contains(line, "Index Cond:") && strings.Contains(line, condition) {
			return true
		}
	}
	return condition == ""
}

// isPlanned says that a statement has a plan that matters.
func isPlanned(query string, sd *pgconn.StatementDescription) bool {
	if !strings.HasPrefix(query, "SELECT") && !strings.HasPrefix(query, "UPDATE") && !strings.HasPrefix(query, "DELETE") {
		return false
	}
	return len(sd.ParamOIDs) > 0 || strings.Contains(query, "WHERE") // else for the types of columns of COPY: it is never run
}

// explainGeneric returns the plan for any arguments of a statement, which is prepared
// first if it is not yet on this connection.
func explainGeneric(ctx context.Context, conn *pgconn.PgConn, query string, sd *pgconn.StatementDescription, prepare bool) (string, error) {
	if prepare {
		if _, err := conn.Prepare(ctx, sd.Name, query, sd.ParamOIDs); err != nil {
			return "", err
		}
	}
	explain := "EXPLAIN EXECUTE " + sd.Name
	if n := len(sd.ParamOIDs); n > 0 {
		explain += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	results, err := conn.Exec(ctx, explain).ReadAll()
	if err != nil {
		return "", err
	}
	var plan strings.Builder
	for _, row := range results[0].Rows {
		fmt.Fprintf(&plan, "%s\n", row[0])
	}
	return plan.String(), nil
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
	return hotSearches(ctx, s, row, units[0].ID)
}

// hotSearches are searches by what has an index, and other reads of a translation.
func hotSearches(ctx context.Context, s *Snapshot, row TranslationRow, unit int64) error {
	c, err := s.Component(ctx, "demo", "app")
	if err != nil {
		return err
	}
	for _, q := range []string{fmt.Sprintf("id:%d", unit), "state:<translated", "has:check", "changed:>=2020", "source:a OR target:b"} {
		expr, err := query.Parse(q)
		if err != nil {
			return err
		}
		for _, translation := range []int64{0, row.ID} {
			found, err := s.Search(ctx, SearchQuery{Components: map[int64]*ComponentRow{c.ID: &c}, TranslationID: translation, Expr: expr})
			if err != nil {
				return err
			}
			if _, _, err := found.Page(ctx, 0, 50); err != nil {
				return err
			}
		}
	}
	german, err := s.Translation(ctx, "demo", "app", "de")
	if err != nil {
		return err
	}
	for _, q := range []string{"", "source:a", "has:suggestion"} {
		expr, err := query.Parse(q)
		if err != nil {
			return err
		}
		found, err := s.Search(ctx, SearchQuery{Components: map[int64]*ComponentRow{c.ID: &c}, TranslationID: german.ID, Missing: true, Expr: expr})
		if err != nil {
			return err
		}
		if _, _, err := found.Page(ctx, 0, 50); err != nil {
			return err
		}
	}
	if _, err := s.MissingUnit(ctx, &c, german.ID, 1); err != nil {
		return err
	}
	for _, err := range s.UnitsInFile(ctx, row.ID, nil) {
		if err != nil {
			return err
		}
	}
	_, err1 := s.FailingUnits(ctx, row.ID, 0, 50)
	_, err2 := s.TranslationChecks(ctx, c.ID, row.ID)
	_, err4 := s.Activity(ctx, ActivityQuery{Components: []int64{c.ID}})
	_, err5 := s.NewestOfAuthor(ctx, 1, []int64{c.ID}, 10)
	_, err6 := s.NewestInLanguage(ctx, []int64{c.ID}, "en", 10)
	return errors.Join(err1, err2, err4, err5, err6)
}
