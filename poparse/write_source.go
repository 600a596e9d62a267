package poparse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// source is the text that a File was read from: WriteTo writes the bytes of
// unchanged entries from it.
type source struct {
	decoded
	// raw has the bytes of the file, without the byte order mark, if text has
	// other bytes: in other encodings, and with NUL. Else it is "".
	raw string
}

// keep keeps the bytes that were read, where text has others.
func (s *source) keep(data []byte) {
	s.warnings = nil
	switch {
	case s.enc != nil:
		s.raw = string(data[s.bom:])
	case s.withNUL != "":
		s.raw, s.withNUL = s.withNUL, ""
	}
}

// mark returns the byte order mark of the file.
func (s *source) mark() string {
	switch {
	case s.bom == 0:
		return ""
	case s.bom == 3:
		return "\xef\xbb\xbf"
	case s.bigEndian:
		return "\xfe\xff"
	}
	return "\xff\xfe"
}

// cursor finds the raw bytes of a part of the text. It moves forward only.
type cursor struct {
	*source
	textLine, rawLine int // the last offset, or the start of its line
}

// offset returns the offset in raw for an offset of the text. Both have the same
// line feeds, so only the last line is decoded.
func (c *cursor) offset(at int) int {
	for {
		n := strings.IndexByte(c.text[c.textLine:at], '\n')
		if n < 0 {
			break
		}
		c.textLine += n + 1
		c.rawLine = c.lineEnd(c.rawLine)
	}
	if at == c.textLine {
		return c.rawLine
	}
	before := c.text[c.textLine:at]
	n := 0
	switch rest := c.raw[c.rawLine:min(len(c.raw), c.rawLine+4*len(before)+16)]; {
	case c.enc == nil: // NUL is one byte here and three in text
		n = runesLen(rest, utf8.RuneCountInString(before))
	default:
		// n is the number of bytes that decode to the text up to the offset.
		text, _ := c.enc.NewDecoder().String(rest)
		size := runesLen(text, utf8.RuneCountInString(before))
		_, n, _ = c.enc.NewDecoder().Transformer.Transform(make([]byte, size), []byte(rest), true)
	}
	c.textLine, c.rawLine = at, c.rawLine+n
	return c.rawLine
}

// runesLen returns the length of the first n characters of s.
func runesLen(s string, n int) int {
	at := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// lineEnd returns the index in raw after the next line feed.
func (c *cursor) lineEnd(from int) int {
	if !c.utf16() {
		if n := strings.IndexByte(c.raw[from:], '\n'); n >= 0 {
			return from + n + 1
		}
		return len(c.raw)
	}
	high := 1
	if c.bigEndian {
		high = 0
	}
	for i := from; i+1 < len(c.raw); i += 2 {
		if c.raw[i+high] == 0 && c.raw[i+1-high] == '\n' {
			return i + 2
		}
	}
	return len(c.raw)
}

// piece returns the bytes of a part of the text.
func (c *cursor) piece(from, to int) string {
	if c.raw == "" {
		return c.text[from:to]
	}
	start := c.offset(from)
	return c.raw[start:c.offset(to)]
}

// output is how changed text is encoded.
type output struct {
	enc     encoding.Encoding // nil for UTF-8 and ASCII
	charset string            // for errors
	ascii   bool
	has     *repertoire // of charset, once it was asked
}

// outputFor returns the encoding for the header now, and whether the source has the
// same one, so that unchanged bytes can be kept. A file with a byte order mark or in
// UTF-16 keeps its encoding.
func outputFor(s *source, before, now *Entry) (output, bool, error) {
	was := output{enc: s.enc, charset: s.charset, ascii: s.enc == nil && s.charset == charsetASCII}
	if s.bom > 0 || s.utf16() {
		return was, true, nil
	}
	name := headerCharset(now)
	if name == headerCharset(before) {
		return was, true, nil
	}
	class, enc := lookupCharset(name)
	switch class {
	case charsetUTF8:
		return output{charset: name}, was.enc == nil, nil
	case charsetTable:
		return output{enc: enc, charset: name}, was.ascii || was.enc == enc && slices.Equal(repertoireOf(was.charset, enc).other, repertoireOf(name, enc).other), nil
	case charsetNone:
		return output{charset: charsetASCII, ascii: true}, was.ascii, nil
	}
	return output{}, false, fmt.Errorf("unknown charset %q in the header: say charset=UTF-8", clip(name))
}

// guessed reports whether the charset of a file with this header must be guessed.
func (s *source) guessed(header *Entry) bool {
	class, _ := lookupCharset(headerCharset(header))
	return s.bom == 0 && !s.utf16() && class == charsetNone
}

func headerCharset(header *Entry) string {
	if header == nil || len(header.Str) == 0 {
		return ""
	}
	return charsetOf(header.Str[0])
}

// encode converts text. The error names a character that the charset lacks.
func (o *output) encode(text string) (string, error) {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return "", fmt.Errorf("a string is not UTF-8, or has a NUL, which PO files cannot hold")
	}
	switch {
	case o.charset == charsetUTF16:
		return o.enc.NewEncoder().String(text)
	case o.enc == nil && !o.ascii:
		return text, nil
	}
	first := firstHigh([]byte(text))
	if first < 0 {
		return text, nil
	}
	out := append(make([]byte, 0, len(text)), text[:first]...)
	for _, r := range text[first:] {
		ok := r < utf8.RuneSelf
		switch {
		case ok:
			out = append(out, byte(r))
		case o.enc != nil:
			if o.has == nil {
				o.has = repertoireOf(o.charset, o.enc)
			}
			out, ok = o.has.append(out, r)
		}
		if !ok {
			return "", fmt.Errorf("%q (%U) is not in the charset %s: use another character, or convert the file to UTF-8 (a change of charset= in the header does)", r, r, clip(o.charset))
		}
	}
	return string(out), nil
}

// isAsianCharset reports whether gettext counts characters of ambiguous width as two
// columns in a charset.
func isAsianCharset(name string) bool {
	return slices.Contains([]string{"EUCJP", "GB2312", "EUCCN", "GBK", "CP936", "EUCTW", "BIG5", "EUCKR", "CP949", "JOHAB"}, charsetKey(name))
}

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
	return cmp.Or(cmp.Compare(c.translations, than.translations), cmp.Compare(c.sources, than.sources)) > 0
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

// reset forgets what was recorded, of a text that is read again.
func (r *record) reset() {
	if r != nil {
		*r = record{all: r.all}
	}
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
