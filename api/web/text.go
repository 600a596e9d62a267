package web

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse/diff"
)

func path(segments ...string) string { return wire.Path(segments...) }

// visible makes a text fit to be shown: cut, and with what is hidden in it.
func visible(s string) string {
	if utf8.RuneCountInString(s) > maxShown {
		s = string([]rune(s)[:maxShown]) + "…"
	}
	return page.Visible(s)
}

// span is a part of a text: "" as is, "ins" added, "del" removed, "mark" where a check fails.
type span = diff.Span

// difference compares two texts word by word.
func difference(old, new string) []span {
	if strings.ReplaceAll(old, catalog.FormSeparator, "") == "" {
		old = "" // plural forms without a text
	}
	old, new = visible(forms(old)), visible(forms(new))
	if old == new {
		return []span{{Text: new}}
	}
	return diff.Mark(old, new)
}

func forms(s string) string { return strings.ReplaceAll(s, catalog.FormSeparator, "\n") }

var (
	rightToLeft = regexp.MustCompile(`[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}]`)
	holders     = regexp.MustCompile(`%(\d+\$|\([^()\s]+\))?[-+ #0']*\d*(\.\d+)?(hh|h|ll|l|j|z|t|L)?[A-Za-z@]|\$?\{[^{}\s]*\}|</?[A-Za-z][^<>]*>|&#?\w+;`)
)

// bidi shows a text, or the parts of one. In one that is written from right to left, placeholders
// and tags keep the order of their characters.
func bidi(text any) template.HTML {
	spans, ok := text.([]span)
	if !ok {
		spans = []span{{Text: text.(string)}}
	}
	turned := slices.ContainsFunc(spans, func(s span) bool { return rightToLeft.MatchString(s.Text) })
	var b strings.Builder
	for _, s := range spans {
		shown, at := "", 0
		for _, hit := range holders.FindAllStringIndex(s.Text, -1) {
			if turned {
				shown += template.HTMLEscapeString(s.Text[at:hit[0]]) + `<bdi dir="ltr">` + template.HTMLEscapeString(s.Text[hit[0]:hit[1]]) + "</bdi>"
				at = hit[1]
			}
		}
		if shown += template.HTMLEscapeString(s.Text[at:]); s.Kind != "" {
			shown = "<" + s.Kind + ">" + shown + "</" + s.Kind + ">"
		}
		b.WriteString(shown)
	}
	return template.HTML(b.String())
}

// place is a part of a text, in code points.
type place struct{ from, to int }

// marked splits a text where checks fail. An empty place marks the character before it.
func marked(s string, places []place) []span {
	if len(places) == 0 {
		return []span{{Text: visible(s)}}
	}
	runes := []rune(s)
	on := make([]bool, len(runes))
	for _, p := range places {
		if p.to <= p.from {
			p.from, p.to = p.from-1, p.from
		}
		for i := max(0, p.from); i < min(p.to, len(runes)); i++ {
			on[i] = true
		}
	}
	if len(runes) > maxShown || !slices.Contains(on, true) {
		return []span{{Text: visible(s)}}
	}
	var out []span
	for i, j := 0, 0; i < len(runes); i = j {
		for j < len(runes) && on[j] == on[i] {
			j++
		}
		text := span{Text: visible(string(runes[i:j]))}
		if on[i] {
			text.Kind = "mark"
			inner := strings.TrimLeft(text.Text, " ") // blanks are shown where no letters show the mark
			text.Text = strings.Repeat("␣", len(text.Text)-len(inner)) + inner
			inner = strings.TrimRight(text.Text, " ")
			text.Text = inner + strings.Repeat("␣", len(text.Text)-len(inner))
		}
		out = append(out, text)
	}
	return out
}
