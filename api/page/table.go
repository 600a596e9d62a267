package page

import (
	"reflect"
	"slices"
)

// Bounds of a table.
const (
	maxRows    = 1000
	maxCell    = 600     // characters of a cell
	maxTable   = 4 << 20 // bytes of all cells
	maxColumns = 6       // of lists of an unknown kind
	maxFields  = 40      // of objects of an unknown kind
	maxName    = 80      // characters of a text that is a link
)

// columnOf is the column that says what entries belong to. A list whose entries
// all belong to the same goes without it.
const columnOf = "In"

// column is a column of a list or a line of an object.
type column struct {
	name string
	cell func(row *node) cell
}

// table is what the templates "list" and "object" show.
type table struct {
	Object  bool // a line for each field instead of a row for each entry
	Columns []string
	Rows    [][]namedCell
	More    int // rows that are in the JSON alone
}

// namedCell is a cell with the name of its column.
type namedCell struct {
	Name string
	Cell cell
}

// tabler makes tables.
type tabler struct {
	direction func(code string) string
	longest   int // characters of a text that are shown
}

// list shows entries as a table; nil if they are not objects.
func (t *tabler) list(list *node) *table {
	if len(list.members) == 0 || list.members[0].kind != object {
		return nil
	}
	t.longest = maxCell
	columns := general(list.members[0], maxColumns)
	if r := resourceOf(list.members[0]); r.columns != nil {
		columns = r.columns
	}
	return t.table(columns, list.members, list.more)
}

// object shows a resource, a line for each field that is not empty; nil if there
// is no such field. Whole says that the table shows all that matters of the JSON.
func (t *tabler) object(n *node) (shown *table, whole bool) {
	t.longest = maxShown
	fields := general(n, maxFields)
	whole = len(fields) == len(n.keys)
	if r := resourceOf(n); r.fields != nil {
		fields, whole = r.fields, true
	}
	var lines []namedCell
	for _, f := range fields {
		if c := t.cell(f, n); !c.empty() {
			lines = append(lines, namedCell{visible(f.name), c})
		}
	}
	if lines == nil {
		return nil, false
	}
	return &table{Object: true, Rows: [][]namedCell{lines}}, whole
}

// table makes the rows, without the columns that are empty or, for columnOf,
// the same in all rows. more is the number of entries that rows lacks.
func (t *tabler) table(columns []column, rows []*node, more int) *table {
	var cells [][]cell
	used := make([]bool, len(columns))
	for size := 0; len(cells) < min(len(rows), maxRows) && size < maxTable; {
		line := make([]cell, len(columns))
		for i, c := range columns {
			line[i] = t.cell(c, rows[len(cells)])
			used[i] = used[i] || !line[i].empty()
			size += line[i].size()
		}
		cells = append(cells, line)
	}
	for i := range columns {
		if columns[i].name == columnOf && len(cells) > 1 {
			used[i] = used[i] && slices.ContainsFunc(cells, func(line []cell) bool { return !reflect.DeepEqual(line[i], cells[0][i]) })
		}
	}
	if !slices.Contains(used, true) {
		return nil
	}
	shown := &table{Rows: make([][]namedCell, len(cells)), More: len(rows) - len(cells) + more}
	for i, c := range columns {
		if !used[i] {
			continue
		}
		name := visible(c.name)
		shown.Columns = append(shown.Columns, name)
		for j := range cells {
			shown.Rows[j] = append(shown.Rows[j], namedCell{name, cells[j][i]})
		}
	}
	return shown
}
