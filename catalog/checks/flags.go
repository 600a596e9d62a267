package checks

import (
	_ "embed" // of lists of names
	"fmt"
	resyntax "regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// flagSet is the meaning of a unit's flags for the checks.
type flagSet struct {
	runs       Mask
	strict     bool // strict-format
	strictSame bool // strict-same
	xmlText    bool // xml-text
	safeHTML   bool // safe-html
	mdText     bool // md-text
	maxLength  int  // -1: no limit
	icu        icuFlags
	holders    *pattern
	regex      *expression
	holes      []*syntax         // placeholders of the formats that are on
	markers    string            // the characters that these begin with
	replace    *strings.Replacer // nil without the flag replacements
}

// effective returns the flags of the component and an entry together. Later flags
// win.
func (s *Set) effective(entry string) *flagSet {
	s.knowing.Lock()
	defer s.knowing.Unlock()
	f, ok := s.known[entry]
	if ok {
		return f
	}
	f = parseFlags(s.flags, entry)
	if len(s.known) < maxFlagSets && len(entry) <= maxFlagsLength && s.held+f.size() <= maxHeld {
		s.held += f.size()
		s.known[strings.Clone(entry)] = f
	}
	return f
}

// size returns the size of the flags' regular expressions, in about instructions.
func (f *flagSet) size() (n int) {
	if f.holders != nil {
		n += f.holders.size
	}
	if f.regex != nil {
		n += f.regex.size
	}
	return n
}

func parseFlags(lists ...string) *flagSet {
	f := &flagSet{maxLength: -1}
	enabled, ignored := byDefault, Mask{}
	var holders []flagValue
	fold := false
	for _, list := range lists {
		for flag := range splitFlags(list) {
			name, value, _ := strings.Cut(flag, ":")
			switch name {
			case "ignore-all-checks":
				return &flagSet{maxLength: -1}
			case "placeholders":
				holders = flagValues(value)
			case "case-insensitive":
				fold = true
			default:
				f.set(name, value)
			}
			enabled = enabled.Or(byFlag[name].enables)
			ignored = ignored.Or(byFlag[name].ignores)
		}
	}
	if f.holders = newPattern(holders, fold); f.holders != nil {
		enabled = enabled.With(Placeholders)
	}
	if f.regex != nil {
		enabled = enabled.With(Regex)
	}
	if f.maxLength >= 0 {
		enabled = enabled.With(MaxLength)
	}
	f.runs = enabled.AndNot(ignored)
	for id := range f.runs.All() {
		x := table[id].syntax
		if x == nil {
			continue
		}
		f.holes = append(f.holes, x)
		for _, c := range x.markers {
			if !strings.ContainsRune(f.markers, c) {
				f.markers += string(c)
			}
		}
	}
	return f
}

// set records the meaning of one flag, apart from turning checks on and off.
func (f *flagSet) set(name, value string) {
	switch name {
	case "strict-format":
		f.strict = true
	case "strict-same":
		f.strictSame = true
	case "xml-text":
		f.xmlText = true
	case "safe-html":
		f.safeHTML = true
	case "md-text":
		f.mdText = true
	case "max-length":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 {
			f.maxLength = n
		}
	case "regex":
		if values := flagValues(value); len(values) > 0 {
			f.regex = newExpression(values[0].text) // nil, and no check, if it is invalid
		}
	case "icu-flags":
		f.icu.options, _ = icuOptions(flagValues(value))
	case "icu-tag-prefix":
		f.icu.setPrefix(flagValues(value))
	case "replacements":
		f.replace = newReplacer(flagValues(value))
	}
}

// maxReplacement bounds each text of the flag replacements, in bytes, and
// maxReplacements the number of pairs: each character of a string may cost as many
// steps as the texts are long.
const (
	maxReplacement  = 200
	maxReplacements = 100
)

// newReplacer makes a replacer of pairs of old and new text. It leaves out pairs
// that are too long or incomplete; it returns nil if no pair is left.
func newReplacer(values []flagValue) *strings.Replacer {
	var pairs []string
	for i := 0; i+1 < min(len(values), 2*maxReplacements); i += 2 {
		if n := len(values[i].text); n > 0 && max(n, len(values[i+1].text)) <= maxReplacement {
			pairs = append(pairs, values[i].text, values[i+1].text)
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// where returns the checks whose rows a function names.
func where(named func(*entry) bool) Mask {
	var m Mask
	for i := range table {
		if named(&table[i]) {
			m = m.With(ID(i))
		}
	}
	return m
}

// flagMasks are the checks that a flag without a value turns on or off.
type flagMasks struct{ enables, ignores Mask }

// masksByFlag returns the checks that each flag turns on or off.
func masksByFlag() map[string]flagMasks {
	all := make(map[string]flagMasks)
	for i := range table {
		e := &table[i]
		for _, ignore := range []string{e.IgnoreFlag, e.ignore} {
			if ignore != "" {
				m := all[ignore]
				m.ignores = m.ignores.With(ID(i))
				all[ignore] = m
			}
		}
		if e.EnableFlag != "" && !e.valued {
			m := all[e.EnableFlag]
			m.enables = m.enables.With(ID(i))
			all[e.EnableFlag] = m
		}
	}
	return all
}

// flagValue is one of the values of a flag. regex says that it was written r"…".
type flagValue struct {
	text  string
	regex bool
}

// flagValues splits the values of a flag at colons, except in double quotes.
func flagValues(list string) []flagValue {
	var all []flagValue
	var v flagValue
	var text strings.Builder
	quoted := false
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list) || list[i] == ':' && !quoted:
			v.text = text.String()
			all = append(all, v)
			v, text = flagValue{}, strings.Builder{}
		case list[i] == '"':
			if quoted = !quoted; quoted && text.String() == "r" {
				v.regex = true
				text.Reset()
			}
		case list[i] == '\\' && quoted && i+1 < len(list) && (list[i+1] == '"' || !v.regex):
			i++
			text.WriteByte(list[i])
		default:
			text.WriteByte(list[i])
		}
	}
	return all
}

// splitFlags yields the flags of a list, which is split at commas, except in
// double quotes.
func splitFlags(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i <= len(list); i++ {
			switch {
			case i == len(list) || list[i] == ',' && !quoted:
				flag := strings.TrimSpace(list[start:i])
				if start = i + 1; flag != "" && !yield(flag) {
					return
				}
			case list[i] == '\\' && quoted && i+1 < len(list):
				i++
			case list[i] == '"':
				quoted = !quoted
			}
		}
	}
}

// maxFlagsLength bounds the flags of an entry that a set remembers, in bytes;
// maxHeld bounds the size of all regular expressions that it remembers.
const (
	maxFlagsLength = 1024
	maxHeld        = 64 << 10
)

// dashed returns the name of a check as flags have it.
func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Ignores reports whether flags of a component or an entry turn a check off.
func Ignores(flags string, id ID) bool {
	if !strings.Contains(flags, "ignore-") {
		return false
	}
	name := "ignore-" + dashed(id.String())
	for flag := range strings.SplitSeq(flags, ",") {
		if flag = strings.TrimSpace(flag); flag == name || flag == "ignore-all-checks" {
			return true
		}
	}
	return false
}

// FlagErrors describes the mistakes in comma-separated flags, for the person who
// wrote them; nil if there are no mistakes. A wrong flag is ignored and makes no
// check fail. Unknown names are reported only if unknown is set: entries have
// flags of gettext and of other programs, check_flags should not.
func FlagErrors(flags string, unknown bool) []string {
	var all []string
	for flag := range splitFlags(flags) {
		name, value, valued := strings.Cut(flag, ":")
		if e := flagError(name, value, valued, unknown); e != "" && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

func flagError(name, value string, valued, unknown bool) string {
	values := flagValues(value)
	_, known := byFlag[name]
	ignored, ignores := strings.CutPrefix(name, "ignore-")
	switch {
	case name == "max-length":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err != nil || n < 0 {
			return fmt.Sprintf("%s:%s has no number of characters: write %s:100", name, value, name)
		}
	case name == "regex" && (!valued || value == ""), name == "placeholders" && (!valued || value == ""):
		return fmt.Sprintf("%s has no value: write %s:r\"…\"", name, name)
	case name == "regex":
		return expressionError(name, values[0].text)
	case name == "placeholders":
		for _, v := range values {
			if e := expressionError(name, v.text); v.regex && e != "" {
				return e
			}
		}
		if newPattern(values, false) == nil {
			return name + ": the values are too many or too long, none is looked for"
		}
	case name == "icu-flags":
		return icuFlagsError(name, values)
	case name == "icu-tag-prefix" && (len(values) != 1 || len(values[0].text) == 0 || len(values[0].text) > maxTagPrefix):
		return fmt.Sprintf("%s needs one value of up to %d bytes: write %s:\"x:\"", name, maxTagPrefix, name)
	case name == "replacements" && len(values)%2 != 0:
		return name + " needs pairs of old and new: the last one is left out"
	case known, name == "ignore-all-checks", slices.Contains(strings.Fields(otherFlags), name):
	case ignores && !slices.Contains(strings.Fields(otherChecks), ignored):
		return fmt.Sprintf("%s: there is no check %s (docs/checks.md lists them)", name, ignored)
	case !ignores && unknown:
		if _, ok := byFlag[dashed(name)]; ok {
			return fmt.Sprintf("%s is no flag: write %s", name, dashed(name))
		}
		return name + " is no flag of a check (docs/checks.md lists them)"
	}
	return ""
}

// expressionError says why a regular expression is ignored; "" if it is not.
func expressionError(flag, text string) string {
	if newExpression(text) != nil {
		return ""
	}
	if _, err := resyntax.Parse(text, resyntax.Perl); err != nil {
		return fmt.Sprintf("%s: %q is no regular expression of RE2 and is left out: %v", flag, text, err)
	}
	return fmt.Sprintf("%s: the regular expression is too large and is left out: %.60q", flag, text)
}

// icuFlagsError names an unknown value of icu-flags.
func icuFlagsError(flag string, values []flagValue) string {
	_, unknown := icuOptions(values)
	if unknown == nil {
		return ""
	}
	return fmt.Sprintf("%s: there is no %.60q, but %s", flag, unknown[0], strings.Join(icuOptionNames(), ", "))
}

// otherFlags are the known flags that turn no check on or off by themselves: flags
// of Weblate, and flags of gettext that are in every file.
//
//go:embed data/other-flags.txt
var otherFlags string

// otherChecks are the names, as in flags, of checks that other releases of Weblate
// have or that need more than a PO file.
//
//go:embed data/other-checks.txt
var otherChecks string
