package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
)

// docs is the manual; the text between the marks is made from the rules.
const (
	docs      = "../../../docs/check.md"
	docsBegin = "<!-- Made from cmd/repoglot/check/rules.txt by \"go test ./cmd/repoglot/check -update\"; change that. -->\n"
	docsEnd   = "<!-- End of what is made. -->\n"
)

// TestDocsDrift: docs/check.md has the same text as the rules.
func TestDocsDrift(t *testing.T) {
	text, err := os.ReadFile(docs)
	must(t, err)
	before, rest, ok := strings.Cut(string(text), docsBegin)
	got, after, ok2 := strings.Cut(rest, docsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks", docs)
	}
	want := rulesText()
	if *update {
		must(t, os.WriteFile(docs, []byte(before+docsBegin+want+docsEnd+after), 0o600))
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", docs, diff)
	}
	for _, f := range check.Formats() {
		if !strings.Contains(before, "`--format "+f+"`") {
			t.Errorf("%s says nothing about the format %s", docs, f)
		}
	}
}

// TestDocsJSONDrift: the example in docs/check.md has the members of the real
// object.
func TestDocsJSONDrift(t *testing.T) {
	text, err := os.ReadFile(docs)
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatalf("%s has no example of JSON", docs)
	}
	t.Chdir(t.TempDir())
	writeFile(t, "po/cs.po", []byte(singular))
	got := report(t, check.ReportOptions{Format: check.FormatJSON, Stats: true}, check.Options{})
	if diff := cmp.Diff(members(t, got), members(t, example)); diff != "" {
		t.Errorf("-real +example:\n%s", diff)
	}
}

// TestDocsLanguagesDrift: so has the example of --list-languages.
func TestDocsLanguagesDrift(t *testing.T) {
	text, err := os.ReadFile(docs)
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "## Languages\n")
	_, rest, _ = strings.Cut(rest, "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	var out bytes.Buffer
	languages, err := check.NewLanguagesReport(&out, check.FormatJSON, 50)
	must(t, err)
	must(t, languages.File(check.Result{File: "po/cs.po", Parsed: true, Counts: check.Counts{Translated: 1, Fuzzy: 1}}))
	must(t, languages.File(check.Result{File: "po/de.po", Parsed: true, Counts: check.Counts{Translated: 1, Fuzzy: 2}}))
	must(t, languages.Close())
	if diff := cmp.Diff(out.String(), example); diff != "" {
		t.Errorf("-real +example:\n%s", diff)
	}
}

// members returns the paths of an object's members.
func members(t *testing.T, text string) []string {
	t.Helper()
	var object any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var list []string
	var add func(path string, v any)
	add = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, member := range v {
				add(path+"."+key, member)
			}
		case []any:
			for _, item := range v {
				add(path+"[]", item)
			}
		default:
			list = append(list, fmt.Sprintf("%s %T", path, v))
		}
	}
	add("", object)
	slices.Sort(list)
	return slices.Compact(list)
}

func rulesText() string {
	var b strings.Builder
	severity := check.Severity("")
	for _, r := range check.Rules() {
		if r.Severity != severity {
			severity = r.Severity
			fmt.Fprintf(&b, "\n## Codes of %ss\n", severity)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n%s\n", r.Code, r.Summary, r.Help)
	}
	b.WriteByte('\n')
	return b.String()
}

// TestRulesDrift: every code that this package or poparse declares has a rule, and
// every rule a declared code.
func TestRulesDrift(t *testing.T) {
	want := append(constants(t, "../../../poparse", regexp.MustCompile(`^(Warn|Err|Code)[A-Z]`)), constants(t, ".", regexp.MustCompile(`^Code[A-Z]`))...)
	var got []string
	for _, r := range check.Rules() {
		got = append(got, r.Code)
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(r.Code) || !strings.HasSuffix(r.Summary, ".") || r.Help == "" {
			t.Errorf("rule %+v", r)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-declared +rules:\n%s", diff)
	}
}

// constants returns the values of a package's exported string constants whose names
// match.
func constants(t *testing.T, dir string, name *regexp.Regexp) (values []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !name.MatchString(spec.Names[0].Name) {
				return true
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, err := strconv.Unquote(lit.Value)
					must(t, err)
					values = append(values, s)
				}
			}
			return true
		})
	}
	return values
}

// TestEveryCode makes a file for every code, so that no rule is dead.
func TestEveryCode(t *testing.T) {
	seen := map[string]bool{check.CodeUnreadable: true} // TestUnreadable
	for _, text := range []string{
		"garbage",
		"<html>",
		"<<<<<<< ours\n",
		"msgid \"a",
		strings.Replace(header, "UTF-8", "TSCII", 1),
		header + "# \xff\n",
		header + "?\n",
		header + "msgid \"a \"b\" c\"\nmsgstr \"\"\n",
		header + "msgid \"a\nmsgstr \"\"\n",
		header + "# c\n\"a\"\n",
		header + "msgid\nmsgstr \"\"\n",
		header + "msgid \"\\q\"\nmsgstr \"\"\n",
		header + "msgstr \"\"\n",
		header + "msgid \"a\"\n# c\nmsgstr \"\"\n",
		header + "msgid \"a\"\nmsgstr[0] \"\"\n",
		header + "#| msgstr \"a\"\n",
		header + "msgid \"a\"\n#~ msgstr \"\"\n",
		header + "\nmsgid \"a\\0\"\nmsgstr \"b\"\n",
		header + "\nmsgid \"\\377a\"\nmsgstr \"b\"\n",
		header + singular + singular,
		header + "\n" + header + singular,
		"domain \"x\"\n" + header + singular,
		pluralForms("nplurals=2; plural=n!=1;") + strings.ReplaceAll(plural, "[1]", "[2]"),
		header + strings.Repeat(singular, 1500),
		header + strings.Repeat("#, "+strings.Repeat("a,", 5)+"\n", 1) + strings.Repeat("#:"+strings.Repeat(" a", 400_000)+"\n", 1) + singular,
		strings.Replace(header, "charset=UTF-8", "", 1) + strings.Replace(singular, "b", "č", 1),
	} {
		for _, f := range check.File("x.po", []byte(text)).Findings {
			seen[f.Code] = true
		}
	}
	for _, tt := range headerCases() {
		for _, f := range check.File(tt.name, []byte(tt.text)).Findings {
			seen[f.Code] = true
		}
	}
	for _, r := range qualityResults(t, map[string]string{"some name.po": qualityCase, "de.po": header + "\n#, ignore-smae\n" + singular}, check.Quality{}) {
		for _, f := range r.Findings {
			seen[f.Code] = true
		}
	}
	for _, f := range templateFindings(t) {
		seen[f.Code] = true
	}
	for _, r := range check.Rules() {
		if !seen[r.Code] {
			t.Errorf("no file made has %s", r.Code)
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, tt := range headerCases() {
		f.Add([]byte(tt.text))
	}
	rules := map[string]check.Severity{}
	for _, r := range check.Rules() {
		rules[r.Code] = r.Severity
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		r := check.File("x.po", data)
		if !bytes.Equal(before, data) {
			t.Fatal("the data changed")
		}
		line, failed := 1, false
		for _, f := range r.Findings {
			if f.Line < line || f.Column < 1 || f.Message == "" || rules[f.Code] != f.Severity || f.File != r.File {
				t.Fatalf("finding %+v after line %d", f, line)
			}
			line, failed = f.Line, failed || f.Severity == check.Error
		}
		if failed == r.Parsed || failed && r.Counts != (check.Counts{}) {
			t.Fatalf("errors %v, parsed %v, %v", failed, r.Parsed, r.Counts)
		}
	})
}
