package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// projectCatalog is a template or a translation.
type projectCatalog struct {
	component int // its number
	folder    string
	texts     *projectTexts
	name      string // of the file
	lang      string // "" for the template
	forms     int
	formula   string
	created   time.Time // of the template
	revised   time.Time
	entries   []projectEntry
	obsolete  []string // their texts, the oldest first
	changed   bool     // since it was stored
	chain     chain
	treeEntry string
}

// projectEntry is an entry of a file.
type projectEntry struct {
	message    *projectMessage
	translated *projectMessage // the string that was translated; nil: none; in a fuzzy entry another one
	times      int             // how often it was translated
	fuzzy      bool
	obsolete   bool
	text       string
}

func newProjectCatalog(c *projectComponent, lang string) *projectCatalog {
	f := &projectCatalog{
		component: c.number, folder: c.name, texts: c.texts, name: lang + ".po", lang: lang,
		chain: chain{kind: plumbing.BlobObject},
	}
	if f.forms, f.formula = pluralForms(lang); lang == "" {
		f.name, f.formula = "messages.pot", "nplurals=INTEGER; plural=EXPRESSION;"
	}
	return f
}

// random returns a number for a place in a file.
func (f *projectCatalog) random(n int) uint64 {
	h := mix(f.texts.project.Seed ^ uint64(f.component)<<32 ^ uint64(n))
	for _, r := range f.lang {
		h = mix(h + uint64(r))
	}
	return h
}

func (f *projectCatalog) translator() string { return "Tran Slator " + f.lang }

// segments returns the text of the file, in paragraphs.
func (f *projectCatalog) segments() []string {
	list := make([]string, 1, 1+len(f.entries)+len(f.obsolete))
	list[0] = f.header()
	for i := range f.entries {
		list = append(list, f.entries[i].text)
	}
	return append(list, f.obsolete...)
}

func (f *projectCatalog) header() string {
	const date = "2006-01-02 15:04-0700"
	first, revised, who, language := "", f.revised.Format(date), f.translator(), f.lang
	if f.lang == "" {
		first, revised, who, language = "#, fuzzy\n", "YEAR-MO-DA HO:MI+ZONE", "FULL NAME", ""
	}
	return first + "msgid \"\"\nmsgstr \"\"\n" +
		"\"Project-Id-Version: " + f.folder + "\\n\"\n" +
		"\"POT-Creation-Date: " + f.created.Format(date) + "\\n\"\n" +
		"\"PO-Revision-Date: " + revised + "\\n\"\n" +
		"\"Last-Translator: " + who + " <" + projectMail(who) + ">\\n\"\n" +
		"\"Language: " + language + "\\n\"\n" +
		"\"MIME-Version: 1.0\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n" +
		"\"Content-Transfer-Encoding: 8bit\\n\"\n\"Plural-Forms: " + f.formula + "\\n\"\n"
}

// render sets the text of an entry, as msgmerge writes it.
func (f *projectCatalog) render(e projectEntry) projectEntry {
	var b strings.Builder
	b.Grow(256)
	prefix, previous := "", "#| "
	if e.obsolete {
		prefix, previous = "#~ ", "#~| "
		b.WriteByte('\n')
	} else {
		fmt.Fprintf(&b, "\n#: src/part%03d.c:%d\n", e.message.file, e.message.line)
	}
	if e.fuzzy {
		b.WriteString("#, fuzzy")
	}
	switch {
	case e.fuzzy && e.message.format:
		b.WriteString(", c-format\n")
	case e.message.format:
		b.WriteString("#, c-format\n")
	case e.fuzzy:
		b.WriteByte('\n')
	}
	if e.fuzzy && e.translated != e.message {
		writeSource(&b, previous, e.translated)
	}
	writeSource(&b, prefix, e.message)
	if e.message.plural == "" {
		writeString(&b, prefix+"msgstr", f.target(e, 0))
	} else {
		for form := range f.forms {
			writeString(&b, fmt.Sprintf("%smsgstr[%d]", prefix, form), f.target(e, form))
		}
	}
	e.text = b.String()
	return e
}

func (f *projectCatalog) target(e projectEntry, form int) string {
	if e.translated == nil {
		return ""
	}
	return f.texts.target(f.component, e.translated, f.lang, form, e.times)
}

func writeSource(b *strings.Builder, prefix string, m *projectMessage) {
	if m.context != "" {
		writeString(b, prefix+"msgctxt", m.context)
	}
	writeString(b, prefix+"msgid", m.source)
	if m.plural != "" {
		writeString(b, prefix+"msgid_plural", m.plural)
	}
}

func writeString(b *strings.Builder, keyword, text string) {
	b.WriteString(keyword)
	b.WriteString(" \"")
	b.WriteString(text)
	b.WriteString("\"\n")
}

// projectMessage is a string of a template.
type projectMessage struct {
	number   int // in its component
	key      int // the same in all components that share it
	revision int // how often its source changed
	context  string
	source   string
	plural   string // "" without
	format   bool   // has %d
	file     int    // its source file
	line     int
}

// projectTexts makes the texts of all components.
type projectTexts struct {
	project          Project
	english, foreign []string
}

// message makes string n of a component, from 0; a number is never used again.
func (t *projectTexts) message(component, n, revision int) *projectMessage {
	key := (component + 1) * 1_000_000_000
	switch place := n * 37 % 100; { // 37 and 100 have no common divisor: every hundred has each
	case place < t.project.Shared/2:
		key = 0
	case place < t.project.Shared:
		key = (component/10 + 1) * 10_000_000
	}
	key += n
	m := &projectMessage{number: n, key: key, revision: revision, format: every(n, 12)}
	m.source = string(appendSentence(nil, t.english, t.project.Seed, key))
	if revision > 0 {
		m.source += fmt.Sprintf(" (%d)", revision+1)
	}
	if m.format {
		m.source += ": %d"
	}
	if every(n, 9) {
		m.context = "menu"
	}
	if every(n, 10) {
		m.plural = m.source + " each"
	}
	if n%3 == 0 {
		m.source += "."
	}
	return m
}

// target makes the translation of a form. times counts the translations of the string
// in its file: a translator always writes another text.
func (t *projectTexts) target(component int, m *projectMessage, lang string, form, times int) string {
	h := mix(t.project.Seed + uint64(form)*7919 + uint64(times)*104729)
	for _, c := range lang {
		h = mix(h + uint64(c))
	}
	chance := mix(h ^ uint64(m.key) ^ uint64(component)<<40)
	if times > 1 || chance%16 == 0 { // a component has its own translation of a shared string
		h = mix(h + uint64(component))
	}
	text := string(appendSentence(nil, t.foreign, h, m.key))
	if m.format && chance%50 != 1 {
		text += ": %d"
	}
	if m.source[len(m.source)-1] == '.' && chance%40 != 2 {
		text += "."
	}
	if chance%60 == 3 {
		text += " "
	}
	return text
}

// pluralForms returns the number of forms of a language, and the value of its header.
func pluralForms(lang string) (int, string) {
	switch {
	case slices.Contains([]string{"ja", "ko", "zh_Hans", "zh_Hant", "th", "vi", "id", "ms", "lo", "my", "ka"}, lang):
		return 1, "nplurals=1; plural=0;"
	case slices.Contains([]string{"cs", "sk"}, lang):
		return 3, "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"
	case slices.Contains([]string{"ru", "uk", "be", "sr", "hr", "bs"}, lang):
		return 3, "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
	case lang == "pl":
		return 3, "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
	case slices.Contains([]string{"fr", "pt_BR", "tr", "oc"}, lang):
		return 2, "nplurals=2; plural=(n > 1);"
	}
	return 2, "nplurals=2; plural=(n != 1);"
}
