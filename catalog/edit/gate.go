package edit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse"
)

// CheckEntry says why msgfmt -c would refuse a file with the entry, nil if it would
// not. It knows the rules of line feeds at both ends and of the formats c-format,
// objc-format, python-format, python-brace-format, perl-brace-format and qt-format
// (gettext 0.21, msgl-check.c and format-*.c); msgfmt checks further formats. Fuzzy and
// untranslated entries are no part of what msgfmt makes. formula is the file's plural
// formula, or nil.
func CheckEntry(e *poparse.Entry, formula *lang.Formula) error {
	if e.Fuzzy || e.Obsolete || len(e.Str) == 0 || e.Str[0] == "" {
		return nil
	}
	for i, str := range e.Str {
		if err := checkLineFeeds(e.ID, str); err != nil {
			return formError(e, i, err)
		}
	}
	check := checkerOf(e.Flags)
	if check == nil {
		return nil
	}
	source := e.ID
	if e.HasPlural && len(e.Str) > 1 {
		source = e.IDPlural
	}
	often := oftenUsed(e, formula)
	for i, str := range e.Str {
		strict := !e.HasPlural || len(e.Str) == 1 || often == nil || often[i]
		if err := check(source, str, strict); err != nil {
			return formError(e, i, err)
		}
	}
	return nil
}

func formError(e *poparse.Entry, i int, err error) error {
	if e.HasPlural {
		return fmt.Errorf("msgstr[%d]: %w", i, err)
	}
	return fmt.Errorf("msgstr: %w", err)
}

func checkLineFeeds(id, str string) error {
	switch {
	case strings.HasPrefix(id, "\n") != strings.HasPrefix(str, "\n"):
		return errors.New("begins with a line feed and the msgid does not, or the other way round")
	case strings.HasSuffix(id, "\n") != strings.HasSuffix(str, "\n"):
		return errors.New("ends with a line feed and the msgid does not, or the other way round")
	}
	return nil
}

// checkerOf returns the check of the format that flags name, or nil.
func checkerOf(flags []string) func(source, target string, strict bool) error {
	for _, flag := range flags {
		switch flag {
		case "c-format", "objc-format":
			return checkC(flag == "objc-format")
		case "python-format":
			return checkPython
		case "python-brace-format":
			return checkPythonBrace
		case "perl-brace-format":
			return checkPerlBrace
		case "qt-format":
			return checkQt
		}
	}
	return nil
}

// oftenUsed says which plural forms stand for more than five of the numbers up to 1000:
// only in these must all arguments be used (msgl-check.c). It returns nil if every form
// counts as one.
func oftenUsed(e *poparse.Entry, formula *lang.Formula) []bool {
	const often = 5
	if !e.HasPlural || formula == nil {
		return nil
	}
	counts := make([]int, len(e.Str))
	for n := 0; n <= 1000; n++ {
		if form := formula.Eval(n); form >= 0 && form < len(counts) {
			counts[form]++
		}
	}
	used := make([]bool, len(counts))
	for i, n := range counts {
		used[i] = n > often
	}
	return used
}

// CheckUnit is CheckEntry for a string with another text.
func CheckUnit(u *catalog.Unit, text Text, formula *lang.Formula) error {
	sources := catalog.SplitForms(u.Source)
	e := poparse.Entry{ID: sources[0], HasPlural: len(sources) > 1, Str: catalog.SplitForms(text.Target), Fuzzy: text.State.Fuzzy()}
	if e.HasPlural {
		e.IDPlural = sources[1]
	}
	for flag := range strings.SplitSeq(u.Flags, ",") {
		e.Flags = append(e.Flags, strings.TrimSpace(flag))
	}
	return CheckEntry(&e, formula)
}
