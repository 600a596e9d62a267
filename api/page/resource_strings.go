package page

func unitName(n *node) string {
	return "String " + n.text("position")
}

func unitColumns(t *tabler) []column {
	return []column{
		{"#", linked("url", "position")},
		{"Source", t.forms("source")},
		{"Target", t.forms("target")},
		{"State", state},
		{"Context", plain("context")},
		{"Note", plain("note")},
		{columnOf, where},
	}
}

func unitFields(t *tabler) []column {
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
}

func changeName(n *node) string {
	return "Change " + n.text("id")
}

func changeColumns(t *tabler) []column {
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
}

func changeFields(t *tabler) []column {
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
}

func failuresColumns(_ *tabler) []column {
	return []column{{"String", last("unit")}, {"Checks", failing}}
}

func failureColumns(_ *tabler) []column {
	return []column{{"Check", plain("name")}, {"What", plain("description")}}
}

func commentColumns(t *tabler) []column {
	return []column{{"Comment", t.single("comment")}, {"By", last("user")}, {"When", when("timestamp")}, {"String", last("unit")}}
}

func suggestionColumns(t *tabler) []column {
	return []column{{"Target", t.forms("target")}, {"By", plain("author_name")}, {"When", when("timestamp")}, {"Branch", plain("branch")}, {"Commit", plain("commit")}}
}
