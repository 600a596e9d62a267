package api

import (
	"encoding/csv"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// feeds are one of each scope, without the folder that names the format.
func feeds() []string {
	return []string{"", "language/cs/", "demo/", "demo/app/", "demo/app/cs/"}
}

// TestRSS: the newest changes of every scope, well formed whatever they hold.
func TestRSS(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, path := range feeds() {
		body := get(t, s, "/exports/rss/"+path)
		var feed struct {
			Built string `xml:"channel>lastBuildDate"`
			Items []struct {
				Title, Link string
				GUID        string `xml:"guid"`
				Published   string `xml:"pubDate"`
			} `xml:"channel>item"`
		}
		if err := xml.Unmarshal([]byte(strings.NewReplacer("<title>", "<Title>", "</title>", "</Title>", "<link>", "<Link>", "</link>", "</Link>").Replace(body)), &feed); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(feed.Items) != 10 || feed.Items[0].Title == "" || !strings.HasPrefix(feed.Items[0].Link, "http://l10n.example.org/") || feed.Built != feed.Items[0].Published {
			t.Errorf("%s: %+v", path, feed)
		}
		newest := getList(t, s, "/api/changes/?ordering=-id&page_size=1").Results[0]["id"].(float64)
		if !strings.HasSuffix(path, "cs/") && feed.Items[0].GUID != "http://l10n.example.org/api/changes/"+wire.FormatID(int64(newest))+"/" {
			t.Errorf("%s begins with %s, the newest is %v", path, feed.Items[0].GUID, newest)
		}
		nothingPrivate(t, path, body)
	}
}

// TestAtom: what RFC 4287 asks of a feed and its entries (4.1.1, 4.1.2).
func TestAtom(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, path := range append(feeds(), "language/de/") {
		body := get(t, s, "/exports/atom/"+path)
		type link struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		}
		var feed struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			ID      string   `xml:"id"`
			Title   string   `xml:"title"`
			Updated string   `xml:"updated"`
			Author  string   `xml:"author>name"`
			Links   []link   `xml:"link"`
			Entries []struct {
				ID      string `xml:"id"`
				Title   string `xml:"title"`
				Updated string `xml:"updated"`
				Link    link   `xml:"link"`
				Summary string `xml:"summary"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(body), &feed); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if feed.ID != "http://l10n.example.org/exports/atom/"+path || feed.Title == "" || feed.Author == "" || feed.Links[0] != (link{"self", feed.ID}) {
			t.Errorf("%s: %+v", path, feed)
		}
		seen := map[string]bool{}
		for _, e := range feed.Entries {
			at, err := time.Parse(time.RFC3339, e.Updated)
			if err != nil || at.IsZero() || seen[e.ID] || e.Title == "" || e.Link.Rel != "alternate" || !strings.HasPrefix(e.Link.Href, "http://l10n.example.org/") {
				t.Errorf("%s: %+v %v", path, e, err)
			}
			seen[e.ID] = true
		}
		if want := map[bool]int{true: 0, false: 10}[path == "language/de/"]; len(feed.Entries) != want || want > 0 && feed.Updated != feed.Entries[0].Updated {
			t.Errorf("%s: %d entries, %s", path, len(feed.Entries), feed.Updated)
		}
		nothingPrivate(t, path, body)
	}
}

// TestFeedOfLanguage: the newest entries of all translations into a language;
// entries of private components only with a token.
func TestFeedOfLanguage(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	own := getList(t, s, "/api/translations/demo/app/cs/changes/?ordering=-id&page_size=10").Results
	body := get(t, s, "/exports/rss/language/cs/")
	at := 0
	for _, c := range own {
		i := strings.Index(body[at:], "/api/changes/"+wire.FormatID(int64(c["id"].(float64)))+"/</guid>")
		if i < 0 {
			t.Fatalf("entry %v is missing or out of order in %s", c["id"], body)
		}
		at += i
	}
	nothingPrivate(t, "language/en", get(t, s, "/exports/rss/language/en/"))
	if strings.Contains(get(t, s, "/exports/rss/language/de/"), "<item>") {
		t.Error("entries of a file that is gone")
	}
	key := w.Token("t", catalog.ScopeRead)
	if rec := call(t, s, http.MethodGet, "/exports/rss/language/en/", "Authorization", "Token "+key); !strings.Contains(rec.Body.String(), "hidden/en: Message 3") {
		t.Errorf("with a token: %s", rec.Body)
	}
}

func nothingPrivate(t *testing.T, path, body string) {
	t.Helper()
	if strings.Contains(strings.ToLower(body), "hidden") || strings.Contains(strings.ToLower(body), "mallory") {
		t.Errorf("%s shows something private", path)
	}
}

// TestStatisticsExports: JSON with indent, and CSV with Weblate's columns.
func TestStatisticsExports(t *testing.T) {
	t.Parallel()
	const columns = "name code total translated translated_percent translated_words_percent total_words translated_words " +
		"total_chars translated_chars translated_chars_percent failing failing_percent fuzzy fuzzy_percent url_translate url " +
		"translate_url last_change last_author recent_changes readonly readonly_percent approved approved_percent suggestions comments missing"
	s := serve(demoWorld(t), Options{})
	rec := call(t, s, http.MethodGet, "/exports/stats/demo/app/?format=csv")
	rows, err := csv.NewReader(rec.Body).ReadAll()
	if err != nil || rec.Header().Get("Content-Disposition") != `attachment; filename="stats-demo-app.csv"` {
		t.Fatalf("%v %v", rec.Header(), err)
	}
	if len(rows) != 5 || strings.Join(rows[0], " ") != columns || rows[2][0] != "Czech" || rows[2][1] != "cs" || rows[2][2] != "44" {
		t.Errorf("%q", rows)
	}
	for _, path := range []string{"/exports/stats/demo/", "/exports/stats/demo/app/?format=json"} {
		body := get(t, s, path)
		if all := decode[[]map[string]any](t, body); len(all) < 4 || !strings.HasPrefix(body, "[\n    {\n") {
			t.Errorf("%s: %.300s", path, body)
		}
	}
}

// TestWidgets: all names and both shapes of URL, and nothing private.
func TestWidgets(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for path, want := range map[string]string{
		"/widget/demo/app/cs/svg-badge.svg":       "translated: 91%",
		"/widgets/demo/cs/app/svg-badge.svg":      "translated: 91%",
		"/widgets/demo/-/app/horizontal-auto.svg": ">cs_CZ</text>",
		"/widget/demo/app/horizontal-blue.svg":    "#007ec6",
		"/widget/demo/app/multi-auto.svg":         ">Czech</text>",
		"/widgets/demo/-/multi-green.svg":         ">Serbian (latin)</text>",
		"/widget/demo/app/multi-red.svg":          "#e05d44",
		"/widget/demo/svg-badge.svg":              "translated: 31%",
		"/widget/demo/-/cs/svg-badge.svg":         "translated: 91%",
		"/widgets/demo/cs/svg-badge.svg":          "translated: 91%",
		"/widget/demo/88x31-grey.png":             ">31%</text>",
		"/widget/demo/88x31-nope.svg":             ">31%</text>",
		"/widget/demo/287x66-black.png":           ">Demo &lt;project&gt;</text>",
		"/widgets/demo/-/287x66-white.png":        "31% translated, 3 languages",
		"/widget/demo/app/open-graph.png":         "translated, 135 strings, 3 languages",
	} {
		rec := call(t, s, http.MethodGet, path)
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), want) || rec.Header().Get("Cache-Control") != "max-age=3600" || rec.Header().Get("Content-Type") != rest.TypeSVG {
			t.Errorf("%s: %d %v %s", path, rec.Code, rec.Header(), rec.Body)
		}
		if err := xml.Unmarshal(rec.Body.Bytes(), new(struct{})); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{
		"/widget/demo/hidden/svg-badge.svg", "/widget/demo/hidden/en/svg-badge.svg", "/widgets/demo/-/hidden/svg-badge.svg",
		"/widget/secret/lib/svg-badge.svg", "/widget/demo/-/xx/svg-badge.svg", "/widget/demo/nope.svg", "/widget/demo/nope-auto.svg", "/widget/demo/svg-badge.gif",
		"/exports/rss/demo/hidden/", "/exports/rss/secret/lib/", "/exports/rss/language/nope/", "/exports/atom/demo/hidden/en/",
		"/exports/stats/demo/hidden/", "/exports/stats/demo/app/?format=nope",
	} {
		wantStatus(t, s, 404, path)
	}
}
