package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/testrepos"
)

// fileOf is a file with some strings of a component, by number. Some fail checks,
// alone or compared with others.
func fileOf(target func(i int) string, from, to int) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=3; plural=n%3;\\n\"\n\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "# told by %d\n#. note\n#: a.c:%d\nmsgctxt \"k%d\"\nmsgid \"Source %d.\"\n", i%2, i, i/20, i%20)
		if i%6 == 0 {
			fmt.Fprintf(&b, "msgid_plural \"Sources\"\nmsgstr[0] %q\nmsgstr[1] \"\"\n\n", target(i))
		} else {
			fmt.Fprintf(&b, "msgstr %q\n\n", target(i))
		}
	}
	return b.String()
}

// TestLargeFiles: an import stores the same whether it reads files in parts or as a
// whole, with and without a template that is as large; and what follows, too.
func TestLargeFiles(t *testing.T) {
	files := map[string]string{
		"po/a.pot": fileOf(func(int) string { return "" }, 0, 40),
		"po/cs.po": fileOf(func(i int) string { return fmt.Sprintf("Cíl %d.", i%15) }, 0, 38),
		"po/de.po": fileOf(func(i int) string { return strings.Repeat("Ziel", i%3) }, 5, 40),
		"po/fr.po": fileOf(func(int) string { return "But" }, 0, 2), // small
	}
	for _, path := range []string{"po/a.pot", "po/cs.po", "po/de.po"} {
		if unit.ReadParts(path, []byte(files[path]), unit.NewRules("", false), 300) == nil {
			t.Fatalf("%s is not read in parts", path)
		}
	}
	for name, c := range map[string]catalog.ComponentSettings{
		"template":    {NewBase: "po/a.pot"},
		"source file": {NewBase: "po/a.pot", LanguageRegex: "^(en|cs|de)$", SourceLanguage: "fr"},
		"union":       {},
	} {
		t.Run(name, func(t *testing.T) {
			dump := func(size int) []string {
				repo := repoWith(t, files)
				w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"a": c, "b": c})
				w.Syncer.SetPartSize(size)
				w.Sync()
				first := dump(w)
				pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": strings.Replace(files["po/cs.po"], "Cíl 3.", "Cíl", 1)}})
				return []string{first, dump(w)}
			}
			want := dump(1 << 20)
			for _, size := range []int{100, 300} {
				if diff := cmp.Diff(want, dump(size)); diff != "" {
					t.Errorf("parts of %d bytes (-whole +parts):\n%s", size, diff)
				}
			}
		})
	}
}
