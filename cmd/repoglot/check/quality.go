package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// Quality selects the quality checks of the server.
type Quality struct {
	// SourceLanguage is the code of the language of msgids, as in a component; "": English.
	SourceLanguage string
	// Flags are the check_flags of the component, comma-separated.
	Flags string
}

// qualityPrefix begins codes of checks, since some have the names of our own findings.
const qualityPrefix = "quality/"

// maxQuality bounds the findings of quality checks in one file.
const maxQuality = 10_000

// QualityRules returns the rules of quality checks in their order (docs/checks.md).
func QualityRules() []Rule {
	var list []Rule
	for _, c := range checks.All() {
		help := "Correct the string, or switch the check off with the flag " + c.IgnoreFlag + "."
		if !c.Default() {
			help = "The flag " + c.EnableFlag + " switches the check on, " + c.IgnoreFlag + " off."
		}
		list = append(list, Rule{Code: qualityPrefix + c.Name, Severity: Warning, Summary: c.Description, Help: help})
	}
	return list
}

// Checker makes the quality checks of files and single strings, for any number of goroutines.
type Checker struct {
	table    *lang.Table
	project  catalog.Project
	settings catalog.ComponentSettings
	rules    unit.Rules
	source   lang.Language
	all      []checks.Check // by number
}

// NewChecker returns an error if the source language or a flag is unknown.
func NewChecker(q Quality) (*Checker, error) {
	table, err := lang.New()
	if err != nil {
		return nil, fmt.Errorf("load the language table: %w", err)
	}
	code := cmp.Or(q.SourceLanguage, "en")
	source, ok := table.Lookup(code)
	if !ok {
		return nil, fmt.Errorf("source language %q is not known: write a code such as en or pt_BR", code)
	}
	if problems := checks.FlagErrors(q.Flags, true); problems != nil {
		return nil, fmt.Errorf("check flags: %s", strings.Join(problems, "; "))
	}
	return CheckerOf(table, &catalog.Project{}, &catalog.ComponentSettings{SourceLanguage: source.Code, CheckFlags: q.Flags}), nil
}

// CheckerOf returns the checker of a component's files.
func CheckerOf(table *lang.Table, p *catalog.Project, s *catalog.ComponentSettings) *Checker {
	source := table.Match(s.SourceLanguage)
	return &Checker{table, *p, *s, unit.NewRules(s.CheckFlags, lang.IsCJK(source.Code)), source, checks.All()}
}

// findings returns the failures of the checks of translations; for a template or a
// file of the source language, the failures of the checks of source strings. Only a server
// compares with other files: reused compares within this file.
func (q *Checker) findings(f *poparse.File) []Finding {
	language, known := q.language(f)
	if !known {
		return []Finding{warning(f.Name, 1, 1, CodeNoLanguage,
			"the language is not known, so there were no quality checks: write its code into the header's Language, or as the name of the file")}
	}
	pass := q.pass(f, language, f.Locator())
	for e, u := range unit.All(f, q.rules) {
		if !pass.unit(e, u) {
			break
		}
	}
	return pass.list
}

// language returns the language of a file, by its header or else by its path.
func (q *Checker) language(f *poparse.File) (lang.Language, bool) {
	if isTemplate(f.Name) {
		return q.source, true
	}
	l, name := firstLanguage(q.table, append([]string{f.Field("Language")}, pathLanguages(f.Name)...))
	return l, name != ""
}

// pass begins to check a file, as the translation that a server would store for it.
func (q *Checker) pass(f *poparse.File, l lang.Language, locator *poparse.Locator) *qualityPass {
	t := &catalog.Translation{Language: l.Code, IsSource: l.Code == q.source.Code}
	rule := l.Plural
	if forms, ok := f.PluralForms(); ok && !isTemplate(f.Name) {
		rule = lang.PluralFor(l, forms.Number, forms.Expression)
	}
	t.PluralNumber, t.PluralFormula = rule.Number, rule.Formula
	p := &qualityPass{
		Checker: q, file: f, translation: t, locator: locator,
		set: checks.ForTranslation(q.table, &q.project, &q.settings, t, nil),
	}
	p.compare()
	return p
}

// In returns what tells which checks some entries of a file in a language fail: the message of each
// check, by its name, as findings of a whole file have it. Without a code, the file says its
// language; if that is not known, nothing fails.
func (c *Checker) In(code string) func(*poparse.File, []*poparse.Entry) map[*poparse.Entry]map[string]string {
	return func(f *poparse.File, of []*poparse.Entry) map[*poparse.Entry]map[string]string {
		language, known := c.table.Match(code), code != ""
		if !known {
			language, known = c.language(f)
		}
		if !known {
			return nil
		}
		return c.failures(f, language, of)
	}
}

func (c *Checker) failures(f *poparse.File, language lang.Language, of []*poparse.Entry) map[*poparse.Entry]map[string]string {
	out := map[*poparse.Entry]map[string]string{}
	texts := map[string]bool{}
	for _, e := range of {
		out[e] = map[string]string{}
		texts[e.Str[0]] = true
	}
	some := *f // with the strings that Reused compares
	some.Entries = slices.DeleteFunc(slices.Clone(f.Entries), func(e *poparse.Entry) bool { return out[e] == nil && !texts[e.Str[0]] })
	pass := c.pass(&some, language, &poparse.Locator{})
	for e, u := range unit.All(&some, c.rules) {
		if out[e] == nil {
			continue
		}
		pass.list = nil
		pass.unit(e, u)
		for _, found := range pass.list {
			if name, is := strings.CutPrefix(found.Code, qualityPrefix); is {
				out[e][name] = found.Message
			}
		}
	}
	maps.DeleteFunc(out, func(_ *poparse.Entry, m map[string]string) bool { return len(m) == 0 })
	return out
}

type qualityPass struct {
	*Checker
	file        *poparse.File
	translation *catalog.Translation
	set         *checks.Set
	locator     *poparse.Locator
	reused      map[string][2]int // two lines of each target with more than one source
	list        []Finding
}

// compare finds the targets with more than one source.
func (p *qualityPass) compare() {
	p.reused = map[string][2]int{}
	if p.translation.IsSource {
		return
	}
	first := map[string]checks.Sibling{}
	lines := map[string]int{}
	for e, u := range unit.All(p.file, p.rules) {
		if !u.State.Translated() {
			continue
		}
		now := checks.Sibling{Source: u.Source, Context: u.Context, Target: u.Target, State: u.State}
		if before, ok := first[u.Target]; !ok {
			first[u.Target], lines[u.Target] = now, e.KeywordLine
		} else if p.reused[u.Target][1] == 0 && checks.IsReused(before, now, p.translation.PluralNumber) {
			p.reused[u.Target] = [2]int{lines[u.Target], e.KeywordLine}
		}
	}
}

// unit adds the findings of a unit; false if there are too many.
func (p *qualityPass) unit(e *poparse.Entry, u *catalog.Unit) bool {
	unit := checks.UnitOf(u, p.translation)
	if lines := p.reused[u.Target]; lines[1] > 0 && u.State.Translated() && u.State != catalog.StateReadOnly &&
		!checks.Ignores(u.Flags, checks.Reused) && !checks.Ignores(p.settings.CheckFlags, checks.Reused) {
		other := lines[0]
		if other == e.KeywordLine {
			other = lines[1]
		}
		c := p.all[checks.Reused]
		p.add(e, c.ID, checks.Failure{}, fmt.Sprintf("%s: %s Here: line %d has it, too.", c.Title, c.Description, other))
	}
	for _, problem := range checks.FlagErrors(u.Flags, false) {
		p.list = append(p.list, warning(p.file.Name, e.KeywordLine, 1, CodeCheckFlag, problem))
	}
	for id := range p.set.Run(&unit).All() {
		places := map[int]bool{} // one finding for each form
		for _, failure := range p.set.Explain(&unit, id) {
			if !places[failure.Form] {
				places[failure.Form] = true
				p.add(e, id, failure, qualityMessage(p.all[id], &unit, &failure))
			}
		}
	}
	if len(p.list) < maxQuality {
		return true
	}
	last := p.list[len(p.list)-1]
	p.list = append(p.list, warning(p.file.Name, last.Line, last.Column, poparse.WarnMore,
		fmt.Sprintf("and more findings of quality checks after the first %d, not listed", len(p.list))))
	return false
}

func (p *qualityPass) add(e *poparse.Entry, id checks.ID, f checks.Failure, message string) {
	part, form, at := poparse.PartStr, f.Form, f.Target.From
	if p.translation.IsSource {
		part, form, at = poparse.PartID, 0, f.Source.From
		if f.SourceForm > 0 {
			part = poparse.PartIDPlural
		}
	}
	line, column := p.locator.Locate(e, part, form, at)
	p.list = append(p.list, warning(p.file.Name, line, column, qualityPrefix+p.all[id].Name, message))
}

// Bounds of a message: the number of excerpts of a string, and the characters of each.
const (
	shownPlaces = 3
	shownChars  = 24
	shownWhole  = 8 // bytes of a string that is shown as a whole
)

// qualityMessage describes a failure, with the words of the two strings if they say
// more than the position in the file.
func qualityMessage(c checks.Check, u *checks.Unit, f *checks.Failure) string {
	var sides []string
	if f.SourceForm < len(u.Sources) {
		if words := excerpts(u.Sources[f.SourceForm], f.Source, f.Sources); words != "" {
			sides = append(sides, "source: "+words)
		}
	}
	if !u.IsSource && f.Form < len(u.Targets) {
		if words := excerpts(u.Targets[f.Form], f.Target, f.Targets); words != "" {
			sides = append(sides, "translation: "+words)
		}
	}
	message := c.Title + ": " + c.Description
	if len(sides) > 0 {
		message += " Here: " + strings.Join(sides, "; ") + "."
	}
	return message
}

// excerpts returns the pieces of a string at some spans, in order and in quotes; ""
// if they are empty or the whole of a long string.
func excerpts(s string, one checks.Span, several []checks.Span) string {
	if len(several) == 0 {
		several = []checks.Span{one}
	}
	var quoted []string
	at, bytes := 0, 0 // the same place, in characters and in bytes
	move := func(to int) {
		for ; at < to && bytes < len(s); at++ {
			_, n := utf8.DecodeRuneInString(s[bytes:])
			bytes += n
		}
	}
	for i, place := range several {
		if i == shownPlaces {
			quoted = append(quoted, "…")
			break
		}
		move(place.From)
		from := bytes
		move(min(place.To, place.From+shownChars))
		cut := at < place.To
		if from == bytes || from == 0 && (cut || bytes == len(s) && len(s) > shownWhole) {
			continue
		}
		text := strconv.Quote(s[from:bytes])
		if move(place.To); cut {
			text += "…"
		}
		quoted = append(quoted, text)
	}
	return strings.Join(quoted, ", ")
}
