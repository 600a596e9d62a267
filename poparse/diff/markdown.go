package diff

import (
	"html/template"
	"strings"
)

// code writes a visible text as a code span, where no forge reads names of users, numbers of issues,
// links, markup or HTML: between more backticks than it has in a row (CommonMark, section 6.1).
func code(s string) string {
	longest := 0
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " " // one blank at both ends is no part of it
	}
	return fence + s + fence
}

// short is the code span of any text.
func short(s string) string { return code(clip(visible(s), maxSpans)) }

// cell writes the code of a language in a cell of a table, which no bar may end.
func cell(language string) string {
	if language == "" {
		return "–"
	}
	return code(strings.Map(func(r rune) rune {
		if r == '|' || r == '\\' || r == '`' {
			return '?'
		}
		return r
	}, clip(visible(language), 40)))
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// maxSpans is the number of characters of a text that Markdown shows.
const maxSpans = 300

// spans writes a marked text: what is removed is struck out, what is new is bold.
func spans(list []Span) string {
	var b strings.Builder
	left := maxSpans
	for _, s := range list {
		text := clip(s.Text, left)
		if left -= len([]rune(s.Text)); text == "" {
			continue
		}
		mark := map[string]string{"del": "~~", "ins": "**"}[s.Kind]
		if b.Len() > 0 {
			b.WriteString(" ") // delimiters and backticks side by side would join
		}
		b.WriteString(mark + code(text) + mark)
		if left <= 0 {
			break
		}
	}
	return b.String()
}

// markup writes a text for HTML, visibly.
func markup(s string) string {
	return strings.ReplaceAll(template.HTMLEscapeString(clip(visible(s), maxSpans)), "`", "&#96;")
}
