package api

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/store"
)

// TestKindsAreDescribed: the description of the API, the manual and verify have every kind of
// edit.
func TestKindsAreDescribed(t *testing.T) {
	t.Parallel()
	var names []string
	for _, kind := range store.EditKinds() {
		names = append(names, string(kind))
	}
	enum := "enum: [" + strings.Join(names, ", ") + "]"
	if n := strings.Count(sources(t, "resource", "openapi.yaml"), enum); n != 4 {
		t.Errorf("openapi.yaml has %s %d times, not at the schema and three lists", enum, n)
	}
	manual, verified := sources(t, "../docs", "editing.md"), sources(t, "../catalog/store/internal/recount", "none.sql")
	if in := "e.kind NOT IN ('" + strings.Join(names, "', '") + "')"; !strings.Contains(verified, in) {
		t.Errorf("verify does not ask for %s", in)
	}
	for _, name := range names {
		if !strings.Contains(manual, "\n| `"+name+"` | ") {
			t.Errorf("editing.md has no row of %s", name)
		}
	}
}

// sources are the texts of the files below a folder whose names end so, without tests.
func sources(t *testing.T, folder, end string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, end) || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// found is the set of what the groups of a pattern match.
func found(pattern, text string) map[string]bool {
	set := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		for _, group := range m[1:] {
			if group != "" {
				set[group] = true
			}
		}
	}
	return set
}

// TestDocsHaveParameters: each parameter of a query that the code reads is in openapi.yaml
// and in the manual.
func TestDocsHaveParameters(t *testing.T) {
	t.Parallel()
	read := found(`(?:Params\.Get|wholeNumber|Timestamp)\((?:r, )?"(\w+)"|\bp\.Name [!=]= "(\w+)"`, sources(t, "resource", ".go")+sources(t, "rest", ".go"))
	for _, known := range []string{"q", "page", "page_size", "format", "action", "after_id", "unit", "timestamp_before", "kind"} {
		if !read[known] {
			t.Errorf("the search for parameters does not find %s", known)
		}
	}
	described := found(`\bname: (\w+)`, sources(t, "resource", "openapi.yaml"))
	manual := sources(t, "../docs", ".md")
	for name := range read {
		if !described[name] {
			t.Errorf("openapi.yaml lacks the parameter %s", name)
		}
		if !regexp.MustCompile("`[^`\n]*\\b" + name + "\\b[^`\n]*`").MatchString(manual) {
			t.Errorf("docs/ lacks the parameter %s", name)
		}
	}
}

// TestDocsHaveMetrics: each metric is in docs/operation.md or docs/cluster.md, and each that
// the manual names exists.
func TestDocsHaveMetrics(t *testing.T) {
	t.Parallel()
	code := ""
	for _, folder := range []string{".", "../catalog", "../cmd/repoglot", "../gitsource"} {
		code += sources(t, folder, ".go")
	}
	registered := found(`"repoglot_([a-z0-9_]+)"`, code)
	for name := range found(`\{"([a-z_]+)", "[A-Z1][^"]*", [a-z]`, sources(t, "../cmd/repoglot/server", "cluster.go")) {
		registered[name] = true
	}
	clusters := sources(t, "../docs", "cluster.md")
	manual := found("`repoglot_([a-z0-9_]+)[`{]", sources(t, "../docs", "operation.md")+clusters)
	for name := range found("`_([a-z_]+)`", clusters) { // of a row with repoglot_cluster_…
		manual["cluster_"+name] = true
	}
	if len(registered) < 40 || !registered["cluster_stuck"] || !registered["share_used"] {
		t.Fatalf("the search for metrics finds %v", registered)
	}
	for name := range registered {
		if !manual[name] {
			t.Errorf("the manual lacks the metric repoglot_%s", name)
		}
	}
	for name := range manual {
		if !registered[name] {
			t.Errorf("the manual has repoglot_%s, which no code registers", name)
		}
	}
}

// TestDocsHaveUnitKeys: docs/compatibility.md lists the keys of a unit in the order in which
// they are served.
func TestDocsHaveUnitKeys(t *testing.T) {
	t.Parallel()
	_, list, _ := strings.Cut(sources(t, "../docs", "compatibility.md"), "\n- Unit: ")
	list, _, _ = strings.Cut(list, ".\n")
	want := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	var page struct{ Results []json.RawMessage }
	body := get(t, serve(demoWorld(t), Options{}), "/api/units/?page_size=1")
	if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Results) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	dec := json.NewDecoder(bytes.NewReader(page.Results[0]))
	_, _ = dec.Token()
	var got []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-docs/compatibility.md +served)\n%s", diff)
	}
}
