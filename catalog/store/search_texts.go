package store

import (
	"database/sql/driver"
	"slices"

	"github.com/repoglot/repoglot/catalog/query"
)

// textTerms counts the terms of an expression that a function has to test; ok is
// false if there are others in it.
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

// isPlainSQL reports whether SQL tests a text by itself.
func isPlainSQL(t query.Text) bool { return t.Match.Kind == query.Exact && t.Column != "" }

// gathered puts those operands that are about texts alone behind all others, as
// one operand where they are several: a row is then handed to a function once,
// which costs more than what the function does.
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

// rowTest compiles the texts of a row.
type rowTest struct {
	fold    *query.Folder
	columns []query.Column // in the order of the arguments behind the predicate's number
}

// compile makes the test of an expression of textTerms.
func (c *rowTest) compile(e query.Expr) (func(args []driver.Value) bool, error) {
	switch e := e.(type) {
	case query.And:
		tests, err := c.compileAll(e)
		return func(args []driver.Value) bool {
			for _, test := range tests {
				if !test(args) {
					return false
				}
			}
			return true
		}, err
	case query.Or:
		tests, err := c.compileAll(e)
		return func(args []driver.Value) bool {
			for _, test := range tests {
				if test(args) {
					return true
				}
			}
			return false
		}, err
	case query.Not:
		test, err := c.compile(e.X)
		return func(args []driver.Value) bool { return !test(args) }, err
	}
	return c.term(e.(query.Text))
}

func (c *rowTest) compileAll(list []query.Expr) ([]func([]driver.Value) bool, error) {
	tests := make([]func([]driver.Value) bool, len(list))
	for i, e := range list {
		var err error
		if tests[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return tests, nil
}

func (c *rowTest) term(t query.Text) (func([]driver.Value) bool, error) {
	test, err := t.Match.Compile(c.fold)
	if err != nil {
		return nil, err
	}
	var at []int
	for _, column := range textColumns(t) {
		i := slices.Index(c.columns, column)
		if i < 0 {
			i = len(c.columns)
			c.columns = append(c.columns, column)
		}
		at = append(at, i+1)
	}
	return func(args []driver.Value) bool {
		for _, i := range at {
			text, _ := args[i].(string) // NULL is ""
			if test(text) {
				return true
			}
		}
		return false
	}, nil
}

// textColumns are the columns that a term is about.
func textColumns(t query.Text) []query.Column {
	if t.Column == "" {
		return []query.Column{query.Target, query.Source, query.Context}
	}
	return []query.Column{t.Column}
}
