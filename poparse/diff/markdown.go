package diff

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// MaxMarkdown bounds the bytes of WriteMarkdown: GitHub takes 65,536 characters.
const MaxMarkdown = 60_000

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

// markdown is a page in the making; room is what is left of it.
type markdown struct {
	strings.Builder
	room int
}

// put writes a text if there is room for it.
func (m *markdown) put(text string) bool {
	if len(text) > m.room {
		return false
	}
	m.room -= len(text)
	m.WriteString(text)
	return true
}

// list writes a heading and lines, as many as fit; end closes what the heading opened.
// It reports whether there was room for any.
func (m *markdown) list(heading string, n int, line func(int) string, end string) bool {
	reserve := len(end) + 40
	if n == 0 || m.room < len(heading)+reserve {
		return n == 0
	}
	m.room -= reserve
	m.put(heading)
	for i := range n {
		if !m.put(line(i)) {
			fmt.Fprintf(m, "- … and %s more\n", number(n-i)) // has its room in the reserve
			break
		}
	}
	m.WriteString(end)
	return true
}

func (it item) markdown() string {
	var b strings.Builder
	b.WriteString("- " + map[string]string{"added": "new: ", "removed": "removed: ", "reworded": "reworded: "}[it.Kind])
	for i, p := range it.Parts {
		if i > 0 {
			b.WriteString("<br>" + p.Label + ": ")
		}
		b.WriteString(spans(p.Spans))
		if i == 0 && it.Labels != "" {
			b.WriteString(" (" + it.Labels + ")")
		}
	}
	return b.String() + "\n"
}

// WriteMarkdown writes a report as a comment at a request: the counts first, a table of the
// languages, failing checks that are new, source strings, and what changed in each language, as much
// as fits into MaxMarkdown.
func WriteMarkdown(w io.Writer, r *Report) error {
	m := &markdown{room: MaxMarkdown - 40} // of the last line
	m.put("### Translations: " + r.Headline() + "\n\n")
	if text := r.ignored(); text != "" {
		m.put(text + "\n\n")
	}
	var used []count
	for _, k := range counts {
		if *k.of(&r.Counts) > 0 {
			used = append(used, k)
		}
	}
	if len(used) > 0 {
		head, rule := "| language |", "|---|"
		for _, k := range used {
			head += " " + k.noun + "s " + k.verb + " |"
			rule += "--:|"
		}
		rest := m.room / 2
		m.room -= rest
		m.list(head+"\n"+rule+"\n", len(r.Languages), func(i int) string {
			row := "| " + cell(r.Languages[i].Language) + " |"
			for _, k := range used {
				row += " "
				if n := *k.of(&r.Languages[i].Counts); n > 0 {
					row += number(n)
				}
				row += " |"
			}
			return row + "\n"
		}, "\n")
		m.room += rest
	}
	var whole []*File
	var checks []string
	for i := range r.Files {
		f := &r.Files[i]
		if f.Status != Changed {
			whole = append(whole, f)
		}
		for _, c := range f.Checks {
			checks = append(checks, "- "+short(f.Path)+" "+short(full(c.Context, c.Source, ""))+": "+short(c.Message)+"\n")
		}
	}
	m.list("#### Files\n\n", len(whole), func(i int) string {
		what := whole[i].line()
		if whole[i].Error != "" {
			what = "cannot be read: " + short(whole[i].Error)
		}
		return "- " + short(whole[i].Path) + " " + what + "\n"
	}, "\n")
	m.list("#### Checks that fail now\n\n", len(checks), func(i int) string { return checks[i] }, "\n")
	sources := r.toldSources()
	m.list("#### Source strings\n\n", len(sources), func(i int) string { return sources[i].item().markdown() }, "\n")
	left := 0
	for i := range r.Files {
		f := &r.Files[i]
		if f.Status != Changed {
			continue
		}
		header, list := f.fields(), f.Told(len(r.Files) > 1)
		if !m.list("<details><summary><code>"+html(f.Path)+"</code>: "+f.line()+"</summary>\n\n", len(header)+len(list), func(i int) string {
			if i < len(header) {
				return header[i].markdown()
			}
			return list[i-len(header)].item().markdown()
		}, "\n</details>\n") {
			left++
		}
	}
	if left > 0 {
		fmt.Fprintf(m, "\n… and %s\n", quantity(left, "more file"))
	}
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

// html writes a text for HTML, visibly.
func html(s string) string {
	return strings.ReplaceAll(template.HTMLEscapeString(clip(visible(s), maxSpans)), "`", "&#96;")
}
