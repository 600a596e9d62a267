package poparse

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// style is how a program breaks strings into lines.
type style struct {
	// width is the number of columns of a line with its quotes; at 0 only line feeds
	// end lines.
	width int
	// joined says that not even line feeds do.
	joined bool
}

// gettextStyle is the style of gettext's programs.
var gettextStyle = style{width: pageWidth}

// candidate is a style, how breaks are found in it, and how many of the samples it
// writes as they were.
type candidate struct {
	style
	blanks                bool
	translations, sources int
}

// better reports whether a candidate is better than another: the translations decide,
// as the sources may have been copied from a template. Where they tell nothing, the
// sources do.
func (c candidate) better(than candidate) bool {
	if c.translations != than.translations {
		return c.translations > than.translations
	}
	return c.sources > than.sources
}

// maxSamples bounds the entries that the style is read from.
const maxSamples = 200

// detectStyle returns the style of the entries that were read: the one that writes
// most of them as they were, and gettext's if no other writes more.
func (e *editor) detectStyle() style {
	samples, longest := e.samples()
	best := candidate{style: gettextStyle}
	e.try(&best, samples)
	all := best.translations + best.sources
	if all == 2*len(samples) {
		e.render.text.Blanks = false
		return best.style
	}
	consider := func(c candidate) {
		if e.try(&c, samples); c.better(best) {
			best = c
		}
	}
	consider(candidate{})
	consider(candidate{style: style{joined: true}})
	widths := []int{77, 78, 76, 80, 72, 70, 100, 120}
	if longest > 20 && !slices.Contains(widths, longest) {
		widths = append(widths, longest)
	}
	consider(candidate{style: gettextStyle, blanks: true})
	for _, width := range widths {
		consider(candidate{style: style{width: width}})
		consider(candidate{style: style{width: width}, blanks: true})
	}
	e.render.text.Blanks = best.blanks
	return best.style
}

// samples returns entries that were read, by their indexes, whose form may tell
// styles apart, and the length in characters of the longest line of their
// translations among those that do not end with a line feed. Headers tell nothing:
// programs write some of their lines by themselves.
func (e *editor) samples() (samples []int, longest int) {
	text := e.cursor.text
	for k, entry := range e.record.entries {
		s := &e.record.spans[k]
		if isHeader(entry) || !s.lines() || slices.Contains(entry.Flags, "no-wrap") || !tells(entry.ID) && !slices.ContainsFunc(entry.Str, tells) {
			continue
		}
		samples = append(samples, k)
	}
	if n := len(samples); n > maxSamples { // some from each part of the file
		for i := range maxSamples {
			samples[i] = samples[i*n/maxSamples]
		}
		samples = samples[:maxSamples]
	}
	for _, k := range samples {
		s := &e.record.spans[k]
		lines := strings.Split(strings.ReplaceAll(text[s.from[partTranslations]:s.to], "\r\n", "\n"), "\n")
		for i, line := range lines {
			wraps := i+1 < len(lines) && strings.HasPrefix(lines[i+1], `"`) && !strings.HasSuffix(line, `\n"`)
			if n := utf8.RuneCountInString(line); wraps && n > longest {
				longest = n
			}
		}
	}
	return samples, longest
}

// tells reports whether programs may break a string differently.
func tells(s string) bool {
	line := strings.IndexByte(s, '\n')
	return len(s) > 50 || line >= 0 && line+1 < len(s)
}

// try counts the samples that a candidate writes as they were.
func (e *editor) try(c *candidate, samples []int) {
	e.render.style, e.render.text.Blanks = c.style, c.blanks
	for _, k := range samples {
		s, entry := &e.record.spans[k], e.record.entries[k]
		e.render.nl = lineEnd(e.cursor.text[s.from[partIDs]:s.to], e.nl)
		e.part.Reset()
		e.render.ids(entry)
		if e.part.String() == e.cursor.text[s.from[partIDs]:s.from[partTranslations]] {
			c.sources++
		}
		e.part.Reset()
		e.render.translations(entry)
		if e.part.String() == e.cursor.text[s.from[partTranslations]:s.to] {
			c.translations++
		}
	}
}

// record records where the entries of a file are, for WriteTo. A nil record records
// nothing.
type record struct {
	entries []*Entry // headers included
	spans   []span   // of each entry
	current span
	// all lifts the bounds against hostile input.
	all bool
}

// span is the text of an entry: its parts, one after the other. whole says for each
// part whether it begins at the start of a line, without a prefix from the line
// before.
type span struct {
	from  [partCount]int
	whole [partCount]bool
	to    int
}

// part is a part of an entry, in the order of the file.
type part int

const (
	partComments part = iota
	partPrevious
	partIDs
	partTranslations
	partCount
)

// begin records that an entry's first comment or keyword is at the position.
func (r *record) begin(p *parser) {
	if r == nil {
		return
	}
	r.current = span{}
	if r.all {
		p.items = -1 << 62
	}
	r.part(p, partComments)
}

// part records that a part begins at the position, with the blanks and prefixes
// before it if the last token was on another line.
func (r *record) part(p *parser, k part) {
	if r == nil {
		return
	}
	r.current.from[k] = max(p.tokenEnd, p.lineStart)
	r.current.whole[k] = p.tokenEnd <= p.lineStart
}

// joinNextLine records that a comment's prefix extends to the next line, so that no
// part of the entry can be written alone.
func (r *record) joinNextLine() {
	if r != nil {
		r.current.whole[partComments] = false
	}
}

// end records that the last entry is complete.
func (r *record) end(p *parser) {
	if r == nil {
		return
	}
	to := p.tokenEnd
	for to < len(p.text) && isBlank(p.text[to]) {
		to++
	}
	switch {
	case to == len(p.text):
	case p.text[to] == '\n':
		to++
	default:
		to = p.tokenEnd
	}
	r.current.to = to
	r.spans = append(r.spans, r.current)
	r.entries = append(r.entries, p.entries[len(p.entries)-1])
}

// end returns the end of a part.
func (s *span) end(k part) int {
	if k+1 == partCount {
		return s.to
	}
	return s.from[k+1]
}

// lines reports whether all parts begin at the start of a line.
func (s *span) lines() bool { return !slices.Contains(s.whole[:], false) }
