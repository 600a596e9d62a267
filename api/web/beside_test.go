package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// A reader's second language stands beside the source of every string, until another one or none is
// chosen; only the reader sees it, and only where there are strings.
func TestBeside(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	files := map[string]string{}
	for language, target := range map[string]string{"cs": "Otevřít", "de": "Öffnen", "fr": "Ouvrir", "es": ""} {
		files["po/"+language+".po"] = catalogtest.PO("Open", target)
	}
	repo.Commit(t, testrepos.Change{Files: files})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	s := bare(w.Store, api.Options{CacheBytes: 1 << 20})
	_, rec := send(s, http.MethodGet, "/translate/demo/app/cs/", "Accept", browser)
	open, _, _ := strings.Cut(checksumLink.FindString(rec.Body.String()), "&")
	shown := regexp.MustCompile(`(?s)id="source">.*?<h3><bdi>([^<]*)</bdi>.*?lang="(\w+)"[^>]*>([^<]*)</p>.*?id="target"`)
	other := strings.Replace(open, "/cs/", "/es/", 1)
	for _, test := range []struct{ target, cookie, set, want string }{
		{open, "", "", ""},
		{open + "&beside=de", "", "beside=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax", "German de Öffnen"},
		{open + "&offset=2&beside=fr", "beside=de", "beside=fr; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax", "French fr Ouvrir"},
		{other, "beside=de", "", "German de Öffnen"},
		{other + "&beside=-", "beside=de", "beside=-; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax", ""},
		{other, "beside=-", "", ""},
		{other, "beside=es", "", ""}, // the page's own
		{other, "beside=tlh", "", ""},
		{other, `beside="><script>`, "", ""},
		{other + "&beside=%0d%0aX:1", "", "", ""},
		{other, "beside=" + strings.Repeat("x", 4000), "", ""},
		{"/projects/demo/", "beside=de", "", ""},
	} {
		for range 2 { // from the cache, too
			_, rec := send(s, http.MethodGet, test.target, "Accept", browser, "Cookie", test.cookie)
			got := strings.Join(append(shown.FindStringSubmatch(rec.Body.String()), "", "", "", "")[1:4], " ")
			if rec.Code != http.StatusOK || strings.TrimSpace(got) != test.want || rec.Header().Get("Set-Cookie") != test.set {
				t.Errorf("%+v: %d %q %q", test, rec.Code, rec.Header().Get("Set-Cookie"), got)
			}
			if strings.Contains(test.target, "offset") && !strings.Contains(rec.Body.String(), strings.Replace(open, "?", "?beside=de&amp;", 1)+`&amp;offset=2"`) {
				t.Errorf("%s forgets its place: %s", test.target, rec.Body)
			}
		}
	}
}
