package unit

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// A Reader reads many files, one after the other, in the same memory. It belongs to one
// goroutine. Its zero value is ready to use. A nil Reader reads each file alone.
type Reader struct{ parser poparse.Reader }

// Read makes units of a PO file. name is used in errors. data must not be changed as
// long as the File is in use, or the Reader. The error is a *poparse.SyntaxError.
func (r *Reader) Read(name string, data []byte, rules Rules) (*File, error) {
	parse := poparse.Parse
	if r != nil {
		parse = r.parser.Parse
	}
	f, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	out, ok := convert(f, data, rules, partStart{}, false)
	if !ok {
		out, _ = convert(f, data, rules, partStart{}, true)
	}
	return out, nil
}

// Rules are the settings of a component that decide how entries are read. The
// zero value is not usable; see NewRules.
type Rules struct {
	cjk      bool // the source language counts words by character
	readOnly bool // the component's flags contain read-only
	priority int  // of the component's flags, else 100
}

// defaultPriority is the priority of a unit that no flag gives another one.
const defaultPriority = 100

// NewRules makes the rules of a component from its check flags, which are
// separated by commas, and from how its source language counts words
// (lang.IsCJK).
func NewRules(checkFlags string, cjk bool) Rules {
	var list []string
	for flag := range strings.SplitSeq(checkFlags, ",") {
		if flag = strings.TrimSpace(flag); flag != "" {
			list = append(list, flag)
		}
	}
	return Rules{cjk: cjk, readOnly: slices.Contains(list, "read-only"), priority: priority(list, defaultPriority)}
}

// state returns the state of an entry. One whose first form is empty is
// untranslated, whatever its flags say (docs/po.md#states).
func (r *Rules) state(e *poparse.Entry) catalog.State {
	switch {
	case r.readOnly || slices.Contains(e.Flags, "read-only"):
		return catalog.StateReadOnly
	case len(e.Str) == 0 || e.Str[0] == "":
		return catalog.StateEmpty
	case e.Fuzzy:
		return catalog.StateFuzzy
	default:
		return catalog.StateTranslated
	}
}
