package api

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestWidgets: all names and both shapes of URL, and nothing of what is private.
func TestWidgets(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{})
	for path, want := range map[string]string{
		"/widget/demo/app/cs/svg-badge.svg":       "translated: 93%",
		"/widgets/demo/cs/app/svg-badge.svg":      "translated: 93%",
		"/widgets/demo/-/app/horizontal-auto.svg": ">cs_CZ</text>",
		"/widget/demo/app/horizontal-blue.svg":    "#007ec6",
		"/widget/demo/app/multi-auto.svg":         ">Czech</text>",
		"/widgets/demo/-/multi-green.svg":         ">Serbian (latin)</text>",
		"/widget/demo/app/multi-red.svg":          "#e05d44",
		"/widget/demo/svg-badge.svg":              "translated: 96%",
		"/widget/demo/-/cs/svg-badge.svg":         "translated: 93%",
		"/widgets/demo/cs/svg-badge.svg":          "translated: 93%",
		"/widget/demo/88x31-grey.png":             ">96%</text>",
		"/widget/demo/88x31-nope.svg":             ">96%</text>",
		"/widget/demo/287x66-black.png":           ">Demo &lt;project&gt;</text>",
		"/widgets/demo/-/287x66-white.png":        "96% translated, 4 languages",
		"/widget/demo/app/open-graph.png":         "translated, 91 strings, 4 languages",
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
		if rec := call(t, s, http.MethodGet, path); rec.Code != 404 {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}
