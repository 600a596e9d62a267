package page

// shape is what kind of resource an object is.
type shape int

const (
	unknown shape = iota
	aUnit
	aChange
	aTranslation
	aDay // of statistics over time
	statistics
	aProject
	aComponent
	aLanguage
	aUser
	aRepository
	failures
	aFailure
	aComment
	aSuggestion
)

// kindOf recognizes an object by the keys that only its kind has.
func kindOf(n *node) shape {
	has := func(key string) bool { return n.get(key) != nil }
	switch {
	case has("source") && has("target") && has("position"):
		return aUnit
	case has("action_name"):
		return aChange
	case has("translated_percent") && has("language_code"):
		return aTranslation
	case has("translated_percent") && has("first_day"):
		return aDay
	case has("translated_percent"):
		return statistics
	case has("components_list_url"):
		return aProject
	case has("filemask"):
		return aComponent
	case has("direction") && has("code"):
		return aLanguage
	case has("username") && has("date_joined"):
		return aUser
	case has("needs_merge") && has("needs_push"):
		return aRepository
	case has("checks") && has("unit"):
		return failures
	case has("check") && has("failures"):
		return aFailure
	case has("comment") && has("unit"):
		return aComment
	case has("target") && has("branch"):
		return aSuggestion
	}
	return unknown
}

// nameOf returns the name of an object for people; "" if it has none.
func nameOf(n *node) string {
	switch kindOf(n) {
	case aUnit:
		return "String " + n.text("position")
	case aChange:
		return "Change " + n.text("id")
	case aTranslation:
		return n.text("language", "name") + " · " + n.text("component", "name")
	case aProject, aComponent, aLanguage:
		return n.text("name")
	case aUser:
		return n.text("full_name")
	}
	return ""
}

// object shows a resource, a line for each field that is not empty; nil if there
// is no such field. Whole says that the table shows all that matters of the JSON.
func (t *tabler) object(n *node) (shown *table, whole bool) {
	t.longest = maxShown
	fields, whole := t.fields(n), true
	if fields == nil {
		fields = general(n, maxFields)
		whole = len(fields) == len(n.keys)
	}
	var lines []namedCell
	for _, f := range fields {
		if c := f.cell(n); !c.empty() {
			lines = append(lines, namedCell{visible(f.name), c})
		}
	}
	if lines == nil {
		return nil, false
	}
	return &table{Object: true, Rows: [][]namedCell{lines}}, whole
}

// fields chooses what is worth seeing of an object; nil if its kind is unknown.
func (t *tabler) fields(n *node) []column {
	switch kindOf(n) {
	case aUnit:
		return []column{
			{"Source", t.forms("source")},
			{"Previous source", t.single("previous_source")},
			{"Target", t.forms("target")},
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
		}
	case aChange:
		return []column{
			{"When", when("timestamp")},
			{"What", plain("action_name")},
			{"By", author},
			{"In", where},
			{"String", last("unit")},
			{"Source", plain("details", "source")},
			{"Context", plain("details", "context")},
			{"Old", t.single("old")},
			{"New", t.single("target")},
			{"File", plain("details", "file")},
			{"Line", plain("details", "line")},
			{"Message", plain("details", "message")},
			{"Error", plain("details", "error")},
			{"Language", plain("details", "language")},
			{"Commit", plain("details", "commit")},
			{"Committed", within("details", when("commit_time"))},
		}
	case aTranslation:
		return []column{
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
		}
	case statistics, aDay:
		return []column{
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
	}
	return t.settings(n)
}

// settings are the fields of resources that are configured, not translated.
func (t *tabler) settings(n *node) []column {
	switch kindOf(n) {
	case aProject:
		return []column{
			{"Web", plain("web")},
			{"Instructions", plain("instructions")},
			{"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url", "repository_url")},
		}
	case aComponent:
		return []column{
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
		}
	case aLanguage:
		return []column{
			{"Code", plain("code")},
			{"Other codes", joined("aliases")},
			{"Direction", plain("direction")},
			{"Plural forms", within("plural", number("number"))},
			{"Plural formula", plain("plural", "formula")},
			{"More", links("statistics_url")},
		}
	case aUser:
		return []column{{"User", plain("username")}, {"First commit", when("date_joined")}, {"A program", yes("is_bot")}, {"More", links("statistics_url")}}
	case aRepository:
		return []column{
			{"Commit", plain("weblate_commit", "revision")},
			{"Summary", plain("weblate_commit", "summary")},
			{"Author", plain("weblate_commit", "author_name")},
			{"Committed", within("weblate_commit", when("commitdate"))},
			{"Behind its remote", yes("needs_merge")},
			{"Last pull failed", plain("merge_failure")},
		}
	}
	return nil
}
