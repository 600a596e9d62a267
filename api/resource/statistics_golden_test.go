package resource_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// otherStatistics are the keys of statistics whose values differ on purpose.
var otherStatistics = map[string]string{
	"last_change":    "there the time of the import; docs/compatibility.md#last-change",
	"recent_changes": "there the entries of the import; docs/compatibility.md#last-change",
	"comments":       "ours: translator comments are comments",
	// near tells how near failing must be.
	"failing":         "same has a list of words of its own, and there were other neighbours: catalog/checks compares unit by unit",
	"failing_percent": "as failing",
}

// TestGoldenStatistics imports real components and compares their statistics
// with the recorded ones of a Weblate 5.4.2, key by key.
func TestGoldenStatistics(t *testing.T) {
	t.Parallel()
	dir := gittest.Shared(t, "data", "golden", "units")
	for _, c := range []struct {
		name, bundle string
		settings     catalog.ComponentSettings
		// absent are languages of ours alone: files that the record leaves out.
		absent []string
		// moved are recorded languages that have another code here, since two
		// files are in that language (docs/compatibility.md#languages).
		moved map[string]string
	}{
		{"dnf", "dnf-plugins-core", catalog.ComponentSettings{Filemask: "po/*.po", NewBase: "po/dnf-plugins-core.pot"}, nil, nil},
		{"django", "demo", catalog.ComponentSettings{Filemask: "weblate/locale/*/LC_MESSAGES/django.po", NewBase: "weblate/locale/django.pot"}, nil, nil},
		{"switchboard", "switchboard", catalog.ComponentSettings{Filemask: "po/*.po", NewBase: "po/io.elementary.settings.pot"}, []string{"no", "zh_Hans"}, map[string]string{"zh_Hans": "zh_CN"}},
		{"vim", "vim-po", catalog.ComponentSettings{Filemask: "src/po/*.po", NewBase: "src/po/vim.pot"}, []string{"no"}, nil},
		{"hello", "hello", catalog.ComponentSettings{Filemask: "po/*.po", NewBase: "po/hello.pot"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name == "vim" {
				t.Skip("200,000 strings")
			}
			t.Parallel()
			c.settings.SourceLanguage, c.settings.LanguageRegex = "en", "^[^.]+$"
			repo := gittest.Bundle(t, c.bundle)
			h := serveComponents(t, []catalog.Project{{Slug: "demo"}}, []store.ComponentSpec{{Project: "demo", Slug: c.name, Repo: repo, Settings: c.settings}})
			ours := statisticsByCode(t, readAll(t, h, "/api/components/demo/"+c.name+"/statistics/?page_size=1000"))
			recorded := statisticsByCode(t, unzip(t, filepath.Join(dir, c.name+".statistics.json.gz")))
			for code, want := range recorded {
				here := cmp.Or(c.moved[code], code)
				got := ours[here]
				if got == nil {
					t.Errorf("%s is missing", code)
					continue
				}
				for key, value := range want {
					named := here != code && slices.Contains([]string{"code", "name", "url", "translate_url"}, key)
					if !named && otherStatistics[key] == "" && string(got[key]) != string(value) {
						t.Errorf("%s: %s is %s, recorded %s", code, key, got[key], value)
					}
				}
				if a, b := count(t, got["failing"]), count(t, want["failing"]); !near(a, b, count(t, want["total"])) {
					t.Errorf("%s: failing is %d, recorded %d", code, a, b)
				}
				delete(ours, here)
			}
			for code := range ours {
				if !slices.Contains(c.absent, code) {
					t.Errorf("%s was not recorded", code)
				}
			}
			if len(recorded) < 5 {
				t.Errorf("only %d translations compared", len(recorded))
			}
		})
	}
}

// near reports whether about as many strings fail as were recorded. The numbers
// may differ by three, a twentieth and three of a thousand strings: the words that the
// check same passes over (of vim, names of keys and options), or a string that
// another recorded component had too, and with it multiple_failures.
func near(ours, recorded, total int) bool {
	d := ours - recorded
	return max(d, -d) <= 3+recorded/20+total*3/1000
}

func count(t *testing.T, value json.RawMessage) (n int) {
	t.Helper()
	if err := json.Unmarshal(value, &n); err != nil {
		t.Errorf("%s: %v", value, err)
	}
	return n
}

// serveComponents pulls components and serves them.
func serveComponents(t *testing.T, projects []catalog.Project, specs []store.ComponentSpec) *httptest.Server {
	t.Helper()
	w := catalogtest.Open(t)
	if err := w.DB.Configure(t.Context(), projects, specs, nil); err != nil {
		t.Fatal(err)
	}
	catalogtest.PullAll(w, nil, specs)
	srv := httptest.NewServer(api.New(api.Options{DB: w.DB, Languages: w.Languages, Settings: api.Settings{BaseURL: "http://127.0.0.1:58080"}}))
	t.Cleanup(srv.Close)
	return srv
}

func readAll(t *testing.T, srv *httptest.Server, path string) []byte {
	t.Helper()
	res, err := srv.Client().Get(srv.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return body
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func statisticsByCode(t *testing.T, body []byte) map[string]map[string]json.RawMessage {
	t.Helper()
	var list struct{ Results []map[string]json.RawMessage }
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatalf("%v: %.100s", err, body)
	}
	byCode := map[string]map[string]json.RawMessage{}
	for _, o := range list.Results {
		code := strings.Trim(string(o["code"]), `"`)
		byCode[code] = o
	}
	return byCode
}
