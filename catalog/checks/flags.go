package checks

import (
	"maps"
	"strconv"
	"strings"
)

// flagSet is what the flags of a unit mean for the checks.
type flagSet struct {
	runs       Mask
	strict     bool // strict-format
	strictSame bool // strict-same
	xmlText    bool // xml-text
	safeHTML   bool // safe-html
	maxLength  int  // -1 without a limit
}

// effective are the flags of component and entry together; later ones win.
func (s *Set) effective(entry string) *flagSet {
	if f, ok := (*s.known.Load())[entry]; ok {
		return f
	}
	f := parseFlags(s.flags, entry)
	s.adding.Lock()
	defer s.adding.Unlock()
	if known := *s.known.Load(); len(known) < maxFlagSets && len(entry) <= maxFlagsLength {
		grown := maps.Clone(known)
		grown[strings.Clone(entry)] = f
		s.known.Store(&grown)
	}
	return f
}

func parseFlags(lists ...string) *flagSet {
	f := &flagSet{maxLength: -1}
	var enabled, ignored Mask
	for _, list := range lists {
		for flag := range splitFlags(list) {
			name, value, _ := strings.Cut(flag, ":")
			switch name {
			case "strict-format":
				f.strict = true
			case "strict-same":
				f.strictSame = true
			case "xml-text":
				f.xmlText = true
			case "safe-html":
				f.safeHTML = true
			case "ignore-all-checks":
				return &flagSet{maxLength: -1}
			case "max-length":
				if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 {
					f.maxLength = n
					enabled = enabled.With(MaxLength)
				}
			}
			for i := range table {
				id := dashed(table[i].name)
				if table[i].off && name == id && ID(i) != MaxLength {
					enabled = enabled.With(ID(i))
				}
				if rest, ok := strings.CutPrefix(name, "ignore-"); ok && rest == id {
					ignored = ignored.With(ID(i))
				}
			}
		}
	}
	for i := range table {
		if !table[i].off {
			enabled = enabled.With(ID(i))
		}
	}
	f.runs = enabled.AndNot(ignored)
	return f
}

// splitFlags yields the flags of a comma-separated list; commas in double
// quotes do not count.
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

// maxFlagsLength is the longest flags of an entry that are remembered, in bytes.
const maxFlagsLength = 1024

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// scopeMask are the checks of a scope.
func scopeMask(scope Scope) Mask {
	var m Mask
	for i := range table {
		if table[i].scope == scope {
			m = m.With(ID(i))
		}
	}
	return m
}
