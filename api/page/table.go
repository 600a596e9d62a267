package page

import (
	"reflect"
	"slices"
	"strings"
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
	columns := t.columns(list.members[0])
	if columns == nil {
		columns = general(list.members[0], maxColumns)
	}
	return tableOf(columns, list.members, list.more)
}

// tableOf makes the rows, without the columns that are empty or, for columnOf,
// the same in all rows. more is the number of entries that rows lacks.
func tableOf(columns []column, rows []*node, more int) *table {
	var cells [][]cell
	used := make([]bool, len(columns))
	for size := 0; len(cells) < min(len(rows), maxRows) && size < maxTable; {
		line := make([]cell, len(columns))
		for i, c := range columns {
			line[i] = c.cell(rows[len(cells)])
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
	t := &table{Rows: make([][]namedCell, len(cells)), More: len(rows) - len(cells) + more}
	for i, c := range columns {
		if !used[i] {
			continue
		}
		name := visible(c.name)
		t.Columns = append(t.Columns, name)
		for j := range cells {
			t.Rows[j] = append(t.Rows[j], namedCell{name, cells[j][i]})
		}
	}
	return t
}

// columns chooses the columns for entries such as row; nil if their kind is
// unknown.
func (t *tabler) columns(row *node) []column {
	switch kindOf(row) {
	case aUnit:
		return []column{
			{"#", linked("url", "position")},
			{"Source", t.forms("source")},
			{"Target", t.forms("target")},
			{"State", state},
			{"Context", plain("context")},
			{"Note", plain("note")},
			{columnOf, where},
		}
	case aChange:
		return []column{
			{"#", linked("url", "id")},
			{"When", when("timestamp")},
			{"What", plain("action_name")},
			{"By", author},
			{"String", about},
			{"Old", t.single("old")},
			{"New", t.single("target")},
			{columnOf, where},
		}
	case aTranslation:
		return []column{
			{"Language", linked("url", "language", "name")},
			{"Component", within("component", linked("url", "name"))},
			{"Translated", progress},
			{"Strings", done("translated", "total")},
			{"Fuzzy", number("fuzzy")},
			{"Last change", when("last_change")},
			{"More", links("units_list_url", "changes_list_url", "statistics_url", "file_url")},
		}
	case aDay:
		return []column{{"From", plain("first_day")}, {"To", plain("last_day")}, {"Translated", progress}, {"Strings", done("translated", "total")}, {"Fuzzy", number("fuzzy")}}
	case statistics:
		return []column{{"Name", linked("url", "name")}, {"Translated", progress}, {"Strings", done("translated", "total")}, {"Fuzzy", number("fuzzy")}, {"Failing checks", number("failing")}, {"Last change", when("last_change")}}
	case aProject:
		return []column{{"Project", linked("url", "name")}, {"Web", plain("web")}, {"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url")}}
	case aComponent:
		return []column{
			{"Component", linked("url", "name")},
			{"Project", within("project", linked("url", "name"))},
			{"Files", plain("filemask")},
			{"Branch", plain("branch")},
			{"More", links("translations_url", "changes_list_url", "statistics_url", "repository_url")},
		}
	case aLanguage:
		return []column{{"Language", linked("url", "name")}, {"Code", plain("code")}, {"Direction", plain("direction")}, {"More", links("statistics_url")}}
	case aUser:
		return []column{{"Name", linked("url", "full_name")}, {"User", plain("username")}, {"First commit", when("date_joined")}, {"More", links("statistics_url")}}
	case failures:
		return []column{{"String", last("unit")}, {"Checks", failing}}
	case aFailure:
		return []column{{"Check", plain("name")}, {"What", plain("description")}}
	case aComment:
		return []column{{"Comment", t.single("comment")}, {"By", last("user")}, {"When", when("timestamp")}, {"String", last("unit")}}
	case aSuggestion:
		return []column{{"Target", t.forms("target")}, {"By", plain("author_name")}, {"When", when("timestamp")}, {"Branch", plain("branch")}, {"Commit", plain("commit")}}
	}
	return nil
}

// general makes columns of the first keys of an entry that are not collections.
// The first column is a link to the entry; no other address is shown.
func general(row *node, most int) []column {
	var list []column
	linkless := row.get("url") == nil
	for i, key := range row.keys {
		k := row.members[i].kind
		if k == object || k == array || !linkless && (key == "url" || strings.HasSuffix(key, "_url")) || len(list) == most {
			continue
		}
		cell := plain(key)
		if len(list) == 0 && !linkless {
			cell = linked("url", key)
		}
		list = append(list, column{strings.ReplaceAll(key, "_", " "), cell})
	}
	return list
}
