package check

import (
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// requiredFields are the header fields that msgfmt -c of gettext 0.21 requires, and
// their values in a template; "\x00" if it does not check the value.
func requiredFields() [][2]string {
	return [][2]string{
		{"Project-Id-Version", "PACKAGE VERSION"},
		{"PO-Revision-Date", "YEAR-MO-DA HO:MI+ZONE"},
		{"Last-Translator", "FULL NAME <EMAIL@ADDRESS>"},
		{"Language-Team", "LANGUAGE <LL@li.org>"},
		{"Language", ""},
		{"MIME-Version", "\x00"},
		{"Content-Type", "text/plain; charset=CHARSET"},
		{"Content-Transfer-Encoding", "ENCODING"},
	}
}

// headerFindings returns the findings about the header of a file that is not a
// template.
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
	for _, required := range requiredFields() {
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

// pluralFindings compares the plural rule with the plurals. poparse reports fields
// that cannot be understood.
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
	formula, err := lang.Compile(forms.Expression)
	if err != nil {
		return poparse.WarnPluralForms, err.Error()
	}
	for n := range pluralTries + 1 {
		switch got := formula.Eval(n); {
		case got == lang.Undefined:
			return CodePluralRange, fmt.Sprintf("the expression divides by zero for n=%d", n)
		case got < 0 || got >= forms.Number:
			return CodePluralRange, fmt.Sprintf("the expression gives %d for n=%d, but nplurals=%d", got, n, forms.Number)
		}
	}
	return "", ""
}
