package testrepos

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const poHeader = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\""

// one makes a kind with one served file of a text.
func one(name, text string) Hostile {
	return Hostile{Name: name, make: func(w *hostileWriter) { w.served(treeLine{modeFile, "cs.po", w.blob(text)}) }}
}

// withPlurals is a file whose header has a formula, and one plural string.
func withPlurals(formula string) string {
	return poHeader + "\n\"Plural-Forms: " + formula + "\\n\"\n\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b\"\n"
}

// hostileFiles are PO files.
func hostileFiles() []Hostile {
	deep := 100_000
	entries := func(n int, msgid func(i int) string) string {
		var b strings.Builder
		b.WriteString(poHeader + "\n")
		for i := range n {
			fmt.Fprintf(&b, "\nmsgid %q\nmsgstr \"x\"\n", msgid(i))
		}
		return b.String()
	}
	list := []Hostile{
		{Name: "huge-file", make: func(w *hostileWriter) {
			const size = 200 << 20
			zeros := w.stream(plumbing.BlobObject, size, io.LimitReader(zeroReader{}, size))
			w.served(treeLine{modeFile, "cs.po", zeros}, treeLine{modeFile, "de.po", w.blob(smallPO)})
		}},
		{Name: "many-strings", Fails: "quotas.units allows", make: func(w *hostileWriter) {
			w.served(treeLine{modeFile, "cs.po", w.blob(entries(60_000, func(i int) string { return fmt.Sprint("s", i) }))})
		}},
		{Name: "much-growth", Fails: "quotas.growth allows", make: func(w *hostileWriter) {
			text := strings.Repeat("x", 4000)
			w.served(treeLine{modeFile, "cs.po", w.blob(entries(3_500, func(i int) string { return fmt.Sprint(text, i) }))})
		}},
		one("long-line", poHeader+"\n\nmsgid \""+strings.Repeat("y", 2<<20)+"\"\nmsgstr \"x\"\n"),
		one("duplicates", entries(50_000, func(int) string { return "same" })),
		one("open-strings", poHeader+"\n\nmsgid \""+strings.Repeat("\"\n\"", deep)),
		one("backslashes", poHeader+"\n\nmsgid \""+strings.Repeat("\\\\", deep)+"\"\nmsgstr \""+strings.Repeat("\\777", deep)+"\"\n"),
		one("comments", strings.Repeat("#: a.c:1\n", deep)+smallPO),
		one("broken-everywhere", strings.Repeat("msgid\n", deep)),
		one("plural-count", withPlurals("nplurals=1000000000; plural=n;")),
		one("plural-number", withPlurals("nplurals=99999999999999999999999; plural=99999999999999999999999;")),
		one("plural-deep", withPlurals("nplurals=2; plural="+strings.Repeat("(", deep)+"n"+strings.Repeat(")", deep)+";")),
		one("plural-not", withPlurals("nplurals=2; plural="+strings.Repeat("!", deep)+"n;")),
		one("plural-long", withPlurals("nplurals=2; plural=n"+strings.Repeat("+n?n:n", deep)+";")),
		one("plural-zero", withPlurals("nplurals=2; plural=n%0/0;")),
		one("forms", strings.Replace(withPlurals("nplurals=2; plural=n!=1;"), "msgstr[1]", "msgstr[999999999]", 1)),
		one("charset", strings.Replace(smallPO, "UTF-8", strings.Repeat("X", deep), 1)),
		one("utf-16", "\xff\xfe"+strings.Repeat("m\x00", deep)),
		one("nul", strings.Repeat("\x00", deep)),
	}
	for name, bomb := range map[string]string{
		"braces": "{", "icu": "{n,plural,other{", "tags": "<b>", "entities": "&amp;", "percent": "%", "brackets": "[url=", "backticks": "`*_", "marks": "a\u0300\u0301",
	} {
		text := strings.Repeat(bomb, 20_000)
		flags := "#, c-format, icu-message-format, md-text, xml-text, bbcode-text, python-brace-format, regex:(a+)+$, placeholders:r\"(x+)+\"\n"
		h := one("check-"+name, fmt.Sprintf("%s\n\n%smsgid %q\nmsgstr %q\n", poHeader, flags, text, text+"x"))
		list = append(list, h)
	}
	return list
}

// zeroReader reads zeros.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
