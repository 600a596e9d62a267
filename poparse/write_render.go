package poparse

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/poparse/linebreak"
)

// renderer writes entries in the form of gettext's msgcat: keywords with their strings as
// write-po.c does, a new line after each line feed, and where the page is full. Its style may
// differ from gettext's.
type renderer struct {
	style
	out    *bytes.Buffer
	nl     string // line end of the file
	prefix string // "", "#| ", "#~ " or "#~| "
	// noWrap breaks at line feeds only; format says that the strings have format
	// directives, which are not broken.
	noWrap, format bool

	text   linebreak.Text // a portion of a string, escaped
	breaks []bool         // a line begins at this character of text
}

func newRenderer(out *bytes.Buffer, nl string, eastAsian bool) *renderer {
	return &renderer{out: out, nl: nl, text: linebreak.Text{EastAsian: eastAsian}}
}

// Render returns an entry in msgcat's form, in UTF-8 and without wrapping.
func Render(e *Entry) string {
	var b bytes.Buffer
	newRenderer(&b, "\n", false).entry(e)
	return b.String()
}

// entry writes a whole entry.
func (r *renderer) entry(e *Entry) {
	for kind := range Kinds {
		r.kind(e, kind)
	}
}

// kind writes the lines of one kind.
func (r *renderer) kind(e *Entry, kind Kind) {
	switch kind {
	case KindComments:
		r.lines("#", e.Comments)
	case KindExtracted:
		r.lines("#.", e.Extracted)
	case KindReferences:
		r.references(e.References)
	case KindFlags:
		r.flags(e)
	case KindPrevious:
		r.previous(e)
	case KindIDs:
		r.ids(e)
	case KindStr:
		r.translations(e)
	}
}

func (r *renderer) lines(mark string, comments []string) {
	for _, comment := range comments {
		for line := range strings.SplitSeq(comment, "\n") {
			r.out.WriteString(mark)
			if line != "" {
				r.out.WriteString(" " + line)
			}
			r.out.WriteString(r.nl)
		}
	}
}

// references writes "#:" lines.
func (r *renderer) references(refs []string) {
	const mark = "#:"
	column := 0
	for i, ref := range refs {
		alone := strings.Contains(ref, firstStrongIsolate) || strings.Contains(ref, popDirectionalIsolate)
		ref = isolate(ref)
		if i > 0 && (alone || column+1+len(ref) > pageWidth || column > pageWidth) {
			r.out.WriteString(r.nl)
			column = 0
		}
		if column == 0 {
			r.out.WriteString(mark)
			column = len(mark)
		}
		r.out.WriteString(" " + ref)
		if column += 1 + len(ref); alone {
			column = pageWidth + 1 // an isolate might go on
		}
	}
	if len(refs) > 0 {
		r.out.WriteString(r.nl)
	}
}

// isolate puts a file name with blanks between isolates and the line number after
// them.
func isolate(ref string) string {
	if !strings.ContainsAny(ref, " \t") {
		return ref
	}
	name, line := ref, ""
	if colon := strings.LastIndexByte(ref, ':'); colon > 0 {
		if _, err := strconv.ParseUint(ref[colon+1:], 10, 64); err == nil {
			name, line = ref[:colon], ref[colon:]
		}
	}
	return firstStrongIsolate + name + popDirectionalIsolate + line
}

func (r *renderer) flags(e *Entry) {
	sep := "#, "
	if e.Fuzzy {
		r.out.WriteString(sep + "fuzzy")
		sep = ", "
	}
	for _, flag := range e.Flags {
		r.out.WriteString(sep + flag)
		sep = ", "
		if flagEnd(flag+`,"`) > len(flag) { // a quote further on would end in this flag
			sep = r.nl + "#, "
		}
	}
	if len(e.Flags) > 0 || e.Fuzzy {
		r.out.WriteString(r.nl)
	}
}

// previous writes the "#|" lines.
func (r *renderer) previous(e *Entry) {
	if e.Previous == nil {
		return
	}
	r.begin(e, "#| ", "#~| ")
	if e.Previous.Context != "" {
		r.write("msgctxt", e.Previous.Context)
	}
	r.write("msgid", e.Previous.ID)
	if e.Previous.IDPlural != "" {
		r.write("msgid_plural", e.Previous.IDPlural)
	}
}

func (r *renderer) ids(e *Entry) {
	r.begin(e, "", "#~ ")
	if e.HasContext {
		r.write("msgctxt", e.Context)
	}
	r.write("msgid", e.ID)
	if e.HasPlural {
		r.write("msgid_plural", e.IDPlural)
	}
}

func (r *renderer) translations(e *Entry) {
	for i := range max(1, len(e.Str)) {
		r.form(e, i)
	}
}

// form writes one translation.
func (r *renderer) form(e *Entry, i int) {
	r.begin(e, "", "#~ ")
	keyword, str := "msgstr", ""
	if e.HasPlural {
		keyword = "msgstr[" + strconv.Itoa(i) + "]"
	}
	if i < len(e.Str) {
		str = e.Str[i]
	}
	r.write(keyword, str)
}

// begin sets the prefix, and from the flags how lines are wrapped.
func (r *renderer) begin(e *Entry, live, obsolete string) {
	r.prefix = live
	if e.Obsolete {
		r.prefix = obsolete
	}
	r.noWrap, r.format = false, false
	for _, flag := range e.Flags {
		switch {
		case flag == "no-wrap":
			r.noWrap = true
		case strings.HasSuffix(flag, "-format") && !strings.HasPrefix(flag, "no-"):
			r.format = true
		}
	}
}

// pageWidth is the number of columns that gettext's programs fill.
const pageWidth = 79

// write writes one keyword and its string. Without a keyword it writes the lines of
// a string that follow others.
func (r *renderer) write(keyword, value string) {
	first := keyword != ""
	for {
		portion, rest, more := strings.Cut(value, "\n")
		if r.joined {
			portion, rest, more = value, "", false
		}
		r.escape(portion, more)
		limit := r.width - 1 - len(r.prefix) - 1
		if r.noWrap || r.width == 0 {
			limit = math.MaxInt
		}
		start := len(keyword) + 1
		if first && (rest != "" || r.fill(start, limit) || start > limit) && len(r.text.Runes) > 0 {
			r.out.WriteString(r.prefix + keyword + " \"\"" + r.nl)
			first = false
		}
		if !first {
			r.fill(0, limit)
		}
		r.out.WriteString(r.prefix)
		if first {
			r.out.WriteString(keyword + " ")
			first = false
		}
		r.out.WriteByte('"')
		for i, c := range r.text.Runes {
			if r.breaks[i] {
				r.out.WriteString("\"" + r.nl + r.prefix + "\"")
			}
			r.out.WriteRune(c)
		}
		r.out.WriteString("\"" + r.nl)
		if rest == "" {
			return
		}
		value = rest
	}
}

// escapeLetter is the inverse of letterEscape: the letter of a character's escape, or 0.
var escapeLetter = func() (letters [utf8.RuneSelf]rune) {
	for letter, c := range letterEscape {
		if c != 0 {
			letters[c] = rune(letter)
		}
	}
	return letters
}()

// escape fills text with the escaped form of a portion.
func (r *renderer) escape(portion string, lineFeed bool) {
	text, fixed := r.text.Runes[:0], r.text.Fixed[:0]
	directive := 0 // end of the last directive
	for i, c := range portion {
		inside := i < directive
		if r.format && !inside {
			directive = i + directiveLen(portion[i:])
		}
		e := rune(0)
		if c < utf8.RuneSelf {
			e = escapeLetter[c]
		}
		if e == 0 {
			text, fixed = append(text, c), append(fixed, inside)
			continue
		}
		text, fixed = append(text, '\\', e), append(fixed, inside, true)
	}
	if lineFeed {
		text, fixed = append(text, '\\', 'n'), append(fixed, true, true)
	}
	r.text.Runes, r.text.Fixed = text, fixed
}

// directiveLen returns the length of the printf directive at the start of s, or 0.
// Python's "%(name)s" is one, too.
func directiveLen(s string) int {
	if s[0] != '%' {
		return 0
	}
	i := 1
	if i < len(s) && s[i] == '(' {
		n := strings.IndexByte(s, ')')
		if n < 0 {
			return 0
		}
		i = n + 1
	}
	for i < len(s) && strings.IndexByte("0123456789$*.#-+ 'IhlLqjzt", s[i]) >= 0 {
		i++
	}
	if i < len(s) && isLetter(s[i]) {
		return i + 1
	}
	return 0
}

// fill sets breaks so that each line of text has at most limit columns, with
// the first one beginning at column start, and reports whether there are any.
func (r *renderer) fill(start, limit int) bool {
	r.breaks = slices.Grow(r.breaks[:0], len(r.text.Runes))[:len(r.text.Runes)]
	if limit == math.MaxInt || start+2*len(r.text.Runes) <= limit { // no character has more than two columns
		clear(r.breaks)
		return false
	}
	return r.text.Wrap(start, limit, r.breaks)
}
