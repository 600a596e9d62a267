package resource_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// countedUnit is what statistics count of a unit.
type countedUnit struct {
	Translation     string
	Source          []string
	Context         string
	State           int
	NumWords        int64 `json:"num_words"`
	HasSuggestion   bool  `json:"has_suggestion"`
	HasComment      bool  `json:"has_comment"`
	HasFailingCheck bool  `json:"has_failing_check"`
}

// chars are the code points of the source, its forms joined by two U+001E.
func (u *countedUnit) chars() int64 {
	return int64(utf8.RuneCountInString(strings.Join(u.Source, "\x1e\x1e")))
}

// tally counts units one by one.
type tally struct {
	units, words, chars map[string]int64 // by key of statistics
	last                time.Time
	recent              int64
}

func newTally() *tally {
	return &tally{units: map[string]int64{}, words: map[string]int64{}, chars: map[string]int64{}}
}

func (t *tally) unit(u *countedUnit) {
	for key, is := range map[string]bool{
		"total": true, "translated": u.State >= 20, "fuzzy": u.State == 10, "readonly": u.State == 100, "approved": u.State == 30,
		"failing": u.HasFailingCheck, "suggestions": u.HasSuggestion, "comments": u.HasComment,
	} {
		if is {
			t.units[key]++
			t.words[key] += u.NumWords
			t.chars[key] += u.chars()
		}
	}
}

func (t *tally) add(o *tally) {
	for _, pair := range [][2]map[string]int64{{t.units, o.units}, {t.words, o.words}, {t.chars, o.chars}} {
		for key, n := range pair[1] {
			pair[0][key] += n
		}
	}
	t.recent += o.recent
	if o.last.After(t.last) {
		t.last = o.last
	}
}

// percentage rounds as docs/compatibility.md#percentages says.
func percentage(key string, n, total int64) string {
	switch {
	case total == 0 && key == "translated":
		return "100.0"
	case total == 0:
		return "0.0"
	}
	tenths := 1000 * n / total
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// fields are the numbers of a statistics object, as JSON.
func (t *tally) fields(prefix string, keys ...string) map[string]string {
	f := map[string]string{}
	for _, key := range keys {
		f[prefix+key] = fmt.Sprint(t.units[key])
		if key == "suggestions" || key == "comments" {
			continue
		}
		if key != "failing" {
			f[prefix+key+"_words"], f[prefix+key+"_chars"] = fmt.Sprint(t.words[key]), fmt.Sprint(t.chars[key])
		}
		if key == "total" {
			continue
		}
		f[prefix+key+"_percent"] = percentage(key, t.units[key], t.units["total"])
		if key != "failing" {
			f[prefix+key+"_words_percent"] = percentage(key, t.words[key], t.words["total"])
			f[prefix+key+"_chars_percent"] = percentage(key, t.chars[key], t.chars["total"])
		}
	}
	return f
}

// compare compares an object with the tally.
func (t *tally) compare(tb testing.TB, what string, object map[string]json.RawMessage) {
	tb.Helper()
	want := t.fields("", "total", "translated", "fuzzy", "readonly", "approved", "failing", "suggestions", "comments")
	want["recent_changes"] = fmt.Sprint(t.recent)
	want["last_change"] = "null"
	if !t.last.IsZero() {
		want["last_change"] = `"` + t.last.UTC().Format("2006-01-02T15:04:05.000000Z") + `"`
	}
	sameFields(tb, what, object, want)
}

func sameFields(tb testing.TB, what string, object map[string]json.RawMessage, want map[string]string) {
	tb.Helper()
	for key, value := range want {
		if got := string(object[key]); got != value {
			tb.Errorf("%s: %s is %s, counted %s", what, key, got, value)
		}
	}
}

// statisticsServer serves five components of a real repository, one of them
// private, with a branch that suggests.
func statisticsServer(t *testing.T) *httptest.Server {
	t.Helper()
	repo := gittest.Bundle(t, "switchboard")
	pushSuggestions(t, repo, filepath.Join(t.TempDir(), "work"))
	const few = "^(cs|de|ar|ja|pt_BR)$"
	full := catalog.History{Full: true, Commits: 40}
	var specs []store.ComponentSpec
	for _, c := range []struct {
		project, slug string
		settings      catalog.ComponentSettings
	}{
		{"one", "main", catalog.ComponentSettings{Filemask: "po/*.po", NewBase: "po/io.elementary.settings.pot", LanguageRegex: "^[^.]+$", SuggestionBranches: "l10n/*", History: full}},
		{"one", "extra", catalog.ComponentSettings{Filemask: "po/extra/*.po", NewBase: "po/extra/extra.pot", LanguageRegex: few}},
		{"one", "again", catalog.ComponentSettings{Filemask: "po/*.po", LanguageRegex: few, History: full}},
		{"two", "locked", catalog.ComponentSettings{Filemask: "po/*.po", LanguageRegex: few, CheckFlags: "read-only"}},
		{"two", "hidden", catalog.ComponentSettings{Filemask: "po/*.po", LanguageRegex: few, Access: catalog.AccessPrivate}},
	} {
		c.settings.SourceLanguage, c.settings.Name = "en", c.slug
		specs = append(specs, store.ComponentSpec{Project: c.project, Slug: c.slug, Repo: repo, Settings: c.settings})
	}
	return serveComponents(t, []catalog.Project{{Slug: "one"}, {Slug: "two"}}, specs)
}

// pushSuggestions pushes a branch with other texts and a translator's comment on
// the main one.
func pushSuggestions(t *testing.T, repo, work string) {
	t.Helper()
	gittest.RunGit(t, filepath.Dir(work), "clone", "--quiet", repo, work)
	edit := func(old, text string) {
		file := filepath.Join(work, "po", "cs.po")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.ReplaceAll(string(data), old, text)
		if changed == string(data) {
			t.Fatalf("%s has no %s", file, old)
		}
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		gittest.RunGit(t, work, "-c", "user.name=Eva", "-c", "user.email=eva@example.org", "commit", "--quiet", "--all", "--message", "Edit")
	}
	edit("\n\n#: ", "\n\n# Is it so?\n#: ")
	gittest.RunGit(t, work, "push", "--quiet", "origin", "HEAD")
	edit("\nmsgstr \"S", "\nmsgstr \"XS")
	gittest.RunGit(t, work, "push", "--quiet", "origin", "HEAD:refs/heads/l10n/cs")
}

// TestStatisticsAddUp counts all units that the API lists, and their entries, and
// compares all statistics with that: of translations, components, projects,
// languages in projects, languages, the server.
func TestStatisticsAddUp(t *testing.T) {
	t.Parallel()
	srv := statisticsServer(t)
	object := func(path string) (o map[string]json.RawMessage) {
		t.Helper()
		if err := json.Unmarshal(readAll(t, srv, path), &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return o
	}
	list := func(path string) (results []map[string]json.RawMessage) {
		t.Helper()
		if err := json.Unmarshal(object(path)["results"], &results); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return results
	}
	units := map[string][]countedUnit{} // by project/component/language
	translations := map[string]*tally{}
	for line := range strings.Lines(string(readAll(t, srv, "/api/units/?format=ndjson"))) {
		var u countedUnit
		if err := json.Unmarshal([]byte(line), &u); err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(u.Translation)
		if err != nil {
			t.Fatal(err)
		}
		key := strings.Trim(strings.TrimPrefix(at.Path, "/api/translations/"), "/")
		if translations[key] == nil {
			translations[key] = newTally()
		}
		translations[key].unit(&u)
		units[key] = append(units[key], u)
	}
	if len(translations) < 100 {
		t.Fatalf("only %d translations", len(translations))
	}
	sums := map[string]*tally{}
	sum := func(key string, of *tally) {
		if sums[key] == nil {
			sums[key] = newTally()
		}
		sums[key].add(of)
	}
	for key, counted := range translations {
		author := countEntries(t, counted, list("/api/translations/"+key+"/changes/?page_size=1000&action=31&action=59&action=63"))
		o := object("/api/translations/" + key + "/statistics/")
		counted.compare(t, key, o)
		if string(o["last_author"]) != author {
			t.Errorf("%s: last_author %s, the newest entry is by %s", key, o["last_author"], author)
		}
		part := strings.Split(key, "/")
		for _, of := range []string{"server", "project " + part[0], "language " + part[2], "project " + part[0] + " language " + part[2]} {
			sum(of, counted)
		}
	}
	sums["server"].compare(t, "server", object("/api/statistics/"))
	languages := map[string]bool{}
	for _, project := range []string{"one", "two"} {
		o := object("/api/projects/" + project + "/statistics/")
		sums["project "+project].compare(t, project, o)
		var all []map[string]json.RawMessage
		if err := json.Unmarshal(readAll(t, srv, "/api/projects/"+project+"/languages/"), &all); err != nil {
			t.Fatalf("a bare array: %v", err)
		}
		var names []string
		for _, o := range all {
			code := strings.Trim(string(o["code"]), `"`)
			names, languages[code] = append(names, strings.Trim(string(o["name"]), `"`)), true
			sums["project "+project+" language "+code].compare(t, project+" "+code, o)
			delete(sums, "project "+project+" language "+code)
		}
		if !slices.IsSorted(names) {
			t.Errorf("languages of %s are not sorted by name: %v", project, names)
		}
	}
	for code := range languages {
		sums["language "+code].compare(t, code, object("/api/languages/"+code+"/statistics/"))
	}
	for key := range sums {
		if strings.HasPrefix(key, "project ") && strings.Contains(key, " language ") {
			t.Errorf("%s is not listed", key)
		}
	}
	// A component's list has pages, in the order of ids.
	var paged []string
	for page := 1; page <= 3; page++ {
		for _, o := range list(fmt.Sprintf("/api/components/one/again/statistics/?page_size=2&page=%d", page)) {
			code := strings.Trim(string(o["code"]), `"`)
			translations["one/again/"+code].compare(t, "list of again: "+code, o)
			paged = append(paged, code)
		}
	}
	if fmt.Sprint(paged) != "[en ar cs de ja pt_BR]" {
		t.Errorf("pages of statistics: %v", paged)
	}
	whole := sums["server"]
	if whole.units["suggestions"] == 0 || whole.units["comments"] == 0 || whole.units["failing"] == 0 || whole.recent == 0 || whole.units["readonly"] == 0 {
		t.Errorf("one of the counts is 0: %v", whole)
	}
}

// countEntries counts the entries of the six hours up to the newest, whose
// author it returns as JSON.
func countEntries(t *testing.T, counted *tally, entries []map[string]json.RawMessage) (author string) {
	t.Helper()
	type entry struct {
		id int64
		at time.Time
		by string
	}
	var all []entry
	for _, o := range entries {
		var e entry
		if err := json.Unmarshal(o["timestamp"], &e.at); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(o["id"], &e.id); err != nil {
			t.Fatal(err)
		}
		e.by = "null"
		var details struct {
			AuthorName *string `json:"author_name"`
		}
		if err := json.Unmarshal(o["details"], &details); err == nil && details.AuthorName != nil {
			name, _ := json.Marshal(*details.AuthorName)
			e.by = string(name)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return "null"
	}
	newest := slices.MaxFunc(all, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	counted.last = newest.at
	for _, e := range all {
		if e.at.After(newest.at.Add(-6 * time.Hour)) {
			counted.recent++
		}
	}
	return newest.by
}
