package check

import (
	_ "embed" // of rules.txt
	"strings"
)

// Codes of this package. The Err and Warn constants of poparse are further codes. Codes are stable: scripts may rely on them.
const (
	// CodeUnreadable: the system does not let us read the file or folder.
	CodeUnreadable = "unreadable"
	// CodeNoHeader: the file has messages and no header.
	CodeNoHeader = "no-header"
	// CodeHeaderField: fields that gettext expects are missing in the header.
	CodeHeaderField = "header-field"
	// CodeHeaderDefault: header fields still have the template's placeholders.
	CodeHeaderDefault = "header-default"
	// CodeNoPluralForms: there are translated plurals, but the header has no rule.
	CodeNoPluralForms = "no-plural-forms"
	// CodePluralRange: a plural expression gives no form for some numbers.
	CodePluralRange = "plural-range"
	// CodeNoLanguage: quality checks need the language of a file, which is unknown.
	CodeNoLanguage = "no-language"
	// CodeCheckFlag: a flag for the quality checks is unknown.
	CodeCheckFlag = "check-flag"
	// CodeTemplateMissing: the template has strings that the file lacks.
	CodeTemplateMissing = "template-missing"
	// CodeTemplateGone: the file has strings that the template does not have.
	CodeTemplateGone = "template-gone"
	// CodeTemplateRefused: the file or the template cannot be merged.
	CodeTemplateRefused = "template-refused"
)

// A Rule explains a code. docs/check.md is made from the rules.
type Rule struct {
	// Code is the code of the findings.
	Code string
	// Severity is the severity of the findings.
	Severity Severity
	// Summary describes the problem in one sentence.
	Summary string
	// Help says what the problem leads to and what to do.
	Help string
}

// rulesText has severity, code and summary of a rule on one line, its help on the next.
//
//go:embed rules.txt
var rulesText string

// Rules returns all rules, errors first, each code once: files with warnings can be read.
func Rules() []Rule {
	var list []Rule
	for line := range strings.SplitSeq(strings.TrimSpace(rulesText), "\n") {
		if help, ok := strings.CutPrefix(line, "\t"); ok {
			list[len(list)-1].Help = help
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		list = append(list, Rule{Severity: Severity(parts[0]), Code: parts[1], Summary: parts[2]})
	}
	return list
}
