package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// intended are the differences from msgfmt 0.21 (docs/po.md#differences-from-gettext):
// "" for an error, else the line of counts.
var intended = map[string]string{
	"mc__po-bg.d4970b39.po":                                   "1496 translated messages, 18 untranslated messages.", // U+0004
	"mc__po-hu.1f96a353.po":                                   "1375 translated messages.",                           // U+0004
	"mc__po-hu.ea634027.po":                                   "1009 translated messages.",                           // U+0004
	"mc__po-pt_BR.94d319eb.po":                                "1142 translated messages, 47 untranslated messages.", // a second header
	"dia__po-es.1ca550fb.po":                                  "1865 translated messages, 5 untranslated messages.",  // a byte order mark
	"sphinx__sphinx-locale-nl-LC_MESSAGES-sphinx.f2aefce5.po": "122 translated messages.",                            // a byte order mark
	"gtranslator__po-zh_CN.GB2312.2403f79d.po":                "",                                                    // an invalid byte
	"dia__po-ja.25629a02.po":                                  "",                                                    // an invalid byte
	"mc__po-ta.9972601a.po":                                   "",                                                    // an unknown charset
	"babel__tests-messages-data-project-i18n-fi_BUGGY-LC_MESSAGES-messages.po": "1 translated message.",                           // an empty header
	"polib/tests/test_syntax_error1.po":                                        "",                                                // an error for both
	"polib/tests/test_ufeff.po":                                                "1 translated message.",                           // a byte order mark
	"polib/tests/test_wrap.po":                                                 "0 translated messages, 3 untranslated messages.", // an empty header
	"vim-po/src/po/ja.sjis.po":                                                 "3076 translated messages.",                       // decode first
	"synthetic/duplicate-live-and-empty-context.po":                            "2 translated messages.",                          // the first one wins
	"synthetic/hash-equals.po":                                                 "1 translated message, 2 fuzzy translations.",     // #= lines are flags
	"synthetic/obsolete-duplicates-live.po":                                    "1 translated message.",                           // accepted
	"synthetic/plural-gap.po":                                                  "1 translated message.",                           // accepted
	"synthetic/plural-out-of-order.po":                                         "1 translated message.",                           // accepted
	"synthetic/two-domains.po":                                                 "1 translated message.",                           // the first domain
	"synthetic/two-flag-lines.po":                                              "0 translated messages, 3 fuzzy translations.",    // merged
}

// verdict returns a file's line of counts; "" if it has an error.
func verdict(r check.Result) string {
	if !r.Parsed {
		return ""
	}
	return r.Counts.String()
}

// TestAwkward compares every unusual file with the recorded verdict and, if it is
// installed, with msgfmt.
func TestAwkward(t *testing.T) {
	dir := gittest.Shared(t, "data", "repos", "awkward")
	t.Chdir(dir)
	recorded := map[string]string{}
	for _, row := range gettexttest.Table(t, "INDEX.tsv") {
		recorded[row["file"]] = row["msgfmt_0.21"]
	}
	list := results(t, check.Options{})
	if len(list) < 70 {
		t.Fatalf("only %d files in %s", len(list), dir)
	}
	for _, r := range list {
		want, differs := intended[filepath.ToSlash(r.File)]
		row, ok := recorded[r.File]
		if !differs && ok {
			want = strings.TrimPrefix(row, "OK ")
			if strings.HasPrefix(row, "FAIL") {
				want = ""
			}
		}
		if got := verdict(r); (ok || differs) && got != want {
			t.Errorf("%s: %q, want %q", r.File, got, want)
		}
		if failed := len(r.Findings) > 0 && r.Findings[0].Severity == check.Error; failed == r.Parsed {
			t.Errorf("%s: parsed %v, findings %+v", r.File, r.Parsed, r.Findings)
		}
	}
	t.Run("msgfmt", func(t *testing.T) {
		msgfmt := needMsgfmt(t)
		for _, r := range list {
			if _, ok := intended[filepath.ToSlash(r.File)]; !ok {
				sameAsMsgfmt(t, msgfmt, r)
			}
		}
	})
}

// sameAsMsgfmt compares a file with msgfmt.
func sameAsMsgfmt(t *testing.T, msgfmt func(*testing.T, ...string) (string, bool), r check.Result) {
	t.Helper()
	stderr, ok := msgfmt(t, "--statistics", "-o", os.DevNull, "./"+r.File)
	want := ""
	if lines := strings.Split(strings.TrimSpace(stderr), "\n"); ok {
		want = lines[len(lines)-1]
	}
	if got := verdict(r); got != want {
		t.Errorf("%s: %q, msgfmt says %q", r.File, got, stderr)
	}
}

// TestBundles compares every file of every real repository with the recorded counts
// of msgfmt.
func TestBundles(t *testing.T) {
	repos := gittest.Shared(t, "data", "repos")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed")
	}
	bundles, err := filepath.Glob(filepath.Join(repos, "*.bundle"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles in %s: %v", repos, err)
	}
	files := 0
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		dir := filepath.Join(t.TempDir(), name)
		clone := exec.Command("git", "clone", "--quiet", bundle, dir)
		clone.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := clone.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := map[string]string{}
		for _, row := range gettexttest.Table(t, filepath.Join(repos, "expected", name+".tsv")) {
			if row["translated"] == "ERR" {
				want[row["path"]] = ""
				continue
			}
			want[row["path"]] = check.Counts{
				Translated: gettexttest.Number(t, row["translated"]), Fuzzy: gettexttest.Number(t, row["fuzzy"]), Untranslated: gettexttest.Number(t, row["untranslated"]),
			}.String()
		}
		t.Chdir(dir)
		for _, r := range results(t, check.Options{}) {
			files++
			path := filepath.ToSlash(r.File)
			line, ok := intended[name+"/"+path]
			if !ok {
				line, ok = want[path]
			}
			delete(want, path)
			if got := verdict(r); ok && got != line || !ok && !r.Template {
				t.Errorf("%s: %s: %q, want %q; %v", name, path, got, line, r.Findings)
			}
		}
		for path := range want {
			t.Errorf("%s: %s was not checked", name, path)
		}
	}
	if files < 500 {
		t.Errorf("only %d files", files)
	}
}
