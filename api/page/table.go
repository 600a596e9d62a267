package page

import (
	"html"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxRows bounds the rows of a table, maxCell the characters of a cell and
// maxTable its bytes.
const (
	maxRows  = 1000
	maxCell  = 600
	maxTable = 4 << 20
)

// column is one of a table. cell returns HTML, every text of which it has
// escaped.
type column struct {
	name string
	cell func(row *node) string
}

// tabler makes tables.
type tabler struct {
	direction func(code string) string
}

// tableOf shows a list as a table; "" if its entries are not objects.
func tableOf(list *node, direction func(string) string) template.HTML {
	if len(list.members) == 0 || list.members[0].kind != object {
		return ""
	}
	t := &tabler{direction: direction}
	columns := t.columns(list.members[0])
	if columns == nil {
		columns = general(list.members[0])
	}
	return t.table(columns, list.members, list.more)
}

// rowOf shows an object as such a list would; "" if it is none that lists have.
func rowOf(n *node, direction func(string) string) template.HTML {
	t := &tabler{direction: direction}
	return t.table(t.columns(n), []*node{n}, 0)
}

// table writes the rows, without the columns that are empty in each, and says
// how many more there are.
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
// list that is known. Lists are told by the keys that only they have.
func (t *tabler) columns(row *node) []column {
	has := func(key string) bool { return row.get(key) != nil }
	switch {
	case has("source") && has("target") && has("position"):
		return []column{
			{"#", linked("url", "position")},
			{"Source", t.forms("source")},
			{"Target", t.forms("target")},
			{"State", state},
			{"Context", plain("context")},
			{"Note", plain("note")},
			{"In", page("web_url", "translation")},
		}
	case has("action_name"):
		return []column{
			{"#", linked("url", "id")},
			{"When", when("timestamp")},
			{"What", plain("action_name")},
			{"By", last("user")},
			{"Old", t.single("old")},
			{"New", t.single("target")},
			{"String", last("unit")},
			{"Translation", where},
		}
	case has("translated_percent") && has("language_code"):
		return []column{
			{"Language", linked("url", "language", "name")},
			{"Translated", progress},
			{"Strings", done},
			{"Fuzzy", plain("fuzzy")},
			{"Last change", when("last_change")},
			{"More", links("units_list_url", "changes_list_url", "statistics_url", "file_url")},
		}
	case has("translated_percent"):
		return []column{{"Name", linked("url", "name")}, {"Translated", progress}, {"Strings", done}, {"Fuzzy", plain("fuzzy")}}
	case has("components_list_url"):
		return []column{{"Project", linked("url", "name")}, {"Web", plain("web")}, {"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url")}}
	case has("filemask"):
		return []column{
			{"Component", linked("url", "name")},
			{"Project", linkedTo("project", "url", "name")},
			{"Files", plain("filemask")},
			{"Branch", plain("branch")},
			{"More", links("translations_url", "changes_list_url", "statistics_url", "repository_url")},
		}
	case has("direction") && has("code"):
		return []column{{"Language", linked("url", "name")}, {"Code", plain("code")}, {"Direction", plain("direction")}, {"More", links("statistics_url")}}
	}
	return nil
}

// general are the first keys of an entry that are no collections.
func general(row *node) []column {
	const most = 6
	var list []column
	for i, key := range row.keys {
		if k := row.members[i].kind; k != object && k != array && len(list) < most {
			list = append(list, column{key, plain(key)})
		}
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
		if name == "" {
			name = "—"
		}
		if link == "" {
			return short(name)
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
				name := strings.TrimSuffix(strings.TrimSuffix(key, "_url"), "_list")
				list = append(list, `<a href="`+html.EscapeString(link)+`">`+escaped(strings.ReplaceAll(name, "_", " "))+`</a>`)
			}
		}
		return `<span class="links">` + strings.Join(list, " ") + `</span>`
	}
}

// last shows the address under a key by the last segment of its path.
func last(key string) func(*node) string {
	return func(row *node) string {
		link := webURL(row.text(key))
		if link == "" {
			return ""
		}
		segments := segmentsOf(link)
		return anchor(link, segments[len(segments)-1])
	}
}

// page shows the language of a string's translation as a link to its page.
func page(address, translation string) func(*node) string {
	return func(row *node) string {
		link, code := webURL(row.text(address)), languageOf(row.text(translation))
		if link == "" || code == "" {
			return ""
		}
		return anchor(link, code)
	}
}

// where shows what a change was in.
func where(row *node) string {
	link := webURL(row.text("translation"))
	if link == "" {
		link = webURL(row.text("component"))
	}
	segments := segmentsOf(link)
	if link == "" || len(segments) < 3 {
		return ""
	}
	return anchor(link, strings.Join(segments[2:], "/"))
}

func segmentsOf(link string) []string {
	u, err := url.Parse(link)
	if err != nil {
		return []string{""}
	}
	return strings.Split(strings.Trim(u.Path, "/"), "/")
}

// languageOf is the code that the URL of a translation ends with; "" if it is
// none.
func languageOf(link string) string {
	segments := segmentsOf(link)
	if len(segments) != 5 || segments[1] != "translations" {
		return ""
	}
	return segments[4]
}
