package check

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
	"github.com/repoglot/repoglot/poparse/plural"
)

// verdict returns the verdict on the contents of one file, whose name says whether it is a
// template: with quality checks, unless q is nil, and compared with a template, unless it is nil.
func verdict(name string, data []byte, q *Checker, template *poparse.File) Result {
	r := Result{File: name, Template: isTemplate(name)}
	f, err := poparse.Parse(name, data)
	if err != nil {
		r.Findings = errorFindings(name, data)
		return r
	}
	r.Parsed = true
	r.Counts = count(f)
	for _, w := range f.Warnings {
		r.Findings = append(r.Findings, warning(name, w.Line, w.Column, w.Code, w.Msg))
	}
	if !r.Template {
		r.Findings = append(r.Findings, headerFindings(f)...)
	}
	if template != nil && !r.Template {
		r.compare(f, template)
	}
	if q != nil {
		r.Findings = append(r.Findings, q.findings(f)...)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r
}

// isTemplate reports whether a name is the name of a template, which has no translations.
func isTemplate(name string) bool { return strings.EqualFold(filepath.Ext(name), ".pot") }

func warning(file string, line, column int, code, msg string) Finding {
	return Finding{File: file, Line: line, Column: column, Severity: Warning, Code: code, Message: msg}
}

// errorFindings returns all errors of a file that cannot be read. Warnings about it
// would be guesses.
func errorFindings(name string, data []byte) (list []Finding) {
	all, more := poparse.Errors(name, data)
	for _, e := range all {
		list = append(list, Finding{File: name, Line: e.Line, Column: e.Column, Severity: Error, Code: e.Code, Message: e.Msg})
	}
	if more {
		last := list[len(list)-1]
		list = append(list, warning(name, last.Line, last.Column, poparse.WarnMore,
			fmt.Sprintf("and more errors after the first %d, not listed", poparse.MaxErrors)))
	}
	return list
}

// unreadable is the verdict on a file that the system does not let us read.
func unreadable(name string, err error) Result {
	return Result{File: name, Template: isTemplate(name), Findings: []Finding{{
		File: name, Line: 1, Column: 1, Severity: Error, Code: CodeUnreadable,
		Message: "cannot be read: " + cause(err).Error(),
	}}}
}

// cause returns an error without operation and path, which the finding has.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// count classifies messages as msgfmt --statistics does, except for the differences
// of docs/po.md#differences-from-gettext.
func count(f *poparse.File) (c Counts) {
	for e := range f.Live() {
		switch {
		case e.Str[0] == "":
			c.Untranslated++
		case e.Fuzzy:
			c.Fuzzy++
		default:
			c.Translated++
		}
	}
	return c
}

// namedStrings is the number of strings that a message about many of them quotes.
const namedStrings = 3

// compare compares a file with its template: what msgmerge would add or make obsolete.
func (r *Result) compare(f, template *poparse.File) {
	add := func(line int, code, text string) {
		r.Findings = append(r.Findings, warning(f.Name, line, 1, code, text))
	}
	merged, err := msgmerge.Merge(f, template, msgmerge.Options{})
	if err != nil {
		add(1, CodeTemplateRefused, err.Error())
		return
	}
	missing, gone := append(merged.Added, merged.Reworded...), merged.Gone
	if r.Counts.Missing = len(missing); len(missing) > 0 {
		text := fmt.Sprintf("%s of %s that the file lacks: %s", Quantity(len(missing), "string"), template.Name, quoted(missing))
		if n := len(merged.Reworded); n > 0 {
			text += fmt.Sprintf("; for %d of them it has the text of a similar string", n)
		}
		line := 1
		if f.Header != nil {
			line = f.Header.KeywordLine
		}
		add(line, CodeTemplateMissing, text)
	}
	if len(gone) > 0 {
		add(gone[0].KeywordLine, CodeTemplateGone, fmt.Sprintf("%s of the file that %s does not have: %s", Quantity(len(gone), "string"), template.Name, quoted(gone)))
	}
}

// quoted quotes the first entries' sources, with their lines.
func quoted(list []*poparse.Entry) string {
	var parts []string
	for i, e := range list {
		if i == namedStrings {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(list)-i)
		}
		parts = append(parts, fmt.Sprintf("%q (line %d)", catalog.Clip(e.ID, quotedLength), e.KeywordLine))
	}
	return strings.Join(parts, ", ")
}

// Quantity returns "1 file" or "2 files".
func Quantity(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quotedLength bounds a quoted source, in characters.
const quotedLength = 40

// ParseTemplate reads the file that others are compared with; an error says that it cannot be.
func ParseTemplate(name string, data []byte) (*poparse.File, error) {
	f, err := poparse.Parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("no template: %w", err)
	}
	if len(f.Entries) == 0 {
		return nil, fmt.Errorf("%s: no template: it has no strings", name)
	}
	return f, nil
}

// headerFindings returns the findings about the header of a file that is not a template.
func headerFindings(f *poparse.File) []Finding {
	live := false
	for e := range f.Live() {
		live = true
		if f.Header == nil {
			return []Finding{warning(f.Name, e.KeywordLine, 1, CodeNoHeader,
				`the file has no header: write an entry with msgid "" at its top, that names charset, language and plural rule`)}
		}
		break
	}
	if !live {
		return nil // an empty file
	}
	return append(fieldFindings(f), pluralFindings(f)...)
}

// fieldFindings compares the fields with a template.
func fieldFindings(f *poparse.File) (list []Finding) {
	fields := map[string]string{}
	for line := range strings.Lines(f.Header.Str[0]) {
		key, value, ok := strings.Cut(line, ":")
		key = strings.ToLower(strings.TrimSpace(key))
		if _, repeated := fields[key]; ok && !repeated {
			fields[key] = strings.TrimSpace(value)
		}
	}
	var missing, initial []string
	// What msgfmt -c of gettext 0.21 requires, and the values in a template; "\x00" if it does
	// not check the value.
	for _, required := range [][2]string{
		{"Project-Id-Version", "PACKAGE VERSION"},
		{"PO-Revision-Date", "YEAR-MO-DA HO:MI+ZONE"},
		{"Last-Translator", "FULL NAME <EMAIL@ADDRESS>"},
		{"Language-Team", "LANGUAGE <LL@li.org>"},
		{"Language", ""},
		{"MIME-Version", "\x00"},
		{"Content-Type", "text/plain; charset=CHARSET"},
		{"Content-Transfer-Encoding", "ENCODING"},
	} {
		switch value, ok := fields[strings.ToLower(required[0])]; {
		case !ok:
			missing = append(missing, required[0])
		case value == required[1]:
			initial = append(initial, required[0])
		}
	}
	if isPlaceholder(fields["plural-forms"]) {
		initial = append(initial, "Plural-Forms")
	}
	at := f.Header.KeywordLine
	if len(missing) > 0 {
		list = append(list, warning(f.Name, at, 1, CodeHeaderField,
			"missing in the header: "+strings.Join(missing, ", ")))
	}
	if len(initial) > 0 {
		list = append(list, warning(f.Name, at, 1, CodeHeaderDefault,
			"still as in the template, fill in: "+strings.Join(initial, ", ")))
	}
	return list
}

// isPlaceholder reports whether a Plural-Forms has the placeholders of a template.
func isPlaceholder(field string) bool {
	return strings.Contains(field, "INTEGER") || strings.Contains(field, "EXPRESSION")
}

// pluralFindings compares the plural rule with the plurals; poparse reports unclear fields.
func pluralFindings(f *poparse.File) []Finding {
	at := f.Header.KeywordLine
	if forms, ok := f.PluralForms(); ok {
		if code, problem := rangeProblem(forms); code != "" {
			return []Finding{warning(f.Name, at, 1, code, "Plural-Forms: "+problem)}
		}
		return nil
	}
	if field := f.Field("Plural-Forms"); field != "" && !isPlaceholder(field) {
		return nil
	}
	for e := range f.Live() {
		if !e.HasPlural || e.Str[0] == "" || e.Fuzzy {
			continue
		}
		return []Finding{warning(f.Name, at, 1, CodeNoPluralForms, fmt.Sprintf(
			"the header has no plural rule, but the message on line %d has plural forms: add Plural-Forms: nplurals=NUMBER; plural=EXPRESSION;",
			e.KeywordLine))}
	}
	return nil
}

// pluralTries is the highest number that a plural expression is tried with, as
// in msgfmt -c (gettext 0.21, check_plural_eval).
const pluralTries = 1000

// rangeProblem tries a plural expression.
func rangeProblem(forms poparse.PluralForms) (code, problem string) {
	formula, err := plural.Compile(forms.Expression)
	if err != nil {
		return poparse.WarnPluralForms, err.Error()
	}
	for n := range pluralTries + 1 {
		switch got := formula.Eval(n); {
		case got == plural.Undefined:
			return CodePluralRange, fmt.Sprintf("the expression divides by zero for n=%d", n)
		case got < 0 || got >= forms.Number:
			return CodePluralRange, fmt.Sprintf("the expression gives %d for n=%d, but nplurals=%d", got, n, forms.Number)
		}
	}
	return "", ""
}
