package edit

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// pot is what xgettext writes.
const pot = `# SOME DESCRIPTIVE TITLE.
# Copyright (C) YEAR THE PACKAGE'S COPYRIGHT HOLDER
# This file is distributed under the same license as the PACKAGE package.
# FIRST AUTHOR <EMAIL@ADDRESS>, YEAR.
#
#, fuzzy
msgid ""
msgstr ""
"Project-Id-Version: app 1.0\n"
"Report-Msgid-Bugs-To: bugs@example.org\n"
"POT-Creation-Date: 2026-01-02 03:04+0000\n"
"PO-Revision-Date: YEAR-MO-DA HO:MI+ZONE\n"
"Last-Translator: FULL NAME <EMAIL@ADDRESS>\n"
"Language-Team: LANGUAGE <LL@li.org>\n"
"Language: \n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=CHARSET\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"

#. For a button.
#: a.c:1
msgid "Open"
msgstr ""

#: a.c:2
msgctxt "door"
msgid "Open"
msgstr ""

#: a.c:3
#, c-format
msgid ""
"%d file of a very long name that makes the line longer than seventy-nine "
"columns"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#~ msgid "Gone"
#~ msgstr ""
`

// TestNewFile: the file of a new language is what msginit makes, but for who made it.
func TestNewFile(t *testing.T) {
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"cs", "ja", "pl", "pt_BR"} {
		l, _ := table.ByCode(code)
		n := NewFile{Code: code, Name: l.Name, Plural: l.Plural, Author: Author{Name: "Jana", Email: "j@example.org", Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}}
		got, err := n.Make("x.pot", []byte(pot))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"PO-Revision-Date: 2026-05-01 12:00+0000", "Last-Translator: Jana <j@example.org>", "# Jana <j@example.org>, 2026.", "Language: " + code, "plural=" + l.Plural.Formula} {
			if !strings.Contains(strings.ReplaceAll(string(got), "\"\n\"", ""), want) {
				t.Errorf("%s: no %s in\n%s", code, want, got)
			}
		}
		if _, err := exec.LookPath("msginit"); err != nil {
			continue
		}
		dir := t.TempDir()
		in := filepath.Join(dir, "x.pot")
		if err := os.WriteFile(in, []byte(pot), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "msginit", "--no-translator", "--locale="+code+".UTF-8", "--input="+in, "--output-file=-")
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(comparable(string(want)), comparable(string(got))); diff != "" {
			t.Errorf("%s: (-msginit +got)\n%s", code, diff)
		}
	}
}

// comparable leaves out who made a file, and when, and how a formula is written.
func comparable(po string) string {
	for _, line := range []string{`# .* translations for.*`, `# (Copyright|Automatically|Jana).*`, `"(PO-Revision-Date|Last-Translator): .*`, `"Content-Type: text/plain; charset=(ASCII|UTF-8).*`, `"Plural-Forms: nplurals=\d+;[^#]*?\\n"`} {
		po = regexp.MustCompile(`(?m)^`+line).ReplaceAllString(po, "-")
	}
	return po
}

// TestNewFileRefuses: without a header, or of what is no PO file, nothing is made.
func TestNewFileRefuses(t *testing.T) {
	for _, template := range []string{"", "msgid \"a\"\nmsgstr \"\"\n", "no PO"} {
		if out, err := (NewFile{Code: "cs", Plural: lang.Plural{Number: 3}}).Make("x.pot", []byte(template)); err == nil {
			t.Errorf("%q: %s", template, out)
		}
	}
}

// TestNewFileIsUTF8: whatever the charset of the template, the new file can have the name of
// who made it, and the letters of its language.
func TestNewFileIsUTF8(t *testing.T) {
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	l, _ := table.ByCode("pl")
	n := NewFile{Code: "pl", Name: l.Name, Plural: l.Plural, Author: Author{Name: "Łukasz", Email: "l@example.org", Time: noon}}
	for charset, letter := range map[string]string{"ISO-8859-1": "\xe9", "iso-8859-15": "\xe9", "utf-8": "é", "CP850": "\x82"} {
		template := strings.NewReplacer("CHARSET", charset, "For a button.", "For a button: "+letter).Replace(pot)
		got, err := n.Make("x.pot", []byte(template))
		if err != nil {
			t.Errorf("%s: %v", charset, err)
			continue
		}
		f, err := poparse.Parse("pl.po", got)
		if err != nil || f.Field("Last-Translator") != "Łukasz <l@example.org>" || !strings.Contains(string(got), "# Łukasz <l@example.org>, 2026.\n") ||
			f.Entries[0].Extracted[0] != "For a button: é" {
			t.Errorf("%s: %v\n%s", charset, err, got)
		}
		if _, r, err := Apply("pl.po", got, edits(Edit{Source: "Open", Ours: Text{"Otwórz ŁĄ", done}}), Options{Gate: true}); err != nil || r[0].Outcome != Applied {
			t.Errorf("%s: %v, %v", charset, err, r)
		}
	}
}

// TestLinguas adds a language and removes it again.
func TestLinguas(t *testing.T) {
	for _, tt := range []struct{ name, without, with string }{
		{"lines", "# set of languages\nbe\nde # German\n", "# set of languages\nbe\ncs\nde # German\n"},
		{"the last", "ar\nbe\n", "ar\nbe\ncs\n"},
		{"not sorted", "de\nbe\n", "de\nbe\ncs\n"},
		{"one line", "be de fr\n", "be cs de fr\n"},
		{"one line, the first", "de fr\n", "cs de fr\n"},
		{"one line, the last", "ar be # all\n", "ar be cs # all\n"},
		{"like a part of another", "cs@x de\n", "cs cs@x de\n"},
		{"CR LF", "be\r\nde\r\n", "be\r\ncs\r\nde\r\n"},
		{"empty", "", "cs\n"},
		{"a comment only", "# cs\n", "# cs\ncs\n"},
	} {
		if got := string(Linguas([]byte(tt.without), "cs", true)); got != tt.with {
			t.Errorf("%s: added %q, want %q", tt.name, got, tt.with)
		}
		if got := string(Linguas([]byte(tt.with), "cs", false)); got != tt.without {
			t.Errorf("%s: removed %q, want %q", tt.name, got, tt.without)
		}
		if string(Linguas([]byte(tt.with), "cs", true)) != tt.with || string(Linguas([]byte(tt.without), "cs", false)) != tt.without {
			t.Errorf("%s: something changes for nothing", tt.name)
		}
	}
	if got := string(Linguas([]byte("be"), "cs", true)); got != "be\ncs\n" {
		t.Errorf("without a final line end: %q", got)
	}
}

// FuzzNewFile: what is made of any template is a PO file in which nothing is translated;
// a code that is added to any LINGUAS can be removed again, and no other goes.
func FuzzNewFile(f *testing.F) {
	f.Add([]byte(pot))
	f.Add([]byte("# all\nbe de\r\nfr #x\ncs"))
	f.Add([]byte("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-2\\n\"\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		codes := func(b []byte) (list []string) {
			for line := range strings.Lines(string(b)) {
				line, _, _ = strings.Cut(line, "#")
				list = append(list, strings.Fields(line)...)
			}
			return list
		}
		without := Linguas(data, "zz", false)
		with := Linguas(without, "zz", true)
		if was, now := codes(without), codes(with); !slices.Contains(was, "zz") && len(now) != len(was)+1 {
			t.Errorf("%d codes became %d: %q to %q", len(was), len(now), without, with)
		}
		n := NewFile{Code: "cs", Name: "Czech", Plural: lang.Plural{Number: 3, Formula: "n != 1"}, Author: Author{Name: "J\n\"", Time: time.Unix(1_700_000_000, 0)}}
		out, err := n.Make("x.pot", data)
		if err != nil {
			return
		}
		made, err := poparse.Parse("x.po", out)
		if err != nil {
			t.Fatal(err)
		}
		for e := range made.Live() {
			if strings.Join(e.Str, "") != "" && e != made.Header && len(e.ID) > 0 {
				t.Errorf("%q is translated: %q", e.ID, e.Str)
			}
		}
	})
}
