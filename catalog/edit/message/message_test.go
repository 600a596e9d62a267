package message

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

func values() Values {
	return Values{
		SiteTitle: "repoglot", SiteURL: "https://l10n.example.org/", URL: "https://l10n.example.org/p/c/cs/", WidgetURL: "https://l10n.example.org/widget/p/c/horizontal-auto.svg",
		Project: "Hello", ProjectSlug: "hello", Component: "App", ComponentSlug: "app", RemoteBranch: "origin/main",
		Linked:   []Linked{{"Hello", "Docs", "https://l10n.example.org/docs/"}, {"Hello", "Web", "https://l10n.example.org/web/"}},
		Language: "Czech", LanguageCode: "cs", Filename: "po/app/cs.po", Author: "Jana <jana@example.org>", Addon: "Update LINGUAS",
		Stats: catalog.Stats{Total: catalog.Count{Units: 3, Words: 10, Chars: 100}, Translated: catalog.Count{Units: 1, Words: 2, Chars: 3}, Fuzzy: catalog.Count{Units: 2, Words: 8, Chars: 97}},
	}
}

// TestEveryCountHasAPlaceholder: each count of a translation changes some placeholder.
func TestEveryCountHasAPlaceholder(t *testing.T) {
	for i := range reflect.TypeFor[catalog.Stats]().NumField() {
		var v Values
		if field := reflect.ValueOf(&v.Stats).Elem().Field(i); field.Kind() == reflect.Struct {
			field.Field(0).SetInt(7)
		} else {
			field.SetInt(7)
		}
		changed := false
		for _, p := range placeholders() {
			changed = changed || p.get(&v) != p.get(&Values{})
		}
		if !changed {
			t.Errorf("no placeholder has %s", reflect.TypeFor[catalog.Stats]().Field(i).Name)
		}
	}
}

// TestRender renders each construct.
func TestRender(t *testing.T) {
	for _, tt := range []struct {
		kind     Kind
		in, want string
	}{
		{Translation, "Translated ({{ language_name }})\r\n\r\nCurrently {{ stats.translated_percent }}% ({{stats.translated}} of {{ stats.all }})\r\n\r\n\r\nTranslate-URL: {{ url }}\r\n", "Translated (Czech)\n\nCurrently 33.3% (1 of 3)\n\nTranslate-URL: https://l10n.example.org/p/c/cs/"},
		{Translation, "{{ stats.fuzzy_words }} {{ stats.fuzzy_words_percent }} {{ stats.approved }} {{ stats.approved_percent }} {{ stats.todo }} {{ stats.todo_chars }} {{ stats.suggestions }}", "8 80.0 0 0.0 2 97 0"},
		{Translation, "{{ filename }} {{ filename|basename }} {{ filename|basename|stripext }} {{ filename | dirname }} {{ filename|parentdir }}", "po/app/cs.po cs.po cs po/app app/cs.po"},
		{Translation, "{{ author }}, {{ language_code }}, {{ project_slug }}/{{ component_slug }}", "Jana <jana@example.org>, cs, hello/app"},
		{Component, "a{% for l in component_linked_childs %}\n* {{ l.project_name }}/{{ l.name }} {{ l.url }}{% endfor %}\nb", "a\n* Hello/Docs https://l10n.example.org/docs/\n* Hello/Web https://l10n.example.org/web/\nb"},
		{Component, "{{ component_linked_childs }}", "Hello/Docs, Hello/Web"},
		{Component, "{% for a in component_linked_childs %}{% for a in component_linked_childs %}{{ a.name }}{% endfor %}-{{ a.name }} {% endfor %}", "DocsWeb-Docs DocsWeb-Web"},
		{Component, "{% if component_linked_childs %}some{% else %}none{% endif %}", "some"},
		{Component, "{% if not component_linked_childs %}none{% elif project_name == 'Hello' %}hello{% else %}x{% endif %}", "hello"},
		{Component, "{% if project_name == \"x\" or project_name != \"y\" and site_title %}yes{% endif %}", "yes"},
		{Component, "{% if project_name == \"x\" and site_title or not site_url %}yes{% endif %}no", "no"},
		{Translation, "{% if stats.approved %}a{% endif %}{% if stats.fuzzy %}f{% endif %}", "f"},
		{Addon, "Update: {{ addon_name }} {{ hook_name }}", "Update: Update LINGUAS Update LINGUAS"},
		{Component, "a {# comment {{ x }} #}b { c } {x}", "a b { c } {x}"},
		{Component, "  {{ 'text' }}\x00\x1b", "  text"},
		{Component, "\n\n \n", ""},
	} {
		template, err := Parse(tt.kind, tt.in)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, template.Render(values())); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.in, diff)
		}
	}
	empty := values()
	empty.Linked, empty.Stats = nil, catalog.Stats{}
	template, err := Parse(Translation, "{% for l in component_linked_childs %}x{% empty %}none {{ stats.translated_percent }} {{ stats.fuzzy_percent }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	if got := template.Render(empty); got != "none 100.0 0.0" {
		t.Errorf("without components: %q", got)
	}
}

// TestParseErrors lists what a configuration is refused for.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		kind     Kind
		in, want string
	}{
		{Translation, "a\n\u010d {{ languge_name }}", `2:3: unknown placeholder "languge_name": docs/compatibility.md lists them`},
		{Translation, "{{ stats.nothing }}", `1:1: unknown placeholder "stats.nothing": docs/compatibility.md lists them`},
		{Translation, "{{ addon_name }}", `1:1: addon_name is known in addon_message only`},
		{Component, "{{ language_name }}", `1:1: language_name is known in commit_message, add_message and delete_message only`},
		{Component, "{{ url|upper }}", `1:1: unknown filter "upper": known are basename, dirname, parentdir, stripext`},
		{Component, "{{ url", `1:1: "{{ url" is not closed by }} on its line`},
		{Component, "{{ url\n}}", `1:1: "{{ url" is not closed by }} on its line`},
		{Component, "{% load x %}", `1:1: unknown tag "load": known are for and if`},
		{Component, "{% for a in b %}{% endfor %}", `1:1: "b" is no list: the only one is component_linked_childs`},
		{Component, "{% for a %}{% endfor %}", `1:1: a loop is {% for item in component_linked_childs %}`},
		{Component, "{% for a in component_linked_childs %}{{ a.slug }}{% endfor %}", `1:39: unknown field "slug" of a: known are name, project_name, url`},
		{Component, "{% for a in component_linked_childs %}{% endfor %}{{ a.name }}", `1:51: unknown placeholder "a.name": docs/compatibility.md lists them`},
		{Component, "x{% for a in component_linked_childs %}", `1:2: {% for %} is not closed by {% endfor %}`},
		{Component, "{% if url %}{% endfor %}", `1:1: {% if %} is not closed by {% endif %}`},
		{Component, "{% endif %}", `1:1: {% endif %} closes nothing`},
		{Component, "{% if %}{% endif %}", `1:1: the condition is missing, or a quote is not closed`},
		{Component, "{% if url == %}{% endif %}", `1:1: the condition is not complete`},
		{Component, "{% if url > 3 %}{% endif %}", `1:1: ">" is no operator: known are and, or, not, == and !=`},
		{Component, "{% if url == 'a %}{% endif %}", `1:1: the condition is missing, or a quote is not closed`},
		{Component, strings.Repeat("{% if url %}", 12), `1:121: tags are nested in more than 10 levels`},
		{Component, strings.Repeat("a", maxTemplate+1), `1:1: the template has 16385 bytes; at most 16384 are read`},
	} {
		_, err := Parse(tt.kind, tt.in)
		got := "no error"
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%.60q:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// TestDefaults parses the default template of requests, which uses most of the language.
func TestDefaults(t *testing.T) {
	const pull = "{{ project_name }}/{{ component_name }}: news from {{ site_title }}\n\nThe translations come from {{ url }}.\n{% if component_linked_childs %}\nThey hold these components too:\n" +
		"{% for linked in component_linked_childs %}\n* {{ linked.project_name }}/{{ linked.name }}: {{ linked.url }}{% endfor %}\n{% endif %}\nHow far they are: {{ widget_url }}"
	template, err := Parse(Component, pull)
	if err != nil {
		t.Fatal(err)
	}
	const want = "Hello/App: news from repoglot\n\nThe translations come from https://l10n.example.org/p/c/cs/.\n\nThey hold these components too:\n\n" +
		"* Hello/Docs: https://l10n.example.org/docs/\n* Hello/Web: https://l10n.example.org/web/\n\nHow far they are: https://l10n.example.org/widget/p/c/horizontal-auto.svg"
	if diff := cmp.Diff(want, template.Render(values())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestBounds renders values that are too long, and too many.
func TestBounds(t *testing.T) {
	v := values()
	v.Component = strings.Repeat("č", 1000)
	for range 1000 {
		v.Linked = append(v.Linked, Linked{Name: v.Component})
	}
	template, err := Parse(Component, "{{ component_name }}{% for l in component_linked_childs %}\n{% for m in component_linked_childs %}{{ m.name }}\n{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	got := template.Render(v)
	if len(got) > maxMessage || !strings.HasPrefix(got, strings.Repeat("č", 500)+"…\n") || strings.HasSuffix(got, "\n") {
		t.Errorf("%d bytes, %.20q", len(got), got)
	}
}

// TestForged has values that would be trailers, headers or several lines; git finds our
// trailers only.
func TestForged(t *testing.T) {
	v := values()
	v.Language = "Signed-off-by: Linus <l@example.org>\nReviewed-by: x"
	v.Author = "Co-authored-by: a\r\nb\u2028c <https://x>"
	v.Component = "\n\n---\ndiff"
	template, err := Parse(Translation, "Subject\n\n{{ component_name }}\n\n{{ language_name }}\n{{ author }}\n")
	if err != nil {
		t.Fatal(err)
	}
	got := template.Render(v)
	const want = "Subject\n\n\"--- diff\"\n\n\"Signed-off-by: Linus <l@example.org> Reviewed-by: x\"\n\"Co-authored-by: a  b c <https://x>\""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	got = WithTrailers(got, Trailer(CoAuthoredBy, "Petr\nSigned-off-by: x", "p>@example.org"))
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed")
	}
	cmd := exec.Command("git", "interpret-trailers", "--parse")
	cmd.Stdin = strings.NewReader(got + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "Co-authored-by: Petr Signed-off-by: x <p@example.org>\n"; string(out) != want {
		t.Errorf("git finds %q, want %q", out, want)
	}
}

// TestWithTrailers adds trailers to messages with and without trailers.
func TestWithTrailers(t *testing.T) {
	jana, petr := Trailer(CoAuthoredBy, "Jana", "j@example.org"), Trailer(SignedOffBy, "Petr", "p@example.org")
	for _, tt := range []struct {
		in   string
		add  []string
		want string
	}{
		{"a", []string{jana}, "a\n\nCo-authored-by: Jana <j@example.org>"},
		{"Fix: a", []string{jana}, "Fix: a\n\nCo-authored-by: Jana <j@example.org>"},
		{"a\n\nText: and\nmore\n", []string{jana, petr}, "a\n\nText: and\nmore\n\nCo-authored-by: Jana <j@example.org>\nSigned-off-by: Petr <p@example.org>"},
		{"a\n\nTranslation: p/c\nTranslate-URL: u", []string{jana}, "a\n\nTranslation: p/c\nTranslate-URL: u\nCo-authored-by: Jana <j@example.org>"},
		{"a\n\nCo-authored-by: Jana <j@example.org>", []string{jana, jana}, "a\n\nCo-authored-by: Jana <j@example.org>"},
		{"a", []string{jana, jana, Trailer(CoAuthoredBy, "", "x@y"), Trailer(CoAuthoredBy, "X", "")}, "a\n\nCo-authored-by: Jana <j@example.org>"},
		{"a", nil, "a"},
	} {
		if diff := cmp.Diff(tt.want, WithTrailers(tt.in, tt.add...)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.in, diff)
		}
	}
}

// FuzzParse renders whatever parses: bounded, in lines of its template's making.
func FuzzParse(f *testing.F) {
	f.Add("{{ language_name }}{% if url %}a{% endif %}", "x\ny")
	f.Add("{% for l in component_linked_childs %}{{ l.name }}{% empty %}x{% endfor %}", "Signed-off-by: x")
	f.Fuzz(func(t *testing.T, text, value string) {
		template, err := Parse(Translation, text)
		if err != nil {
			return
		}
		v := values()
		v.Language, v.URL, v.Linked[0].Name = value, value, value
		got := template.Render(v)
		if len(got) > maxMessage || strings.ContainsAny(got, "\r\x00") || strings.Contains(got, "\n\n\n") {
			t.Errorf("%q", got)
		}
		if lines := strings.Count(text, "\n") * (1 + len(v.Linked)); !strings.Contains(text, "{%") && strings.Count(got, "\n") > lines {
			t.Errorf("a value breaks its line: %q", got)
		}
	})
}
