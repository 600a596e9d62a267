package unit

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// note joins the translator comments and the extracted comments of an entry, in
// this order. The first translators bytes of it are translator comments.
func note(e *poparse.Entry) (text string, translators int) {
	switch {
	case len(e.Comments)+len(e.Extracted) == 0:
		return "", 0
	case len(e.Comments) == 0:
		return joinLines(e.Extracted), 0
	case len(e.Extracted) == 0:
		text = joinLines(e.Comments)
	default:
		text = strings.TrimRight(strings.Join(e.Comments, "\n")+"\n"+strings.Join(e.Extracted, "\n"), "\n")
	}
	translators = len(e.Comments) - 1
	for _, line := range e.Comments {
		translators += len(line)
	}
	translators = min(translators, len(text))
	if strings.TrimSpace(text[:translators]) == "" {
		translators = 0
	}
	return text, translators
}

func joinLines(lines []string) string {
	if len(lines) == 1 {
		return lines[0]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// docstring is what Sphinx writes after a file name for text that it found in a
// docstring; Weblate leaves it out.
var docstring = regexp.MustCompile(`:docstring of [^ ]+:(?:[0-9]+|<[^>]*>)`)

// location joins the references of an entry as the API shows them: without
// Sphinx's docstring marks, percent escapes decoded, separated by ", ".
func location(references []string) string {
	switch {
	case len(references) == 0:
		return ""
	case !slices.ContainsFunc(references, func(r string) bool { return strings.Contains(r, "%") || strings.HasSuffix(r, ":docstring") }):
		return strings.Join(references, ", ")
	}
	joined := strings.Join(references, " ")
	return strings.Join(strings.Fields(docstring.ReplaceAllString(unquote(joined), "")), ", ")
}

// percentEscape is a byte of a file name as Sphinx writes it.
var percentEscape = regexp.MustCompile(`%[[:xdigit:]]{2}`)

// unquote decodes percent escapes, leaving malformed ones as they are. A file name in
// another encoding does not become invalid text.
func unquote(s string) string {
	s = percentEscape.ReplaceAllStringFunc(s, func(escape string) string {
		c, _ := hex.DecodeString(escape[1:])
		return string(c)
	})
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// flags sorts the flags of an entry and joins them, each in the form that the
// API shows.
func flags(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return flag(list[0])
	}
	sorted := catalog.Each(list, func(f *string) string { return flag(*f) })
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), ", ")
}

// quoted are the characters that a value shows only within quotes.
const quoted = " \t,:\"'\\"

// flag quotes the values of name:value:value that need it. A flag whose quotes
// do not close stays as it is, as does "range: 0..5".
func flag(text string) string {
	if !strings.ContainsAny(text, `"'\`) {
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
