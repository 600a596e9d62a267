package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// BenchmarkLacking pulls a template with 50,000 new strings for 100 files, 100 of whose strings
// it has no more, and measures pages of what is missing, each of another string or language, so
// that none is kept: the form of a file of 5,000 strings, lists of files of 1,000. Run it with
//
//	go test ./api/web -run '^$' -bench Lacking
func BenchmarkLacking(b *testing.B) {
	const languages, had, few, gone, fresh = 100, 5000, 1000, 100, 50_000
	file := func(from, to int, text string) string {
		var s strings.Builder
		s.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&s, "\n#: src/file%d.c:%d\nmsgid \"String number %d of the program, and what it says\"\nmsgstr \"%s\"\n", i/100, i, i, text)
		}
		return s.String()
	}
	repo, files, codes := testrepos.Empty(b), map[string]string{"po/app.pot": file(0, had, "")}, make([]string, languages)
	for i := range codes {
		codes[i] = fmt.Sprintf("x%c%c", 'a'+i/26, 'a'+i%26)
		files["po/"+codes[i]+".po"] = file(0, map[bool]int{true: had, false: few}[i == 0], "A text of some words, as it is in "+codes[i])
	}
	repo.Commit(b, testrepos.Change{Files: files})
	w := catalogtest.NewPuller(b, repo.URL(), map[string]catalog.ComponentSettings{"app": {
		NewBase: "po/app.pot", Edits: catalog.Edits{Mode: catalog.PushDirect},
	}})
	w.Sync()
	repo.Commit(b, testrepos.Change{Files: map[string]string{"po/app.pot": file(gone, had+fresh, "")}})
	started := time.Now()
	w.Sync()
	pull := time.Since(started)
	var missing []string
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		number := 0
		if _, err := fmt.Sscanf(u.Source, "String number %d ", &number); err == nil && tr.IsSource && number >= had {
			missing = append(missing, catalog.Checksum(u.Identity.Hash))
		}
	})
	token := jana
	token.Created = time.Now()
	secret, err := w.DB.Access().CreateToken(b.Context(), token)
	must(b, err)
	visitor := catalogtest.NewVisitor(b, api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: w.Editor, CacheBytes: 1 << 20}))
	visitor.Post("/login/", url.Values{"token": {secret}})
	n := 0
	for _, page := range []struct {
		name, shows string
		address     func() string
	}{
		{"form", "The file does not have this string yet", func() string { return "/translate/demo/app/" + codes[0] + "/?checksum=" + missing[n*37%len(missing)] }},
		{"list", "String number ", func() string {
			return fmt.Sprintf("/translate/demo/app/%s/?missing=1&page=%d", codes[n%languages], 1+n/languages)
		}},
		{"api", "String number ", func() string {
			return fmt.Sprintf("/api/translations/demo/app/%s/missing/?page=%d", codes[n%languages], 1+n/languages)
		}},
	} {
		b.Run(page.name, func(b *testing.B) {
			var longest time.Duration
			for b.Loop() {
				n++
				began := time.Now()
				if rec := visitor.Get(page.address()); rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), page.shows) {
					b.Fatal(page.address(), rec.Code, rec.Body)
				}
				longest = max(longest, time.Since(began))
			}
			b.ReportMetric(pull.Seconds(), "s-pull")
			b.ReportMetric(float64(longest.Milliseconds()), "ms-longest")
		})
	}
}
