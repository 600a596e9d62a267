package edit

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// NewFile is what a translation file is made with.
type NewFile struct {
	// Code is the language as the file says it, Name its English name.
	Code, Name string
	// Plural is its plural rule.
	Plural lang.Plural
	// Author adds the file, at Author.Time.
	Author Author
}

// Make makes the file of a language from a template, as msginit does in a locale of UTF-8:
// header fields and placeholders of xgettext are filled in, and every string is
// untranslated. The file is in UTF-8 whatever the template is in, since its charset may
// lack the letters of the language. All else keeps the template's bytes. An error says that the template cannot be read or has no header.
func (n NewFile) Make(name string, template []byte) ([]byte, error) {
	f, err := poparse.Parse(name, template)
	if err != nil {
		return nil, fmt.Errorf("make a translation: %w", err)
	}
	h := f.Header
	if h == nil || len(h.Str) == 0 {
		return nil, fmt.Errorf("make a translation: %s has no header", name)
	}
	h.Fuzzy = false
	h.Comments = n.comments(h.Comments, projectOf(h.Str[0]))
	h.Str = []string{n.fields(h.Str[0])}
	f.Entries = slices.DeleteFunc(f.Entries, func(e *poparse.Entry) bool { return e.Obsolete })
	forms := make([]string, n.Plural.Number)
	for e := range f.Live() {
		if e == h {
			continue
		}
		e.Fuzzy, e.Previous = false, nil
		if e.Str = []string{""}; e.HasPlural {
			e.Str = slices.Clone(forms)
		}
	}
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("make a translation: %w", err)
	}
	if _, err := poparse.Parse(name, b.Bytes()); err != nil {
		return nil, fmt.Errorf("make a translation: what was written: %w", err)
	}
	return b.Bytes(), nil
}

// fields fills in the fields of a header.
func (n NewFile) fields(header string) string {
	utf8 := strings.Contains(strings.ToUpper(strings.ReplaceAll(header, "-", "")), "CHARSET=UTF8")
	at := n.Author.Time.UTC().Format("2006-01-02 15:04-0700")
	for _, f := range [][2]string{
		{"PO-Revision-Date", at},
		{"Last-Translator", n.Author.inHeader()},
		{"Language-Team", "none"},
		{"Language", n.Code},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=UTF-8"},
		{"Content-Transfer-Encoding", "8bit"},
		{"Plural-Forms", "nplurals=" + strconv.Itoa(n.Plural.Number) + "; plural=" + n.Plural.Formula + ";"},
	} {
		set, has := setField(header, f[0], f[1])
		switch {
		case !has:
			if header != "" && !strings.HasSuffix(header, "\n") {
				header += "\n"
			}
			header += f[0] + ": " + f[1] + "\n"
		case f[0] != "Content-Type" || !utf8:
			header = set
		}
	}
	return header
}

// comments fills in the placeholders that xgettext writes.
func (n NewFile) comments(lines []string, project string) []string {
	year := strconv.Itoa(n.Author.Time.UTC().Year())
	lines = slices.Clone(lines)
	for i, line := range lines {
		switch {
		case line == "SOME DESCRIPTIVE TITLE.":
			lines[i] = n.Name + " translations for " + project + " package."
		case line == "This file is distributed under the same license as the PACKAGE package.":
			lines[i] = strings.Replace(line, "PACKAGE", project, 1)
		case strings.HasPrefix(line, "Copyright (C) YEAR "):
			lines[i] = strings.Replace(line, "YEAR", year, 1)
		case line == "FIRST AUTHOR <EMAIL@ADDRESS>, YEAR.":
			lines[i] = n.Author.inHeader() + ", " + year + "."
		}
	}
	return lines
}

// projectOf is the name in Project-Id-Version, without the version.
func projectOf(header string) string {
	for line := range strings.Lines(header) {
		value, ok := strings.CutPrefix(line, "Project-Id-Version:")
		if words := strings.Fields(value); ok && len(words) > 0 && words[0] != "PACKAGE" {
			if last := words[len(words)-1]; len(words) > 1 && last[0] >= '0' && last[0] <= '9' {
				words = words[:len(words)-1]
			}
			return headerText(strings.Join(words, " "))
		}
	}
	return "PACKAGE"
}

// NewString is a string without plural forms that a client adds to a file.
type NewString struct {
	// Context and Source identify it.
	Context, Source string
	// Text is its translation.
	Text Text
	// Author adds it.
	Author Author
}

// Check returns an [*InvalidError] if it cannot be stored.
func (s *NewString) Check() error {
	for _, f := range []struct{ name, text string }{{"source", s.Source}, {"context", s.Context}} {
		message := unwritable(f.text)
		switch {
		case len(f.text) > MaxText:
			message = fmt.Sprintf("The text is too long, at most %d bytes are stored", MaxText)
		case f.name == "source" && f.text == "":
			message = "This field may not be blank."
		}
		if message != "" {
			return &InvalidError{f.name, message}
		}
	}
	_, err := NewText([]string{s.Text.Target}, s.Text.State, 1)
	return err
}

// Append adds the string behind the last live entry of a file, as Apply adds one that only
// its template has. A file that has the string with a text stays as it is. An error says why
// the string cannot be added.
func (s *NewString) Append(name string, data []byte, o Options) ([]byte, error) {
	only := &poparse.Entry{Context: s.Context, HasContext: s.Context != "", ID: s.Source}
	o.Template = &poparse.File{Entries: []*poparse.Entry{only}}
	e := Edit{Context: s.Context, Source: s.Source, Base: Text{State: catalog.StateAbsent}, Ours: s.Text, Authors: []Author{s.Author}}
	out, results, err := Apply(name, data, []Edit{e}, o)
	switch {
	case err != nil:
	case results[0].Outcome == Gone:
		err = ErrHasPlural
	case results[0].Reason != "":
		err = errors.New(results[0].Reason)
	}
	if err != nil {
		return nil, fmt.Errorf("add a string: %w", err)
	}
	return out, nil
}

// linguasWord is a code in a file LINGUAS, or a comment.
var linguasWord = regexp.MustCompile(`#.*|[^\s#]+`)

// word is a code in a file LINGUAS: where it is, where its line is, and whether that has no
// other one.
type word struct {
	code                string
	from, to, line, end int
	alone               bool
}

// Linguas adds a language to a file LINGUAS, or removes it. The file has codes between
// blanks and line ends, and comments after "#" (gettext manual, "po/LINGUAS"). A new code
// goes where the others are: into a line of several, else on a line of its own; before the
// first code that sorts after it, if all are sorted. The bytes stay if nothing is to be done.
func Linguas(data []byte, code string, add bool) []byte {
	text, at := string(data), 0
	var words []word
	for line := range strings.SplitAfterSeq(text, "\n") {
		found := linguasWord.FindAllStringIndex(line, -1)
		found = slices.DeleteFunc(found, func(is []int) bool { return line[is[0]] == '#' })
		for _, is := range found {
			words = append(words, word{line[is[0]:is[1]], at + is[0], at + is[1], at, at + len(line), len(found) == 1})
		}
		at += len(line)
	}
	has := slices.IndexFunc(words, func(w word) bool { return w.code == code })
	switch {
	case add == (has >= 0):
	case add:
		text = withWord(text, words, code)
	default:
		text = withoutWord(text, words[has])
	}
	return []byte(text)
}

// withoutWord removes a code, with its line if it is alone there.
func withoutWord(text string, w word) string {
	switch {
	case w.alone:
		return text[:w.line] + text[w.end:]
	case strings.TrimSpace(text[w.line:w.from]) == "": // the first
		return text[:w.from] + strings.TrimLeft(text[w.to:], " \t")
	}
	return strings.TrimRight(text[:w.from], " \t") + text[w.to:]
}

// withWord adds a code.
func withWord(text string, words []word, code string) string {
	end := "\n"
	if first, _, _ := strings.Cut(text, "\n"); strings.HasSuffix(first, "\r") {
		end = "\r\n"
	}
	sorted := slices.IsSortedFunc(words, func(a, b word) int { return strings.Compare(a.code, b.code) })
	if next := slices.IndexFunc(words, func(w word) bool { return sorted && w.code > code }); next >= 0 {
		if w := words[next]; w.alone {
			return text[:w.line] + code + end + text[w.line:]
		}
		return text[:words[next].from] + code + " " + text[words[next].from:]
	}
	at := len(text)
	if len(words) > 0 {
		last := words[len(words)-1]
		if !last.alone {
			return text[:last.to] + " " + code + text[last.to:]
		}
		at = last.end
	}
	if before := text[:at]; before != "" && !strings.HasSuffix(before, "\n") {
		code = end + code
	}
	return text[:at] + code + end + text[at:]
}
