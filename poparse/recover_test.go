package poparse

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// positions lists errors as "line:column code", separated by commas.
func positions(list []*SyntaxError) string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Code))
	}
	return strings.Join(out, ", ")
}

func TestErrors(t *testing.T) {
	const fine = "\nmsgid \"fine\"\nmsgstr \"\"\n"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", fine, ""},
		{"empty", "", ""},
		{"each entry", "msgid \"a\"\n\nmsgid \"b\"\nmsgstr\n" + fine + "foo\nmsgstr \"c\"\n", "1:1 missing-msgstr, 4:7 missing-string, 8:1 unknown-keyword"},
		{"escapes of one string", `msgid "\q \w"` + "\n\"\\e\"\nmsgstr \"\\y\"\n", "1:8 bad-escape, 1:11 bad-escape, 2:2 bad-escape, 3:9 bad-escape"},
		{"unclosed in one entry", "msgid \"a\nmsgstr \"b\n" + fine, "1:7 unclosed-string, 2:8 unclosed-string"},
		{"a string with a line break", "msgid \"a\nb\"\nmsgstr \"b\n\"\n" + fine, "1:7 unclosed-string, 3:8 unclosed-string"},
		{"quotes inside", "msgid \"a \"b\" c\"\nmsgstr \"a \"b\"\n\"d \"e\"\"\n" + fine, "1:11 text-behind-string, 2:12 text-behind-string, 3:5 text-behind-string"},
		{"a comment inside", "msgid \"a\"\n# c\nmsgstr \"\\q\"\n" + fine, "1:1 missing-msgstr, 3:9 bad-escape"},
		{"a comment inside, unclosed", "msgid \"a\"\n#, fuzzy\n\nmsgstr \"b\n" + fine, "1:1 missing-msgstr, 4:8 unclosed-string"},
		{"msgid commented out, twice", "#msgid \"a\"\nmsgstr \"b\"\n\n#msgid \"c\"\nmsgstr \"d\"\n" + fine, "2:1 missing-msgid, 5:1 missing-msgid"},
		{"forms without msgid", "msgid_plural \"b\"\nmsgstr[0] \"\"\nmsgstr[1] \"\\q\"\n" + fine, "1:1 missing-msgid, 3:12 bad-escape"},
		{"forms on one line", "msgid \"a\" \"\nmsgid_plural \"b\" msgstr [ 0 ] \"\\q\" msgstr[1] \"\" msgid \"c\"\n" + fine, "1:11 unclosed-string, 2:32 bad-escape, 2:49 missing-msgstr"},
		{"forms without plural", "msgid \"a\"\nmsgstr[0] \"b\"\nmsgstr[1] \"c\"\n" + fine, "1:1 bad-plural"},
		{"plural without forms", "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr \"c\"\n" + fine + "msgstr[1] \"\"\n", "3:1 bad-plural, 7:1 missing-msgid"},
		{"no plural in the next entry", "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\nmsgstr \"\"\n" + fine, "4:1 bad-plural"},
		{"obsolete and live", "#~ msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\"\n#~ msgstr \"d\"\n" + fine, "2:1 mixed-prefixes, 5:4 mixed-prefixes"},
		{"one place", "#| msgid \"a\"\n#~ msgid \"b\"\n# c\n", "2:4 mixed-prefixes"},
		{"previous", "#| msgstr \"a\"\nmsgid \"a\"\nmsgstr \"\"\n#| msgid \"b\"\n# c\nmsgid \"b\"\nmsgstr \"\"\n" + fine, "1:4 bad-previous, 4:4 bad-previous"},
		{"loose strings", "\"a\"\n\"b\"\n" + fine + "# c\n\"d\"\n", "1:1 loose-string, 7:1 loose-string"},
		{"neighbouring lines", "msgid \"\"\nmsgstr \"\"\nfoo\nbar baz\n\nqux\n" + fine, "3:1 unknown-keyword, 6:1 unknown-keyword"},
		{"lines inside an entry", "msgid \"a\"\nfoo\nbar\nmsgstr \"\"\n" + fine, "2:1 unknown-keyword"},
		{"no PO at all", "int main(void)\n{\n\n#include \"x\"\n\n  return 0;\n}\n", "1:1 unknown-keyword"},
		{"conflict around entries", "<<<<<<< ours\nmsgid \"a\"\nmsgstr \"b\"\n=======\nmsgid \"a\"\nmsgstr \"c\"\n>>>>>>> theirs\n" + fine, "1:1 merge-conflict"},
		{"conflicts inside of entries", strings.Repeat("msgid \"a\"\n<<<<<<< ours\nmsgstr \"b\"\n||||||| base\nmsgstr \"a\"\n=======\nmsgstr \"c\"\n>>>>>>> theirs\n\n", 2) + fine, "2:1 merge-conflict, 11:1 merge-conflict"},
		{"conflict inside of a string", "msgid \"a\"\nmsgstr \"\"\n<<<<<<< ours\n\"b\\q\"\n=======\n\"c\"\n>>>>>>> theirs\n\"d\"\n" + fine + "x\n", "3:1 merge-conflict, 4:3 bad-escape, 12:1 unknown-keyword"},
		{"conflict without an end", "<<<<<<< ours\n" + fine + "=======\n" + fine + "x\n", "1:1 merge-conflict, 5:1 merge-conflict, 9:1 unknown-keyword"},
		{"HTML", "<html>\n<body>\n", "1:1 not-po"},
		{"unknown charset", "msgid \"\"\nmsgstr \"charset=TSCII\\n\"\n\nfoo\n", "2:17 unknown-charset"},
		{"bytes", "msgid \"\"\nmsgstr \"charset=UTF-8\\n\"\n# \xff\xff č\xfe\n\nmsgid \"č\xff\\q\"\nmsgstr \"\\q\"\nčč x\n", "3:3 invalid-bytes, 5:9 invalid-bytes, 6:9 bad-escape, 7:1 unexpected-text"},
		{"bytes after a mark", "\xef\xbb\xbf# \xff\nx\n", "1:3 invalid-bytes, 2:1 unknown-keyword"},
		{"bytes of a table", "msgid \"\"\nmsgstr \"charset=EUC-JP\\n\"\n# \xa4\xa2\xff\n\n# \xa4\xa2\xa4\nmsgid \"\xa4\xa2\" x\n", "3:4 invalid-bytes, 5:4 invalid-bytes, 6:11 text-behind-string"},
		{"bytes of a code page", "msgid \"\"\nmsgstr \"charset=CP1255\\n\"\n# \xe0\xff\nfoo\n", "3:4 invalid-bytes, 4:1 unknown-keyword"},
		{"bytes of a charset found late", "msgid \"a\" msgstr \"\" msgid \"\" msgstr \"charset=ISO-8859-8\"\n# \xff\nfoo", "3:1 unknown-keyword"},
		{"the same, else sound", "msgid \"a\" msgstr \"\" msgid \"\" msgstr \"charset=ISO-8859-8\"\n# \xff\n", "2:3 invalid-bytes"},
		{"UTF-16", "\xff\xfem\x00\n\x00\x00\xdc\n\x00\x00\xdc", "2:1 invalid-bytes"},
		{"truncated", "msgid \"a\n\nmsgid \"b\"\nmsgstr \"c", "1:7 unclosed-string, 4:8 truncated"},
		{"no line ends", "msgid \"a\" \"b\" c", "1:15 text-behind-string"},
		{"CR LF", "msgid \"a\"\r\nfoo\r\nmsgstr \"\"\r\n\r\nmsgid \"b\r\nmsgstr \"\"\r\n", "2:1 unknown-keyword, 5:7 unclosed-string"},
		{"domain", "domain\ndomain \"d\" x\n" + fine, "1:7 missing-string, 2:12 text-behind-string"},
	} {
		list, more := Errors("x.po", []byte(tt.text))
		if diff := cmp.Diff(tt.want, positions(list)); diff != "" || more {
			t.Errorf("%s: more %v (-want +got)\n%s\n%s", tt.name, more, diff, tt.text)
		}
		for _, e := range list {
			if e.File != "x.po" {
				t.Errorf("%s: %v", tt.name, e)
			}
		}
	}
}

// TestErrorsBound checks that the first MaxErrors errors are listed, and that more is
// true.
func TestErrorsBound(t *testing.T) {
	for name, entry := range map[string]string{
		"grammar": "msgid \"a\"\n\n", "escapes": "msgid \"\\q\"\nmsgstr \"\"\n", "bytes": "#\xff\nmsgid \"\"\nmsgstr \"charset=UTF-8\"\n",
	} {
		for n, want := range map[int]bool{MaxErrors: false, MaxErrors + 1: true, 5 * MaxErrors: true} {
			list, more := Errors("x.po", []byte(strings.Repeat(entry, n)))
			if last := list[len(list)-1]; len(list) != MaxErrors || more != want || last.Line != strings.Count(entry, "\n")*(MaxErrors-1)+1 {
				t.Errorf("%d of %s: %d errors up to line %d, more %v", n, name, len(list), last.Line, more)
			}
		}
	}
}

// TestErrorsOfOneFault damages files at one offset and expects one error: errors that
// follow from it are not reported. Some single faults look like two: a quote in a string
// with another line after it, a keyword inside an entry.
func TestErrorsOfOneFault(t *testing.T) {
	seeds := mutationSeeds(t)
	random := rand.New(rand.NewPCG(3, 4))
	counts := map[int]int{}
	n := 30_000
	if underRace {
		n = 6_000
	}
	for range n {
		lines := strings.SplitAfter(seeds[random.IntN(len(seeds))], "\n")
		i := random.IntN(len(lines))
		at := random.IntN(len(lines[i]) + 1)
		switch kind := random.IntN(3); {
		case kind == 0:
			lines = slices.Delete(lines, i, i+1)
		case at < len(lines[i]) && lines[i][at] >= 0x80:
		case kind == 1 && at < len(lines[i]):
			lines[i] = lines[i][:at] + lines[i][at+1:]
		default:
			lines[i] = lines[i][:at] + pieces[random.IntN(len(pieces))] + lines[i][at:]
		}
		text := strings.Join(lines, "")
		list, _ := Errors("x.po", []byte(text))
		if counts[len(list)]++; len(list) > 2 {
			t.Errorf("%s\n%s", positions(list), text)
		}
	}
	t.Logf("files by number of errors: %v", counts)
	if counts[1] < n/3 || counts[2]*100 > counts[1] {
		t.Errorf("files by number of errors: %v", counts)
	}
}

// mutationSeeds are small files without errors.
func mutationSeeds(t *testing.T) (seeds []string) {
	t.Helper()
	for _, name := range []string{"everyday", "one-line", "flags", "references", "comment-after", "obsolete-comments", "escapes", "plural-states", "white-space"} {
		ar, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
		must(t, err)
		seeds = append(seeds, string(input(t, ar)))
	}
	return seeds
}
