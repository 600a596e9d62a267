package edit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/poparse"
)

// TestReviseDrawn revises headers whose fields are in any order, on lines of their own,
// several on one, or one on several, indented, with either line end: all lines without the
// two fields keep their bytes, and no empty ones are left.
func TestReviseDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.Permutation([]string{
			"PO-Revision-Date: 2020-01-01 10:00+0100", "Last-Translator: Somebody <s@example.org>", "Language: cs", "X-Generator: \\\"a\\\\n\\tb\\\"",
			"Content-Type: text/plain; charset=UTF-8", "Plural-Forms: nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;", "",
		}).Draw(t, "fields")
		// Pieces of strings, and whether each has a part of the two fields.
		type piece struct {
			text    string
			touched bool
		}
		var pieces []piece
		for _, field := range fields {
			touched := strings.HasPrefix(field, "PO-R") || strings.HasPrefix(field, "Last")
			if cut := rapid.IntRange(0, 40).Draw(t, "cut"); cut < len(field) && cut > 0 && field[cut-1] != '\\' {
				pieces = append(pieces, piece{field[:cut], touched})
				field = field[cut:]
			}
			pieces = append(pieces, piece{field + `\n`, touched})
		}
		end := func() string { return rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "line end") }
		data, line, touched := "msgid \"\""+end()+"msgstr ", "", false
		var kept []string
		if rapid.Bool().Draw(t, "begins with an empty string") {
			data += "\"\"" + end()
		}
		for i, p := range pieces {
			line, touched = line+p.text, touched || p.touched
			if i+1 < len(pieces) && rapid.IntRange(0, 3).Draw(t, "joined") == 0 {
				continue
			}
			whole := strings.Repeat(" ", rapid.IntRange(0, 2).Draw(t, "indent")) + "\"" + line + "\"" + end()
			if !strings.HasSuffix(data, "\n") { // after the keyword
				whole = strings.TrimLeft(whole, " ")
			}
			if data += whole; !touched {
				kept = append(kept, whole)
			}
			line, touched = "", false
		}
		data += "\nmsgid \"a\"\nmsgstr \"\"\n"
		before, err := poparse.Parse("cs.po", []byte(data))
		if err != nil {
			t.Fatal(err, data)
		}
		out, results, err := Apply("cs.po", []byte(data), edits(Edit{Source: "a", Ours: Text{"á", done}, Authors: []Author{jana}}), Options{Revision: noon})
		if err != nil || results[0].Outcome != Applied {
			t.Fatalf("%v, %v", err, results)
		}
		after, err := poparse.Parse("cs.po", out)
		want, _ := setField(before.Header.Str[0], "PO-Revision-Date", "2026-05-01 12:00+0000")
		want, _ = setField(want, "Last-Translator", "Jana x Evil: 1 <jana@example.org>")
		if err != nil || after.Header.Str[0] != want {
			t.Fatalf("%v\n%s\nreads as %q, want %q", err, out, after.Header.Str[0], want)
		}
		if now, was := strings.Count(string(out), `""`), strings.Count(data, `""`); now != was-1 { // that of msgid a
			t.Fatalf("%d empty strings in\n%s\nwere %d in\n%s", now, out, was, data)
		}
		rest := string(out)
		for _, line := range kept {
			_, more, ok := strings.Cut(rest, line)
			if !ok {
				t.Fatalf("%q has changed in\n%s\nwas\n%s", line, out, data)
			}
			rest = more
		}
	})
}
