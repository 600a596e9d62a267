package checks

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLength fails for each form that is longer than the flag max-length allows,
// after the flag replacements is applied. With xml-text, tags do not count.
func maxLength(r *run, _, t string) hit {
	limit := r.flags.maxLength
	if r.flags.replace == nil && (len(t) <= limit || utf8.RuneCountInString(t) <= limit) {
		return hit{}
	}
	at := r.tooLong(t, limit)
	return hit{failed: at >= 0, target: Span{at, len(t)}}
}

// tooLong returns the byte from which s is too long, or -1. It returns 0 if that
// position is not known, because something is replaced or cut.
func (r *run) tooLong(s string, limit int) int {
	text := s
	if r.flags.xmlText {
		text = cutTags(s)
	}
	if r.flags.replace != nil {
		counter := runeCounter{left: limit}
		if _, err := r.flags.replace.WriteString(&counter, text); err != nil {
			return 0
		}
		return -1
	}
	if utf8.RuneCountInString(text) <= limit {
		return -1
	}
	if len(text) != len(s) {
		return 0
	}
	from := 0
	for range limit {
		_, n := utf8.DecodeRuneInString(s[from:])
		from += n
	}
	return from
}

// cutTags removes <tags>.
func cutTags(s string) string {
	var kept strings.Builder
	for {
		before, rest, _ := strings.Cut(s, "<")
		_, after, closed := strings.Cut(rest, ">")
		if !closed {
			return kept.String() + s
		}
		kept.WriteString(before)
		s = after
	}
}

var errTooLong = errors.New("text too long")

// runeCounter counts the characters written to it. It returns errTooLong when there
// are more than left: replacements may make a text of any length.
type runeCounter struct{ left int }

func (c *runeCounter) Write(b []byte) (int, error) {
	if c.left -= utf8.RuneCount(b); c.left < 0 {
		return 0, errTooLong
	}
	return len(b), nil
}

// pluralised is "(s)" at the end of a word.
var pluralised = regexp.MustCompile(`[_\pL\pN](\(s\))(?:[^_\pL\pN]|$)`)

// optionalPlural finds "file(s)" in a source without plural forms.
func optionalPlural(r *run, s string, _ int) hit {
	if len(r.unit.Sources) > 1 || !strings.Contains(s, "(s)") {
		return hit{}
	}
	at := pluralised.FindStringSubmatchIndex(s)
	if at == nil {
		return hit{}
	}
	return hit{failed: true, source: Span{at[2], at[3]}}
}

// ellipsis finds three full stops instead of one character.
func ellipsis(_ *run, s string, form int) hit {
	i := strings.Index(s, "...")
	if i < 0 || form > 0 {
		return hit{}
	}
	return hit{failed: true, source: Span{i, i + 3}}
}

// unnamedFormat finds several placeholders that only their position identifies.
func unnamedFormat(r *run, s string, form int) hit {
	if form > 0 {
		return hit{}
	}
	for _, x := range r.flags.holes {
		all, _ := x.collect(s, r.left[:0])
		r.left = all
		if unnamed := slices.DeleteFunc(all, func(p placeholder) bool { return !p.position }); len(unnamed) > 1 {
			return hit{failed: true, sources: places(unnamed)}
		}
	}
	return hit{}
}
