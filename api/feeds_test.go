package api

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// feeds are one of each scope, without the folder that names the format.
func feeds() []string {
	return []string{"", "language/cs/", "demo/", "demo/app/", "demo/app/cs/"}
}

// TestRSS: the newest changes of every scope, well formed whatever they hold.
func TestRSS(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{})
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
	s := serve(catalogtest.Demo(t), Options{})
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
	w := catalogtest.Demo(t)
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
		t.Errorf("%s tells of what is private", path)
	}
}
