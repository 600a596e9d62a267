package checks_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
)

var update = flag.Bool("update", false, "write the generated files")

// number is the number of a check.
func number(name string) checks.ID {
	id, ok := checks.ByName(name)
	if !ok {
		panic("there is no check " + name)
	}
	return id
}

// TestNumbers: the checks that are asked for by number have it.
func TestNumbers(t *testing.T) {
	for id, name := range map[checks.ID]string{
		checks.MaxLength: "max-length", checks.Inconsistent: "inconsistent", checks.Reused: "reused", checks.MultipleFailures: "multiple_failures",
		checks.LongUntranslated: "long_untranslated", checks.Placeholders: "placeholders", checks.Regex: "regex", checks.CheckGlossary: "check_glossary",
	} {
		if id != number(name) || id.String() != name {
			t.Errorf("the number %d is that of %s, not of %s", id, id, name)
		}
	}
}

// TestPage compares the table in docs/checks.md with the checks.
func TestPage(t *testing.T) {
	const path, head = "../../docs/checks.md", "|---|---|---|---|---|---|\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, table, found := strings.Cut(string(page), head)
	_, after, ends := strings.Cut(table, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table", path)
	}
	drift(t, path, before+head+rows()+"\n"+after)
}

// rows returns the rows of the table in docs/checks.md.
func rows() string {
	var b strings.Builder
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, c := range checks.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` |\n", c.Name, cell.Replace(c.Title), cell.Replace(c.Description), quoted(c.Example), quoted(c.EnableFlag), c.IgnoreFlag)
	}
	return b.String()
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

// drift compares a generated file with its expected content, and writes it with
// -update.
func drift(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is out of date (%v): run go generate ./catalog/checks", path, err)
	}
}

func TestTable(t *testing.T) {
	for i, c := range checks.All() {
		id, ok := checks.ByName(c.Name)
		if !ok || id != checks.ID(i) || c.ID != id || id.String() != c.Name || c.Title == "" || c.Description == "" {
			t.Errorf("check %d: %+v", i, c)
		}
	}
	if _, ok := checks.ByName("nothing"); ok {
		t.Error("a check of an unknown name was found")
	}
	// Numbers are stored: these may never change.
	for id, name := range map[checks.ID]string{0: "begin_newline", 5: "end_stop", 18: "duplicate", 22: "c_format", 35: "inconsistent", 39: "long_untranslated"} {
		if id.String() != name {
			t.Errorf("check %d is %s, was %s", id, id, name)
		}
	}
}

func TestMask(t *testing.T) {
	var m checks.Mask
	for _, c := range checks.All() {
		if m = m.With(c.ID); !m.Has(c.ID) || m.Len() != int(c.ID)+1 {
			t.Fatalf("%s: %v", c.Name, m)
		}
	}
	for id := range m.All() {
		m = m.Without(id)
	}
	if !m.IsZero() || m.With(200) != m || m.Has(200) {
		t.Errorf("%v", m)
	}
}
