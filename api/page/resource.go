package page

import "strings"

// resource is a kind of resource whose pages show chosen columns and fields. Each
// kind has a row in resources; all others show their first keys.
type resource struct {
	keys []string // an object with all of them, and of no earlier kind, is of this kind
	// name is the name of an object for people; nil: none.
	name func(n *node) string
	// columns are the columns of a list; nil: the kind has no list.
	columns func(t *tabler) []column
	// fields are the lines of an object; nil: its first keys.
	fields func(t *tabler) []column
}

// resources is the table of all kinds, in the order in which they are tried. It is
// never changed.
var resources = []resource{
	{keys: []string{"source", "target", "position"}, name: unitName, columns: unitColumns, fields: unitFields},
	{keys: []string{"action_name"}, name: changeName, columns: changeColumns, fields: changeFields},
	{keys: []string{"translated_percent", "language_code"}, name: translationName, columns: translationColumns, fields: translationFields},
	{keys: []string{"translated_percent", "first_day"}, columns: dayColumns, fields: statisticsFields},
	{keys: []string{"translated_percent"}, columns: statisticsColumns, fields: statisticsFields},
	{keys: []string{"components_list_url"}, name: ownName, columns: projectColumns, fields: projectFields},
	{keys: []string{"filemask"}, name: ownName, columns: componentColumns, fields: componentFields},
	{keys: []string{"direction", "code"}, name: ownName, columns: languageColumns, fields: languageFields},
	{keys: []string{"username", "date_joined"}, name: userName, columns: userColumns, fields: userFields},
	{keys: []string{"needs_merge", "needs_push"}, fields: repositoryFields},
	{keys: []string{"checks", "unit"}, columns: failuresColumns},
	{keys: []string{"check", "failures"}, columns: failureColumns},
	{keys: []string{"comment", "unit"}, columns: commentColumns},
	{keys: []string{"target", "branch"}, columns: suggestionColumns},
}

// resourceOf returns the kind of an object; the zero value if it is unknown.
func resourceOf(n *node) resource {
	for _, r := range resources {
		found := true
		for _, key := range r.keys {
			found = found && n.get(key) != nil
		}
		if found {
			return r
		}
	}
	return resource{}
}

// nameOf returns the name of an object for people; "" if it has none.
func nameOf(n *node) string {
	if r := resourceOf(n); r.name != nil {
		return r.name(n)
	}
	return ""
}

func ownName(n *node) string { return n.text("name") }

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
