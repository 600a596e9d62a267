package page

import (
	"html"
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// maxRows bounds the rows of a table, maxCell the characters of a cell and
// maxTable its bytes.
const (
	maxRows    = 1000
	maxCell    = 600
	maxTable   = 4 << 20
	maxColumns = 6  // of lists that are not known
	maxFields  = 40 // of objects that are not known
	maxName    = 80 // characters of a text that is a link
)

// columnOf says what entries belong to; a list whose entries all belong to the
// same does without it.
const columnOf = "In"

// column is one of a table. cell returns HTML, every text of which it has
// escaped.
type column struct {
	name string
	cell func(row *node) string
}

// tabler makes tables.
type tabler struct {
	direction func(code string) string
	longest   int // characters of a text that are shown
}

// list shows entries as a table; "" if they are not objects.
func (t *tabler) list(list *node) template.HTML {
	if len(list.members) == 0 || list.members[0].kind != object {
		return ""
	}
	t.longest = maxCell
	columns := t.columns(list.members[0])
	if columns == nil {
		columns = general(list.members[0], maxColumns)
	}
	return t.table(columns, list.members, list.more)
}

// table writes the rows, without the columns that are empty in each or that say
// the same of all, and says how many more there are.
func (t *tabler) table(columns []column, rows []*node, more int) template.HTML {
	cells, used := make([][]string, 0, min(len(rows), maxRows)), make([]bool, len(columns))
	for size := 0; len(cells) < min(len(rows), maxRows) && size < maxTable; {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.cell(rows[len(cells)])
			used[i] = used[i] || line[i] != ""
			size += len(line[i])
		}
		cells = append(cells, line)
	}
	for i := range columns {
		used[i] = used[i] && (columns[i].name != columnOf || len(cells) == 1 || slices.ContainsFunc(cells, func(line []string) bool { return line[i] != cells[0][i] }))
	}
	if !slices.Contains(used, true) {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<table><thead><tr>`)
	for i, c := range columns {
		if used[i] {
			b.WriteString(`<th scope="col">` + escaped(c.name) + `</th>`)
		}
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, line := range cells {
		b.WriteString("<tr>")
		for i, c := range columns {
			if used[i] {
				b.WriteString(`<td data-name="` + html.EscapeString(visible(c.name)) + `">` + line[i] + `</td>`)
			}
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	if left := len(rows) - len(cells) + more; left > 0 {
		b.WriteString("<p><em>" + strconv.Itoa(left) + " more rows of this page are in the JSON.</em></p>\n")
	}
	return template.HTML(b.String()) //nolint:gosec // every text in it went through escaped
}

// columns chooses what is worth seeing of entries such as row; nil if it is of no
// list that is known.
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
			{"Component", linkedTo("component", "url", "name")},
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
			{"Project", linkedTo("project", "url", "name")},
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

// general are the first keys of an entry that are no collections. The first one
// leads to the entry, and no other address is shown.
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

// plain shows a value, a URL as a link.
func plain(keys ...string) func(*node) string {
	return func(row *node) string {
		value := row.text(keys...)
		if link := webURL(value); link != "" {
			return anchor(link, value)
		}
		return short(value)
	}
}

func short(value string) string {
	if value == "" {
		return ""
	}
	shown := cut(value, maxCell)
	return `<bdi>` + escaped(shown) + left(value, shown) + `</bdi>`
}

func anchor(link, name string) string {
	return `<a href="` + html.EscapeString(link) + `"><bdi>` + escaped(cut(name, maxCell)) + `</bdi></a>`
}

// linked shows a value as a link to the address under another key.
func linked(address string, keys ...string) func(*node) string {
	return func(row *node) string {
		name, link := row.text(keys...), webURL(row.text(address))
		if link == "" {
			return short(name)
		}
		if name == "" {
			name = "—"
		}
		return anchor(link, name)
	}
}

// linkedTo is linked within a member.
func linkedTo(member, address, key string) func(*node) string {
	inner := linked(address, key)
	return func(row *node) string {
		if n := row.get(member); n != nil && n.kind == object {
			return inner(n)
		}
		return ""
	}
}

// links shows addresses by what their keys say.
func links(keys ...string) func(*node) string {
	return func(row *node) string {
		var list []string
		for _, key := range keys {
			if link := webURL(row.text(key)); link != "" {
				if key == "changes_list_url" { // people look for the newest
					link = newest(link)
				}
				name := strings.TrimSuffix(strings.TrimSuffix(key, "_url"), "_list")
				list = append(list, `<a href="`+html.EscapeString(link)+`">`+escaped(strings.ReplaceAll(name, "_", " "))+`</a>`)
			}
		}
		if list == nil {
			return ""
		}
		return `<span class="links">` + strings.Join(list, " ") + `</span>`
	}
}
