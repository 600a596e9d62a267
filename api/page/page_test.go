package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func render(t testing.TB, body any) string {
	t.Helper()
	data, err := json.Marshal(body)
	must(t, err)
	html, err := Render(&Page{
		Title: "Unit List", Target: "/api/units/?q=<script>alert(1)</script>", Status: "200 OK", Body: data,
		Direction: func(code string) string { return map[string]string{"ar": "rtl", "cs": "ltr"}[code] },
	})
	must(t, err)
	return string(html)
}

func units(language, source, target string) map[string]any {
	return map[string]any{"count": 1, "next": nil, "previous": nil, "results": []any{map[string]any{
		"translation": "http://h/api/translations/p/c/" + language + "/?format=api", "source": []string{source}, "target": []string{target},
		"state": 20, "position": 1, "url": "http://h/api/units/1/", "web_url": "http://h/translate/p/c/x/", "context": source, "note": target,
	}}}
}

// TestHostile renders what a PO file may hold: none of it becomes markup.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</pre></details><script>`, `' onclick='x`, "{{.Title}}",
		`javascript:alert(1)`, `http://h/"onmouseover="x`, "https://h/\u202egpj", "]]><svg/onload=x>", "a\x00b\x1b[31m\u0085", "\u202eevil\u2066", `data:text/html,<script>`,
	} {
		for _, language := range []string{"cs", s} {
			got := render(t, units(language, s, s))
			for _, never := range []string{"<script", "<img", "<svg", `href="javascript`, `a href="data`, "\u202e", "\u2066", "\x00", "\x1b", "\u0085", `"onmouseover="`, "' onclick='"} {
				if strings.Contains(got, never) {
					t.Errorf("%q became %q", s, never)
				}
			}
		}
	}
}

func TestDirection(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"ar": `<div class="text" dir="rtl" lang="ar">`, "cs": `<div class="text" dir="ltr" lang="cs">`, "pt_BR": `<div class="text" dir="auto" lang="pt-BR">`,
		"sr@latin": `<div class="text" dir="auto" lang="sr-Latn">`, "ca@valencia": `<div class="text" dir="auto" lang="ca">`,
	} {
		if got := render(t, units(language, "Hello", "World")); !strings.Contains(got, want+"World</div>") {
			t.Errorf("%s: no %s", language, want)
		}
	}
}

// TestBounds renders texts and lists beyond every bound.
func TestBounds(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("ä", 1<<20)
	got := render(t, units("cs", huge, huge))
	if len(got) > 100_000 || !strings.Contains(got, "more characters") {
		t.Errorf("a string of 2 MiB makes a page of %d bytes", len(got))
	}
	if one := render(t, units("cs", huge, huge)["results"].([]any)[0]); len(one) > 100_000 || strings.Count(one, strings.Repeat("ä", maxShown)+" <em>and 1044576 more") != 2 {
		t.Errorf("the string alone makes a page of %d bytes", len(one))
	}
	rows := make([]any, 2*maxRows)
	for i := range rows {
		rows[i] = map[string]any{"name": fmt.Sprint("row ", i, strings.Repeat("<", 3000)), "code": i}
	}
	got = render(t, rows)
	if len(got) > 16<<20 || !strings.Contains(got, "more rows") || !strings.Contains(got, "The rest is left away") {
		t.Errorf("2000 rows make a page of %d bytes", len(got))
	}
	if got := strings.Count(render(t, rows[:maxRows+1]), "<tr>"); got > maxRows+1 {
		t.Errorf("%d rows are shown", got)
	}
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if _, err := Render(&Page{Target: "/", Body: []byte(deep)}); err == nil {
		t.Error("values nested 100 deep are shown")
	}
}

// TestKeysKeepTheirOrder also holds that values look like the JSON.
func TestKeysKeepTheirOrder(t *testing.T) {
	t.Parallel()
	body := `{"zeta":1.0,"alpha":null,"list":["http://h/a?b=1&c=2",true],"empty":{}}`
	html, err := Render(&Page{Title: "T", Target: "/api/", Status: "200 OK", Body: []byte(body)})
	must(t, err)
	at := 0
	for _, want := range []string{"zeta", "1.0", "alpha", "null", "list", `<a href="http://h/a?b=1&amp;c=2">http://h/a?b=1&amp;c=2</a>`, "true", "empty", "{}"} {
		next := strings.Index(string(html)[at:], want)
		if next < 0 {
			t.Fatalf("no %s after byte %d", want, at)
		}
		at += next
	}
}

// TestEmptyColumns: a column that is empty in every row is left out, and so is
// what all entries are in.
func TestEmptyColumns(t *testing.T) {
	t.Parallel()
	list := units("cs", "Open", "")
	got := render(t, list)
	if !strings.Contains(got, `data-name="Context"`) || strings.Contains(got, `data-name="Note"`) || strings.Contains(got, ">Note<") {
		t.Errorf("columns in %s", got)
	}
	one := list["results"].([]any)[0]
	list["results"] = []any{one, one}
	if got := render(t, list); strings.Contains(got, `data-name="In"`) {
		t.Errorf("both strings are said to be of one translation in %s", got)
	}
	list["results"] = []any{one, units("de", "Open", "")["results"].([]any)[0]}
	if got := render(t, list); !strings.Contains(got, `<td data-name="In"><a href="http://h/api/translations/p/c/de/"><bdi>p/<wbr>c/<wbr>de</bdi></a></td>`) {
		t.Errorf("not where a string is in %s", got)
	}
}

// TestObjects shows a resource of every kind: its name as the heading and its
// fields, a line each; the JSON is open only below a resource that is shown in part.
func TestObjects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body, heading string
		lines         []string
		open          bool
	}{
		"unit": {`{"source":["a","b"],"target":[""],"position":7,"location":"x.c:1","note":"","num_words":2,"has_failing_check":true,"has_comment":false,"url":"http://h/api/units/8/?format=api","source_unit":"http://h/api/units/9/?format=api"}`, "String 7", []string{"Source|>a<", "Source|>b<", "Location|x.c:1", "Words|2", `Failing checks|href="http://h/api/units/8/checks/"`, `Other languages|href="http://h/api/units/9/translations/"`}, false},
		"change": {
			`{"action_name":"New string added","id":5,"user":"http://h/api/users/j/","details":{"author_name":"Jö","commit":"abc","file":"po/x.po"},"timestamp":"2026-01-02T03:04:05.6Z"}`, "Change 5",
			[]string{"By|Jö", "Commit|abc", "File|po/x.po", "When|2026-01-02 03:04:05"},
			false,
		},
		"translation": {
			`{"language_code":"cs","language":{"name":"Czech"},"component":{"name":"App"},"translated_percent":50.5,"translated":1,"total":2,"filename":"po/cs.po"}`, "Czech · App",
			[]string{"Translated|50.5 %", "Strings|1 / 2", "File|po/cs.po"},
			false,
		},
		"project":    {`{"name":"De<mo>","components_list_url":"http://h/c/","changes_list_url":"http://h/ch/?a=b","web":""}`, "De&lt;mo&gt;", []string{`More|href="http://h/ch/?a=b&amp;ordering=-id"`}, false},
		"component":  {`{"name":"App","filemask":"po/*.po","license":"MIT","license_url":"http://l/","git_export":null,"branch":"main"}`, "App", []string{"Branch|main", `License|href="http://l/"`}, false},
		"language":   {`{"code":"cs","name":"Czech","direction":"ltr","aliases":["cze","ces"],"plural":{"number":3,"formula":"n>1"}}`, "Czech", []string{"Other codes|cze, ces", "Plural forms|3", "Plural formula|n&gt;1"}, false},
		"user":       {`{"username":"j","full_name":"Jö","date_joined":"2026-01-02T03:04:05Z","is_bot":false}`, "Jö", []string{"A program|no", "First commit|2026-01-02"}, false},
		"statistics": {`{"name":"Demo","translated_percent":1.0,"translated":1,"total":100,"total_words":9,"translated_words":8}`, "T", []string{"Words|8 / 9"}, false},
		"repository": {`{"needs_merge":true,"needs_push":false,"weblate_commit":{"revision":"abc","commitdate":"2026-01-02T03:04:05Z"},"merge_failure":"no route"}`, "T", []string{"Commit|abc", "Last failure|no route", "Behind its remote|yes"}, false},
		"other":      {`{"locked":false}`, "T", []string{"locked|false"}, false},
		"nested":     {`{"count_of":1,"more":{"a":1}}`, "T", []string{"count of|1"}, true},
	} {
		html, err := Render(&Page{Title: "T", Target: "/api/x/", Status: "200 OK", Body: []byte(tc.body)})
		must(t, err)
		got := string(html)
		if !strings.Contains(got, "<h1><bdi>"+tc.heading+"</bdi>") {
			t.Errorf("%s: no heading %s in %s", name, tc.heading, got)
		}
		for _, line := range tc.lines {
			field, value, _ := strings.Cut(line, "|")
			_, after, found := strings.Cut(got, `<th scope="row">`+field+`</th><td>`)
			cell, _, _ := strings.Cut(after, "</td>")
			if !found || !strings.Contains(cell, value) {
				t.Errorf("%s: %s is %q, want %s", name, field, cell, value)
			}
		}
		if strings.Contains(got, "<details open") != tc.open {
			t.Errorf("%s: the JSON is open: %v", name, !tc.open)
		}
	}
}

// TestFindings: checks, comments and suggestions of a string are shown as tables.
func TestFindings(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`[{"unit":"http://h/api/units/8/","check":"same","name":"Unchanged","description":"Why <it> fails","failures":[]}]`:                               {`<td data-name="Check"><bdi>Unchanged</bdi>`, "Why &lt;it&gt; fails"},
		`[{"id":8,"comment":"Is this <b>right?","user":"http://h/api/users/j/","timestamp":"2026-01-02T03:04:05Z","unit":"http://h/api/units/8/"}]`:       {"Is this &lt;b&gt;right?", `<bdi>j</bdi>`, "2026-01-02 03:04:05"},
		`[{"unit":"http://h/api/units/8/","target":["<i>Neu"],"user":null,"author_name":"Jö","timestamp":null,"branch":"l10n/x","commit":"abc"}]`:         {"&lt;i&gt;Neu", `<bdi>Jö</bdi>`, `<bdi>l10n/x</bdi>`},
		`[{"id":8,"unit":"http://h/api/units/8/","checks":[{"name":"Unchanged"},{"name":"Ends <in> a dot"}]}]`:                                            {`<td data-name="Checks"><bdi>Unchanged, Ends &lt;in&gt; a dot</bdi>`},
		`[{"first_day":"2026-01-02","last_day":"2026-01-03","total":4,"translated":1,"translated_percent":25.0}]`:                                         {`<td data-name="To"><bdi>2026-01-03</bdi>`, `value="25"`, "1 / 4"},
		`[{"username":"j","full_name":"","url":"http://h/api/users/j/","date_joined":"2026-01-02T03:04:05Z","statistics_url":"http://h/api/users/j/s/"}]`: {`<td data-name="Name"><a href="http://h/api/users/j/"><bdi>—</bdi></a>`, ">statistics</a>"},
	} {
		html, err := Render(&Page{Title: "T", Target: "/api/x/", Status: "200 OK", Body: []byte(body)})
		must(t, err)
		for _, w := range want {
			if !strings.Contains(string(html), w) {
				t.Errorf("no %s for %s", w, body)
			}
		}
	}
}

// TestProblems: an error says what is wrong before it shows the JSON.
func TestProblems(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"detail":"Not <here>."}`:                                  `role="alert">Not &lt;here&gt;.</p>`,
		`{"q":["Unknown field","at column 1"],"timestamp":["bad"]}`: "role=\"alert\">q: Unknown field\nq: at column 1\ntimestamp: bad</p>",
	} {
		html, err := Render(&Page{Title: "Bad Request", Target: "/api/units/", Status: "400 Bad Request", Failed: true, Body: []byte(body), Search: &Search{Path: "/api/units/", Query: `"><script>`}})
		got := string(html)
		if err != nil || !strings.Contains(got, want) || !strings.Contains(got, `value="&#34;&gt;&lt;script&gt;"`) {
			t.Errorf("%v %s", err, got)
		}
	}
}

// TestEmptyList says that there is nothing, and what was looked for.
func TestEmptyList(t *testing.T) {
	t.Parallel()
	for want, search := range map[string]*Search{"There is nothing here.": nil, "There is nothing that this search finds.": {Path: "/api/units/", Query: "zz"}} {
		html, err := Render(&Page{Title: "Units", Target: "/api/units/", Status: "200 OK", Body: []byte(`{"count":0,"next":null,"previous":null,"results":[]}`), Search: search})
		if got := string(html); err != nil || !strings.Contains(got, want) || strings.Contains(got, "<table") {
			t.Errorf("%v %s", err, got)
		}
	}
}

// TestPaging leads to the pages beside and to both ends, with the same filters.
func TestPaging(t *testing.T) {
	t.Parallel()
	render := func(next, previous string) string {
		html, err := Render(&Page{Title: "T", Target: "/api/x/", Status: "200 OK", Body: fmt.Appendf(nil, `{"count":60,"next":%s,"previous":%s,"results":[{"a":1}]}`, next, previous)})
		must(t, err)
		return string(html)
	}
	const three, one, two = `"http://h/x/?format=api&page=3&q=a+%26+b"`, `"http://h/x/?format=api&q=a+%26+b"`, `"http://h/x/?format=api&page=2"`
	got := render(three, one)
	for _, want := range []string{`href="http://h/x/?format=api&amp;page=last&amp;q=a&#43;%26&#43;b">Last`, `href="http://h/x/?format=api&amp;q=a&#43;%26&#43;b">First`, `rel="next" href="http://h/x/?format=api&amp;page=3`} {
		if strings.Count(got, want) != 2 {
			t.Errorf("not twice: %s in %.3000s", want, got[strings.Index(got, "<main"):])
		}
	}
	if got := render("null", two); strings.Contains(got, ">Last") || !strings.Contains(got, `href="http://h/x/?format=api">First`) {
		t.Errorf("the last page: %s", got)
	}
	if got := render("null", "null"); strings.Contains(got, "Pages") {
		t.Errorf("the only page: %s", got)
	}
}

// TestWindow: windows of a browser can be told apart.
func TestWindow(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/api/translations/p/c/cs/units/?page=2": "<title>T · p/c/cs · repoglot</title>", "/api/units/": "<title>T · repoglot</title>", "/": "<title>T · repoglot</title>",
	} {
		html, err := Render(&Page{Title: "T", Target: target, Status: "200 OK", Body: []byte("[]")})
		if err != nil || !strings.Contains(string(html), want) {
			t.Errorf("%s: %v, no %s", target, err, want)
		}
	}
}

// TestProse shows code in the prose of a description, and no markup.
func TestProse(t *testing.T) {
	t.Parallel()
	if got, err := execute("prose", proseOf("say `<b>` or <i> `")); err != nil || string(got) != "say <code>&lt;b&gt;</code> or &lt;i&gt; <code></code>" {
		t.Errorf("%s %v", got, err)
	}
}

// BenchmarkRender makes the page of a list of units.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{20, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			list := make([]any, n)
			for i := range list {
				list[i] = units("cs", fmt.Sprint("Source ", i), strings.Repeat("Ziel ", 10))["results"].([]any)[0]
			}
			data, err := json.Marshal(map[string]any{"count": n, "next": nil, "previous": nil, "results": list})
			must(b, err)
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				html, err := Render(&Page{Title: "Units", Target: "/api/units/", Status: "200 OK", Body: data})
				must(b, err)
				size = len(html)
			}
			b.ReportMetric(float64(size), "B/page")
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add("cs", "<b>", "\u202e")
	f.Fuzz(func(t *testing.T, language, source, target string) {
		plain := render(t, units("cs", "x", "x"))
		got := render(t, units(language, source, target))
		if strings.Count(got, "<script") != 0 || strings.Count(got, "<pre") != strings.Count(plain, "<pre") {
			t.Errorf("markup from %q %q %q", language, source, target)
		}
	})
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestResourceOrder: an object with the keys of a row is of its kind, so no row
// hides a later one, and each row shows something.
func TestResourceOrder(t *testing.T) {
	t.Parallel()
	for _, r := range resources {
		n := &node{kind: object}
		for _, key := range r.keys {
			n.keys, n.members = append(n.keys, key), append(n.members, &node{kind: text, value: "x"})
		}
		if got := resourceOf(n); strings.Join(got.keys, " ") != strings.Join(r.keys, " ") {
			t.Errorf("%v is taken for %v", r.keys, got.keys)
		}
		if r.columns == nil && r.fields == nil {
			t.Errorf("%v has neither columns nor fields", r.keys)
		}
	}
}
