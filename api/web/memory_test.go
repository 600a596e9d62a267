package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// remembering is a server with a string that others are similar to: one that says now another
// text than before, one of a private component.
func remembering(t *testing.T) (w *translating, first string) {
	t.Helper()
	repo := testrepos.Empty(t)
	file := func(source, target string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"" + source + "\"\nmsgstr \"" + target + "\"\n"
	}
	first = repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/cs.po": file("Open the old files", ""), "doc/cs.po": file("Open the old file", "Otevřít starý soubor"), "secret/cs.po": file("Open the odd files", "Tajné"),
	}})
	p := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app": {Edits: catalog.Edits{Mode: catalog.PushDirect}}, "doc": {Filemask: "doc/*.po", Edits: catalog.Edits{Mode: catalog.PushDirect}}, "secret": {Filemask: "secret/*.po", Access: catalog.AccessPrivate},
	})
	p.Sync()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"doc/cs.po": file("Open the old file", "Otevřít dávný soubor")}})
	p.Sync()
	o := api.Options{DB: p.DB, Languages: p.Languages, Edits: p.Editor, CacheBytes: 1 << 20}
	o.Settings.SignIn = providers
	return &translating{p, t, api.New(o)}, first
}

// Beside a form are texts of similar sources, those that a file had with the last commit, and a
// button copies one into the form.
func TestMemoryOnPage(t *testing.T) {
	t.Parallel()
	w, first := remembering(t)
	p := w.signIn(jana)
	address := w.address("app", "cs", "Open the old files", "")
	body := p.Get(address).Body.String()
	now, before := strings.Index(body, "Otevřít dávný soubor"), strings.Index(body, "Otevřít starý soubor")
	if now < 0 || before < now || !strings.Contains(body[before:], first[:10]) || !strings.Contains(body, "Tajné") || !strings.Contains(body, "97.1%") || !strings.Contains(body, `value="m1" data-key="Alt&#43;2"`) {
		t.Errorf("the memory of %s:\n%s", first, body)
	}
	form := p.form(address)
	form.Del("do")
	form.Set("copy", "m1")
	if copied := p.Post(address, form); !strings.Contains(copied.Body.String(), "\nOtevřít starý soubor</textarea>") {
		t.Errorf("copied: %d %s", copied.Code, copied.Body)
	}
	if body := catalogtest.NewVisitor(t, w.s).Get(address).Body.String(); strings.Contains(body, "Otevřít") {
		t.Error("the memory costs who cannot edit")
	}
	const pending = "not in the repository yet"
	if strings.Contains(body, pending) {
		t.Errorf("nothing is pending: %s", body)
	}
	must(t, w.Write("Open the old file", catalog.StateTranslated, "Otevřít nový soubor"))
	if body := p.Get(address).Body.String(); strings.Count(body, pending) != 1 || !strings.Contains(body, "Otevřít nový soubor") {
		t.Errorf("a pending text: %s", body)
	}
}

// Whoever looks strings up sees what is visible to them, before it is ranked; what cannot be
// asked is refused with its field.
func TestMemoryLookup(t *testing.T) {
	t.Parallel()
	w, first := remembering(t)
	look := func(token, body string) (*httptest.ResponseRecorder, [][]string) {
		r := httptest.NewRequest(http.MethodPost, "/api/memory/lookup/", bytes.NewReader([]byte(body)))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Token "+token)
		}
		rec := httptest.NewRecorder()
		w.s.ServeHTTP(rec, r)
		var answer struct {
			Results []struct {
				Matches []struct {
					Target     []string
					Similarity float64
					At         *string
					Component  string
				}
			}
		}
		if rec.Code == http.StatusOK && json.Unmarshal(rec.Body.Bytes(), &answer) != nil {
			t.Fatalf("%s", rec.Body)
		}
		var all [][]string
		for _, result := range answer.Results {
			var list []string
			for _, m := range result.Matches {
				text := m.Component + ": " + strings.Join(m.Target, "|")
				if m.At != nil {
					text += " until " + *m.At
				}
				list = append(list, text)
			}
			all = append(all, list)
		}
		return rec, all
	}
	const ask = `{"source_language": "en", "target_language": "cs", "strings": ["Open the odd file", "Close", "Open the old file"]}`
	now, before, secret := "doc: Otevřít dávný soubor", "doc: Otevřít starý soubor until "+first, "secret: Tajné"
	for _, c := range []struct {
		token string
		want  [][]string
	}{
		{"", [][]string{{now, before}, nil, {now, before}}},
		{w.token(catalog.Token{Name: "reader", Scope: catalog.ScopeRead}), [][]string{{secret, now, before}, nil, {now, before, secret}}},
		{w.token(catalog.Token{Name: "of others", Scope: catalog.ScopeRead, Projects: catalog.NameList("other")}), [][]string{{now, before}, nil, {now, before}}},
	} {
		if rec, got := look(c.token, ask); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%q: %q, want %q: %s", c.token, got, c.want, rec.Body)
		}
	}
	for body, want := range map[string]string{
		`{"source_language": "en", "target_language": "cs"}`:                                                      `"strings":["This field is required."]`,
		`{"source_language": "en", "target_language": "cs", "strings": []}`:                                       `"strings":["Ensure`,
		`{"source_language": "en", "target_language": "", "strings": ["x"]}`:                                      `"target_language":["This field is required."]`,
		`{"source_language": "en", "target_language": "cs", "strings": ["` + strings.Repeat(`x","`, 100) + `x"]}`: `"strings":["Ensure`,
		`{"source_language": "en", "target_language": "cs", "strings": [{}]}`:                                     `"strings":["`,
		`{"source_language": 7, "target_language": {}, "strings": ["x"]}`:                                         `"target_language":["Not a valid string."]`,
		`{"source_language": "en", "target_language": "cs", "strings": ["` + strings.Repeat("é", 2001) + `"]}`:    `"strings":["Ensure`,
		`[]`: `JSON parse error`,
	} {
		if rec, _ := look("", body); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%.80s: %d %s", body, rec.Code, rec.Body)
		}
	}
	if rec := catalogtest.NewVisitor(t, w.s).Get("/api/memory/lookup/"); rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", rec.Code)
	}
}

// Clients of Weblate find its shapes: the list of all texts with its filters, and of a lookup with
// the languages in the address the best match of each string.
func TestWeblateMemory(t *testing.T) {
	t.Parallel()
	w, _ := remembering(t)
	reader := w.token(catalog.Token{Name: "reader", Scope: catalog.ScopeRead})
	type text struct {
		ID                            int64
		Source, Target, Origin, Query string
		SourceLanguage                string `json:"source_language"`
		TargetLanguage                string `json:"target_language"`
		Project                       int64
		Quality                       int
		FromFile                      bool `json:"from_file"`
		Exact                         bool
		Match                         json.RawMessage
	}
	ask := func(token, method, address, body string) (count int, list []text) {
		r := httptest.NewRequest(method, address, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Token "+token)
		}
		rec := httptest.NewRecorder()
		w.s.ServeHTTP(rec, r)
		var answer struct {
			Count   int
			Results []text
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil || rec.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, address, rec.Code, rec.Body)
		}
		return answer.Count, answer.Results
	}
	doc, _ := w.unit("doc", "cs", "Open the old file")
	if count, list := ask("", "GET", "/api/memory/", ""); count != 1 || !reflect.DeepEqual(list[0], text{
		ID: doc, Source: "Open the old file", Target: "Otevřít dávný soubor", Origin: "demo/doc", SourceLanguage: "en", TargetLanguage: "cs", Project: 1, FromFile: true,
	}) {
		t.Errorf("visible to all: %d %+v", count, list)
	}
	for query, want := range map[string]int{
		"": 2, "?page_size=1": 2, "?project=demo&target_language=CS&source_language=en": 2, "?project=dem": 0, "?target_language=de": 0, "?source_language=de": 0,
		"?source=ODD": 1, `?source=%22`: 0, "?source=Open": 2, "?target=x": 2,
	} {
		if count, _ := ask(reader, "GET", "/api/memory/"+query, ""); count != want {
			t.Errorf("%s: %d texts, want %d", query, count, want)
		}
	}
	const languages = "/api/memory/lookup/?source_language=en&target_language=cs"
	best := fmt.Sprintf(`{"id":%d,"source":"Open the old file","target":"Otevřít dávný soubor","origin":"demo/doc","exact":false,"quality":94}`, doc)
	for query, want := range map[string]string{"": best, "&exact=true": "null", "&exact=false&project=demo": best, "&project=dem": "null"} {
		_, list := ask("", "POST", languages+query, `{"strings": ["Open the odd file", "Close"]}`)
		if len(list) != 2 || list[0].Query != "Open the odd file" || string(list[0].Match) != want || string(list[1].Match) != "null" {
			t.Errorf("%q: %+v", query, list)
		}
	}
}

// TestMemoryOfReaders: what is found is what a server finds that has nothing but what the reader
// sees, however many strings the others have that are more similar, longer, or of a longer past.
func TestMemoryOfReaders(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // drawn, not secret
	var repos [3]*testrepos.Repo
	commit := func() {
		for i := range repos {
			cs, n := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=6; plural=n%6;\\n\"\n", 12
			if i > 0 { // private ones would take all places
				n = 160
			}
			for k := range n {
				cs += fmt.Sprintf("\nmsgctxt \"%d\"\nmsgid \"Open the old %s %d\"\nmsgstr \"%d %d %d\"\n", k, []string{"file", "files", "folder"}[rnd.IntN(3-min(i, 1))], k/160, i, k, rnd.IntN(3))
			}
			long := strings.Repeat("\u6f22", 3990)
			cs += fmt.Sprintf("\nmsgctxt \"long\"\nmsgid \"Open the old file 0\"\nmsgstr \"%s%d\"\n\nmsgctxt \"longest\"\nmsgid \"Open the old file 0\"\nmsgstr \"%s%d\"\n", long, rnd.IntN(9), strings.Repeat(long, 3), rnd.IntN(9))
			cs += "\nmsgctxt \"deep\"\nmsgid \"Open the old file 0\"\nmsgid_plural \"Open the old files 0\"\n"
			for form := range 6 {
				cs += fmt.Sprintf("msgstr[%d] \"%s%d\"\n", form, long[:1800], rnd.IntN(3))
			}
			repos[i].Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": cs}})
		}
	}
	for i := range repos {
		repos[i] = testrepos.Empty(t)
	}
	type server struct {
		*translating
		branches []ingest.Branch
	}
	serve := func(projects ...int) *server {
		p := catalogtest.PullerAt(t, t.TempDir())
		p.Open()
		s := &server{translating: &translating{p, t, api.New(api.Options{DB: p.DB, Languages: p.Languages, CacheBytes: 1 << 20})}}
		var specs []store.ComponentSpec
		var all []catalog.Project
		for _, i := range projects {
			b, list, _ := catalogtest.BranchOf(repos[i].URL(), "", map[string]catalog.ComponentSettings{"app": {}})
			set := catalog.ProjectSettings{Name: fmt.Sprint("P", i)}
			if i > 0 {
				set.Access = catalog.AccessPrivate
			}
			list[0].Project, b.Components[0].Spec.Project = fmt.Sprint("p", i), fmt.Sprint("p", i)
			all, specs, s.branches = append(all, catalog.Project{Slug: list[0].Project, Settings: set}), append(specs, list...), append(s.branches, b)
		}
		if err := p.DB.Configure(t.Context(), all, specs, nil); err != nil {
			t.Fatal(err)
		}
		return s
	}
	commit()
	everything := serve(0, 1, 2)
	alone := map[string]*server{"": serve(0), "p1": serve(0, 1), "p2": serve(0, 2), "all": everything}
	for range testsize.Of(2, 3, 20) {
		for _, s := range alone {
			for _, s.Branch = range s.branches {
				s.Sync()
			}
		}
		commit()
	}
	look := func(s *server, projects, address, body string) string {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		r := httptest.NewRequest(method, address, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if token := (catalog.Token{Name: fmt.Sprint(rnd.Uint64()), Scope: catalog.ScopeRead}); projects != "" {
			if projects != "all" {
				token.Projects = catalog.NameList(projects)
			}
			r.Header.Set("Authorization", "Token "+s.token(token))
		}
		rec := httptest.NewRecorder()
		s.s.ServeHTTP(rec, r)
		if rec.Code != http.StatusOK || rec.Body.Len() > 40<<20 {
			t.Fatalf("%s: %d, %d bytes %.300s", projects, rec.Code, rec.Body.Len(), rec.Body)
		}
		return regexp.MustCompile(`"(unit|id|timestamp|project)":[^,}]*`).ReplaceAllString(rec.Body.String(), "")
	}
	for reader, s := range alone {
		for _, ask := range []string{"Open the old file 0", "Open the odd files", "Open an old folder 2", "Close"} {
			body, _ := json.Marshal(map[string]any{"source_language": "en", "target_language": "cs", "strings": []string{ask, "x"}})
			got, want := look(everything, reader, "/api/memory/lookup/", string(body)), look(s, "all", "/api/memory/lookup/", string(body))
			if got != want || strings.Count(got, `"similarity"`) > 10 || len(got) > 200_000 {
				t.Errorf("%q of %q: %d bytes\n%.1500s\n%.1500s", ask, reader, len(got), got, want)
			}
		}
		if got, want := look(everything, reader, "/api/memory/?page_size=1000&source=old", ""), look(s, "all", "/api/memory/?page_size=1000&source=old", ""); got != want {
			t.Errorf("the list of %q: %.500s\n%.500s", reader, got, want)
		}
	}
}
