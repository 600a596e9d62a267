package checks_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// When translators leave a word unchanged, and when they translate it.
const (
	fewLanguages  = 5    // this many languages leave it unchanged,
	keptShare     = 0.5  // in this share of its strings and in two projects,
	aloneShare    = 0.15 // or in this share, and the same number where it is the whole string
	manyLanguages = 20   // this many languages translate strings with it,
	lostShare     = 0.05 // and leave it unchanged in less than this share
)

// TestLanguageNames compares data/language-names.txt with the list from which
// go generate ./catalog/checks makes it.
func TestLanguageNames(t *testing.T) {
	from, err := os.ReadFile("../../../shared/data/language-data/check_languages.py")
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skipf("skipped: Weblate's list of language names is not in the repository: %v", err)
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

// TestKeptWords compares data/kept.txt with the translations of the shared
// repositories, from which go generate ./catalog/checks makes it. These
// translations must not translate a word of data/untranslated.txt, which is
// written by hand.
func TestKeptWords(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the files of eight repositories")
	}
	use := wordUse{}
	for _, bundle := range bundles(t) {
		use.repository(t, bundle)
	}
	var kept, lost []string
	for _, word := range slices.Sorted(maps.Keys(use)) {
		w := use[word]
		share := w.share()
		if len(w.kept) >= fewLanguages && share >= keptShare && len(w.projects) > 1 || len(w.alone) >= fewLanguages && share >= aloneShare && len(w.projects) > 1 {
			kept = append(kept, word)
		}
		if len(w.seen) >= manyLanguages && share < lostShare {
			lost = append(lost, word)
		}
	}
	drift(t, "data/kept.txt", strings.Join(kept, "\n")+"\n")
	own, err := os.ReadFile("data/untranslated.txt")
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(own)) {
		if slices.Contains(lost, word) {
			t.Errorf("data/untranslated.txt: %q is translated by most", word)
		}
	}
}

// bundles are the shared repositories.
func bundles(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../../shared/data/repos/*.bundle")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 && os.Getenv("CI") != "true" {
		t.Skip("skipped: the bundles of real repositories are not in the repository; looked for ../../../shared/data/repos")
	}
	if len(list) < 5 {
		t.Fatalf("only %d shared repositories", len(list))
	}
	return list
}

// wordUse says for each word of the sources how its translations use it.
type wordUse map[string]*useOfWord

// useOfWord counts translated strings by language: strings whose source has the
// word, strings whose translation has it as well, and strings that are the word
// alone, unchanged.
type useOfWord struct {
	seen, kept, alone map[string]int
	projects          map[string]bool
}

// share is the share of the translations that keep the word; every language has the
// same weight.
func (w *useOfWord) share() float64 {
	sum := 0.0
	for _, language := range slices.Sorted(maps.Keys(w.seen)) {
		sum += float64(w.kept[language]) / float64(w.seen[language])
	}
	return sum / float64(len(w.seen))
}

// repository adds the translations of all files of a repository.
func (use wordUse) repository(t *testing.T, bundle string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "-q", bundle, dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".po" || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		language, ok := table.Lookup(codeOf(path))
		f, err := poparse.Parse(path, data)
		if base := lang.BaseCode(language.Code); err == nil && ok && base != "en" { // some cannot be parsed, on purpose
			use.file(f, bundle, base)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// codeOf returns the code of the language in a path: de.po, ja.sjis.po or
// de/LC_MESSAGES/app.po.
func codeOf(path string) string {
	if dir, _, ok := strings.Cut(filepath.ToSlash(path), "/LC_MESSAGES/"); ok {
		return filepath.Base(dir)
	}
	code, _, _ := strings.Cut(filepath.Base(path), ".")
	return code
}

func (use wordUse) file(f *poparse.File, project, language string) {
	for _, e := range f.Entries {
		if e.Obsolete || e.Fuzzy || e.Str[0] == "" {
			continue
		}
		source, target := wordsOf(e.ID), wordsOf(e.Str[0])
		for word := range source {
			w := use[word]
			if w == nil {
				w = &useOfWord{map[string]int{}, map[string]int{}, map[string]int{}, map[string]bool{}}
				use[word] = w
			}
			w.projects[project] = true
			w.seen[language]++
			if target[word] {
				w.kept[language]++
			}
			if len(source) == 1 && e.ID == e.Str[0] {
				w.alone[language]++
			}
		}
	}
}

// wordsOf returns the words of a text that same looks at, in lower case.
func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) }) {
		if utf8.RuneCountInString(word) > 2 {
			words[word] = true
		}
	}
	return words
}
