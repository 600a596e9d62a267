package store

import (
	"bytes"
	"database/sql/driver"
	"slices"
	"sync"

	"github.com/repoglot/repoglot/catalog/query"
)

// textTerms counts the terms of an expression that need a function; ok is false if
// it has other terms.
func textTerms(e query.Expr) (n int, ok bool) {
	var list []query.Expr
	switch e := e.(type) {
	case query.And:
		list = e
	case query.Or:
		list = e
	case query.Not:
		list = []query.Expr{e.X}
	case query.Text:
		return 1, !isPlainSQL(e)
	default:
		return 0, false
	}
	for _, x := range list {
		more, ok := textTerms(x)
		if !ok {
			return 0, false
		}
		n += more
	}
	return n, true
}

// isPlainSQL reports whether SQL tests a text without a function.
func isPlainSQL(t query.Text) bool { return t.Match.Kind == query.Exact && t.Column != "" }

// gathered moves operands that consist of text terms to the end, joined to one
// operand: the function is then called once per row. The call costs more than the
// tests.
func gathered(list []query.Expr, join func([]query.Expr) query.Expr) []query.Expr {
	var texts, others []query.Expr
	for _, e := range list {
		if _, ok := textTerms(e); ok {
			texts = append(texts, e)
		} else {
			others = append(others, e)
		}
	}
	if len(texts) > 1 {
		texts = []query.Expr{join(texts)}
	}
	return append(others, texts...)
}

// rowTest compiles tests of the texts of a row.
type rowTest struct {
	fold    *query.Folder
	columns []query.Column // in the order of the arguments after the predicate's number
}

// row is a row under test. Each text is folded once, for all terms.
type row struct {
	fold   *query.Folder
	args   []driver.Value // the first is the predicate's number
	folded [][]byte       // by argument
	known  []bool         // which are valid
}

// text is the text of an argument; NULL is "".
func (r *row) text(i int) string {
	text, _ := r.args[i].(string)
	return text
}

func (r *row) foldedText(i int) []byte {
	if !r.known[i] {
		r.known[i], r.folded[i] = true, r.fold.Append(r.folded[i][:0], r.text(i))
	}
	return r.folded[i]
}

// maxFolded limits the buffer of a folded text that is kept for the next row.
const maxFolded = 64 << 10

func (r *row) forget() {
	r.args = nil
	clear(r.known)
	for i := range r.folded {
		if cap(r.folded[i]) > maxFolded {
			r.folded[i] = nil
		}
	}
}

// predicate returns the predicate of an expression of textTerms, for concurrent
// use.
func (c *rowTest) predicate(e query.Expr) (predicate, error) {
	test, err := c.compile(e)
	if err != nil {
		return predicate{}, err
	}
	n := len(c.columns) + 1
	rows := sync.Pool{New: func() any {
		return &row{fold: c.fold, folded: make([][]byte, n), known: make([]bool, n)}
	}}
	return predicate{row: func(args []driver.Value) bool {
		r := rows.Get().(*row)
		r.args = args
		holds := test(r)
		r.forget()
		rows.Put(r)
		return holds
	}}, nil
}

// compile returns the test of an expression of textTerms.
func (c *rowTest) compile(e query.Expr) (func(*row) bool, error) {
	switch e := e.(type) {
	case query.And:
		tests, err := c.compileAll(e)
		return func(r *row) bool {
			for _, test := range tests {
				if !test(r) {
					return false
				}
			}
			return true
		}, err
	case query.Or:
		tests, err := c.compileAll(e)
		return func(r *row) bool {
			for _, test := range tests {
				if test(r) {
					return true
				}
			}
			return false
		}, err
	case query.Not:
		test, err := c.compile(e.X)
		return func(r *row) bool { return !test(r) }, err
	}
	return c.term(e.(query.Text))
}

func (c *rowTest) compileAll(list []query.Expr) ([]func(*row) bool, error) {
	tests := make([]func(*row) bool, len(list))
	for i, e := range list {
		var err error
		if tests[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return tests, nil
}

func (c *rowTest) term(t query.Text) (func(*row) bool, error) {
	var at []int
	for _, column := range textColumns(t) {
		i := slices.Index(c.columns, column)
		if i < 0 {
			i = len(c.columns)
			c.columns = append(c.columns, column)
		}
		at = append(at, i+1)
	}
	if t.Match.Kind == query.Contains {
		needle := c.fold.Append(nil, t.Match.Pattern)
		return func(r *row) bool {
			for _, i := range at {
				if bytes.Contains(r.foldedText(i), needle) {
					return true
				}
			}
			return false
		}, nil
	}
	test, err := t.Match.Compile(c.fold)
	return func(r *row) bool {
		for _, i := range at {
			if test(r.text(i)) {
				return true
			}
		}
		return false
	}, err
}

// textColumns returns the columns of a term.
func textColumns(t query.Text) []query.Column {
	if t.Column == "" {
		return []query.Column{query.Target, query.Source, query.Context}
	}
	return []query.Column{t.Column}
}
