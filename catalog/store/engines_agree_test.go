package store

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// caseTexts are sources whose case, wildcards or combining characters engines and
// collations treat in different ways.
var caseTexts = []string{
	"Straße", "STRASSE", "STRAẞE", "istanbul", "ISTANBUL", "İSTANBUL", "ıstanbul", "été", "e\u0301te\u0301", "ÉTÉ", "ΣΑΣ", "σας", "\u212aelvin",
	"kelvin", "100%", "1000", "a_b", "axb", `a\b`, "a\x00b", "src \U0010FFFE 13", "src \U0010FFFF 13",
}

// TestCaseOnBothEngines: the same texts are found on both engines, whatever the
// collation of the server is. caseTexts says which.
func TestCaseOnBothEngines(t *testing.T) {
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		translation := catalog.Translation{ComponentID: 1, Language: "en", FileCode: "en", Filename: "po/en.po", Revision: head(1), IsSource: true}
		translation.Stats.Total.Units = int64(len(caseTexts))
		if err := tx.PutTranslation(ctx, &translation); err != nil {
			return err
		}
		units := makeUnits(translation.ID, "en", len(caseTexts), nil)
		var h catalog.Hasher
		for i, text := range caseTexts {
			units[i].Source, units[i].Identity = text, h.Identity(text, units[i].Context)
		}
		if err := tx.AddUnits(ctx, units); err != nil {
			return err
		}
		var placed []catalog.UnitPosition
		for i, u := range units {
			placed = append(placed, catalog.UnitPosition{ID: u.ID, Position: i + 1})
		}
		return tx.PutLayout(ctx, translation.ID, placed)
	})
	for q, want := range map[string][]string{
		`source:straße`:           {"Straße", "STRAẞE"},
		`source:strasse`:          {"STRASSE"},
		`source:istanbul`:         {"istanbul", "ISTANBUL"},
		`source:stanbul`:          {"istanbul", "ISTANBUL", "İSTANBUL", "ıstanbul"},
		`source:été`:              {"été", "ÉTÉ"},
		`source:=été`:             {"été"},
		`source:Σασ`:              {"ΣΑΣ", "σας"},
		`source:kelvin`:           {"\u212aelvin", "kelvin"},
		`source:0%`:               {"100%"},
		`source:a_b`:              {"a_b"},
		"source:\"\U0010FFFE 1\"": {"src \U0010FFFE 13"},
		`source:a\b`:              {`a\b`},
		`source:r"^a.b$"`:         {"a_b", "axb", `a\b`, "a\x00b"},
		`has:plural`:              nil,
	} {
		expr, err := query.Parse(q)
		if err != nil {
			t.Fatal(err)
		}
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			c, err := s.Component(ctx, "demo", "app")
			if err != nil {
				return err
			}
			found, err := s.Search(ctx, SearchQuery{Components: map[int64]*ComponentRow{c.ID: &c}, Expr: expr})
			if err != nil {
				return err
			}
			units, _, err := found.Page(ctx, 0, 100)
			var got []string
			for i := range units {
				got = append(got, units[i].Source)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s finds %q instead of %q", q, got, want)
			}
			return err
		})
	}
}

// TestOrderOnBothEngines: names are in the order of their bytes on both engines.
func TestOrderOnBothEngines(t *testing.T) {
	want := []string{"Zoo", "a-b", "a_b", "ab", "zoo"}
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		for _, code := range []string{"zoo", "ab", "a_b", "a-b", "Zoo"} {
			translation := catalog.Translation{ComponentID: 1, Language: code, FileCode: code, Filename: "po/" + code + ".po", Revision: head(1), IsSource: code == "zoo"}
			if err := tx.PutTranslation(ctx, &translation); err != nil {
				return err
			}
		}
		return nil
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		languages, err := s.Languages(ctx, []int64{1})
		if err != nil {
			return err
		}
		sums, err := s.Sums(ctx, SumQuery{Components: []int64{1}, Sources: true})
		var summed []string
		for _, sum := range sums {
			summed = append(summed, sum.Language)
		}
		if !slices.Equal(languages, want) || !slices.Equal(summed, want) {
			t.Errorf("%v and %v instead of %v", languages, summed, want)
		}
		return err
	})
}

// TestOrderOfNull: no statement sorts by a column that may be NULL without saying where
// NULL goes, since SQLite puts it first and PostgreSQL last. It looks at names that
// columns which are never NULL do not have.
func TestOrderOfNull(t *testing.T) {
	db := openWith(t, "app")
	nullable, never := map[string]bool{}, map[string]bool{}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		columns := `SELECT column_name, CASE is_nullable WHEN 'YES' THEN 1 ELSE 0 END FROM information_schema.columns WHERE table_schema = current_schema()`
		if s.s.DB.Dialect.Sqlite {
			columns = `SELECT c.name, c."notnull" = 0 AND c.pk = 0 FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'`
		}
		return s.s.Query(ctx, columns, nil, func(scan sqldb.Scan) error {
			var name string
			var null int64
			err := scan(&name, &null)
			if null == 1 {
				nullable[name] = true
			} else {
				never[name] = true
			}
			return err
		})
	})
	if !nullable["commit_time"] || !nullable["due"] {
		t.Fatalf("columns that may be NULL: %v", nullable)
	}
	sorted := regexp.MustCompile(`(?s)ORDER BY (.*?)(?:LIMIT|\)|$)`)
	least := regexp.MustCompile(`LEAST\([^()]*\)`) // of PostgreSQL alone
	word := regexp.MustCompile(`(?:\w+\.)?(\w+)( DESC)?( NULLS)?`)
	delete(nullable, "first_in_translation") // sorts the entries of a translation, which have it
	clauses := 0
	for _, text := range stringsOfPackage(t) {
		for _, clause := range sorted.FindAllStringSubmatch(least.ReplaceAllString(text, "1"), -1) {
			clauses++
			for _, term := range strings.Split(clause[1], ",") {
				m := word.FindStringSubmatch(term)
				if m != nil && nullable[m[1]] && !never[m[1]] && m[3] == "" {
					t.Errorf("%s may be NULL in %q", m[1], text)
				}
			}
		}
	}
	if clauses < 50 {
		t.Errorf("only %d clauses", clauses)
	}
}

// stringsOfPackage returns the literals of the package's code.
func stringsOfPackage(t *testing.T) (texts []string) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				texts = append(texts, l.Value)
			}
			return true
		})
	}
	return texts
}
