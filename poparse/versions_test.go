package poparse

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestVersionsOfBundles reads versions of files of real repositories with one Reader, in
// the order of their history: at night all, otherwise some of those of large ones. Each is what it is when it is read alone, and
// when it is read by paragraphs.
func TestVersionsOfBundles(t *testing.T) {
	bundles, err := filepath.Glob(filepath.Join(gittest.Shared(t, "data", "repos"), "*.bundle"))
	must(t, err)
	for _, bundle := range bundles {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			dir := cloneBundle(t, bundle)
			list := historyOf(t, dir)
			if all := len(list); all > 200 {
				list = everyNth(list, testsize.Of(all/200, min(all/200, 8), 1))
			}
			var r Reader
			for chunk := range slices.Chunk(list, 200) {
				readBlobs(t, dir, chunk)
				for i := range chunk {
					checkVersion(t, &r, &chunk[i])
					chunk[i].data = nil
				}
			}
			t.Logf("%d versions", len(list))
		})
	}
}

func checkVersion(t *testing.T, r *Reader, b *blob) {
	want, wantErr := Parse(b.path, b.data)
	got, err := r.Parse(b.path, b.data)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s at %s: %v, alone %v", b.path, b.id, err, wantErr)
	}
	if err != nil {
		return
	}
	want.source = nil
	if !reflect.DeepEqual(want, got) { // cmp takes minutes for all
		t.Errorf("%s at %s (-alone +Reader):\n%s", b.path, b.id, cmp.Diff(want, got, cmpopts.IgnoreUnexported(File{}, Entry{}), cmpopts.EquateEmpty()))
	}
	if len(want.Entries) == 0 || len(want.OtherHeaders) > 0 || want.CommentsBehind || want.Domain != "" || len(want.Warnings) > 0 {
		return
	}
	entries := inParagraphs(t, r, b)
	if entries == nil {
		return // the header ends the file
	}
	for _, list := range [][]*Entry{want.Entries, entries} {
		for _, e := range list {
			e.Line, e.KeywordLine, e.number = 0, 0, 0
		}
	}
	if !reflect.DeepEqual(want.Entries, entries) {
		t.Errorf("%s at %s (-whole +paragraphs):\n%s", b.path, b.id, cmp.Diff(want.Entries, entries, cmpopts.IgnoreUnexported(Entry{}), cmpopts.EquateEmpty()))
	}
}

// inParagraphs reads a file by some paragraphs at a time, each behind the header.
func inParagraphs(t *testing.T, r *Reader, b *blob) (entries []*Entry) {
	header := NextParagraph(b.data, 1)
	for from := header; from >= 0 && from < len(b.data); {
		to := NextParagraph(b.data, min(from+4096, len(b.data)))
		if to < 0 {
			to = len(b.data)
		}
		f, err := r.Parse(b.path, slices.Concat(b.data[:header], b.data[from:to]))
		if err != nil {
			t.Fatalf("%s at %s, from %d to %d: %v", b.path, b.id, from, to, err)
		}
		for _, e := range f.Entries {
			clone := *e
			clone.Str = slices.Clone(e.Str) // of memory that is used again
			entries = append(entries, &clone)
		}
		from = to
	}
	return entries
}

// TestNextParagraph names where a paragraph begins and where none does.
func TestNextParagraph(t *testing.T) {
	const header = "# Title\n\nmsgid \"\"\nmsgstr \"\"\n\"a: b\\n\"\n\n"
	for _, c := range []struct {
		name, text, rest string
	}{
		{"entry", "msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\"\n", "msgid \"c\"\n"},
		{"comment", "msgid \"a\"\nmsgstr \"b\"\n\n\n#, fuzzy\n", "#, fuzzy\n"},
		{"line ends of Windows", "msgid \"a\"\r\nmsgstr \"b\"\r\n\r\nmsgctxt \"c\"\r\n", "msgctxt \"c\"\r\n"},
		{"several lines", "msgid \"a\"\nmsgstr[1] \"b\"\n\"c\"\n\n# d\n", "# d\n"},
		{"no blank line", "msgid \"a\"\nmsgstr \"b\"\nmsgid \"c\"\n", ""},
		{"string goes on", "msgid \"a\"\nmsgstr \"b\"\n\n\"c\"\n", ""},
		{"entry goes on", "msgid \"a\"\n\nmsgid_other \"b\"\n", ""},
		{"behind a comment", "# a\n\n# b\n", ""},
		{"obsolete entry", "#~ msgid \"a\"\n#~ msgstr \"b\"\n\n# c\n", ""},
		{"end", "msgid \"a\"\nmsgstr \"b\"\n\n", ""},
		{"far", "msgid \"" + strings.Repeat("a\"\n\"", 20_000) + "\"\nmsgstr \"b\"\n\n# c\n", ""},
	} {
		data := []byte(header + c.text)
		if got := NextParagraph(data, 1); got != len(header) {
			t.Errorf("%s: the header ends at %d", c.name, got)
		}
		at, want := NextParagraph(data, len(header)+1), len(data)-len(c.rest)
		if c.rest == "" {
			want = -1
		}
		if at != want {
			t.Errorf("%s: at %d, want %d", c.name, at, want)
		}
	}
}

// historyOf lists the versions of PO files in the first-parent history.
func historyOf(t *testing.T, dir string) (list []blob) {
	out := git(t, dir, "log", "--reverse", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "--", "*.po", "*.pot")
	for line := range strings.Lines(string(out)) {
		meta, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(meta)
		if ok && len(fields) == 5 && fields[1] == "100644" {
			list = append(list, blob{path: path, id: fields[3]})
		}
	}
	return list
}
