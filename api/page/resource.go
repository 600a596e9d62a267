package page

import "strings"

// resource is a kind of resource whose pages show chosen columns and fields. Each
// kind has a row in resources; all others show their first keys.
type resource struct {
	keys []string // an object with all of them, and of no earlier kind, is of this kind
	// name is the name of an object for people; nil: none.
	name func(n *node) string
	// columns are the columns of a list; nil: the kind has no list.
	columns []column
	// fields are the lines of an object; nil: its first keys.
	fields []column
}

// resources is the table of all kinds, in the order in which they are tried. It is
// never changed.
var resources = []resource{
	{
		keys: []string{"source", "target", "position"},
		name: heading("String ", "position"),
		columns: []column{
			{"#", linked("url", "position")},
			{"Source", forms("source")},
			{"Target", forms("target")},
			{"State", state},
			{"Context", plain("context")},
			{"Note", plain("note")},
			{columnOf, where},
		},
		fields: []column{
			{"Source", forms("source")},
			{"Previous source", single("previous_source")},
			{"Target", forms("target")},
			{"State", state},
			{"Context", plain("context")},
			{"Note", plain("note")},
			{"Explanation", plain("explanation")},
			{"Location", plain("location")},
			{"Flags", plain("flags")},
			{"Failing checks", below("has_failing_check", "checks")},
			{"Suggestions", below("has_suggestion", "suggestions")},
			{"Comments", below("has_comment", "comments")},
			{"Words", number("num_words")},
			{"Translation", where},
			{"Source string", last("source_unit")},
			{"Other languages", siblings},
		},
	},
	{
		keys: []string{"action_name"},
		name: heading("Change ", "id"),
		columns: []column{
			{"#", linked("url", "id")},
			{"When", when("timestamp")},
			{"What", plain("action_name")},
			{"By", author},
			{"String", about},
			{"Old", single("old")},
			{"New", after},
			{columnOf, where},
		},
		fields: []column{
			{"When", when("timestamp")},
			{"What", plain("action_name")},
			{"By", author},
			{"In", where},
			{"String", last("unit")},
			{"Source", plain("details", "source")},
			{"Context", plain("details", "context")},
			{"Old", single("old")},
			{"New", after},
			{"File", plain("details", "file")},
			{"Line", plain("details", "line")},
			{"Message", plain("details", "message")},
			{"Error", plain("details", "error")},
			{"Language", plain("details", "language")},
			{"Commit", plain("details", "commit")},
			{"Committed", within("details", when("commit_time"))},
		},
	},
	{
		keys: []string{"translated_percent", "language_code"},
		name: translationName,
		columns: []column{
			{"Language", linked("url", "language", "name")},
			{"Component", within("component", linked("url", "name"))},
			{"Translated", progress},
			{"Strings", done("translated", "total")},
			{"Fuzzy", number("fuzzy")},
			{"Last change", when("last_change")},
			{"More", links("units_list_url", "changes_list_url", "statistics_url", "file_url")},
		},
		fields: []column{
			{"Language", within("language", linked("url", "name"))},
			{"Component", within("component", linked("url", "name"))},
			{"Translated", progress},
			{"Strings", done("translated", "total")},
			{"Words", done("translated_words", "total_words")},
			{"Fuzzy", number("fuzzy")},
			{"Failing checks", number("failing_checks")},
			{"File", plain("filename")},
			{"Last change", when("last_change")},
			{"Last author", plain("last_author")},
			{"More", links("units_list_url", "changes_list_url", "statistics_url", "file_url", "repository_url")},
		},
	},
	{
		keys:    []string{"translated_percent", "first_day"},
		columns: []column{{"From", plain("first_day")}, {"To", plain("last_day")}, {"Translated", progress}, {"Strings", done("translated", "total")}, {"Fuzzy", number("fuzzy")}},
		fields:  statisticsFields,
	},
	{
		keys:    []string{"translated_percent"},
		columns: []column{{"Name", linked("url", "name")}, {"Translated", progress}, {"Strings", done("translated", "total")}, {"Fuzzy", number("fuzzy")}, {"Failing checks", number("failing")}, {"Last change", when("last_change")}},
		fields:  statisticsFields,
	},
	{
		keys:    []string{"components_list_url"},
		name:    heading("", "name"),
		columns: []column{{"Project", linked("url", "name")}, {"Web", plain("web")}, {"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url")}},
		fields: []column{
			{"Web", plain("web")},
			{"Instructions", plain("instructions")},
			{"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url", "repository_url")},
		},
	},
	{
		keys: []string{"filemask"},
		name: heading("", "name"),
		columns: []column{
			{"Component", linked("url", "name")},
			{"Project", within("project", linked("url", "name"))},
			{"Files", plain("filemask")},
			{"Branch", plain("branch")},
			{"More", links("translations_url", "changes_list_url", "statistics_url", "repository_url")},
		},
		fields: []column{
			{"Project", within("project", linked("url", "name"))},
			{"Source language", within("source_language", linked("url", "name"))},
			{"Repository", plain("repo")},
			{"Branch", plain("branch")},
			{"Files", plain("filemask")},
			{"Template", plain("new_base")},
			{"License", linked("license_url", "license")},
			{"Clone from here", plain("git_export")},
			{"Being imported", plain("task_url")},
			{"More", links("translations_url", "changes_list_url", "statistics_url", "repository_url", "lock_url", "links_url")},
		},
	},
	{
		keys:    []string{"direction", "code"},
		name:    heading("", "name"),
		columns: []column{{"Language", linked("url", "name")}, {"Code", plain("code")}, {"Direction", plain("direction")}, {"More", links("statistics_url")}},
		fields: []column{
			{"Code", plain("code")},
			{"Other codes", joined("aliases")},
			{"Direction", plain("direction")},
			{"Plural forms", within("plural", number("number"))},
			{"Plural formula", plain("plural", "formula")},
			{"More", links("statistics_url")},
		},
	},
	{
		keys:    []string{"username", "date_joined"},
		name:    heading("", "full_name"),
		columns: []column{{"Name", linked("url", "full_name")}, {"User", plain("username")}, {"First commit", when("date_joined")}, {"More", links("statistics_url")}},
		fields:  []column{{"User", plain("username")}, {"First commit", when("date_joined")}, {"A program", yes("is_bot")}, {"More", links("statistics_url")}},
	},
	{
		keys: []string{"needs_merge", "needs_push"},
		fields: []column{
			{"Commit", plain("weblate_commit", "revision")},
			{"Summary", plain("weblate_commit", "summary")},
			{"Author", plain("weblate_commit", "author_name")},
			{"Committed", within("weblate_commit", when("commitdate"))},
			{"Behind its remote", yes("needs_merge")},
			{"Last failure", plain("merge_failure")},
		},
	},
	{
		keys:    []string{"checks", "unit"},
		columns: []column{{"String", last("unit")}, {"Checks", failing}},
	},
	{
		keys:    []string{"check", "failures"},
		columns: []column{{"Check", plain("name")}, {"What", plain("description")}},
	},
	{
		keys:    []string{"comment", "unit"},
		columns: []column{{"Comment", single("comment")}, {"By", last("user")}, {"When", when("timestamp")}, {"String", last("unit")}},
	},
	{
		keys:    []string{"target", "branch"},
		columns: []column{{"Target", forms("target")}, {"By", plain("author_name")}, {"When", when("timestamp")}, {"Branch", plain("branch")}, {"Commit", plain("commit")}},
	},
}

var statisticsFields = []column{
	{"Of", linked("url", "name")},
	{"Translated", progress},
	{"Strings", done("translated", "total")},
	{"Words", done("translated_words", "total_words")},
	{"Characters", done("translated_chars", "total_chars")},
	{"Fuzzy", number("fuzzy")},
	{"Failing checks", number("failing")},
	{"Last change", when("last_change")},
	{"Last author", plain("last_author")},
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

// heading makes a name of a member and a word before it.
func heading(before, key string) func(*node) string {
	return func(n *node) string { return before + n.text(key) }
}

func translationName(n *node) string {
	return n.text("language", "name") + " · " + n.text("component", "name")
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
