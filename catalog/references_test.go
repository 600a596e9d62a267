package catalog_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// inCode is how code names a page, and a section of it, from the root of the
// repository; inPages is how pages name each other, except in a literal.
var (
	inCode  = regexp.MustCompile(`\b(docs/[a-z_-]+\.md)(?:#([\w-]+))?`)
	inPages = regexp.MustCompile(`\]\(([\w./-]*\.md)?(?:#([\w-]+))?\)`)
	literal = regexp.MustCompile("`[^`\n]*`")
)

// TestReferences finds names of pages and sections that do not exist.
func TestReferences(t *testing.T) {
	sections := map[string][]string{} // of each page
	sources := readSources(t)
	for name, text := range sources {
		if strings.HasSuffix(name, ".md") {
			sections[name] = listSections(text)
		}
	}
	check := func(from, page, section string) {
		known, ok := sections[page]
		switch {
		case !ok && !exists(page):
			t.Errorf("%s names %s, which does not exist", from, page)
		case ok && section != "" && !slices.Contains(known, section):
			t.Errorf("%s names the section %s#%s, which does not exist", from, page, section)
		}
	}
	found := 0
	for name, text := range sources {
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			check(name, m[1], m[2])
			found++
		}
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range inPages.FindAllStringSubmatch(literal.ReplaceAllString(text, ""), -1) {
			page := name
			if m[1] != "" {
				page = path.Join(path.Dir(name), m[1])
			}
			check(name, page, m[2])
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d references found", found)
	}
}

// codeName is how a page names a file of ours, or a test.
var codeName = regexp.MustCompile("`(?:([a-z]+/[a-z_/]+\\.go)|((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z]*))`")

// TestCodeNames finds names of files and tests in the pages that do not exist.
func TestCodeNames(t *testing.T) {
	sources := readSources(t)
	var code strings.Builder
	for name, text := range sources {
		if strings.HasSuffix(name, "_test.go") {
			code.WriteString(text)
		}
	}
	for name, text := range sources {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range codeName.FindAllStringSubmatch(text, -1) {
			if _, ok := sources[m[1]]; m[1] != "" && !ok && m[1] != "catalog/references_test.go" {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
			if m[2] != "" && !strings.Contains(code.String(), "\nfunc "+m[2]+"(") {
				t.Errorf("%s names %s, which is no test", name, m[2])
			}
		}
	}
	makefile, err := os.ReadFile("../Makefile")
	_, alone, found := strings.Cut(string(makefile), "\nALONE = ")
	if err != nil || !found {
		t.Fatalf("no list of tests without the race detector: %v", err)
	}
	alone, _, _ = strings.Cut(alone, "\n")
	for name := range strings.SplitSeq(alone, "|") {
		if !strings.Contains(code.String(), "\nfunc Test"+name+"(") {
			t.Errorf("Makefile names Test%s, which is no test", name)
		}
	}
}

// outside are citations of documents that are not in the repository.
var outside = regexp.MustCompile(`(?i)\b(decisions? \d+|(weblate-)?facts,? §|weblate-facts|po-semantics|specification, rule|read-interface)|\(clients\)`)

// TestCitations finds citations of documents that a reader does not have. What
// they said is in docs/compatibility.md and docs/po.md.
func TestCitations(t *testing.T) {
	for name, text := range readSources(t) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			if cited := outside.FindString(line); cited != "" {
				t.Errorf("%s:%d cites %q", name, number, cited)
			}
		}
	}
}

// readSources returns the Go files, pages, migrations, descriptions and templates
// of the repository by name, this file apart.
func readSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		switch {
		case entry.IsDir() && file != ".." && (strings.HasPrefix(entry.Name(), ".") || name == "bin" || name == "demo"): // made by make
			return filepath.SkipDir
		case !entry.Type().IsRegular() || name == "catalog/references_test.go":
			return nil
		case slices.Contains([]string{".go", ".md", ".sql", ".yaml", ".html"}, path.Ext(name)):
			data, err := os.ReadFile(file)
			sources[name] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// listSections returns the anchors that GitHub makes of a page's headings.
func listSections(text string) []string {
	var sections []string
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		heading := strings.TrimLeft(line, "#")
		if code || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		sections = append(sections, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return sections
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
	return err == nil
}
