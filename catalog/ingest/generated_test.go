package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

const (
	englishWords = "open the folder of notes and send each page to a friend who waits by the river before evening comes"
	foreignWords = "ka tří lem vou sna dén prá mik zář ost bel hou řeč nik sto ává"
)

// GenSpec describes generated files. The zero value is one empty Czech file.
type GenSpec struct {
	// Languages are the codes of the files; empty means cs. See [Languages].
	Languages []string
	// Entries is the number of entries per language, without the header.
	Entries int
	// Seed selects the texts; the same seed always gives the same bytes.
	Seed uint64
	// Plural, Context, Fuzzy and Untranslated give every n-th entry a plural, a
	// context, a fuzzy flag or an empty translation; 0: no entry.
	Plural, Context, Fuzzy, Untranslated int
	// Template adds the POT, po/generated.pot.
	Template bool
}

// Generated is a repository of generated files, po/<language>.po.
type Generated struct {
	*testrepos.Repo
	spec             GenSpec
	english, foreign []string // words to draw from
	edits            int
}

// Edited is a string that Edit changed.
type Edited struct {
	// Commit in 40 hex digits.
	Commit string
	// Path of the file.
	Path string
	// Source is the msgid, Target the new msgstr (of a plural: msgstr[0]).
	Source, Target string
	// Pushed is when the branch began to move, after all objects were written.
	Pushed time.Time
}

// Generate makes a bare repository with one commit of generated files in a temporary
// directory of a test. It has all of them in memory: a million entries are about 130 MB.
func (s GenSpec) Generate(tb testing.TB) *Generated {
	tb.Helper()
	if len(s.Languages) == 0 {
		s.Languages = []string{"cs"}
	}
	g := &Generated{
		Repo: testrepos.Empty(tb), spec: s,
		english: strings.Fields(englishWords), foreign: strings.Fields(foreignWords),
	}
	files := map[string]string{}
	for _, lang := range s.Languages {
		files[poPath(lang)] = g.file(lang)
	}
	if s.Template {
		files["po/generated.pot"] = g.file("")
	}
	_, err := g.commit(fmt.Sprintf("Generate %d entries in %d languages", s.Entries, len(s.Languages)), files)
	must(tb, err)
	return g
}

// Edit changes the translation of exactly one string, entry i from 0 of a
// language, and pushes the commit. Each call writes another text.
func (g *Generated) Edit(tb testing.TB, lang string, i int) Edited {
	tb.Helper()
	list, err := g.EditStrings(lang, i)
	must(tb, err)
	return list[0]
}

// EditStrings changes the translations of some entries of a language in one commit.
func (g *Generated) EditStrings(lang string, entries ...int) ([]Edited, error) {
	path := poPath(lang)
	data, err := g.ReadFile(testrepos.DefaultBranch, path)
	if err != nil {
		return nil, err
	}
	list := make([]Edited, len(entries))
	for n, i := range entries {
		g.edits++
		list[n].Path = path
		if data, err = g.edit(data, &list[n], lang, i); err != nil {
			return nil, err
		}
	}
	moved, err := g.commit(fmt.Sprintf("Change string %d of %s", entries[0], lang), map[string]string{path: string(data)})
	for n := range list {
		list[n].Commit, list[n].Pushed = g.Head(), moved
	}
	return list, err
}

// edit changes the translation of entry i of a file.
func (g *Generated) edit(data []byte, e *Edited, lang string, i int) ([]byte, error) {
	e.Source = string(g.appendSource(nil, i))
	from := bytes.Index(data, []byte("\nmsgid \""+e.Source+"\"\n"))
	if from < 0 {
		return nil, fmt.Errorf("edit %s: entry %d is not there", e.Path, i)
	}
	at := from + bytes.Index(data[from:], []byte("\nmsgstr")) + 1
	end := at + bytes.IndexByte(data[at:], '\n')
	keyword, _, _ := bytes.Cut(data[at:end], []byte(" "))
	e.Target = fmt.Sprintf("%s – %d", g.appendTarget(nil, lang, i, 0), g.edits)
	line := fmt.Appendf(nil, "%s \"%s\"", keyword, e.Target)
	return slices.Concat(data[:at], line, data[end:]), nil
}

// commit pushes files and returns the time when the branch began to move.
func (g *Generated) commit(message string, files map[string]string) (time.Time, error) {
	_, err := g.Push(testrepos.Change{
		Author: "Gena Rator <gena@example.org>", When: time.Date(2024, 1, 1, 9, g.edits, 0, 0, time.UTC), Message: message, Files: files,
	})
	if err != nil {
		return time.Time{}, err
	}
	branch, err := os.Stat(filepath.Join(g.Dir, "refs", "heads", testrepos.DefaultBranch))
	if err != nil {
		return time.Time{}, err
	}
	return branch.ModTime(), nil
}

func poPath(lang string) string { return "po/" + lang + ".po" }

// file is the text of a whole file; lang "" is the template.
func (g *Generated) file(lang string) string {
	b := &bytes.Buffer{}
	b.WriteString("msgid \"\"\nmsgstr \"\"\n\"Project-Id-Version: generated 1.0\\n\"\n")
	if lang != "" {
		b.WriteString("\"Language: " + lang + "\\n\"\n")
	}
	b.WriteString("\"MIME-Version: 1.0\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n" +
		"\"Content-Transfer-Encoding: 8bit\\n\"\n\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n")
	b.Grow(g.spec.Entries * 160) // measured 130 bytes an entry
	for i := range g.spec.Entries {
		g.writeEntry(b, lang, i)
	}
	return b.String()
}

func every(i, n int) bool { return n > 0 && i%n == n-1 }

func (g *Generated) writeEntry(b *bytes.Buffer, lang string, i int) {
	fmt.Fprintf(b, "\n#: src/part%02d.c:%d\n", i%37, i/37*3+10)
	empty := lang == "" || every(i, g.spec.Untranslated)
	if every(i, g.spec.Fuzzy) && !empty {
		b.WriteString("#, fuzzy\n")
	}
	if every(i, g.spec.Context) {
		fmt.Fprintf(b, "msgctxt \"part %d\"\n", i%37)
	}
	b.WriteString("msgid \"")
	b.Write(g.appendSource(b.AvailableBuffer(), i))
	b.WriteString("\"\n")
	if !every(i, g.spec.Plural) {
		g.writeTarget(b, "msgstr", lang, i, 0, empty)
		return
	}
	b.WriteString("msgid_plural \"")
	b.Write(g.appendSource(b.AvailableBuffer(), i))
	b.WriteString(" each\"\n")
	g.writeTarget(b, "msgstr[0]", lang, i, 0, empty)
	g.writeTarget(b, "msgstr[1]", lang, i, 1, empty)
}

func (g *Generated) writeTarget(b *bytes.Buffer, keyword, lang string, i, form int, empty bool) {
	b.WriteString(keyword)
	b.WriteString(" \"")
	if !empty {
		b.Write(g.appendTarget(b.AvailableBuffer(), lang, i, form))
	}
	b.WriteString("\"\n")
}

// appendSource appends the msgid of entry i; the number makes it unique.
func (g *Generated) appendSource(b []byte, i int) []byte {
	return appendSentence(b, g.english, g.spec.Seed, i)
}

// appendTarget appends the translation of entry i.
func (g *Generated) appendTarget(b []byte, lang string, i, form int) []byte {
	h := mix(g.spec.Seed + uint64(form)*7919)
	for _, c := range lang {
		h = mix(h + uint64(c))
	}
	return appendSentence(b, g.foreign, h, i)
}

// appendSentence appends three to ten random words and i.
func appendSentence(b []byte, words []string, seed uint64, i int) []byte {
	h := mix(seed ^ mix(uint64(i)))
	for n := 3 + h%8; n > 0; n-- {
		h = mix(h)
		b = append(b, words[h%uint64(len(words))]...)
		b = append(b, ' ')
	}
	return strconv.AppendInt(b, int64(i), 10)
}

// mix is splitmix64 (Steele, Lea, Flood 2014). math/rand may change with a Go
// release, and the hashes with it.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Languages returns the first n of 96 language codes, for GenSpec; n above 96
// gives all.
func Languages(n int) []string {
	const codes = "cs de fr es it pl pt_BR ja ru zh_Hans ar nl sv uk tr ko fi da hu ro " +
		"el he ca bg hr sk sl lt lv et nb nn is ga cy eu gl pt zh_Hant sr " +
		"mk sq bs be kk ky uz az hy ka fa ur hi bn ta te ml kn mr gu " +
		"pa si ne th vi id ms fil km lo my mn sw am ha yo zu af xh eo " +
		"la oc br gd fy lb fo mt tt ug ps sd or as dz mi"
	list := strings.Fields(codes)
	return list[:min(max(n, 0), len(list))]
}
