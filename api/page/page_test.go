package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func render(t testing.TB, body any) string {
	t.Helper()
	data, err := json.Marshal(body)
	must(t, err)
	html, err := Render(&Page{
		Title: "Unit List", Target: "/api/units/?q=<script>alert(1)</script>", Status: "200 OK", Body: data,
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

// TestBounds renders a list beyond the bound: the page says that it is cut.
func TestBounds(t *testing.T) {
	t.Parallel()
	rows := make([]any, 2000)
	for i := range rows {
		rows[i] = map[string]any{"name": fmt.Sprint("row ", i, strings.Repeat("<\u202e", 1000)), "code": i}
	}
	got := render(t, rows)
	if len(got) > 16<<20 || !strings.Contains(got, "The rest is left away") || strings.Contains(got, "row 1999") {
		t.Errorf("2000 rows make a page of %d bytes", len(got))
	}
	if got := render(t, rows[:1]); strings.Contains(got, "The rest is left away") {
		t.Error("a short answer is said to be cut")
	}
	if _, err := Render(&Page{Target: "/", Body: []byte("{")}); err == nil {
		t.Error("half an answer is shown")
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

// TestProse shows code in the prose of a description, and no markup.
func TestProse(t *testing.T) {
	t.Parallel()
	if got, err := execute("prose", "say `<b>` or <i> `"); err != nil || string(got) != "say <code>&lt;b&gt;</code> or &lt;i&gt; <code></code>" {
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

var must = gittest.Must
