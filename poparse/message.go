package poparse

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// message reads one entry from its first keyword on; the comments before it are
// pending. It follows the grammar of gettext's po-gram-gen.y.
func (p *parser) message() *Entry {
	e := p.newEntry()
	if p.directives > 0 {
		e.Domain = p.domain
	}
	e.Obsolete = p.obsolete
	p.pending.moveTo(e, p)
	if e.Line == 0 {
		e.Line = p.line
		p.record.begin(p)
	}
	p.record.part(p, partPrevious)
	if p.previous {
		p.previousStrings(e)
	}
	if idAt := p.ids(e); p.err == nil {
		p.record.part(p, partTranslations)
		p.translations(e, idAt)
		p.record.end(p)
	}
	return e
}

// ids reads the msgctxt, msgid and msgid_plural of an entry and moves to its msgstr.
// It returns the offset of the msgid.
func (p *parser) ids(e *Entry) (idAt int) {
	e.KeywordLine = p.line
	p.record.part(p, partIDs)
	at := p.pos
	keyword := p.word()
	if keyword == "msgctxt" {
		p.take(keyword, e, false, &e.Context)
		e.HasContext = true
		if keyword = p.word(); keyword != "msgid" {
			p.unexpected(ErrNoMsgid, at, "an entry has a msgctxt but no msgid")
		}
		p.same(e, false)
	}
	if keyword != "msgid" {
		p.misplaced(keyword)
	}
	idAt = p.pos
	p.take(keyword, e, false, &e.ID)
	keyword = p.word()
	if keyword == "msgid_plural" && !p.previous {
		p.take(keyword, e, false, &e.IDPlural)
		e.HasPlural = true
		keyword = p.word()
	}
	if keyword != "msgstr" {
		p.unexpected(ErrNoMsgstr, idAt, "the entry has no msgstr")
	}
	p.same(e, false)
	return idAt
}

// newEntry appends an entry and returns it.
func (p *parser) newEntry() *Entry {
	e := p.slots.new(len(p.text) - p.pos)
	p.count++
	e.number = p.count
	p.entries = append(p.entries, e)
	return e
}

// previousStrings reads the "#|" part of an entry and moves to the keyword after
// it.
func (p *parser) previousStrings(e *Entry) {
	prev := new(Previous)
	e.Previous = prev
	at := p.pos
	keyword := p.word()
	if keyword == "msgctxt" {
		p.take(keyword, e, true, &prev.Context)
		if keyword = p.word(); keyword != "msgid" || !p.previous {
			p.unexpected(ErrPrevious, at, "there is a #| msgctxt but no #| msgid after it")
		}
		p.same(e, true)
	}
	switch keyword {
	case "msgid":
	case "":
		p.stray(ErrPrevious, "expected msgctxt or msgid after #|")
	default:
		p.fail(ErrPrevious, p.pos, "only msgctxt, msgid and msgid_plural, in this order, can follow #|, not %s", clip(keyword))
	}
	p.take(keyword, e, true, &prev.ID)
	if p.previous && p.on("msgid_plural") {
		p.take("msgid_plural", e, true, &prev.IDPlural)
	}
	if keyword = p.word(); keyword != "msgid" && keyword != "msgctxt" {
		p.unexpected(ErrPrevious, at, "the msgctxt or msgid of the entry does not follow its #| lines directly (comments go before them)")
	}
	p.same(e, false)
}

// take reads the value of the keyword at the position into dst.
func (p *parser) take(keyword string, e *Entry, previous bool, dst *string) {
	p.same(e, previous)
	p.pass(len(keyword))
	*dst = p.value(keyword, e.Obsolete, previous)
}

// same checks that the next token has the prefix that the entry began with.
func (p *parser) same(e *Entry, previous bool) {
	if p.obsolete != e.Obsolete || p.previous != previous {
		p.mixed(e.Obsolete)
	}
}

// mixed says that a line has another prefix than the entry.
func (p *parser) mixed(obsolete bool) {
	switch {
	case obsolete && !p.obsolete:
		p.fail(ErrMixed, p.pos, "this line belongs to an obsolete entry but does not begin with #~: write #~ on all lines of an obsolete entry")
	case !obsolete && p.obsolete:
		p.fail(ErrMixed, p.pos, "this line begins with #~ but belongs to an entry that does not: write #~ on all lines of an obsolete entry or on none")
	default:
		p.fail(ErrMixed, p.pos, "lines with #| and without it do not make one string: write #| on all lines of a previous string and on none of the others")
	}
}

// translations reads the msgstr or the msgstr[N] of an entry; idAt is the offset of
// its msgid.
func (p *parser) translations(e *Entry, idAt int) {
	p.strs = p.strs[:0]
	at, line := p.pos, p.line
	p.pass(len("msgstr"))
	index, indexed := p.index(e)
	switch {
	case p.err != nil:
	case !indexed && e.HasPlural:
		p.fail(ErrPlural, at, "the entry has a msgid_plural: number its translations, msgstr[0], msgstr[1] and so on")
	case indexed && !e.HasPlural:
		p.fail(ErrPlural, idAt, "the entry has no msgid_plural for the msgstr[%d] on line %d: add it, or write msgstr", index, line)
	case !indexed:
		e.Str = p.slots.one(p.value("msgstr", e.Obsolete, false))
	default:
		p.forms(e, index)
		p.slots.dropOne()
		e.Str = p.keep(p.strs)
	}
}

// forms reads the translations of a plural. The first index has been read.
func (p *parser) forms(e *Entry, index int) {
	var seen uint64 // a bit for each index
	line, odd := p.line, ""
	for p.err == nil {
		if index >= maxPlurals {
			p.fail(ErrPlural, p.pos, "plural index %d: no language has that many forms, the highest index accepted is %d", index, maxPlurals-1)
			return
		}
		str := p.value("msgstr[]", e.Obsolete, false)
		switch {
		case odd != "": // one warning is enough
		case seen&(1<<index) != 0:
			odd = fmt.Sprintf("msgstr[%d] is repeated: the first one counts", index)
		case index < len(p.strs):
			odd = fmt.Sprintf("msgstr[%d] comes late: sorted by index", index)
		}
		if seen&(1<<index) == 0 {
			for len(p.strs) <= index {
				p.strs = append(p.strs, "")
			}
			p.strs[index] = str
			seen |= 1 << index
		}
		if !p.on("msgstr") {
			break
		}
		p.same(e, false)
		at := p.pos
		p.pass(len("msgstr"))
		var indexed bool
		if index, indexed = p.index(e); !indexed {
			p.fail(ErrPlural, at, "a second msgstr in one entry, without index: number the plural forms, or remove it")
		}
	}
	if seen != 1<<len(p.strs)-1 && odd == "" {
		odd = "there are gaps between the plural indices: the missing forms are read as empty"
	}
	if odd != "" {
		p.warn(line, 1, WarnPluralIndex, "%s", odd)
	}
}

// index reads the "[N]" after msgstr; ok is false without one. As in gettext, "#~"
// must be the same at each of its tokens, and "#|" does not matter.
func (p *parser) index(e *Entry) (n int, ok bool) {
	if strings.HasPrefix(p.text[p.pos:], ` "`) { // the usual case; value skips the blank
		return 0, false
	}
	p.skip()
	if p.pos == len(p.text) || p.text[p.pos] != '[' {
		return 0, false
	}
	sameMark := func() {
		if p.obsolete != e.Obsolete {
			p.mixed(e.Obsolete)
		}
	}
	at := p.pos
	sameMark()
	p.pass(1)
	p.skip()
	sameMark()
	digits := p.pos
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		n = min(10*n+int(p.text[p.pos]-'0'), 1<<20)
		p.pos++
	}
	empty := p.pos == digits
	switch p.skip(); {
	case p.pos == len(p.text):
		p.fail(ErrTruncated, at, "the file ends inside the index of msgstr: is it truncated?")
	case empty || p.text[p.pos] != ']':
		p.fail(ErrPlural, at, "expected an index in brackets after msgstr, such as msgstr[0]")
	}
	sameMark()
	p.pass(1)
	return n, true
}

// directive reads a domain directive.
func (p *parser) directive() {
	// Comments before a directive are about it or about the file: gettext does
	// not give them to the next entry either.
	p.pending.reset()
	line, column := p.line, 1+utf8.RuneCountInString(p.text[p.lineStart:p.pos])
	p.pass(len("domain"))
	at := p.pos
	name := p.value("domain", p.obsolete, p.previous)
	if p.oneString(at, p.tokenEnd); p.err != nil {
		return
	}
	if p.directives++; p.directives == 1 {
		if !slices.ContainsFunc(p.entries, func(e *Entry) bool { return !e.Obsolete }) { // headers are not among them
			p.file.Domain = name
		}
		what := "entries after this directive"
		if p.file.Domain != "" {
			what = fmt.Sprintf("entries outside of domain %q", clip(p.file.Domain))
		}
		p.warn(line, column, WarnDomain, "the file has domain directives: %s are left out of the catalog", what)
	}
	p.domain = name
}

// oneString fails for more than one string between two offsets: the name of a domain is
// one string (gettext's po-gram-gen.y).
func (p *parser) oneString(at, end int) {
	first := at + strings.IndexByte(p.text[at:], '"')
	if after := closingQuote(p.text, first+1) + 1; after < end {
		second := after + strings.IndexByte(p.text[after:], '"')
		p.fail(ErrLooseString, second, "a second string after domain: its name is one string")
	}
}

// misplaced says that a keyword cannot begin an entry.
func (p *parser) misplaced(keyword string) {
	switch {
	case keyword == "msgid_plural", keyword == "msgstr":
		p.fail(ErrNoMsgid, p.pos, "%s without a msgid before it: is the line of the msgid missing or commented out?", keyword)
	case keyword == "domain":
		p.fail(ErrText, p.pos, "a domain directive inside an entry")
	case keyword == "", p.afterQuote():
		p.stray(ErrText, "unexpected text")
	case !p.sniff(p.pos):
		p.unknownKeyword()
	}
}

func (p *parser) unknownKeyword() {
	begun := func(keyword string) bool { return strings.HasPrefix(keyword, p.word()) }
	if word := p.word(); p.pos+len(word) == len(p.text) && slices.ContainsFunc(keywords, begun) {
		p.fail(ErrTruncated, p.pos, "the file ends inside a keyword, after %q: is it truncated?", word)
	}
	p.fail(ErrKeyword, p.pos, "unknown keyword %q: expected msgctxt, msgid, msgid_plural, msgstr or a comment", clip(p.word()))
}

// unexpected says that an entry, or part of one, does not continue as it must. at is the
// offset of its keyword; the text at the position is the reason.
func (p *parser) unexpected(code string, at int, msg string) {
	if p.pos == len(p.text) {
		p.fail(ErrTruncated, at, "%s: the file ends here, is it truncated?", msg)
	}
	if p.err != nil || p.sniff(p.pos) {
		return
	}
	switch c := p.text[p.pos]; {
	case c == '#':
		p.fail(code, at, "%s: a comment on line %d interrupts it", msg, p.line)
	case c == '"':
		p.mixed(p.entries[len(p.entries)-1].Obsolete)
	case isLetter(c) && slices.Contains(keywords, p.word()):
		p.fail(code, at, "%s before %s on line %d", msg, p.word(), p.line)
	case isLetter(c) && !p.afterQuote():
		p.unknownKeyword()
	default:
		p.stray(code, msg)
	}
}

// keywords are all; msgid_plural begins with msgid.
var keywords = []string{"msgctxt", "msgid", "msgid_plural", "msgstr", "domain"}

// stray says that text is not allowed at the position.
func (p *parser) stray(code, msg string) {
	line, _, _ := strings.Cut(p.text[p.pos:], "\n")
	behind := p.afterQuote()
	switch {
	case p.sniff(p.pos):
	case p.onNUL():
		if behind {
			code = ErrAfterString
		}
		p.fail(code, p.pos, "%s, NUL bytes: the file is damaged, as after a crash or on a full disk; get it anew", msg)
	case behind:
		p.fail(ErrAfterString, p.pos, "text after the closing quote, %q: write \\\" for a quote inside of a string", clip(line))
	default:
		p.fail(code, p.pos, "%s: %q", msg, clip(line))
	}
}

// onNUL reports whether a NUL is at the position, as U+FFFD in the text. In a file
// with both characters it returns false.
func (p *parser) onNUL() bool {
	return p.enc.withNUL != "" && strings.HasPrefix(p.text[p.pos:], replacement) && !strings.Contains(p.enc.withNUL, replacement)
}

// afterQuote reports whether a string ends directly before the position, on its
// line.
func (p *parser) afterQuote() bool {
	return p.tokenEnd > p.lineStart && p.text[p.tokenEnd-1] == '"' && strings.Trim(p.text[p.tokenEnd:p.pos], blanks) == ""
}
