package unit

import (
	"slices"
	"strconv"
	"strings"
)

// flags sorts the flags of an entry and joins them, each in the form that the
// API shows.
func flags(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return flag(list[0])
	}
	sorted := make([]string, len(list))
	for i, f := range list {
		sorted[i] = flag(f)
	}
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), ", ")
}

// quoted are the characters that a value shows only within quotes.
const quoted = " \t,:\"'\\"

// flag quotes the values of name:value:value that need it. A flag whose quotes
// do not close stays as it is, as does "range: 0..5".
func flag(text string) string {
	if !hasQuoting(text) {
		return text
	}
	name, rest, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsAny(name, quoted) {
		return text
	}
	var b strings.Builder
	b.WriteString(name)
	for more := true; more; {
		var value string
		regex := strings.HasPrefix(rest, `r"`) // stays as it is
		before := rest
		if regex {
			before = rest[1:]
		}
		if value, rest, more, ok = flagValue(before); !ok {
			return text
		}
		b.WriteByte(':')
		if regex {
			b.WriteString("r" + strings.TrimSuffix(before[:len(before)-len(rest)], ":"))
			continue
		}
		if value == "" || strings.ContainsAny(value, quoted) {
			value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
		b.WriteString(value)
	}
	return b.String()
}

// hasQuoting reports whether there is a quote or a backslash in a flag.
func hasQuoting(text string) bool {
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\'' || c == '\\' {
			return true
		}
	}
	return false
}

// flagValue takes the first value off a list separated by colons; more says
// that another follows in rest.
func flagValue(s string) (value, rest string, more, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, more = strings.Cut(s, ":")
		return value, rest, more, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] != '"':
			b.WriteByte(s[i])
		case i+1 == len(s):
			return b.String(), "", false, true
		case s[i+1] == ':':
			return b.String(), s[i+2:], true, true
		default:
			return "", "", false, false
		}
	}
	return "", "", false, false
}

// priority returns the value of the flag priority:N, or otherwise.
func priority(flags []string, otherwise int) int {
	for _, f := range flags {
		if v, ok := strings.CutPrefix(f, "priority:"); ok {
			if n, err := strconv.Atoi(strings.Trim(v, `" `)); err == nil {
				return n
			}
		}
	}
	return otherwise
}
