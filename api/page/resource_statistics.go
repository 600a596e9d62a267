package page

func translationName(n *node) string {
	return n.text("language", "name") + " · " + n.text("component", "name")
}

func translationColumns(_ *tabler) []column {
	return []column{
		{"Language", linked("url", "language", "name")},
		{"Component", within("component", linked("url", "name"))},
		{"Translated", progress},
		{"Strings", done("translated", "total")},
		{"Fuzzy", number("fuzzy")},
		{"Last change", when("last_change")},
		{"More", links("units_list_url", "changes_list_url", "statistics_url", "file_url")},
	}
}

func translationFields(_ *tabler) []column {
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
}

func statisticsColumns(_ *tabler) []column {
	return []column{{"Name", linked("url", "name")}, {"Translated", progress}, {"Strings", done("translated", "total")}, {"Fuzzy", number("fuzzy")}, {"Failing checks", number("failing")}, {"Last change", when("last_change")}}
}

func statisticsFields(_ *tabler) []column {
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

func dayColumns(_ *tabler) []column {
	return []column{{"From", plain("first_day")}, {"To", plain("last_day")}, {"Translated", progress}, {"Strings", done("translated", "total")}, {"Fuzzy", number("fuzzy")}}
}
