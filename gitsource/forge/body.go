package forge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Row is a string in the table of a request.
type Row struct {
	// Component names where it is; it is shown if the rows are of several.
	Component string
	// Language is its code.
	Language string
	// Context and Source are the string, Before and After its text.
	Context, Source, Before, After string
	// Fuzzy says that After needs editing.
	Fuzzy bool
	// Checks are the names of the checks that After fails.
	Checks []string
}

// Update is what becomes of the strings of a file that is updated to its template. Stopped says
// that not all similar strings were found.
type Update struct {
	Added, Reworded, Gone int
	Stopped               bool
}

// File is a file that a request adds, removes or updates, or to which it adds a string.
type File struct {
	// Path is its place in the repository, Language its code.
	Path, Language string
	// Removes tells a removal from an addition. Source is the string that is added to the
	// file, "" if the file itself is.
	Removes bool
	Source  string
	// Update is not nil for a file that is updated.
	Update *Update
}

// maxFiles bounds the files that a request names.
const maxFiles = 100

// line says in a sentence what happens to a file.
func (f *File) line() string {
	switch {
	case f.Update != nil:
		line := fmt.Sprintf("- updates %s (%s): %d new, %d reworded, %d gone", code(f.Path), code(f.Language), f.Update.Added, f.Update.Reworded, f.Update.Gone)
		if f.Update.Stopped {
			line += "; there are too many to find all similar ones"
		}
		return line + "\n"
	case f.Source != "":
		return "- adds the string " + code(f.Source) + " to " + code(f.Path) + "\n"
	case f.Removes:
		return "- removes the language " + code(f.Language) + ": " + code(f.Path) + "\n"
	}
	return "- adds the language " + code(f.Language) + ": " + code(f.Path) + "\n"
}

// maxCell bounds the characters of a text in the table.
const maxCell = 200

// Body returns the text of a request: the rendered template, a list of files, and a table of
// the strings, as many as fit into MaxBody. Texts are shown as code, where no forge reads names of
// users, numbers of issues, links or markup.
func Body(intro string, files []File, rows []Row) string {
	var b strings.Builder
	b.WriteString(cut(strings.TrimSpace(intro), MaxBody/2))
	if len(files)+len(rows) > 0 && b.Len() > 0 {
		b.WriteString("\n\n")
	}
	for i, f := range files {
		if i == maxFiles {
			fmt.Fprintf(&b, "- … and %d more\n", len(files)-i)
			break
		}
		b.WriteString(f.line())
	}
	if len(rows) == 0 {
		return strings.TrimRight(b.String(), "\n")
	}
	if len(files) > 0 {
		b.WriteString("\n")
	}
	several := slices.ContainsFunc(rows, func(r Row) bool { return r.Component != rows[0].Component })
	if several {
		b.WriteString("| component | language | string | before | after | failing checks |\n|---|---|---|---|---|---|\n")
	} else {
		b.WriteString("| language | string | before | after | failing checks |\n|---|---|---|---|---|\n")
	}
	const more = 60 // bytes of the last line
	for i, r := range rows {
		line := r.line(several)
		if b.Len()+len(line)+more > MaxBody {
			fmt.Fprintf(&b, "\n… and %d more strings", len(rows)-i)
			break
		}
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (r *Row) line(component bool) string {
	source := forms(r.Source)
	if r.Context != "" {
		source = code(r.Context) + ": " + source
	}
	after := forms(r.After)
	if r.Fuzzy {
		after += " (needs editing)"
	}
	checks := make([]string, len(r.Checks))
	for i, name := range r.Checks {
		checks[i] = code(name)
	}
	cells := []string{code(r.Language), source, forms(r.Before), after, strings.Join(checks, ", ")}
	if component {
		cells = append([]string{code(r.Component)}, cells...)
	}
	for i := range cells { // also in code, and after a backslash (GitHub Flavored Markdown, section 4.10)
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// forms returns a text whose plural forms, which two U+001E divide, are each shown as code.
func forms(s string) string {
	list := strings.Split(s, "\x1e\x1e")
	for i := range list {
		list[i] = code(list[i])
	}
	return strings.Join(list, " / ")
}

// code returns a text as a code span: between more backticks than it has in a row (GitHub
// Flavored Markdown, section 6.3). Line feeds, other control characters and those that change
// the direction of text are shown as signs.
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
		case r == '\n':
			b.WriteString("↵")
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
