package store

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// sqlText is a condition with its arguments in order.
type sqlText struct {
	text strings.Builder
	args []any
}

// add writes a piece and a placeholder for an argument.
func (b *sqlText) add(piece string, arg any) {
	b.text.WriteString(piece)
	b.args = append(b.args, arg)
	b.text.WriteByte('$')
	b.text.WriteString(strconv.Itoa(len(b.args)))
}

// conditions writes the SQL of expressions over a unit u and its source unit s, and makes
// the tests of what SQL cannot express.
type conditions struct {
	sqlText
	folder  *query.Folder
	sources bool     // whether s is used
	texts   []string // SQL of the texts that tests need
	numbers []string // SQL of the numbers that tests need
	bytes   int      // size of the tests
}

// expr writes an expression with the value 0 or 1, never NULL, since NOT of NULL
// is NULL.
func (b *conditions) expr(e query.Expr) error {
	switch e := e.(type) {
	case query.And:
		return b.joined(e, " AND ")
	case query.Or:
		return b.joined(e, " OR ")
	case query.Not:
		b.text.WriteString("NOT (")
		err := b.expr(e.X)
		b.text.WriteByte(')')
		return err
	case query.Const:
		b.text.WriteString(strings.ToUpper(strconv.FormatBool(bool(e))))
		return nil
	case query.Text:
		b.add(b.column(e.Column)+` = `, e.Match.Pattern)
		return nil
	case query.Filled:
		b.text.WriteString(b.column(e.Column) + ` <> ''`)
		return nil
	case query.Plural:
		b.add(b.column(query.Source)+` LIKE `, "%\x1e\x1e%")
		return nil
	case query.Failing:
		b.failing(e)
		return nil
	case query.Number:
		return b.number(e)
	case terms.CreatedIn:
		b.created(e)
		return nil
	case terms.InSet:
		b.listed(b.id(e.OfSource), e.Set)
		return nil
	case terms.InTranslations:
		b.listed(`u.translation_id`, e.Set)
		return nil
	}
	return fmt.Errorf("no SQL for a term of type %T", e)
}

func (b *conditions) joined(list []query.Expr, word string) error {
	b.text.WriteByte('(')
	for i, e := range list {
		if i > 0 {
			b.text.WriteString(word)
		}
		if err := b.expr(e); err != nil {
			return err
		}
	}
	b.text.WriteByte(')')
	return nil
}

// column is the SQL of a text column, never NULL.
func (b *conditions) column(c query.Column) string {
	switch c {
	case query.Source, query.Context:
		b.sources = true
		return `COALESCE(s.` + string(c) + `, '')`
	}
	return `u.` + string(c)
}

func (b *conditions) number(n query.Number) error {
	var column string
	switch n.Field {
	case query.ID, query.State, query.Priority:
		column = `+u.` + string(n.Field) // +: keeps the planner from using the index, it has the span
	case query.SourceState:
		b.sources = true
		column = fmt.Sprintf(`COALESCE(s.state, %d)`, catalog.StateAbsent)
	default:
		return fmt.Errorf("no column for %s", n.Field)
	}
	b.text.WriteByte('(')
	for i, s := range n.Spans {
		if i > 0 {
			b.text.WriteString(" OR ")
		}
		b.add(column+` BETWEEN `, s.Lo)
		b.add(` AND `, s.Hi)
	}
	b.text.WriteByte(')')
	return nil
}

// failing writes a condition on the row of failing that units with failing checks
// have.
func (b *conditions) failing(f query.Failing) {
	b.text.WriteString(`EXISTS (SELECT 1 FROM failing WHERE unit_id = u.id`)
	if id, ok := checks.ByName(f.Check); ok {
		mask := checks.Mask{}.With(id)
		b.add(` AND ((low & `, int64(mask[0]))
		b.add(`) <> 0 OR (high & `, int64(mask[1]))
		b.text.WriteString(`) <> 0)`)
	}
	b.text.WriteByte(')')
}

func (b *conditions) created(c terms.CreatedIn) {
	column := `u.created`
	if c.OfSource {
		b.sources = true
		column = `s.created`
	}
	b.text.WriteString(`(` + column + ` IS NOT NULL`)
	if c.From != terms.MinTime {
		b.add(` AND `+column+` >= `, c.From)
	}
	if c.To != terms.MaxTime {
		b.add(` AND `+column+` < `, c.To)
	}
	b.text.WriteByte(')')
}

func (b *conditions) id(ofSource bool) string {
	if ofSource {
		return `u.source_id`
	}
	return `u.id`
}

// fewIDs is the number of ids up to which they are listed in the statement.
const fewIDs = 4

// isLarge reports whether a set is too large to be listed.
func isLarge(set *idset.Set) bool {
	ids, listed := set.Listed()
	return !listed || len(ids) > fewIDs
}

// listed writes the condition that a column is in a set.
func (b *conditions) listed(column string, set *idset.Set) {
	b.text.WriteString(`+` + column + ` IN `) // +: keeps the planner from using the index, it has the span
	ids, _ := set.Listed()
	for i, id := range ids {
		b.add([]string{`(`, `, `}[min(i, 1)], id)
	}
	b.text.WriteByte(')')
}
