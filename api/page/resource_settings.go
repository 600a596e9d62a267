package page

func projectColumns(_ *tabler) []column {
	return []column{{"Project", linked("url", "name")}, {"Web", plain("web")}, {"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url")}}
}

func projectFields(_ *tabler) []column {
	return []column{
		{"Web", plain("web")},
		{"Instructions", plain("instructions")},
		{"More", links("components_list_url", "languages_url", "changes_list_url", "statistics_url", "repository_url")},
	}
}

func componentColumns(_ *tabler) []column {
	return []column{
		{"Component", linked("url", "name")},
		{"Project", within("project", linked("url", "name"))},
		{"Files", plain("filemask")},
		{"Branch", plain("branch")},
		{"More", links("translations_url", "changes_list_url", "statistics_url", "repository_url")},
	}
}

func componentFields(_ *tabler) []column {
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
}

func languageColumns(_ *tabler) []column {
	return []column{{"Language", linked("url", "name")}, {"Code", plain("code")}, {"Direction", plain("direction")}, {"More", links("statistics_url")}}
}

func languageFields(_ *tabler) []column {
	return []column{
		{"Code", plain("code")},
		{"Other codes", joined("aliases")},
		{"Direction", plain("direction")},
		{"Plural forms", within("plural", number("number"))},
		{"Plural formula", plain("plural", "formula")},
		{"More", links("statistics_url")},
	}
}

func userName(n *node) string {
	return n.text("full_name")
}

func userColumns(_ *tabler) []column {
	return []column{{"Name", linked("url", "full_name")}, {"User", plain("username")}, {"First commit", when("date_joined")}, {"More", links("statistics_url")}}
}

func userFields(_ *tabler) []column {
	return []column{{"User", plain("username")}, {"First commit", when("date_joined")}, {"A program", yes("is_bot")}, {"More", links("statistics_url")}}
}

func repositoryFields(_ *tabler) []column {
	return []column{
		{"Commit", plain("weblate_commit", "revision")},
		{"Summary", plain("weblate_commit", "summary")},
		{"Author", plain("weblate_commit", "author_name")},
		{"Committed", within("weblate_commit", when("commitdate"))},
		{"Behind its remote", yes("needs_merge")},
		{"Last pull failed", plain("merge_failure")},
	}
}
