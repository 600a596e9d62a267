package checks_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/checks"
)

var update = flag.Bool("update", false, "write the files that are made from others")

// TestLanguageNames holds data/language-names.txt to the list that it is made
// from: go test ./catalog/checks -run TestLanguageNames -update.
func TestLanguageNames(t *testing.T) {
	from, err := os.ReadFile("../../../shared/data/language-data/check_languages.py")
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip("no shared data beside the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^    "([^"]+)",$`).FindAllSubmatch(from, -1) {
		if utf8.RuneCount(m[1]) > 2 && len(m[1]) <= 24 && !bytes.ContainsFunc(m[1], unicode.IsPunct) { // others are not looked for, or rare
			words.Write(m[1])
			words.WriteByte('\n')
		}
	}
	drift(t, "data/language-names.txt", words.String())
}

// TestPage holds the page of the documentation to the table.
func TestPage(t *testing.T) { drift(t, "../../docs/checks.md", checks.Page()) }

// drift compares a file with what it should be, and writes it with -update.
func drift(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what it is made from (%v): go generate ./catalog/checks", path, err)
	}
}
