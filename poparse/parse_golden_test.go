package poparse

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse/gettexttest"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata/*.txtar")

// TestGolden reads in.po of each testdata/*.txtar and compares the result of Parse with
// want. The comment of a case says what it shows; a line "encode: NAME" in it converts
// in.po to that charset first. In in.po the control pictures ␀ ␄ ␊ ␋ ␌ ␍ ␛ are replaced
// by the characters that they show (␊ before a line end joins the lines), and ␚ by a
// byte 0xFF.
func TestGolden(t *testing.T) {
	for file, ar := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			if len(ar.Files) != 2 || ar.Files[0].Name != "in.po" || ar.Files[1].Name != "want" {
				t.Fatal("want the sections in.po and want")
			}
			got := describe(Parse("in.po", input(t, ar)))
			if *update {
				ar.Files[1].Data = []byte(got)
				must(t, os.WriteFile(file, txtar.Format(ar), 0o644))
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("%s\n(-want +got)\n%s", ar.Comment, diff)
			}
		})
	}
}

// archives are the cases of TestGolden by their files, in order.
func archives(t testing.TB) iter.Seq2[string, *txtar.Archive] {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return func(yield func(string, *txtar.Archive) bool) {
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			must(t, err)
			if !yield(file, ar) {
				return
			}
		}
	}
}

func input(t *testing.T, ar *txtar.Archive) []byte {
	t.Helper()
	data := strings.NewReplacer("␊\n", "", "␀", "\x00", "␄", "\x04", "␋", "\v", "␌", "\f", "␍", "\r", "␛", "\x1b").
		Replace(string(ar.Files[0].Data))
	parts := strings.Split(data, "␚")
	for line := range strings.Lines(string(ar.Comment)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "encode: ")
		if !ok {
			continue
		}
		_, enc := lookupCharset(name)
		if enc == nil {
			t.Fatalf("no encoding %q", name)
		}
		for i, part := range parts {
			var err error
			if parts[i], err = enc.NewEncoder().String(part); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []byte(strings.Join(parts, "\xff"))
}

// describe writes all fields that are not zero.
func describe(f *File, err error) string {
	var b strings.Builder
	var se *SyntaxError
	if errors.As(err, &se) {
		return fmt.Sprintf("%v [%s] (offset %d)\n", se, se.Code, se.Offset)
	}
	if f.Charset != "" || f.Domain != "" {
		fmt.Fprintf(&b, "file charset=%q domain=%q\n", f.Charset, f.Domain)
	}
	if f.Header != nil {
		describeEntry(&b, "header", f.Header)
	}
	for i := range f.OtherHeaders {
		describeEntry(&b, "other header", f.OtherHeaders[i])
	}
	if p, ok := f.PluralForms(); ok {
		fmt.Fprintf(&b, "plurals %d %s\n", p.Number, p.Expression)
	}
	for i := range f.Entries {
		describeEntry(&b, "entry", f.Entries[i])
	}
	for _, w := range f.Warnings {
		fmt.Fprintf(&b, "warning %d:%d: %s [%s]\n", w.Line, w.Column, w.Msg, w.Code)
	}
	fmt.Fprintf(&b, "counts %v\n", count(f))
	return b.String()
}

func describeEntry(b *strings.Builder, what string, e *Entry) {
	fmt.Fprintf(b, "%s line=%d,%d", what, e.Line, e.KeywordLine)
	word := func(name string, set bool) {
		if set {
			fmt.Fprintf(b, " %s", name)
		}
	}
	text := func(name, value string, set bool) {
		if set || value != "" {
			fmt.Fprintf(b, "\n  %s %q", name, value)
		}
	}
	list := func(name string, values []string) {
		if values != nil {
			fmt.Fprintf(b, "\n  %s %q", name, values)
		}
	}
	word("obsolete", e.Obsolete)
	word("fuzzy", e.Fuzzy)
	word("duplicate", e.Duplicate)
	text("domain", e.Domain, false)
	text("msgctxt", e.Context, e.HasContext)
	text("msgid", e.ID, true)
	text("msgid_plural", e.IDPlural, e.HasPlural)
	list("msgstr", e.Str)
	list("flags", e.Flags)
	list("references", e.References)
	list("comments", e.Comments)
	list("extracted", e.Extracted)
	if prev := e.Previous; prev != nil {
		text("previous msgctxt", prev.Context, false)
		text("previous msgid", prev.ID, true)
		text("previous msgid_plural", prev.IDPlural, false)
	}
	b.WriteByte('\n')
}

// TestBundles reads every PO and POT file at the head of every bundle, and compares the
// counts with msgfmt and the strings with gotext.
func TestBundles(t *testing.T) {
	repos := gittest.Shared(t, "data", "repos")
	bundles, err := filepath.Glob(filepath.Join(repos, "*.bundle"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles in %s: %v", repos, err)
	}
	compared := 0
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			bundle, err := filepath.Abs(bundle)
			must(t, err)
			repo := cloneBundle(t, bundle)
			want := map[string]map[string]string{}
			for _, row := range gettexttest.Table(t, filepath.Join(repos, "expected", name+".tsv")) {
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
	want := gettexttest.Counts{
		Translated: gettexttest.Number(t, row["translated"]), Fuzzy: gettexttest.Number(t, row["fuzzy"]), Untranslated: gettexttest.Number(t, row["untranslated"]),
	}
	if got != want.String() {
		t.Errorf("%s: %s: %s, msgfmt says %v", repo, b.path, got, want)
	}
}
