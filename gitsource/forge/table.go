package forge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Row is a string in the table of a request.
type Row struct {
	// Language is its code.
	Language string
	// Context and Source are the string, Before and After its text.
	Context, Source, Before, After string
	// Fuzzy says that After needs editing.
	Fuzzy bool
	// Checks are the names of the checks that After fails.
	Checks []string
}

// maxCell bounds the characters of a text in the table.
const maxCell = 200

// Body returns the text of a request: the rendered template, then a table of the strings,
// as many as fit into MaxBody. Texts are shown as code, where no forge reads names of
// users, numbers of issues, links or markup.
func Body(intro string, rows []Row) string {
	var b strings.Builder
	b.WriteString(cut(strings.TrimSpace(intro), MaxBody/2))
	if len(rows) == 0 {
		return b.String()
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.WriteString("| language | string | before | after | failing checks |\n|---|---|---|---|---|\n")
	const more = 60 // bytes of the last line
	for i, r := range rows {
		line := r.line()
		if b.Len()+len(line)+more > MaxBody {
			fmt.Fprintf(&b, "\n… and %d more strings", len(rows)-i)
			break
		}
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (r *Row) line() string {
	source := code(r.Source)
	if r.Context != "" {
		source = code(r.Context) + ": " + source
	}
	after := code(r.After)
	if r.Fuzzy {
		after += " (needs editing)"
	}
	checks := make([]string, len(r.Checks))
	for i, name := range r.Checks {
		checks[i] = code(name)
	}
	return "| " + strings.Join([]string{code(r.Language), source, code(r.Before), after, strings.Join(checks, ", ")}, " | ") + " |\n"
}

// code returns a text as a code span in a cell of a table: between more backticks than
// it has in a row, with its bars escaped (GitHub Flavored Markdown, sections 4.10 and
// 6.3). Line feeds, other control characters and those that change the direction of
// text are shown as signs.
func code(s string) string {
	if s == "" {
		return "–"
	}
	var b strings.Builder
	longest, run, n := 0, 0, 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n++; n > maxCell {
			b.WriteString("…")
			break
		}
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
		switch {
		case r == '|':
			b.WriteString(`\|`)
		case r == '\n':
			b.WriteString("↵")
		case r == '\x1e': // between plural forms
			b.WriteString("␞")
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069':
			fmt.Fprintf(&b, "<%U>", r)
		default:
			b.WriteRune(r)
		}
	}
	text := b.String()
	fence := strings.Repeat("`", longest+1)
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if first == '`' || last == '`' || first == ' ' && last == ' ' || last == '\\' {
		text = " " + text + " " // one blank at both ends is no part of a code span
	}
	return fence + text + fence
}
