package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// servedComments renders the comments, and the counts of comments of the
// translations.
func servedComments(w *catalogtest.Puller) string {
	w.TB.Helper()
	var lines []string
	counts := map[string]int64{}
	w.EachUnit(func(_ *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		counts[t.Language] = t.Stats.Comments
		if u.Comment != "" {
			lines = append(lines, fmt.Sprintf("%s %s %q", t.Language, u.Source, u.Comment))
		}
	})
	for language, n := range counts {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%s %d", language, n))
		}
	}
	slices.Sort(lines)
	w.Verify()
	return strings.Join(lines, "\n")
}

// TestComments: translator comments that the template does not have are
// comments, and stay comments through pulls that change either.
func TestComments(t *testing.T) {
	cs := poHead + "# Is it polite?\n#\n#. Button\nmsgid \"One\"\nmsgstr \"Jedna\"\n\n# all\n# mine\nmsgid \"Two\"\nmsgstr \"\"\n\n#\n#. only this\nmsgid \"Three\"\nmsgstr \"\"\n"
	pot := func(one, two string) string {
		return poHead + one + "#. Button\nmsgid \"One\"\nmsgstr \"\"\n\n" + two + "msgid \"Two\"\nmsgstr \"\"\n\nmsgid \"Three\"\nmsgstr \"\"\n"
	}
	repo := repoWith(t, map[string]string{"po/cs.po": cs, "po/app.pot": pot("", "# all\n")})
	settings := map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}}
	w := synced(t, repo.Path(), settings)
	check := func(what, want string) {
		t.Helper()
		equal(t, want, servedComments(w), "%s", what)
		fresh := synced(t, repo.Path(), settings)
		equal(t, want, servedComments(fresh), "%s, imported anew", what)
	}
	const both = "cs 2\ncs One \"Is it polite?\"\ncs Two \"mine\""
	check("first", both)
	commit := func(files map[string]string) {
		t.Helper()
		repo.Commit(t, testrepos.Change{Files: files})
		_, last := w.ChangesAfter(0)
		w.Sync()
		wantEntries(w, last)
	}
	commit(map[string]string{"po/app.pot": pot("", "# all\n# mine\n")})
	check("the template has one now", "cs 1\ncs One \"Is it polite?\"")
	commit(map[string]string{"po/app.pot": pot("", "")})
	check("the template has none", "cs 2\ncs One \"Is it polite?\"\ncs Two \"all\\nmine\"")
	commit(map[string]string{"po/cs.po": strings.Replace(cs, "# Is it polite?\n#\n#. Button", "#. Is it polite?\n#. Button", 1)})
	check("extracted now, the note is as it was", "cs 1\ncs Two \"all\\nmine\"")
	commit(map[string]string{"po/cs.po": cs, "po/app.pot": pot("# Is it polite?\n", "# all\n# mine\n")})
	check("nothing left", "")
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/app.pot"}})
	check("no template", "cs 2\ncs One \"Is it polite?\"\ncs Two \"all\\nmine\"")
}
