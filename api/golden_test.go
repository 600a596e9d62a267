package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
)

const (
	goldenDir   = "../../shared/data/golden"
	goldenBase  = "http://127.0.0.1:58080"
	goldenHost  = "127.0.0.1:58080"
	helloBundle = "../../shared/data/repos/hello.bundle"
)

// TestGolden imports the two components that a Weblate 5.4.2 was recorded with
// and compares our answers with its, field by field, at both revisions. A table
// of golden_differences_test.go has every intended difference with its reason;
// any other fails.
func TestGolden(t *testing.T) {
	gittest.Shared(t, "data", "golden")
	g := newGolden(t)
	for _, revision := range []string{"rev1", "rev2"} {
		g.sync(revision)
		t.Run(revision, g.compareAll)
	}
	for suffix, reason := range ignored {
		if !g.met[suffix] {
			t.Errorf("no field ends with %s, which is ignored (%s)", suffix, reason)
		}
	}
	t.Run("changes", g.compareChanges)
	t.Run("accept", g.compareAccept)
	t.Run("tokens", g.compareTokens)
}

// golden is the service under test with the repositories of the record.
type golden struct {
	tb       testing.TB
	db       *store.DB
	handler  http.Handler
	syncer   *ingest.Syncer
	branches []ingest.Branch
	rich     string // the bare repository
	revision string // that is served
	ours     map[string]string
	entries  int // how many of the histories were compared
	met      map[string]bool
}

func newGolden(tb testing.TB) *golden {
	tb.Helper()
	w := catalogtest.Open(tb)
	g := &golden{
		tb: tb, met: map[string]bool{}, db: w.DB, rich: gittest.Clone(tb, filepath.Join(goldenDir, "rich.bundle")),
		handler: api.Validated(tb, api.New(api.Options{DB: w.DB, Languages: w.Languages})),
		syncer:  ingest.New(ingest.Options{DB: w.DB, Languages: w.Languages, MirrorDir: filepath.Join(w.Dir, "mirrors")}),
	}
	hello := gittest.Clone(tb, helloBundle)
	specs := []store.ComponentSpec{
		{Project: "demo", Slug: "rich", Repo: g.rich, Branch: "main", Settings: recordedSettings(tb, "component.http")},
		{Project: "demo", Slug: "hello", Repo: hello, Branch: gittest.RunGit(tb, hello, "symbolic-ref", "--short", "HEAD"), Settings: recordedSettings(tb, "component_hello.http")},
	}
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{
		Name: "Demo", Web: "https://example.org/demo", SetLanguageTeam: true, EnableHooks: true,
	}}
	if err := w.DB.Configure(tb.Context(), []catalog.Project{project}, specs, nil); err != nil {
		tb.Fatal(err)
	}
	for _, spec := range specs {
		g.branches = append(g.branches, ingest.Branch{
			Remote: remote.Repository{URL: spec.Repo, Branch: spec.Branch}, Key: ingest.BranchKey(spec.Repo, spec.Branch),
			Components: []ingest.Component{{Spec: spec}},
		})
	}
	return g
}

// recordedSettings takes a component's settings from its recorded answer: what
// is configuration there is configuration here.
func recordedSettings(tb testing.TB, file string) catalog.ComponentSettings {
	tb.Helper()
	var c struct {
		Name              string `json:"name"`
		VCS               string `json:"vcs"`
		Filemask          string `json:"filemask"`
		NewBase           string `json:"new_base"`
		FileFormat        string `json:"file_format"`
		License           string `json:"license"`
		NewLang           string `json:"new_lang"`
		LanguageRegex     string `json:"language_regex"`
		Priority          int    `json:"priority"`
		MergeStyle        string `json:"merge_style"`
		CommitMessage     string `json:"commit_message"`
		AddMessage        string `json:"add_message"`
		DeleteMessage     string `json:"delete_message"`
		MergeMessage      string `json:"merge_message"`
		AddonMessage      string `json:"addon_message"`
		PullMessage       string `json:"pull_message"`
		EditTemplate      bool   `json:"edit_template"`
		AllowPropagation  bool   `json:"allow_translation_propagation"`
		EnableSuggestions bool   `json:"enable_suggestions"`
		PushOnCommit      bool   `json:"push_on_commit"`
		CommitPendingAge  int    `json:"commit_pending_age"`
		AutoLockError     bool   `json:"auto_lock_error"`
		GlossaryColor     string `json:"glossary_color"`
	}
	if err := json.Unmarshal(readRecord(tb, "rev1", file).body, &c); err != nil {
		tb.Fatal(err)
	}
	return catalog.ComponentSettings{
		Name: c.Name, VCS: c.VCS, Filemask: c.Filemask, NewBase: c.NewBase, FileFormat: c.FileFormat, License: c.License,
		NewLang: c.NewLang, SourceLanguage: "en", LanguageRegex: c.LanguageRegex, Priority: c.Priority, MergeStyle: c.MergeStyle,
		CommitMessage: c.CommitMessage, AddMessage: c.AddMessage, DeleteMessage: c.DeleteMessage, MergeMessage: c.MergeMessage, AddonMessage: c.AddonMessage, PullMessage: c.PullMessage,
		EditTemplate: c.EditTemplate, AllowTranslationPropagation: c.AllowPropagation, EnableSuggestions: c.EnableSuggestions,
		PushOnCommit: c.PushOnCommit, CommitPendingAge: c.CommitPendingAge, AutoLockError: c.AutoLockError, GlossaryColor: c.GlossaryColor,
	}
}

// sync moves the branch main of rich to a tag and pulls everything.
func (g *golden) sync(tag string) {
	g.tb.Helper()
	g.revision = tag
	gittest.RunGit(g.tb, g.rich, "update-ref", "refs/heads/main", "refs/tags/"+tag)
	for _, branch := range g.branches {
		report, err := g.syncer.Sync(g.tb.Context(), branch)
		if err != nil {
			g.tb.Fatal(err)
		}
		for _, c := range report.Components {
			if c.Err != nil || len(c.Problems) > 0 {
				g.tb.Fatalf("%s: %v %v", c.Slug, c.Err, c.Problems)
			}
		}
	}
}

// record is one recorded exchange.
type record struct {
	name, method, target string
	header               http.Header
	status               int
	body                 []byte
}

// readRecord reads the answer in a file.
func readRecord(tb testing.TB, revision, file string) record {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(goldenDir, revision, file))
	if err != nil {
		tb.Fatal(err)
	}
	head, body, _ := bytes.Cut(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	r := record{name: strings.TrimSuffix(file, ".http"), header: http.Header{}, body: bytes.TrimSpace(body)}
	for i, line := range strings.Split(string(head), "\n") {
		if i == 0 {
			if _, err := fmt.Sscanf(line, "HTTP/1.1 %d", &r.status); err != nil {
				tb.Fatalf("%s: %q: %v", file, line, err)
			}
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		r.header.Add(name, value)
	}
	return r
}

// readRecords reads the recorded exchanges of a revision. A line of the index:
// name, status line, curl's options, address.
func readRecords(tb testing.TB, revision string) []record {
	tb.Helper()
	f, err := os.Open(filepath.Join(goldenDir, revision+".index"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var records []record
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		r := readRecord(tb, revision, words[0]+".http")
		r.target = strings.TrimPrefix(words[len(words)-1], goldenBase)
		r.method = http.MethodGet
		if i := slices.Index(words, "-X"); i > 0 {
			r.method = words[i+1]
		}
		if slices.Contains(words, "-I") {
			r.method = http.MethodHead
		}
		if i := slices.Index(words, "Authorization:"); i > 0 {
			r.header.Set("x-sent-authorization", words[i+1]+" "+words[i+2])
		}
		records = append(records, r)
	}
	if len(records) < 100 {
		tb.Fatalf("%s.index names only %d exchanges", revision, len(records))
	}
	return records
}

// send makes our answer to a recorded request.
func (g *golden) send(method, target, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = goldenHost
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	rec := httptest.NewRecorder()
	g.handler.ServeHTTP(rec, r)
	return rec
}

// compareAll compares all recorded exchanges of a revision: as a whole, or the
// part that parts names with its reason.
func (g *golden) compareAll(t *testing.T) {
	records := readRecords(t, g.revision)
	g.mapUnits(t, records)
	g.entries = 0
	partly := parts()
	for _, r := range records {
		name := r.name
		if _, of := partly[g.revision+"/"+name]; of {
			name = g.revision + "/" + name
		}
		p, inPart := partly[name]
		delete(partly, name)
		t.Run(r.name, func(t *testing.T) {
			if inPart {
				p.compare(t, g, r)
				return
			}
			g.compare(t, r)
		})
	}
	for name, p := range partly {
		if revision, _, of := strings.Cut(name, "/"); !of || revision == g.revision {
			t.Errorf("%s was not recorded, or is compared as a whole (%s)", name, p.reason)
		}
	}
	if g.revision == "rev2" && g.entries < 50 { // of rev1 the recorded service has an import, ours no history
		t.Errorf("only %d entries of histories compared", g.entries)
	}
	files, err := filepath.Glob(filepath.Join(goldenDir, g.revision, "*.http"))
	if g.revision == "rev2" {
		files = files[min(len(files), len(notIndexed())):] // see compareAccept
	}
	if err != nil || len(files) != len(records) {
		t.Errorf("%d answers are recorded, %d are compared (%v)", len(files), len(records), err)
	}
}

var unitID = regexp.MustCompile(`/api/units/(\d+)/`)

// mapUnits finds which of our ids is which recorded unit: the same hash in the
// same translation.
func (g *golden) mapUnits(t *testing.T, records []record) {
	t.Helper()
	g.ours = map[string]string{}
	for _, language := range []string{"rich/cs", "rich/en", "rich/de", "hello/cs"} {
		ours := map[string]string{}
		rec := g.send(http.MethodGet, "/api/translations/demo/"+language+"/units/?page_size=10000", "")
		for _, u := range results(t, rec.Body.Bytes()) {
			ours[fmt.Sprint(u["id_hash"])] = fmt.Sprint(u["id"])
		}
		for _, r := range records {
			if !strings.HasPrefix(r.target, "/api/translations/demo/"+language+"/units/") || r.status != http.StatusOK || r.method != http.MethodGet {
				continue
			}
			for _, u := range results(t, r.body) {
				id, ok := ours[fmt.Sprint(u["id_hash"])]
				if !ok {
					t.Errorf("%s: recorded unit %v %v is not ours", language, u["id"], u["source"])
				}
				g.ours[fmt.Sprint(u["id"])] = id
			}
		}
	}
}

// results decodes the results of a list.
func results(tb testing.TB, body []byte) []map[string]any {
	tb.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var list struct{ Results []map[string]any }
	if err := dec.Decode(&list); err != nil {
		tb.Fatalf("%v: %.100s", err, body)
	}
	return list.Results
}

// compare sends one recorded request and compares status, headers and body.
func (g *golden) compare(t *testing.T, r record) {
	t.Helper()
	g.compareAs(t, r, intendedOf(r))
}

func (g *golden) compareAs(t *testing.T, r record, want intended) {
	t.Helper()
	target := unitID.ReplaceAllStringFunc(r.target, func(s string) string {
		if id := g.ours[unitID.FindStringSubmatch(s)[1]]; id != "" {
			return "/api/units/" + id + "/"
		}
		return s
	})
	if isList(r) && !strings.Contains(target, "page_size=") { // 20 a page, where the recorded service has 50 (docs/compatibility.md#paging)
		size := "50"
		if strings.HasPrefix(target, "/api/units/") {
			size = "100"
		}
		target += map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")] + "page_size=" + size
	}
	rec := g.send(r.method, target, r.header.Get("x-sent-authorization"))
	if rec.Code != want.status {
		t.Fatalf("%s %s: %d, want %d (recorded %d): %.200s", r.method, target, rec.Code, want.status, r.status, rec.Body)
	}
	if want.headers {
		g.compareHead(t, r, rec)
	}
	ours := rec.Body.Bytes()
	switch {
	case want.body != "":
		if api.OldForm(string(ours)) != want.body {
			t.Errorf("body %s, want %s", ours, want.body)
		}
	case r.method == http.MethodHead:
		if len(ours) > 0 {
			t.Errorf("a body of %d bytes", len(ours))
		}
	case r.name == "translation_file_csv":
		compareCSV(t, r.body, ours)
	case !bytes.HasPrefix(r.body, []byte("{")) && !bytes.HasPrefix(r.body, []byte("[")): // a file
		if got := bytes.TrimSpace(ours); !bytes.Equal(got, r.body) || rec.Header().Get("Content-Disposition") != r.header.Get("Content-Disposition") {
			t.Errorf("%d bytes, %s; recorded %d, %s", len(got), rec.Header().Get("Content-Disposition"), len(r.body), r.header.Get("Content-Disposition"))
		}
	default:
		c := &comparer{met: g.met, metrics: r.name == "metrics_auth", nonsenseSize: nonsense.MatchString(target)}
		c.compare("", parse(t, r.body), parse(t, ours))
		c.report(t)
	}
}

var nonsense = regexp.MustCompile(`page_size=(0|-3|abc)$`)
