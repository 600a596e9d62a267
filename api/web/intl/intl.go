// Package intl has the languages of the pages for people: translations of their
// texts, numbers, times and names of languages.
//
// Goals: English is in the templates; every other language is a PO file in po/, read
// through gotext at run time, with plural forms. A language without a text shows the
// English one. Non-goals: choosing what a page says.
//
// The files are an ordinary component of a gettext project, and .ci/demo serves them as one. A
// new language is a file in po/, a name in the table languages, and `go generate ./api/web`.
package intl

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leonelquinteros/gotext"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// Files has the template, repoglot.pot, and a PO file for each other language in the folder po.
//
//go:embed po
var Files embed.FS

// Language is a language of the pages. It is immutable and safe for concurrent use.
type Language struct {
	// Tag is the tag of BCP 47, such as "cs".
	Tag string
	// Name is what its speakers call it.
	Name string
	// Dir is "ltr" or "rtl".
	Dir string

	po      *gotext.Po // nil: English
	tag     language.Tag
	printer *message.Printer
	names   display.Namer
	get     func(text string, args ...any) string // of po; texts have verbs of their own
}

// languages are the languages of the pages; the first is the language of the templates.
var languages = [...]Language{
	{Tag: "en", Name: "English", Dir: "ltr"},
	{Tag: "cs", Name: "Čeština", Dir: "ltr"},
	{Tag: "de", Name: "Deutsch", Dir: "ltr"},
	{Tag: "fr", Name: "Français", Dir: "ltr"},
	{Tag: "ar", Name: "العربية", Dir: "rtl"},
}

// Table has all languages of the pages.
type Table struct {
	// All are the languages, English first.
	All []*Language
}

// New reads the translations.
func New() (*Table, error) {
	t := &Table{}
	for _, l := range languages {
		l.tag = language.MustParse(l.Tag)
		// Dates and code have the digits 0 to 9, so numbers have them too.
		l.printer, l.names = message.NewPrinter(language.MustParse(l.Tag+"-u-nu-latn")), display.Tags(l.tag)
		if l.Tag != "en" {
			data, err := Files.ReadFile("po/" + l.Tag + ".po")
			if err != nil {
				return nil, fmt.Errorf("translations of the pages: %w", err)
			}
			l.po = gotext.NewPo()
			l.po.Parse(data)
			l.get = l.po.Get
		}
		t.All = append(t.All, &l)
	}
	return t, nil
}

// Named returns a language by its tag, nil if the pages are not translated into it.
func (t *Table) Named(tag string) *Language {
	for _, l := range t.All {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}

// Text marks a text for the translators that is given to T where it is shown.
func Text(text string) string { return text }

// T translates a text and fills in its verbs, as fmt.Sprintf does. A text from right to
// left isolates what it is filled with, such as a name in Latin letters.
func (l *Language) T(text string, args ...any) string {
	if l.po != nil {
		text = l.get(text)
	}
	if len(args) == 0 {
		return text
	}
	if l.Dir == "rtl" {
		args = slices.Clone(args)
		for i, arg := range args {
			if s, ok := arg.(string); ok {
				args[i] = isolate(s)
			}
		}
	}
	return fmt.Sprintf(text, args...)
}

// isolate keeps a text from changing the order of what is around it.
func isolate(s string) string { return "\u2068" + s + "\u2069" }

// N translates a text about a number, which fills in the verb %s, in the form of a language.
func (l *Language) N(one, many string, n int64) string {
	text := many
	switch {
	case l.po != nil:
		text = l.po.GetN(one, many, int(min(n, 1<<31-1)))
	case n == 1:
		text = one
	}
	return strings.Replace(text, "%s", l.Number(n), 1)
}

// Number writes a whole number.
func (l *Language) Number(n int64) string {
	return l.printer.Sprint(number.Decimal(n))
}

// Percent writes a share in thousandths with up to one digit after the point.
func (l *Language) Percent(permille int64) string {
	return l.printer.Sprint(number.Percent(float64(permille)/1000, number.MaxFractionDigits(1)))
}

// Signed is Percent of a difference, with its sign.
func (l *Language) Signed(permille int64) string {
	switch {
	case permille > 0:
		return "+" + l.Percent(permille)
	case permille < 0:
		return "−" + l.Percent(-permille)
	}
	return "±" + l.Percent(0)
}

// Day writes a date, in UTC.
func (l *Language) Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	text := t.Format(strings.Replace(l.T("2 January 2006"), "January", "\x00", 1))
	return strings.Replace(text, "\x00", l.T(t.Month().String()), 1)
}

// The names of months that Day translates.
var _ = []string{
	Text("January"), Text("February"), Text("March"), Text("April"), Text("May"), Text("June"),
	Text("July"), Text("August"), Text("September"), Text("October"), Text("November"), Text("December"),
}

// Time writes a time of day, in UTC.
func (l *Language) Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return l.T("%[1]s, %[2]s UTC", l.Day(t), t.UTC().Format("15:04"))
}

// Join joins names of different languages and directions to a line. On a page from
// right to left each is isolated, which keeps them in order.
func (l *Language) Join(names ...string) string {
	if l.Dir == "rtl" {
		names = slices.Clone(names)
		for i := range names {
			names[i] = isolate(names[i])
		}
	}
	return strings.Join(names, " · ")
}

// LanguageName names the language of a code such as pt_BR; name is its English name,
// which is also used where the name in l is not known.
func (l *Language) LanguageName(code, name string) string {
	if l.po == nil {
		return name
	}
	tag, err := language.Parse(TagOf(code))
	if err != nil {
		return name
	}
	if own := l.names.Name(tag); own != "" {
		return own
	}
	return name
}

// TagOf is the tag of BCP 47 for the code of a translation (pt-BR for pt_BR), or "".
func TagOf(code string) string {
	base, modifier, _ := strings.Cut(code, "@")
	tag := strings.ReplaceAll(base, "_", "-")
	switch modifier {
	case "latin":
		tag += "-Latn"
	case "cyrillic":
		tag += "-Cyrl"
	}
	if _, err := language.Parse(tag); err != nil {
		return ""
	}
	return tag
}

// maxHeader bounds the part of an Accept-Language header that is read.
const maxHeader = 200

// Accepted returns the languages of an Accept-Language header as codes, such as pt_BR,
// the best first, each followed by itself without its country: at most eight.
func Accepted(header string) (codes []string) {
	type choice struct {
		tag     language.Tag
		quality float32
	}
	var choices []choice
	for part := range strings.SplitSeq(header[:min(len(header), maxHeader)], ",") {
		tags, qualities, err := language.ParseAcceptLanguage(part)
		for i := range tags { // one, or none
			if err == nil {
				choices = append(choices, choice{tags[i], qualities[i]})
			}
		}
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(b.quality, a.quality) })
	for _, c := range choices {
		base, _ := c.tag.Base()
		for _, code := range []string{strings.ReplaceAll(c.tag.String(), "-", "_"), base.String()} {
			if code != "mul" && code != "und" && !slices.Contains(codes, code) && len(codes) < 8 {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

// Choose returns the language for a request: the one that was asked for, the one that
// was chosen before, or the best accepted one; English if none of them is known.
func (t *Table) Choose(asked, chosen string, accepted []string) *Language {
	for _, tag := range append([]string{asked, chosen}, accepted...) {
		if l := t.Named(tag); l != nil {
			return l
		}
	}
	return t.All[0]
}
