package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	gopath "path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse/diff"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestCompare compares commits of a mirror by HTTP: by id and by name, those that no commit of
// the branch reaches, too many files, and where the mirror is not.
func TestCompare(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	commit := func(branch string, n int, text string) string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("po/x%c%c.po", 'a'+i/20, 'a'+i%20)] = catalogtest.PO("One", text)
		}
		return repo.Commit(t, testrepos.Change{Branch: branch, Parents: parents(repo.Head()), Files: files})
	}
	first := commit("main", 2, "text one")
	second := commit("main", 1, "text two")
	other := commit("l10n/other", 1, "secret")
	many := commit("main", 300, "many")
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {SuggestionBranches: "l10n/*"}})
	w.Sync()
	t.Cleanup(func() { w.Syncer.Close() })
	engine := &Engine{db: w.DB, languages: w.Languages}
	reads := &commits{w.Syncer, engine}
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: catalogtest.Now, Commits: reads})
	get := func(commits string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/components/demo/app/compare/"+commits, http.NoBody))
		return rec
	}
	rec := get(first + "..." + second)
	var report diff.Report
	if err := json.Unmarshal(rec.Body.Bytes(), &report); err != nil || rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if len(report.Files) != 1 || report.Files[0].Path != "po/xaa.po" || report.Counts.Texts != 1 || report.Files[0].Strings[0].New.Forms[0] != "text two" || report.Files[0].Language != "xaa" {
		t.Errorf("%+v", report)
	}
	if rec := get(first + "...main"); rec.Code != 307 || !strings.HasSuffix(rec.Header().Get("Location"), first+"..."+many+"/") {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	want := func(status int, text string, list ...string) {
		t.Helper()
		for _, commits := range list {
			if rec := get(commits); rec.Code != status || !strings.Contains(rec.Body.String(), text) || strings.Contains(rec.Body.String(), "secret") {
				t.Errorf("%s: %d %s", commits, rec.Code, rec.Body)
			}
		}
	}
	unknown := strings.Repeat("ab", 20)
	want(404, `"detail":"Not found."`, first+"..."+other, other+"..."+first, other+"..."+other, first+"..."+unknown, unknown+"..."+unknown, first+"...l10n%2Fother")
	want(400, "These commits cannot be compared: 300 files differ, and at most 200 are compared.", second+"..."+many)
	w.Syncer.Close()
	w.Syncer = w.NewSyncer(catalogtest.Now) // of another process
	reads.Syncer = w.Syncer
	want(503, "The repository has not been fetched yet", first+"..."+second, first+"..."+other, unknown+"..."+unknown)
	engine.cluster = &member{}
	want(503, "another process of the cluster has it", first+"..."+second, first+"..."+other, unknown+"..."+unknown)
	if rec := get(first + "..." + second); rec.Header().Get("Retry-After") == "" {
		t.Error(rec.Header())
	}
}

// TestCompareChecks: checks that a text fails now are told, with the flags, the language and the names of
// the component, whatever the header says; those that failed before are not.
func TestCompareChecks(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	commit := func(texts ...string) string {
		list := []string{"Open.", texts[0], "Close!", texts[1], "Widgets", texts[2], "Save.", texts[3]}
		return repo.Commit(t, testrepos.Change{Files: map[string]string{"po/xx@a.po": strings.Replace(catalogtest.PO(list...), "Content-Type", `Language: en\nContent-Type`, 1)}})
	}
	first, second := commit("Otevřít", "", "", "Uložit."), commit("Otevři", "Zavřít", "Widgets", "Ulož")
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {Name: "Widgets", CheckFlags: "ignore-end-exclamation"}})
	w.Sync()
	t.Cleanup(w.Syncer.Close)
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: catalogtest.Now, Commits: commits{w.Syncer, &Engine{db: w.DB, languages: w.Languages}}})
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/components/demo/app/compare/"+first+"..."+second+"/", http.NoBody))
	var report diff.Report
	if err := json.Unmarshal(rec.Body.Bytes(), &report); err != nil || rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	got := ""
	for _, c := range report.Files[0].Checks {
		got += c.Source + " " + c.Check + "; "
	}
	if want := "Save. end_stop; "; got != want || report.Counts.Checks != 1 || !strings.Contains(report.Files[0].Checks[0].Message, "full stop") {
		t.Errorf("%q, want %q: %+v", got, want, report.Files[0].Checks)
	}
}

// parents are the commits of a change after a head, of which there may be none.
func parents(head string) []string {
	if head == "" {
		return nil
	}
	return []string{head}
}

// TestSubjects: pages show commits with the first lines of their messages and what they did to
// each language. Without the mirror they show the rest.
func TestSubjects(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	commit := func(message string, files map[string]string) string {
		return repo.Commit(t, testrepos.Change{Message: message, Files: files})
	}
	commit("Begin\n\nAnd more.", map[string]string{"po/de.po": catalogtest.PO("One", "Eins", "Two", "")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}, "help": {Name: "Help pages"}})
	w.Sync()
	second := commit("Cs <joins>\nbody", map[string]string{"po/cs.po": catalogtest.PO("One", "Jedna", "Two", "Dvě", "Three", "")})
	w.Sync()
	commit("German", map[string]string{"po/de.po": catalogtest.PO("One", "Eins", "Two", "Zwei", "Three", "Drei")})
	w.Sync()
	t.Cleanup(func() { w.Syncer.Close() })
	reads := &commits{w.Syncer, &Engine{db: w.DB, languages: w.Languages}}
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: catalogtest.Now, Commits: reads})
	page := func(path string) string {
		rec := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Header.Set("Accept", "text/html")
		s.ServeHTTP(rec, r)
		if rec.Code != 200 {
			t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
		}
		_, list, _ := strings.Cut(rec.Body.String(), `<ol class="changes">`)
		list, _, _ = strings.Cut(list, "</section>")
		return list
	}
	for _, path := range []string{"/", "/projects/demo/", "/projects/demo/app/"} {
		list := page(path)
		for _, want := range []string{`<bdi class="subject">German</bdi>`, `<bdi class="subject">Cs &lt;joins&gt;</bdi>`, `Czech`, "begun with 3 strings, 2 translated", "one new, one changed"} {
			if !strings.Contains(list, want) {
				t.Errorf("%s lacks %q: %s", path, want, list)
			}
		}
		if strings.Contains(list, "And more") || strings.Count(list, `class="subject"`) > strings.Count(list, "<li class=\"change") {
			t.Errorf("%s: %s", path, list)
		}
	}
	if list := page("/projects/demo/"); !strings.Contains(list, "Czech · app · Demo") || !strings.Contains(list, "Czech · Help pages · Demo") {
		t.Errorf("a commit of two components: %s", list)
	}
	if list := page("/changes/"); strings.Count(list, `class="subject">Cs`) != 1 || strings.Count(list, second[:7]) != 2 { // with its title
		t.Errorf("/changes/: %s", list)
	}
	w.Syncer.Close()
	w.Syncer = w.NewSyncer(catalogtest.Now) // of another process
	reads.Syncer = w.Syncer
	if list := page("/projects/demo/app/"); strings.Contains(list, "subject") || !strings.Contains(list, "begun with 3 strings, 2 translated") {
		t.Errorf("without the mirror: %s", list)
	}
}

// TestCode: the page of a string shows the lines around each place in the code at the commit that is
// served, with the string marked, also if it moved; never what a clone from here would not get.
func TestCode(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	var code strings.Builder
	for i := range 40 {
		fmt.Fprintf(&code, "line %d of the code\n", i+1)
	}
	moved := strings.Replace(code.String(), "line 30 of", `say("A <b> \"quoted\" text") of`, 1)
	po := func(source, ref string) string { return "\n#: " + ref + "\nmsgid \"" + source + "\"\nmsgstr \"x\"\n" }
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	deep := strings.Repeat("word ", 100) + "end"
	files := map[string]string{
		"src/a.c": moved, "po/beside.c": "say(\"Beside\")\n", "bin/nul.c": "say(\"Nul\")\x00", "latin.c": "say(\"Latin\") // \xe9\n", "long.c": strings.Repeat("say(\"Long\")\n", 1<<17),
		"wide.c": strings.Repeat("é", 9000) + "say(\"Wide\")" + strings.Repeat("é", 9000), "crlf.c": "say(\"Crlf\")\r\nnext\r\n", "deep.c": "say(\"" + deep + "\")\n",
		"po/de.po": header + po(`A <b> \"quoted\" text`, "src/a.c:3") + po("Elsewhere", "src/a.c:20") + po("Beside", "beside.c:1") + po("Up", "../src/a.c:7") + po("Out", "../../secret:1") + po("Git", ".git/HEAD:1") +
			po("Nul", "bin/nul.c:1") + po("Latin", "latin.c:1") + po("Long", "long.c:1") + po("None", "none.c:1") + po("Other", "other.c:1") + po("Past", "src/a.c:900") + po("Wide", "wide.c:1") + po("Crlf", "crlf.c:2") + po(deep, "deep.c:1"),
	}
	repo.Commit(t, testrepos.Change{Files: files})
	repo.Commit(t, testrepos.Change{Branch: "hidden", Parents: []string{repo.Head()}, Files: map[string]string{"other.c": "say(\"Other\")\n"}})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	t.Cleanup(func() { w.Syncer.Close() })
	opts := api.Options{DB: w.DB, Languages: w.Languages, Now: catalogtest.Now, Commits: commits{w.Syncer, &Engine{db: w.DB, languages: w.Languages}}}
	ask := func(s *api.Server, source, extra string) string {
		var h catalog.Hasher
		rec := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/translate/demo/app/de/?checksum="+catalog.Checksum(h.Identity(source, "").Hash)+extra, http.NoBody)
		r.Header.Set("Accept", "text/html")
		s.ServeHTTP(rec, r)
		_, part, _ := strings.Cut(rec.Body.String(), "In the code")
		part, _, _ = strings.Cut(part, "</dl>")
		return part
	}
	s := api.New(opts)
	for source, want := range map[string]string{
		`A <b> "quoted" text`: "<small>30</small> say(&#34;<mark>A &lt;b&gt; \\&#34;quoted\\&#34; text</mark>&#34;) of the code\n",
		"Elsewhere":           "<small>15</small> line 15 of the code\n", "Up": "<small>2</small> line 2 of the code\n", "Beside": "say(&#34;<mark>Beside</mark>&#34;)",
		"Latin": "say(&#34;<mark>Latin</mark>&#34;) // \uFFFD", "Out": "not in the repository", "Git": "not in the repository", "Nul": "not in the repository", "Long": "not in the repository",
		"None": "not in the repository", "Other": "not in the repository", "Past": "not in the repository",
		"Wide": "ééésay(&#34;<mark>Wide</mark>&#34;)ééé", "Crlf": "<mark>Crlf</mark>&#34;)\n<small>2</small> next\n",
		deep: "say(&#34;<mark>" + deep[:300] + "</mark>" + deep[300:395] + "\n",
	} {
		if part := ask(s, source, ""); !strings.Contains(part, "code=1#code") || strings.Contains(part, "<pre") {
			t.Errorf("%s, closed: %s", source, part)
		}
		part := ask(s, source, "&code=1")
		if !strings.Contains(part, want) || strings.Count(part, "\n") > 20 || len(part) > 1500 {
			t.Errorf("%s lacks %q: %s", source, want, part)
		}
	}
	opts.WithoutGitExport = true
	if part := ask(api.New(opts), "Elsewhere", "&code=1"); strings.Contains(part, "line 15") || strings.Contains(part, "code=1") {
		t.Errorf("where nobody can clone: %s", part)
	}
}

// TestCodeOfTemplates: a string without references in its file has those of the template, and the code
// of a template from elsewhere is shown to those who may clone it from here, as it is there.
func TestCodeOfTemplates(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	pot := func(ref string) string {
		return strings.Replace(catalogtest.PO("One", ""), "msgid \"One\"", "#: "+ref+"\nmsgid \"One\"", 1)
	}
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": catalogtest.PO("One", "Eins"), "po/app.pot": pot("src/a.c:2"), "far/de.po": catalogtest.PO("One", "Eins"), "src/a.c": "\nnear(\"One\")\n", "src/far.c": "OLD\n"}})
	repo.Branch(t, "code", repo.Head())
	far := func(text string) {
		repo.Commit(t, testrepos.Change{Branch: "code", Files: map[string]string{"far/far.pot": pot("src/far.c:1"), "src/far.c": text}})
	}
	far("far(\"One\")\n")
	w := catalogtest.NewPuller(t, repo.Path(), nil)
	t.Cleanup(func() { w.Syncer.Close() })
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, CacheBytes: 1 << 20, Now: catalogtest.Now, Commits: commits{w.Syncer, &Engine{db: w.DB, languages: w.Languages}}})
	pull := func(hub map[string]catalog.ComponentSettings) {
		app, specs, _ := catalogtest.BranchOf(repo.Path(), "", map[string]catalog.ComponentSettings{
			"app": {NewBase: "po/app.pot"}, "far": {Filemask: "far/*.po", NewBase: "far/far.pot", TemplateBranch: "code"},
		})
		code, more, _ := catalogtest.BranchOf(repo.Path(), "code", hub)
		project := []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}
		if err := w.DB.Configure(t.Context(), project, append(specs, more...), nil); err != nil {
			t.Fatal(err)
		}
		for _, w.Branch = range []ingest.Branch{app, code} {
			w.Sync()
		}
	}
	want := func(when, component, text string) {
		t.Helper()
		var h catalog.Hasher
		rec := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/translate/demo/"+component+"/de/?code=1&checksum="+catalog.Checksum(h.Identity("One", "").Hash), http.NoBody)
		r.Header.Set("Accept", "text/html")
		s.ServeHTTP(rec, r)
		_, part, found := strings.Cut(rec.Body.String(), `<pre id="code"`)
		if part, _, _ = strings.Cut(part, "</pre>"); found != (text != "") || !strings.Contains(part, text) {
			t.Errorf("%s, %s: %d %q, want %q", when, component, rec.Code, part, text)
		}
	}
	pull(nil)
	want("alone", "app", "near(&#34;<mark>One")
	repo.Commit(t, testrepos.Change{Files: map[string]string{"src/a.c": "\n\nnearer(\"One\")\n"}})
	pull(nil)
	want("moved", "app", "<small>3</small> nearer(&#34;<mark>One")
	want("nobody clones it", "far", "")
	hub := catalog.ComponentSettings{Filemask: "po/*.po"}
	pull(map[string]catalog.ComponentSettings{"hub": hub})
	want("served", "far", "far(&#34;<mark>One")
	far("\nnew(\"One\")\n")
	w.Sync() // the hub only
	want("moved", "far", "<small>2</small> new(&#34;<mark>One")
	hub.Access = catalog.AccessPrivate
	pull(map[string]catalog.ComponentSettings{"hub": hub})
	want("private", "far", "")
}

// TestCodeOfClones draws repositories and references: what the page of a string shows of the code is
// of the regular text file that a clone has there, line by line, or nothing; never what other branches,
// earlier commits, submodules or symlinks have.
func TestCodeOfClones(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // drawn, not secret
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	repo := testrepos.Empty(t)
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	t.Cleanup(func() { w.Syncer.Close() })
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, CacheBytes: 1 << 20, Now: catalogtest.Now, Commits: commits{w.Syncer, &Engine{db: w.DB, languages: w.Languages}}})
	name := func() string {
		return pick("", "", "src/", "src/deep/", "po/") + pick("a.c", "b.c", "link", "sub", "data")
	}
	secret := repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": catalogtest.PO("Old", "x"), "a.c": "SECRET", "gone.c": "SECRET\n", "src/b.c": "SECRET\n", "po/gone.c": "SECRET\n"}})
	repo.Branch(t, "hidden", secret)
	shown, closed := 0, 0
	for range testsize.Of(2, 5, 200) {
		files := map[string]string{} // what a clone has as text
		var stream strings.Builder
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter T <t@example.org> %d +0000\ndata 1\nx\nfrom refs/heads/main^0\ndeleteall\n", 1_800_000_000)
		entry := func(mode, path, text string) {
			fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", mode, path, len(text), text)
		}
		taken := map[string]bool{}
		for range 6 {
			path := name()
			if slices.ContainsFunc(slices.Collect(maps.Keys(taken)), func(p string) bool {
				return p == path || strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/")
			}) {
				continue
			}
			taken[path] = true
			text := ""
			for n := range 1 + rnd.IntN(30) {
				text += fmt.Sprintf("%s %d of %d\n", path, n+1, rnd.IntN(1000))
			}
			switch rnd.IntN(6) {
			case 0:
				entry("120000", path, pick("gone.c", "SECRET", "../../SECRET", "a.c", "/etc/hostname"))
			case 1:
				fmt.Fprintf(&stream, "M 160000 %s %s\n", secret, path)
			case 2:
				entry("100644", path, text+"\x00SECRET\n")
			case 3:
				entry("100644", path, "SECRET\n"+strings.Repeat("SECRET ", 1<<20/7+1)+"\n")
			default:
				entry(pick("100644", "100755"), path, text)
				files[path] = text
			}
		}
		po, refs := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n", map[string][2]string{}
		for i := range 30 {
			file, line := pick("", "", "", "./", "../", "../../", "/", "//", "src/../", "sub/", "link/", ".git/", "nothing/../../po/", `..\`)+pick(name(), name(), name(), "gone.c", "HEAD", "config", "."), pick("0", "1", "9", "29", "-3", "99999999999999999999", "x", "")
			if i%3 == 0 { // one that a clone may have
				file, line = pick(append(slices.Sorted(maps.Keys(files)), "a.c")...), pick("1", "2", "9")
			}
			source := fmt.Sprintf("String %d", i)
			refs[source] = [2]string{file, line}
			po += fmt.Sprintf("\n#: %s:%s\nmsgid %q\nmsgstr \"x\"\n", file, line, source)
		}
		entry("100644", "po/de.po", po)
		gittest.PipeGit(t, repo.Path(), strings.NewReader(stream.String()), "fast-import", "--quiet", "--force")
		w.Sync()
		for source, ref := range refs {
			var h catalog.Hasher
			rec := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/translate/demo/app/de/?code=1&checksum="+catalog.Checksum(h.Identity(source, "").Hash), http.NoBody)
			r.Header.Set("Accept", "text/html")
			s.ServeHTTP(rec, r)
			page := rec.Body.String()
			_, part, found := strings.Cut(page, `<pre id="code"`)
			part, _, _ = strings.Cut(part, "</pre>")
			if rec.Code != http.StatusOK || strings.Contains(part, "SECRET") {
				t.Fatalf("%s shows a secret of %s:%s: %d %s", source, ref[0], ref[1], rec.Code, part)
			}
			text, ok := files[gopath.Clean(ref[0])]
			if !ok && !taken[gopath.Clean(ref[0])] {
				text, ok = files[gopath.Join("po", ref[0])]
			}
			lines := strings.Split(text, "\n")
			if n, err := strconv.Atoi(ref[1]); ok && err == nil && n > 0 && n < len(lines) && !found {
				t.Errorf("%s:%s of a clone is not shown", ref[0], ref[1])
			} else if found && !ok {
				t.Errorf("%s:%s is not in a clone: %s", ref[0], ref[1], part)
			}
			if found {
				shown++
			} else {
				closed++
			}
			for _, m := range regexp.MustCompile(`<small>(\d+)</small> (.*)`).FindAllStringSubmatch(part, -1) {
				if n, _ := strconv.Atoi(m[1]); n > len(lines) || m[2] != lines[n-1] {
					t.Errorf("%s:%s: line %s is %q", ref[0], ref[1], m[1], m[2])
				}
			}
		}
	}
	if shown < 5 || closed < 5 {
		t.Errorf("%d shown, %d not", shown, closed)
	}
}
