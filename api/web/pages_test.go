package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/testrepos"
)

var checksumLink = regexp.MustCompile(`/translate/[^"]+checksum=[^"]+`)

// TestEveryPage: each page answers in each language, is a document that says its
// language, and has nothing that the policy refuses. A client that has it gets a 304.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	s := bare(demo(t), api.Options{CacheBytes: 1 << 20})
	targets := catalogtest.DemoPages()
	_, rec := send(s, http.MethodGet, "/translate/demo/app/cs/")
	one := checksumLink.FindString(rec.Body.String())
	if one == "" {
		t.Fatal("no string is linked")
	}
	targets = append(targets, strings.ReplaceAll(one, "&amp;", "&"))
	for _, target := range targets {
		for accepted, root := range map[string]string{
			"": `<html lang="en" dir="ltr">`, "ar-EG, en;q=0.5": `<html lang="ar" dir="rtl">`, "xx, cs;q=0.5": `<html lang="cs" dir="ltr">`,
		} {
			_, rec := send(s, http.MethodGet, target, "Accept", browser, "Accept-Language", accepted)
			body := rec.Body.String()
			switch h := rec.Header(); {
			case rec.Code != http.StatusOK || h.Get("Content-Type") != rest.TypeHTML || h.Get("Content-Security-Policy") != web.Policy:
				t.Errorf("%s: %d %v %.300s", target, rec.Code, h, body)
			case h.Get("Vary") != "Accept" && len(h["Vary"]) != 4:
				t.Errorf("%s: Vary is %q", target, h["Vary"])
			case h.Get("Etag") == "":
				t.Errorf("%s has no ETag", target)
			}
			for _, want := range []string{root, "<title>", `<main id="main">`, "<h1", `href="/api/`} {
				if !strings.Contains(body, want) {
					t.Errorf("%s in %q: no %s", target, accepted, want)
				}
			}
			for _, bad := range []string{"<script", "ZgotmplZ", "<no value>", "%!", " onclick=", " style="} {
				if strings.Contains(body, bad) {
					t.Errorf("%s in %q has %s", target, accepted, bad)
				}
			}
			if _, again := send(s, http.MethodGet, target, "Accept", browser, "Accept-Language", accepted, "If-None-Match", rec.Header().Get("Etag")); rec.Code == http.StatusOK && (again.Code != http.StatusNotModified || again.Header().Get("Content-Security-Policy") != "") {
				t.Errorf("%s again: %d, policy %q, which would replace that of the copy", target, again.Code, again.Header().Get("Content-Security-Policy"))
			}
		}
	}
}

// TestPagesAreStable: a page that is made again has the same bytes.
func TestPagesAreStable(t *testing.T) {
	t.Parallel()
	s := bare(demo(t), api.Options{CacheBytes: -1})
	for _, target := range catalogtest.DemoPages() {
		_, first := send(s, http.MethodGet, target, "Accept", browser)
		for range 20 { // the order of a map is random
			if _, again := send(s, http.MethodGet, target, "Accept", browser); again.Body.String() != first.Body.String() {
				t.Errorf("%s differs when it is made again", target)
				break
			}
		}
	}
}

// TestPageLanguage: the parameter wins over the cookie, and that over what the browser
// accepts; the choice is kept in a cookie.
func TestPageLanguage(t *testing.T) {
	t.Parallel()
	s := bare(demo(t), api.Options{CacheBytes: 1 << 20})
	for _, test := range []struct{ target, cookie, accept, want, set string }{
		{"/", "", "", "en", ""},
		{"/", "", "de-AT", "de", ""},
		{"/", "ui=fr", "de", "fr", ""},
		{"/?ui=cs", "ui=fr", "de", "cs", "ui=cs; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"},
		{"/?ui=tlh", "ui=fr", "de", "fr", ""},
		{"/?ui=cs%0d%0aX:1", "", "", "en", ""},
	} {
		for range 2 {
			_, rec := send(s, http.MethodGet, test.target, "Accept", browser, "Cookie", test.cookie, "Accept-Language", test.accept)
			if !strings.Contains(rec.Body.String(), `<html lang="`+test.want+`"`) || rec.Header().Get("Set-Cookie") != test.set {
				t.Errorf("%+v: %q %.100s", test, rec.Header().Get("Set-Cookie"), rec.Body)
			}
		}
	}
}

// TestNewestByTime: lists of the newest changes of several components are in the order
// of time, also where a component with an older history was pulled later.
func TestNewestByTime(t *testing.T) {
	t.Parallel()
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	young, old := gittest.NewUpstream[object.Hash](t), gittest.NewUpstream[object.Hash](t)
	p := catalogtest.NewPuller(t, young.Dir, nil)
	now := p.Clock
	branch, specs, _ := catalogtest.BranchOf(young.Dir, "main", map[string]catalog.ComponentSettings{"young": {}})
	older, more, _ := catalogtest.BranchOf(old.Dir, "main", map[string]catalog.ComponentSettings{"old": {}})
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}
	if err := p.DB.Configure(t.Context(), []catalog.Project{project}, append(specs, more...), nil); err != nil {
		t.Fatal(err)
	}
	pull := func(up *gittest.Upstream[object.Hash], text string) {
		up.Push("Ada", gittest.Files{"po/de.po": header})
		p.Sync()
		up.Push("Ada", gittest.Files{"po/de.po": header + "\nmsgid \"" + text + "\"\nmsgstr \"x\"\n"})
		p.Sync()
	}
	p.Branch = branch
	pull(young, "From the young")
	p.Branch, p.Clock = older, now.AddDate(-1, 0, 0)
	pull(old, "From the old")
	s := api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return now }})
	for target, texts := range map[string][2]string{ // of strings, or of the components of commits
		"/": {"/demo/young/de/", "/demo/old/de/"}, "/projects/demo/": {"/demo/young/de/", "/demo/old/de/"},
		"/languages/de/": {"From the young", "From the old"}, "/user/ada/": {"From the young", "From the old"},
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		_, list, _ := strings.Cut(rec.Body.String(), `<ol class="changes">`)
		first, second := strings.Index(list, texts[0]), strings.Index(list, texts[1])
		if first < 0 || second < first {
			t.Errorf("%s: the change of the young repository is at %d, that of the old one at %d", target, first, second)
		}
	}
}

// TestOneClock: a commit that was made months before it was pulled is shown, ordered, found by its
// date, counted and drawn at the time of the pull; the page says when it was made, too.
func TestOneClock(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	made := time.Date(2024, 9, 8, 10, 0, 0, 0, time.UTC)
	repo.Commit(t, testrepos.Change{When: made.AddDate(0, -1, 0), Files: map[string]string{"po/cs.po": catalogtest.PO("Open", "")}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	w.Clock = time.Date(2024, 12, 24, 0, 0, 0, 0, time.UTC)
	w.Commit(repo, testrepos.Change{When: made, Files: map[string]string{"po/cs.po": catalogtest.PO("Open", "Otevřít")}})
	s := bare(w.Store, api.Options{Now: func() time.Time { return w.Clock }})
	page := func(target string) string {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		return rec.Body.String()
	}
	const list = "/changes/browse/demo/app/cs/"
	entry := regexp.MustCompile(`(?s)<li class="change changed" id="(e\d+)">.*?<time datetime="([\d-]+)T.*? · committed <time datetime="([\d-]+)T`).FindStringSubmatch(page(list))
	if entry == nil || entry[2] != "2024-12-24" || entry[3] != "2024-09-08" {
		t.Fatalf("shown as %q: %s", entry, page(list))
	}
	if found := page(list + "?from=" + entry[2] + "&to=" + entry[2]); !strings.Contains(found, `id="`+entry[1]+`"`) {
		t.Errorf("the day that is shown does not find it: %s", found)
	}
	if found := page(list + "?from=2024-09-08&to=2024-09-08"); strings.Contains(found, `id="`+entry[1]+`"`) {
		t.Error("another day finds it")
	}
	of := page("/projects/demo/app/")
	if last := regexp.MustCompile(`data-name="Last change"><time datetime="([\d-]+)T`).FindStringSubmatch(of); last == nil || last[1] != entry[2] {
		t.Errorf("the last change is %q", last)
	}
	if rows := regexp.MustCompile(`<tr><th scope="row">([^<]+)</th><td class="num">1</td>`).FindAllStringSubmatch(of, -1); len(rows) == 0 || !strings.Contains(rows[0][1], "24 December 2024") {
		t.Errorf("the curve rises on %q", rows)
	}
}

// TestOrderIsNamed: a history of several repositories is in the order of pulls and says
// so; that of one is in the order of its commits.
func TestOrderIsNamed(t *testing.T) {
	t.Parallel()
	s := bare(demo(t), api.Options{})
	for target, want := range map[string]string{
		"/changes/": "last pulled first", "/changes/browse/demo/": "last pulled first",
		"/changes/browse/demo/app/": "newest first", "/changes/browse/demo/app/cs/": "newest first",
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		if !strings.Contains(rec.Body.String(), `aria-current="true">`+want+"<") {
			t.Errorf("%s does not say %q: %.3000s", target, want, rec.Body)
		}
	}
}

// TestProblemsOnPages: a file that cannot be read is named, with its line, wherever its
// translation is shown, and nowhere else.
func TestProblemsOnPages(t *testing.T) {
	t.Parallel()
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Ada", gittest.Files{"po/de.po": header, "po/fr.po": header})
	p := catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{"app": {}})
	p.Sync()
	s := api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return p.Clock }, CacheBytes: 1 << 20})
	pages := map[string]bool{"/": true, "/projects/demo/": true, "/projects/demo/app/": true, "/projects/demo/app/de/": true, "/projects/demo/app/fr/": false}
	for target := range pages { // kept, before anything is wrong
		send(s, http.MethodGet, target, "Accept", browser)
	}
	up.Push("Ada", gittest.Files{"po/de.po": header + "\nmsgid \"oops\n", "po/fr.po": header})
	p.Sync()
	for target, want := range pages {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		if got := strings.Contains(rec.Body.String(), `class="problems"`) && strings.Contains(rec.Body.String(), "po/de.po:4"); got != want {
			t.Errorf("%s: the file is named: %v", target, got)
		}
	}
}

// TestHonestNumbers: pages leave the source language out of percentages, and strings
// that a file lacks are not translated.
func TestHonestNumbers(t *testing.T) {
	t.Parallel()
	entry := func(id, text string) string { return "\nmsgid \"" + id + "\"\nmsgstr \"" + text + "\"\n" }
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Ada", gittest.Files{
		"po/app.pot": header + entry("a", "") + entry("b", "") + entry("c", "") + entry("d", ""),
		"po/de.po":   header + entry("a", "A") + entry("b", "") + entry("c", ""),
	})
	p := catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	p.Sync()
	s := api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return p.Clock }})
	for target, want := range map[string][]string{
		"/":                   {"25%"},
		"/projects/demo/":     {"25%", "one not in the file"},
		"/projects/demo/app/": {"25%"},
		"/languages/de/":      {"25%"},
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		for _, w := range want {
			if !strings.Contains(rec.Body.String(), w) {
				t.Errorf("%s: no %q in %s", target, w, rec.Body)
			}
		}
	}
	var list struct{ Results []map[string]any }
	_, rec := send(s, http.MethodGet, "/api/projects/demo/matrix/")
	must(t, json.Unmarshal(rec.Body.Bytes(), &list))
	row := list.Results[0]
	if row["translated_percent"] != 25.0 || row["missing"] != 1.0 || row["total"] != 4.0 {
		t.Errorf("matrix %v", row)
	}
}

// TestNumbersForPeople: what only another file has counts for nobody else, without a
// template a file is measured against itself, sums say of how many, and nothing is 100 %
// that has no string.
func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	entry := func(id, text string) string { return "\nmsgid \"" + id + "\"\nmsgstr \"" + text + "\"\n" }
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n"
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Ada", gittest.Files{
		"pot/app.pot": header + entry("c", "") + entry("d", "") + "\nmsgid \"e\"\nmsgid_plural \"es\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n",
		"pot/de.po":   header + entry("a", "A") + entry("b", "B"),
		"pot/fr.po":   header + entry("c", "C") + entry("d", "D") + "\nmsgid \"e\"\nmsgid_plural \"es\"\nmsgstr[0] \"E\"\nmsgstr[1] \"E\"\n",
		"pot/it.po":   header + entry("c", "C") + entry("d", "D") + entry("e", "E"),
		"bare/de.po":  header + entry("a", "A"), "bare/sq.po": header + entry("old", "O") + entry("older", ""), "bare/la.po": header,
	})
	p := catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{
		"app": {Filemask: "pot/*.po", NewBase: "pot/app.pot"}, "bare": {Filemask: "bare/*.po"}, "wrong": {Filemask: "locale/*.po"},
	})
	p.Sync()
	s := api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return p.Clock }})
	const none = "The filemask selects no file of the branch"
	for target, want := range map[string][]string{
		"/":                                  {none, "in 6 of 15 translations: languages × components"},
		"/projects/demo/":                    {none, "in 1 of 3 components", "one changed in the template", "3 not in the file", "no template", "3 translations have no template", "no strings"},
		"/projects/demo/wrong/":              {none, "no strings"},
		"/projects/demo/app/":                {"3 strings", "40%", "66.6%", "100%", "in 3 languages", "!no template"},
		"/projects/demo/app/de/":             {"40%"},
		"/projects/demo/app/it/":             {"66.6%", "Changed in the template"},
		"/translate/demo/app/it/":            {"one changed in the template"},
		"/translate/demo/app/it/?changed=1":  {"changed in the template</span>", ">e<"},
		"/translate/demo/app/de/?missing=1":  {">c<", ">d<", ">es<", "!>a<"},
		"/projects/demo/bare/":               {"There is no template", "50%", "100%", "no strings"},
		"/projects/demo/bare/de/":            {"There is no template", "100%"},
		"/projects/demo/bare/la/":            {"no strings", "!>100%"},
		"/languages/fr/":                     {"in 1 of 3 components"},
		"/languages/":                        {"in 1 of 3 components", "in 2 of 3 components"},
		"/engage/demo/fr/":                   {"is translated completely in 1 of 3 components."},
		"/engage/demo/la/":                   {"has no strings yet."},
		"/widget/demo/bare/de/svg-badge.svg": {"translated: 100%, no template"},
		"/widget/demo/bare/la/svg-badge.svg": {"translated: no strings"},
		"/widget/demo/wrong/svg-badge.svg":   {"translated: no strings"},
		"/widget/demo/app/fr/svg-badge.svg":  {"translated: 100%", "!template"},
		"/widget/demo/app/it/svg-badge.svg":  {"translated: 66%"},
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		for _, w := range want {
			if got, wanted := strings.Contains(rec.Body.String(), strings.TrimPrefix(w, "!")), !strings.HasPrefix(w, "!"); got != wanted {
				t.Errorf("%s: %q is there: %v in %s", target, w, got, rec.Body.String()[strings.Index(rec.Body.String(), "<main")+1:])
			}
		}
	}
	for language, missing := range map[string]int{"de": 3, "fr": 0, "it": 0} {
		var got struct{ Missing int }
		_, rec := send(s, http.MethodGet, "/api/translations/demo/app/"+language+"/statistics/")
		if must(t, json.Unmarshal(rec.Body.Bytes(), &got)); got.Missing != missing {
			t.Errorf("%s: %d are missing", language, got.Missing)
		}
	}
}

// TestLongAgo: a page about what nobody changed in the last year shows the contributors
// of all time, and says so; who asks for the year gets the year.
func TestLongAgo(t *testing.T) {
	t.Parallel()
	f := demo(t)
	s := bare(f, api.Options{Now: func() time.Time { return time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC) }})
	const longer = "These are the contributors of all time."
	for target, want := range map[string]bool{"/projects/demo/app/": true, "/projects/demo/app/cs/": true, "/projects/demo/app/?since=365": false} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		body := rec.Body.String()
		if strings.Contains(body, longer) != want || strings.Contains(body, `class="weeks"`) != want || strings.Contains(body, "Nobody changed a string in this time.") == want {
			t.Errorf("%s: %.2000s", target, body[strings.Index(body, "contributors"):])
		}
	}
}

// TestWorkIsListed: a link to what is left leads to a list that has it; what is only
// not in the file has no such link. An invitation tells languages of one name apart.
func TestWorkIsListed(t *testing.T) {
	t.Parallel()
	entry := func(id, text string) string { return "\nmsgid \"" + id + "\"\nmsgstr \"" + text + "\"\n" }
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Ada", gittest.Files{
		"po/app.pot":  header + entry("a", "") + entry("b", ""),
		"po/cs.po":    header + entry("a", "A"),
		"po/cs_CZ.po": header + entry("a", ""),
	})
	p := catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot", License: "GPL-3.0-or-later"}})
	p.Sync()
	s := api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return p.Clock }})
	const list = "/translate/demo/app/%/?q=is:untranslated"
	for _, language := range []string{"cs", "cs_CZ"} {
		work := strings.Replace(list, "%", language, 1)
		for _, target := range []string{"/engage/demo/" + language + "/", "/languages/" + language + "/", "/projects/demo/app/"} {
			_, rec := send(s, http.MethodGet, target, "Accept", browser)
			if linked := strings.Contains(rec.Body.String(), `href="`+work+`"`); linked != (language == "cs_CZ") {
				t.Errorf("%s has a link to %s: %t", target, work, linked)
			}
		}
		_, rec := send(s, http.MethodGet, work, "Accept", browser)
		if empty := strings.Contains(rec.Body.String(), "No matching strings."); empty != (language == "cs") {
			t.Errorf("%s is empty: %t", work, empty)
		}
		if !strings.Contains(rec.Body.String(), "one not in the file") {
			t.Errorf("%s does not say what the file lacks", work)
		}
		lacks := "/translate/demo/app/" + language + "/?missing=1"
		if !strings.Contains(rec.Body.String(), `href="`+lacks+`"`) {
			t.Errorf("%s has no list of it", work)
		}
		_, rec = send(s, http.MethodGet, lacks, "Accept", browser)
		if body := rec.Body.String(); strings.Count(body, `href="/translate/demo/app/en/?checksum=`) != 1 || !strings.Contains(body, `<span class="text">b</span>`) {
			t.Errorf("%s: %s", lacks, body)
		}
		if _, rec = send(s, http.MethodGet, "/projects/demo/app/"+language+"/", "Accept", browser); strings.Contains(rec.Body.String(), `aria-current="true">all strings`) {
			t.Errorf("the page of %s has its list of strings as the current one", language)
		}
		_, rec = send(s, http.MethodGet, "/engage/demo/"+language+"/", "Accept", browser)
		if !strings.Contains(rec.Body.String(), "one not in the file") || strings.Contains(rec.Body.String(), "edited here") {
			t.Errorf("the invitation: %s", rec.Body)
		}
		if _, rec = send(s, http.MethodGet, "/engage/demo/", "Accept", browser); !strings.Contains(rec.Body.String(), "<code>"+language+"</code>") {
			t.Errorf("the invitation does not name %s: %s", language, rec.Body)
		}
		name := map[string]string{"cs": "Czech", "cs_CZ": "Czech (cs_CZ)"}[language]
		for target, want := range map[string]string{
			"/projects/demo/app/" + language + "/":       "<title>" + name + " · ",
			"/languages/" + language + "/":               "<title>" + name + " · ",
			"/translate/demo/app/" + language + "/":      "<title>Strings · " + name + " · ",
			"/engage/demo/" + language + "/?ui=ar":       "<bdi>GPL-3.0-or-later</bdi>",
			"/projects/demo/app/" + language + "/?ui=cs": "<title>" + map[string]string{"cs": "čeština", "cs_CZ": "čeština (Česko)"}[language] + " · ",
		} {
			if _, rec = send(s, http.MethodGet, target, "Accept", browser); !strings.Contains(rec.Body.String(), want) {
				t.Errorf("%s lacks %s: %.1500s", target, want, rec.Body)
			}
		}
	}
	w := newTranslating(t, api.Options{})
	if _, rec := send(w.s, http.MethodGet, "/engage/demo/cs/", "Accept", browser); !strings.Contains(rec.Body.String(), "edited here") {
		t.Errorf("the invitation to a project that takes edits: %s", rec.Body)
	}
}

// TestLegend: below a matrix the change in 30 days is explained if a cell has one.
func TestLegend(t *testing.T) {
	t.Parallel()
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	up := gittest.NewUpstream[object.Hash](t)
	p := catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{"app": {}})
	for _, text := range []string{"", "A"} {
		up.Push("Ada", gittest.Files{"po/cs.po": header + "\nmsgid \"a\"\nmsgstr \"" + text + "\"\n"})
		p.Clock = p.Clock.AddDate(0, 0, 40)
		p.Sync()
	}
	for days, want := range map[int]bool{1: true, 40: false} {
		now := p.Clock.AddDate(0, 0, days)
		_, rec := send(api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return now }}), http.MethodGet, "/projects/demo/", "Accept", browser)
		body := rec.Body.String()
		if strings.Contains(body, `class="trend up"`) != want || strings.Contains(body, "the change in 30 days") != want {
			t.Errorf("%d days later, want %t: %s", days, want, body)
		}
	}
}

// TestSearchPage: a search finds things by their names and codes, marks the words that are looked
// for, and shows what has a text before what has none; a language page leaves out what is done.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Ada", gittest.Files{
		"po/app.pot": catalogtest.PO("A window", "", "The window (b)", "", "Other", "", "Save all these files", "", "Two", ""),
		"po/de.po":   catalogtest.PO("A window", "", "The window (b)", "Das fenster <b>", "Other", "Anderes", "Save all these files", "Save all these files", "Two", "Zwei  und"),
		"po/cs.po":   catalogtest.PO("A window", "Okno", "The window (b)", "Okno (b)", "Other", "Jiné", "Save all these files", "Uložit", "Two", "Dva"),
	})
	p := catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{"windows": {Name: "Windows <x>", NewBase: "po/app.pot"}, "rest": {Name: "Rest", NewBase: "po/app.pot"}})
	p.Sync()
	s := api.New(api.Options{DB: p.DB, Languages: p.Languages, Now: catalogtest.Now})
	get := func(target string) string {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		_, main, _ := strings.Cut(rec.Body.String(), "<main")
		return main
	}
	list := get("/search/?lang=de&q=window")
	answered := strings.Index(list, `<mark>window</mark> (b)`)
	if open := strings.Index(list, `A <mark>window</mark>`); answered < 0 || open < answered {
		t.Errorf("the string without a text is at %d, the other at %d", open, answered)
	}
	if named, _, _ := strings.Cut(list, "<article"); !strings.Contains(named, `<a href="/projects/demo/windows/"><bdi>Windows &lt;x&gt;`) || strings.Contains(named, "/demo/rest/") {
		t.Errorf("things with the name: %s", named)
	}
	for q, want := range map[string]string{
		"target:FENSTER": "Das <mark>fenster</mark> &lt;b&gt;", "%22w+(b)%22": "The windo<mark>w (b)</mark>", "German": `<a href="/languages/de/">`,
		"cs": `<a href="/languages/cs/">`, "demo": `<a href="/projects/demo/">`,
	} {
		if list := get("/search/?lang=de&q=" + q); !strings.Contains(list, want) {
			t.Errorf("%s lacks %s: %s", q, want, list)
		}
	}
	if list := get("/translate/demo/rest/de/?q=has:check"); !strings.Contains(list, "<mark>Save all these files</mark>") || !strings.Contains(list, "Zwei<mark>␣␣</mark>und") {
		t.Errorf("marks: %s", list)
	}
	for target, want := range map[string]int{"/languages/de/": 2, "/languages/de/?only=unfinished": 2, "/languages/cs/?only=unfinished": 0, "/languages/cs/": 2} {
		if got := strings.Count(get(target), `<tr><th scope="row"><a href="/projects/demo/`); got != want {
			t.Errorf("%s has %d components, want %d", target, got, want)
		}
	}
}
