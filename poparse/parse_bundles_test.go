package poparse

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestBundles reads every PO and POT file at the head of every bundle, and compares the
// counts with msgfmt and the strings with gotext.
func TestBundles(t *testing.T) {
	repos := sharedDir(t, "data", "repos")
	bundles, err := filepath.Glob(filepath.Join(repos, "*.bundle"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles in %s: %v", repos, err)
	}
	compared := 0
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			bundle, err := filepath.Abs(bundle)
			if err != nil {
				t.Fatal(err)
			}
			repo := cloneBundle(t, bundle)
			want := map[string]map[string]string{}
			for _, row := range tsv(t, filepath.Join(repos, "expected", name+".tsv")) {
				want[row["path"]] = row
			}
			for _, b := range headFiles(t, repo, ".po") {
				compareCounts(t, name, b, want[b.path])
				delete(want, b.path)
				if name != "polib" && name != "vim-po" { // fixtures made to be unusual; other charsets
					compared += compareWithGotext(t, b.path, b.data)
				}
			}
			for path := range want {
				t.Errorf("%s is in the table but not in the bundle", path)
			}
			for _, b := range headFiles(t, repo, ".pot") {
				if _, err := Parse(b.path, b.data); err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
	if compared < 30_000 && !t.Failed() {
		t.Errorf("only %d strings were compared with gotext", compared)
	}
}

// intendedCounts are our counts where msgfmt fails or counts differently.
var intendedCounts = map[string]struct {
	say, why string
}{
	"polib/tests/test_syntax_error1.po": {"5:1", "an error for both"},
	"polib/tests/test_ufeff.po":         {"1 translated, 0 fuzzy, 0 untranslated", "a byte order mark is accepted"},
	"polib/tests/test_wrap.po":          {"0 translated, 0 fuzzy, 3 untranslated", "a header is no entry, even an empty one"},
	"vim-po/src/po/ja.sjis.po":          {"3076 translated, 0 fuzzy, 0 untranslated", "decode first, then lex"},
}

func compareCounts(t *testing.T, repo string, b blob, row map[string]string) {
	t.Helper()
	got, _ := verdict(t, b.path, b.data)
	if want, ok := intendedCounts[repo+"/"+b.path]; ok {
		if got != want.say {
			t.Errorf("%s: %s: %s, want %s (%s)", repo, b.path, got, want.say, want.why)
		}
		return
	}
	if row == nil {
		t.Errorf("%s: %s is not in the table", repo, b.path)
		return
	}
	want := counts{atoi(t, row["translated"]), atoi(t, row["fuzzy"]), atoi(t, row["untranslated"])}
	if got != want.String() {
		t.Errorf("%s: %s: %s, msgfmt says %v", repo, b.path, got, want)
	}
}
