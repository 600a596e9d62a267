package config

import "strings"

// The default message templates of a component: our own texts with Weblate's
// placeholders (docs/compatibility.md#message-templates).
const (
	commitMessage = "{{ component_name }}: translate into {{ language_name }}\n" +
		"\n" +
		"{{ stats.translated }} of {{ stats.all }} strings are translated ({{ stats.translated_percent }}%).\n" +
		"\n" +
		"{{ project_name }}/{{ component_name }} on {{ site_title }}\n" +
		"{{ url }}\n"
	addMessage = "{{ component_name }}: start the translation into {{ language_name }}\n" +
		"\n" +
		"{{ project_name }}/{{ component_name }} on {{ site_title }}\n" +
		"{{ url }}\n"
	deleteMessage = "{{ component_name }}: drop the translation into {{ language_name }}\n" +
		"\n" +
		"{{ project_name }}/{{ component_name }} on {{ site_title }}\n" +
		"{{ url }}\n"
	mergeMessage = "Merge {{ component_remote_branch }} into {{ project_name }}/{{ component_name }} on {{ site_title }}\n"
	addonMessage = "{{ component_name }}: update the translation files\n" +
		"\n" +
		"Done by {{ addon_name }} on {{ site_title }}.\n" +
		"{{ url }}\n"
	pullMessage = "{{ project_name }}/{{ component_name }}: news from {{ site_title }}\n" +
		"\n" +
		"The translations come from {{ url }}.\n" +
		"{% if component_linked_childs %}\n" +
		"They hold these components too:\n" +
		"{% for linked in component_linked_childs %}\n" +
		"* {{ linked.project_name }}/{{ linked.name }}: {{ linked.url }}{% endfor %}\n" +
		"{% endif %}\n" +
		"How far they are: {{ widget_url }}\n"
)

// crlf replaces line breaks by CR LF and removes those at the end.
func crlf(s string) string {
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	return strings.ReplaceAll(s, "\n", "\r\n")
}
