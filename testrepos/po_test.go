package testrepos_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// header is the header of the PO files below.
const header = "msgid \"\"\nmsgstr \"\"\n\"POT-Creation-Date: 1\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=3; plural=0;\\n\"\n"

// TestPODirectives tests entries and msgmerge.
func TestPODirectives(t *testing.T) {
	const old = header + `
# mine
#. theirs
#: a.c:1 b.c:20
#, fuzzy, c-format
#| msgid "Opn"
msgid "Open"
msgstr "Otevřít?"

msgctxt "menu"
msgid "Open"
msgstr "Otevřít"

#~ msgid "Gone"
#~ msgstr "Pryč"
`
	for _, tt := range []struct{ name, directive, text, want string }{
		{
			"entries keep comments but fuzzy and previous", "entries",
			"msgid \"Open\"\nmsgstr \"Otevři\"\n",
			header + `
# mine
#. theirs
#: a.c:1 b.c:20
#, c-format
msgid "Open"
msgstr "Otevři"

msgctxt "menu"
msgid "Open"
msgstr "Otevřít"

#~ msgid "Gone"
#~ msgstr "Pryč"
`,
		},
		{
			"entries: new before obsolete, returned, made obsolete", "entries",
			"msgid \"New\"\nmsgstr \"Nový\"\n\nmsgid \"Gone\"\nmsgstr \"Zpět\"\n\n#~ msgctxt \"menu\"\n#~ msgid \"Open\"\n#~ msgstr \"Otevřít\"\n",
			header + `
# mine
#. theirs
#: a.c:1 b.c:20
#, fuzzy, c-format
#| msgid "Opn"
msgid "Open"
msgstr "Otevřít?"

msgid "New"
msgstr "Nový"

msgid "Gone"
msgstr "Zpět"

#~ msgctxt "menu"
#~ msgid "Open"
#~ msgstr "Otevřít"
`,
		},
		{
			"msgmerge", "msgmerge x.pot", "msgid \"Close\"\nmsgstr \"Zavřít\"\n",
			"msgid \"\"\nmsgstr \"\"\n\"POT-Creation-Date: 2\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=3; plural=0;\\n\"\n" + `
#: a.c:9
msgid "Gone"
msgstr "Pryč"

#. new remark
#: a.c:3
msgid "Close"
msgstr "Zavřít"

# mine
#: a.c:2
#, fuzzy, c-format
#| msgid "Opn"
msgid "Open"
msgstr "Otevřít?"

#, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

#~ msgctxt "menu"
#~ msgid "Open"
#~ msgstr "Otevřít"
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "-- commit 1 --\n-- 1/a.po --\n" + old + "-- 1/x.pot --\n" + pot +
				"-- 1/a.po (" + tt.directive + ") --\n" + tt.text
			r := scenario(t, text)
			if diff := cmp.Diff(tt.want, string(r.File(t, "1", "a.po"))); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

const pot = `msgid ""
msgstr ""
"POT-Creation-Date: 2\n"

#: a.c:9
msgid "Gone"
msgstr ""

#. new remark
#: a.c:3
msgid "Close"
msgstr ""

#: a.c:2
#, c-format
msgid "Open"
msgstr ""

#, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
`

// TestBytes tests the directives that change the bytes of a text.
func TestBytes(t *testing.T) {
	r := scenario(t, bytesScenario)
	for path, want := range map[string]string{
		"latin2":  "\xbe\xf9\n",
		"dos":     "\ufeffa\r\nc\r\n",
		"open":    "end",
		"link":    "../x",
		"many":    "top\n1 0000001\n2 0000002\n",
		"raw":     "\x00\xff",
		"tab\t":   "x\n",
		"../up":   "x\n",
		"dir/new": "folder\n",
		"was":     "a file\n",
	} {
		if got := string(r.File(t, "1", path)); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	paths, err := r.Paths("1")
	if err != nil || len(paths) != 10 {
		t.Errorf("paths %q, %v, want ten: a file replaced a folder and a folder a file", paths, err)
	}
}

const bytesScenario = `-- commit 1 --
-- 1/latin2 (charset ISO-8859-2) --
žů
-- 1/dos (crlf, bom) --
a
c
-- 1/open (no-eol) --
end
-- 1/link (symlink) --
../x
-- 1/many (repeat 2) --
top
%%
{n} {nn}
-- 1/raw (base64) --
AP8=
-- 1/"tab\t" --
x
-- 1/../up --
x
-- 1/dir --
first a file, then a folder
-- 1/dir/new --
folder
-- 1/was/a/folder --
first a folder, then a file
-- 1/was --
a file
`
