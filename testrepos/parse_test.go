package testrepos_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestParseErrors: a mistake is reported with its line.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"setting", "# about\nspeed: 3\n", 2, `unknown field "speed"`},
		{"initial", "initial: many\n", 1, "cannot unmarshal string"},
		{"initial too large", "initial: 2\n-- commit 1 --\n", 1, "there are 1 steps"},
		{"top is not a remark", "hello\n", 1, "string was used where mapping is expected"},
		{"section", "-- README --\n", 1, "want `commit LABEL`"},
		{"label", "-- commit a b --\n", 1, "without blanks"},
		{"label again", "-- commit 1 --\n-- commit 1 --\n", 2, "no other step has"},
		{"file before commit", "# x\n\n-- 1/a --\n", 3, "below its `commit LABEL`"},
		{"file of another", "-- commit 1 --\n-- 2/a --\n", 2, "below its `commit LABEL`"},
		{"file of ref", "-- commit 1 --\n-- ref r --\nto: 1\n-- r/a --\n", 4, "below its `commit LABEL`"},
		{"key", "-- commit 1 --\nautor: A <a>\n", 2, `unknown field "autor"`},
		{"date", "-- commit 1 --\nauthor: A <a>\ndate: yesterday\n", 2, "yesterday"},
		{"parents", "-- commit 1 --\nparents: 2\n", 2, "was used where sequence is expected"},
		{"force", "-- commit 1 --\nforce: perhaps\n", 2, "cannot unmarshal"},
		{"held at the end", "-- commit 1 --\nhold: true\n", 1, "cannot be held back"},
		{"directive", "-- commit 1 --\n-- 1/a (upside-down) --\n", 2, `unknown directive "upside-down"`},
		{"two operations", "-- commit 1 --\n-- 1/a (entries, deleted) --\n", 2, "two directives"},
		{"charset", "-- commit 1 --\n-- 1/a (charset KLINGON-1) --\n", 2, "not known to x/text"},
		{"quoted name", "-- commit 1 --\n-- 1/\"a --\n", 2, "no Go string"},
		{"empty name", "-- commit 1 --\n-- 1/a//b --\n", 2, "names that are empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := testrepos.Parse("x.txtar", []byte(tt.text))
			if said := fmt.Sprint(err); !strings.HasPrefix(said, fmt.Sprintf("x.txtar:%d: ", tt.line)) || !strings.Contains(said, tt.want) {
				t.Errorf("error %v, want line %d and %q", err, tt.line, tt.want)
			}
		})
	}
}

// TestStepErrors: mistakes that depend on the files of earlier commits.
func TestStepErrors(t *testing.T) {
	const base = "-- commit 1 --\n-- 1/a --\none\ntwo\ntwo\n-- commit 2 --\n"
	for _, tt := range []struct{ name, text, want string }{
		{"delete", "-- 2/b (deleted) --\n", "it is not there"},
		{"author", "author: A\n", "want Name <email>"},
		{"parent", "parents: [3]\n", `"3" is no label`},
		{"branch name", "branch: a..b\n", "invalid"},
		{"repeat", "-- 2/a (repeat 1000001) --\n", "up to 1000000"},
		{"base64", "-- 2/a (base64) --\n%%%\n", "base64"},
		{"no POT", "-- 2/a (msgmerge) --\n", `no such file: ""`},
		{"entries of nothing", "-- 2/b (entries) --\nmsgid \"x\"\n", "no such file"},
		{"msgmerge", "-- 2/a (msgmerge b.pot) --\n", `no such file: "b.pot"`},
		{"charset", "-- 2/a (charset ISO-8859-1) --\n日本\n", "does not fit"},
		{"lost commits", "-- commit 3 --\nparents: [1]\n", "would lose commits"},
		{"conflict", "-- 2/a --\nleft\n-- commit 3 --\nbranch: s\nparents: [1]\n-- 3/a --\nright\n-- commit 4 --\nmerge: [s]\n", "both sides changed a"},
		{"drop a branch", "drop: [x]\n", `no branch "x"`},
		{"delete a branch", "-- ref 3 --\nbranch: x\n", `no branch "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := testrepos.Parse("x.txtar", []byte(base+tt.text))
			must(t, err)
			_, err = testrepos.Create(t.TempDir(), s)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "line ") {
				t.Errorf("error %v, want %q with a line", err, tt.want)
			}
		})
	}
}

// FuzzParse: no text makes Parse or Create panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte("initial: 1\n-- commit 1 --\nmessage: a\n-- 1/a (crlf, bom) --\nx\n-- 1/b (entries) --\nmsgid \"x\"\n-- ref 2 --\n"))
	f.Add([]byte("-- commit 1 --\n-- 1/p.pot --\nmsgid \"\"\nmsgstr \"\"\n\nmsgid \"a\"\nmsgstr \"\"\n-- 1/a.po (msgmerge p.pot) --\nmsgid \"a\"\nmsgstr \"b\"\n#~ msgid \"c\"\n-- commit 2 --\nmerge: [1]\n"))
	f.Add([]byte("-- commit 1 --\nbranch: x\nparents: [none]\n-- 1/\"a\\x00\" --\n-- 1/../.. (symlink) --\n/\n-- 1/s (submodule) --\nzz\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "repeat") {
			t.Skip("may make a file of many megabytes, which is what it is for")
		}
		s, err := testrepos.Parse("fuzz.txtar", data)
		if err != nil {
			return
		}
		_, _ = testrepos.Create(t.TempDir(), s) // an error is an answer; a panic is not
	})
}
