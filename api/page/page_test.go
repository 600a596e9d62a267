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
	if err != nil {
		t.Fatal(err)
	}
	html, err := Render(&Page{
		Title: "Unit List", Target: "/api/units/?q=<script>alert(1)</script>", Status: "200 OK", Body: data,
		Direction: func(code string) string { return map[string]string{"ar": "rtl", "cs": "ltr"}[code] },
	})
	if err != nil {
		t.Fatal(err)
	}
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
			for _, never := range []string{"<script", "<img", "<svg", `href="javascript`, `href="data`, "\u202e", "\u2066", "\x00", "\x1b", "\u0085", `"onmouseover="`, "' onclick='"} {
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
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"zeta", "1.0", "alpha", "null", "list", `<a href="http://h/a?b=1&amp;c=2">http://h/a?b=1&amp;c=2</a>`, "true", "empty", "{}"} {
		next := strings.Index(string(html)[at:], want)
		if next < 0 {
			t.Fatalf("no %s after byte %d", want, at)
		}
		at += next
	}
}

// TestEmptyColumns: a column that is empty in every row is left out, an object
// looks like a row of its list, and an object of no list has no table.
func TestEmptyColumns(t *testing.T) {
	t.Parallel()
	one := units("cs", "Open", "")["results"].([]any)[0]
	for _, got := range []string{render(t, units("cs", "Open", "")), render(t, one)} {
		if !strings.Contains(got, `data-name="Context"`) || strings.Contains(got, `data-name="Note"`) || strings.Contains(got, ">Note<") {
			t.Errorf("columns in %s", got)
		}
	}
	if got := render(t, map[string]any{"a": "b"}); strings.Contains(got, "<table") {
		t.Errorf("a table in %s", got)
	}
}

// TestFront: names are texts, and there are not too many.
func TestFront(t *testing.T) {
	t.Parallel()
	list := []Component{{"p", "<script>", true}, {"p", "new", false}}
	for range maxFront {
		list = append(list, Component{"q", "c", true})
	}
	html, err := Front(list)
	got := string(html)
	if err != nil || strings.Contains(got, "<script") || strings.Count(got, "<li>") != maxFront || !strings.Contains(got, "and 2 more") ||
		!strings.Contains(got, `href="/api/components/p/%3cscript%3e/translations/"`) || !strings.Contains(got, "not imported yet") {
		t.Errorf("%v %s", err, got)
	}
	if html, err := Front(nil); err != nil || !strings.Contains(string(html), "None is configured") {
		t.Errorf("%v %s", err, html)
	}
}

// TestProse shows code in the prose of a description, and no markup.
func TestProse(t *testing.T) {
	t.Parallel()
	if got := string(prose("say `<b>` or <i> `")); got != "say <code>&lt;b&gt;</code> or &lt;i&gt; <code></code>" {
		t.Error(got)
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
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				html, err := Render(&Page{Title: "Units", Target: "/api/units/", Status: "200 OK", Body: data})
				if err != nil {
					b.Fatal(err)
				}
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
