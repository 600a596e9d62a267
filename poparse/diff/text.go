package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number writes a number with commas: 2,310.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// quantity returns "1 string" or "2 strings".
func quantity(n int, noun string) string {
	if n != 1 {
		noun = strings.TrimSuffix(noun, "y") + map[bool]string{true: "ies", false: "s"}[strings.HasSuffix(noun, "y")]
	}
	return number(n) + " " + noun
}

// maxShown bounds the characters of a text that is shown.
const maxShown = 1000

// visible writes a text in one line that controls nothing: it is cut, and what does not print, or
// changes the direction of text, is a sign. "##" begins the commands of some CI systems.
func visible(s string) string {
	var b strings.Builder
	n, last := 0, rune(0)
	for i, r := range s {
		if n++; n > maxShown {
			return b.String() + "…"
		}
		switch {
		case r == '\n':
			b.WriteString("↵")
		case r == '\t':
			b.WriteString("→")
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString("\uFFFD")
		case r == '#' && last == '#', !unicode.IsPrint(r):
			fmt.Fprintf(&b, "⟨%U⟩", r)
		default:
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// mark is Mark of visible texts.
func mark(old, new string) []Span { return Mark(visible(old), visible(new)) }

// part is a line about a string: Label says what of it, Spans is the text.
type part struct {
	Label string
	Spans []Span
}

// item is what is told about a string.
type item struct {
	Sign, Kind, Labels string
	Parts              []part // the first is the source
}

// labels are the words for Changes.
var labels = map[string]string{
	"text": "text changed", "translated": "text new", "emptied": "text removed", "fuzzy": "now fuzzy", "confirmed": "no longer fuzzy",
	"forms": "plural forms changed", "comment": "comment changed", "note": "note changed", "flags": "flags changed",
}

// full writes a source with its context and plural.
func full(context *string, source, plural string) string {
	if context != nil {
		source = *context + " | " + source
	}
	if plural != "" {
		source += " / " + plural
	}
	return source
}

// item describes a string.
func (s *String) item() item {
	it := item{Kind: s.Kind, Sign: map[string]string{"added": "+", "removed": "-", "reworded": "~", "changed": "*"}[s.Kind]}
	source := full(s.Context, s.Source, s.Plural)
	it.Parts = []part{{"", []Span{{"", visible(source)}}}}
	if s.Kind == "reworded" {
		it.Parts[0].Spans = mark(full(s.OldContext, s.OldSource, s.OldPlural), source)
		it.Labels = fmt.Sprintf("%d %% alike", int(100*s.Similarity))
	}
	for _, c := range s.Changes {
		it.Labels += ", " + labels[c]
	}
	it.Labels = strings.TrimPrefix(it.Labels, ", ")
	old, now := cmp.Or(s.Old, &Text{}), cmp.Or(s.New, &Text{})
	if a, b := strings.Join(old.Forms, " / "), strings.Join(now.Forms, " / "); s.Kind != "removed" && old.State+now.State != "untranslated" && old.State+now.State != "untranslateduntranslated" && (a != b || len(s.Changes) > 0) {
		it.Parts = append(it.Parts, part{"text", mark(a, b)})
	}
	for _, l := range s.Lines {
		it.Parts = append(it.Parts, part{l.Name, mark(strings.Join(l.Old, "\n"), strings.Join(l.New, "\n"))})
	}
	if o := s.Origin; o != nil {
		it.Parts = append(it.Parts, part{"from", []Span{{"", visible(o.String())}}})
	}
	return it
}

// String is the commit in one line.
func (o *Origin) String() string {
	if o.Commit == "" {
		return "the work tree"
	}
	return fmt.Sprintf("%.12s by %s <%s>, %s: %s", o.Commit, o.Author, o.Email, o.Date, o.Subject)
}

// Headline says in a line what differs.
func (r *Report) Headline() string {
	all := r.Counts
	all.Added, all.Removed, all.Reworded, all.Flags, all.Notes = r.Sources.Added, r.Sources.Removed, r.Sources.Reworded, r.Sources.Flags, r.Sources.Notes
	text := all.words(counts[:])
	for _, status := range []string{Added, Removed, Unreadable} {
		n := 0
		for i := range r.Files {
			if r.Files[i].Status == status {
				n++
			}
		}
		if n > 0 {
			text += ", " + quantity(n, "file") + " " + status
		}
	}
	if text = strings.TrimPrefix(text, ", "); text == "" {
		return "no difference in meaning"
	}
	return text
}

// ignored is a sentence about what is only counted; "" if nothing is.
func (r *Report) ignored() string {
	if text := r.Ignored.words(); text != "" {
		return "Only counted: " + text + "."
	}
	return ""
}

// line says what becomes of a file that was added, removed or cannot be read, or counts what
// changed.
func (f *File) line() string {
	switch f.Status {
	case Unreadable:
		return "cannot be read: " + visible(f.Error)
	case Changed:
		return f.Counts.words(counts[:])
	}
	return map[string]string{Added: "is new", Removed: "is removed"}[f.Status] + ": " + quantity(f.Total, "string") + ", " +
		number(f.Translated) + " translated, " + number(f.Fuzzy) + " fuzzy"
}

// Told lists the strings of a file that are told of. If there are many files, changes of source
// strings alone are told of elsewhere, and that a reworded string's text became fuzzy is no news.
func (f *File) Told(many bool) (list []*String) {
	for i := range f.Strings {
		s := &f.Strings[i]
		news := !many || s.Kind == "added" && s.New.State != "untranslated"
		for _, c := range s.Changes {
			news = news || c != "note" && c != "flags" && !(c == "fuzzy" && s.Kind == "reworded")
		}
		if news {
			list = append(list, s)
		}
	}
	return list
}

// toldSources lists the changes of source strings, without texts; nil if only one file is told of.
func (r *Report) toldSources() (list []*String) {
	if len(r.Files) < 2 {
		return nil
	}
	for _, s := range r.sources() {
		s.Changes, s.New, s.Old = nil, nil, nil
		s.Lines = slices.DeleteFunc(slices.Clone(s.Lines), func(l Lines) bool { return l.Name == "comment" })
		list = append(list, &s.String)
	}
	return list
}

// fields describes the header fields of a file that changed.
func (f *File) fields() (list []item) {
	for _, h := range f.Header {
		list = append(list, item{Sign: "*", Parts: []part{{"", append([]Span{{"", visible(h.Name) + ": "}}, mark(h.Old, h.New)...)}}})
	}
	return list
}

// WriteJSON writes a report as an object.
func WriteJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}
