package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"runtime"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// SQL selects rows by place, state and ids, and by what else it can express if that must
// hold. The rest of a search is tested in Go: rows have the texts that it needs, and the
// values of the other conditions that are combined with them.

// rowTest says whether a row is found. It is for concurrent use.
type rowTest func(*row) bool

// row is a row under test. Each text is folded once, for all terms.
type row struct {
	fold    *query.Folder
	texts   []sql.NullString // NULL is ""
	numbers []sql.NullInt64  // NULL is 0
	folded  [][]byte         // by text
	known   []bool           // which of them are valid
}

func (r *row) foldedText(i int) []byte {
	if !r.known[i] {
		r.known[i], r.folded[i] = true, r.fold.Append(r.folded[i][:0], r.texts[i].String)
	}
	return r.folded[i]
}

// where writes an expression that every found row fulfils, and returns what else rows
// must fulfil.
func (b *conditions) where(e query.Expr) (tests []rowTest, err error) {
	if list, ok := e.(query.And); ok {
		for _, x := range byPrice(list) {
			more, err := b.where(x)
			if err != nil {
				return nil, err
			}
			tests = append(tests, more...)
		}
		return tests, nil
	}
	if !inGo(e) {
		b.text.WriteString(` AND `)
		return nil, b.expr(e)
	}
	test, err := b.test(e)
	return []rowTest{test}, err
}

// inGo reports whether an expression has terms that SQL cannot express.
func inGo(e query.Expr) bool {
	return query.Has(e, func(term query.Expr) bool {
		switch e := term.(type) {
		case query.Text:
			return e.Match.Kind != query.Exact || e.Column == ""
		case terms.InSet:
			return isLarge(e.Set)
		case terms.InTranslations:
			return isLarge(e.Set)
		}
		return false
	})
}

// byPrice sorts expressions by what they cost.
func byPrice(list []query.Expr) []query.Expr {
	return slices.SortedStableFunc(slices.Values(list), func(a, b query.Expr) int { return cmp.Compare(terms.Price(a), terms.Price(b)) })
}

// test returns the test of an expression. A part of it that SQL can express is selected.
func (b *conditions) test(e query.Expr) (rowTest, error) {
	if !inGo(e) {
		at, err := b.value(e)
		return func(r *row) bool { return r.numbers[at].Int64 != 0 }, err
	}
	switch e := e.(type) {
	case query.And:
		tests, err := b.tests(e)
		return all(tests), err
	case query.Or:
		tests, err := b.tests(e)
		return func(r *row) bool { return slices.ContainsFunc(tests, func(test rowTest) bool { return test(r) }) }, err
	case query.Not:
		test, err := b.test(e.X)
		return func(r *row) bool { return !test(r) }, err
	case terms.InSet:
		return b.member(b.id(e.OfSource), e.Set), nil
	case terms.InTranslations:
		return b.member(`u.translation_id`, e.Set), nil
	}
	return b.textTest(e.(query.Text))
}

func (b *conditions) tests(list []query.Expr) ([]rowTest, error) {
	tests := make([]rowTest, len(list))
	for i, e := range byPrice(list) {
		var err error
		if tests[i], err = b.test(e); err != nil {
			return nil, err
		}
	}
	return tests, nil
}

// all returns a test that passes if all tests pass, nil for no tests.
func all(tests []rowTest) rowTest {
	switch len(tests) {
	case 0:
		return nil
	case 1:
		return tests[0]
	}
	return func(r *row) bool { return !slices.ContainsFunc(tests, func(test rowTest) bool { return !test(r) }) }
}

// selected is the place of an expression of SQL in a list of what is selected.
func selected(list *[]string, what string) int {
	at := slices.Index(*list, what)
	if at < 0 {
		at = len(*list)
		*list = append(*list, what)
	}
	return at
}

// value selects the value of a condition, 0 or 1.
func (b *conditions) value(e query.Expr) (int, error) {
	apart := conditions{sqlText: sqlText{args: b.args}}
	err := apart.expr(e)
	b.args, b.sources = apart.args, b.sources || apart.sources
	return selected(&b.numbers, `(`+apart.text.String()+`)`), err
}

// member is the test whether an id is in a set.
func (b *conditions) member(column string, set *idset.Set) rowTest {
	at := selected(&b.numbers, column)
	b.bytes += set.Size()
	return func(r *row) bool { return set.Has(r.numbers[at].Int64) }
}

// bytesOfTest is about what the test of a text takes.
const bytesOfTest = 4096

func (b *conditions) textTest(t query.Text) (rowTest, error) {
	columns := []query.Column{t.Column}
	if t.Column == "" {
		columns = []query.Column{query.Target, query.Source, query.Context}
	}
	at := make([]int, len(columns))
	for i, column := range columns {
		of := `u.`
		if column == query.Source || column == query.Context {
			b.sources = true
			of = `s.`
		}
		at[i] = selected(&b.texts, of+string(column))
	}
	b.bytes += bytesOfTest
	if t.Match.Kind == query.Contains {
		needle := b.folder.Append(nil, t.Match.Pattern)
		return func(r *row) bool {
			return slices.ContainsFunc(at, func(i int) bool { return bytes.Contains(r.foldedText(i), needle) })
		}, nil
	}
	test, err := t.Match.Compile(b.folder)
	return func(r *row) bool { return slices.ContainsFunc(at, func(i int) bool { return test(r.texts[i].String) }) }, err
}

// yieldRows is the number of rows after which a search lets others run: the scheduler
// itself would let it run for 10 ms each time, as long as ten small answers take.
const yieldRows = 512

// eachFound calls found for the ids of a span, in order: from offset, limit at most.
func (s *Snapshot) eachFound(ctx context.Context, part *searchPart, span *searchSpan, offset, limit int64, found func(id int64)) error {
	if part.all != nil {
		part.all.Each(offset, limit, found)
		return nil
	}
	b := part.from(span)
	if part.test == nil {
		b.text.WriteString(` ORDER BY u.id`)
		b.add(` LIMIT `, limit)
		b.add(` OFFSET `, offset)
		return s.s.QueryOnce(ctx, `SELECT u.id`+b.text.String(), b.args, sqldb.Cols1(found))
	}
	_, err := s.s.QueryTested(ctx, part.tested(b), part.tester(&s.db.searches.folder), func(id int64) error {
		if offset--; offset >= 0 {
			return nil
		}
		found(id)
		if limit--; limit == 0 {
			return sqldb.ErrEnough
		}
		return nil
	})
	return err
}

// tested is the query of the units of a span that the part's test finds.
func (p *searchPart) tested(from *sqlText) *sqldb.Tested {
	return &sqldb.Tested{ID: `u.id`, Columns: strings.Join(slices.Concat(p.texts, p.numbers), `, `), From: from.text.String(), Args: from.args}
}

// tester returns the test of rows, for one statement.
func (p *searchPart) tester(fold *query.Folder) func(sqldb.Scan) (bool, error) {
	r := row{fold: fold, texts: make([]sql.NullString, len(p.texts)), numbers: make([]sql.NullInt64, len(p.numbers)), folded: make([][]byte, len(p.texts)), known: make([]bool, len(p.texts))}
	var dest []any
	for i := range r.texts {
		dest = append(dest, &r.texts[i])
	}
	for i := range r.numbers {
		dest = append(dest, &r.numbers[i])
	}
	rows := 0
	return func(scan sqldb.Scan) (found bool, err error) {
		if rows++; rows%yieldRows == 0 {
			runtime.Gosched()
		}
		clear(r.known)
		if err := scan(dest...); err != nil {
			return false, err
		}
		err = recovering(func() error {
			found = p.test(&r)
			return nil
		})
		return found, err
	}
}
