package testrepos_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestScenarios makes every scenario to its end and compares its two heads, which
// must not change without a reason: other tests use the texts.
func TestScenarios(t *testing.T) {
	type heads struct{ Initial, Last string }
	want := map[string]heads{
		"charsets":      {"99642eb323925611e19ac6d7b3a97bf877e1c792", "7987c3fb02fe4abfe66eb68f624d06cfa5879a0a"},
		"demo":          {"2195a237d764b2d4bda3d9b4fac022dadaba24ce", "bbcf21738a895d39ece02b57101d0759c03460b5"},
		"demo-docs":     {"e9c2986ae6c1996a8083c508c497484911df0302", "47abc7b90751a486e47e55d63d9372e781506082"},
		"demo-glossary": {"27e4674d52420b127b0246fe6aaafab90d6eda1d", "220f5e33b0a40b28c6e1aff8b9d36c134126c3cf"},
		"forcepush":     {"ce093d9b4e766363c00d23615749b7c509a53b1c", "3b06ecf6bbfc3f591b7dc80502932107b52c444d"},
		"hostile":       {"725a327d6664f4190a20b81528ad692d04f3abec", "99813fbe5b66e286b9a229dde475fda9188a5379"},
		"lifecycle":     {"9d5e2a9dea12bc2097a170bf075e29ea4c5d2ba7", "301c052ae41be488908707600dd1404bbecea95a"},
		"merges":        {"6339d1773f8e76e0af6b0f6ae8ddb5eda0ed42da", "76eaa1f876c2ce0ffdabc58edb07ccb7263b37ab"},
	}
	for name := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testrepos.Load(t, name)
			got := heads{Initial: r.Head()}
			for r.Rest() > 0 {
				r.Advance(t)
			}
			got.Last = r.Head()
			if diff := cmp.Diff(want[name], got); diff != "" {
				t.Errorf("heads (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScenariosSayWhatTheyAre: every scenario begins with its purpose.
func TestScenariosSayWhatTheyAre(t *testing.T) {
	names, err := filepath.Glob("scenarios/*.stream")
	must(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		must(t, err)
		about, _, _ := strings.Cut(string(text), "\ncommit ")
		if !strings.HasPrefix(about, "# ") || len(strings.Fields(about)) < 12 {
			t.Errorf("%s: %q tells too little", name, about)
		}
	}
	if _, err := testrepos.Create(t.TempDir(), "nonesuch"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want none of this name", err)
	}
}

// TestDemo: the demo shows what its comment says, at its initial push.
func TestDemo(t *testing.T) {
	r := testrepos.Load(t, "demo")
	for path, texts := range map[string][]string{
		"po/paperboat.pot": {"#. Label of a narrow button.", "#, max-length:12", "#, python-brace-format", "msgid_plural"},
		"po/cs.po":         {"# Pozor: „soubor“ má tři tvary.", "msgctxt \"harbour\"", "nplurals=3", "#~ msgid"},
		"po/fr.po":         {"#, fuzzy\n#| msgid \"Nearby devices\"", "msgstr \"\"\n\n"},
		"po/ja.po":         {"nplurals=1"},
		"po/ar.po":         {"nplurals=6", "msgstr[5]"},
		"po/pt_BR.po":      {"Mostrar"},
		"po/zh_Hans.po":    {"纸船"},
	} {
		text := string(r.File(t, "main", path))
		for _, want := range texts {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
	if r.Rest() < 3 {
		t.Errorf("%d pushes are left, want at least 3", r.Rest())
	}
	first := r.Head()
	r.Advance(t)
	if authors := gittest.RunGit(t, r.Dir, "log", "--format=%an", first+"..main"); authors != "Camille Roussel" {
		t.Errorf("next push of %q, want one commit of Camille", authors)
	}
	before := r.Head()
	r.Advance(t) // the template moves, no file does
	if n := gittest.RunGit(t, r.Dir, "rev-list", "--count", before+"..main"); n != "1" || !bytes.Contains(r.File(t, "main", "po/paperboat.pot"), []byte("Paste a link")) {
		t.Errorf("the push after it has %s commits, want one with new strings of the template", n)
	}
	for _, lang := range []string{"ar", "cs", "de", "fr", "ja", "pt_BR", "zh_Hans"} {
		if path := "po/" + lang + ".po"; !bytes.Equal(r.File(t, before, path), r.File(t, "main", path)) {
			t.Errorf("%s moved with the template", path)
		}
	}
}

// TestForcePush pushes a scenario in which the branch loses commits.
func TestForcePush(t *testing.T) {
	r := testrepos.Load(t, "forcepush")
	third := r.Head()
	first := gittest.RunGit(t, r.Dir, "rev-parse", "main~2")
	if r.Rest() != 4 {
		t.Fatalf("rest %d, want 4", r.Rest())
	}
	r.Advance(t)
	if base := gittest.RunGit(t, r.Dir, "merge-base", third, "main"); base != first {
		t.Fatalf("common commit %s after the force push, want %s", base, first)
	}
	got := r.File(t, "main", "po/da.po")
	for _, want := range []string{"Gem\"", "Vil du kassere"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("text lacks %q:\n%s", want, got)
		}
	}
	if bytes.Contains(got, []byte("Annuller")) {
		t.Errorf("dropped entry is there:\n%s", got)
	}
	for _, want := range []string{third, first, "3b06ecf6bbfc3f591b7dc80502932107b52c444d"} {
		r.Advance(t)
		if r.Head() != want {
			t.Errorf("head %s, want %s", r.Head(), want)
		}
	}
	if !bytes.Equal(r.File(t, "main", "po/da.po"), got) {
		t.Errorf("the copied file differs")
	}
}
