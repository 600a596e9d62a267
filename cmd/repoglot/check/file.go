package check

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// File returns the verdict on the contents of one file; its name says whether it is
// a template. data is neither kept nor changed.
func File(name string, data []byte) Result { return verdict(name, data, nil, nil) }

// verdict is File with quality checks, unless q is nil, and compared with a template,
// unless it is nil.
func verdict(name string, data []byte, q *quality, template *poparse.File) Result {
	r := Result{File: name, Template: isTemplate(name)}
	f, err := poparse.Parse(name, data)
	if err != nil {
		r.Findings = errorFindings(name, data, err)
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
		r.Findings = append(r.Findings, templateFindings(f, template)...)
	}
	if q != nil {
		r.Findings = append(r.Findings, q.findings(f)...)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r
}

// isTemplate reports whether a name is the name of a template, which has no
// translations.
func isTemplate(name string) bool { return strings.EqualFold(filepath.Ext(name), ".pot") }

func warning(file string, line, column int, code, msg string) Finding {
	return Finding{File: file, Line: line, Column: column, Severity: Warning, Code: code, Message: msg}
}

// errorFindings returns all errors of a file that cannot be read. Warnings about it
// would be guesses.
func errorFindings(name string, data []byte, err error) (list []Finding) {
	all, more := poparse.Errors(name, data)
	for _, e := range all {
		list = append(list, Finding{File: name, Line: e.Line, Column: e.Column, Severity: Error, Code: e.Code, Message: e.Msg})
	}
	if len(list) == 0 { // impossible: Errors includes the error of Parse
		return []Finding{{File: name, Line: 1, Column: 1, Severity: Error, Code: poparse.ErrText, Message: err.Error()}}
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
