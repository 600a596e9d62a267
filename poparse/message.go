package poparse

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// message reads one entry from its first keyword on; the comments before it are
// pending. It follows the grammar of gettext's po-gram-gen.y.
func (p *parser) message() (*Entry, error) {
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
		if err := p.previousStrings(e); err != nil {
			return nil, err
		}
	}
	idAt, err := p.ids(e)
	if err != nil {
		return nil, err
	}
	p.record.part(p, partTranslations)
	if err := p.translations(e, idAt); err != nil {
		return nil, err
	}
	p.record.end(p)
	return e, nil
}

// ids reads the msgctxt, msgid and msgid_plural of an entry and moves to its msgstr.
// It returns the offset of the msgid.
func (p *parser) ids(e *Entry) (idAt int, err error) {
	e.KeywordLine = p.line
	p.record.part(p, partIDs)
	at := p.pos
	keyword := p.word()
	if keyword == "msgctxt" {
		if err := p.take(keyword, e, false, &e.Context); err != nil {
			return 0, err
		}
		e.HasContext = true
		if keyword = p.word(); keyword != "msgid" {
			return 0, p.unexpected(ErrNoMsgid, at, "an entry has a msgctxt but no msgid")
		}
		if err := p.same(e, false); err != nil {
			return 0, err
		}
	}
	if keyword != "msgid" {
		return 0, p.misplaced(keyword)
	}
	idAt = p.pos
	if err := p.take(keyword, e, false, &e.ID); err != nil {
		return 0, err
	}
	keyword = p.word()
	if keyword == "msgid_plural" && !p.previous {
		if err := p.take(keyword, e, false, &e.IDPlural); err != nil {
			return 0, err
		}
		e.HasPlural = true
		keyword = p.word()
	}
	if keyword != "msgstr" {
		return 0, p.unexpected(ErrNoMsgstr, idAt, "the entry has no msgstr")
	}
	return idAt, p.same(e, false)
}

// newEntry appends an entry and returns it.
func (p *parser) newEntry() *Entry {
	e := p.slots.new(len(p.text) - p.pos)
	p.entries = append(p.entries, e)
	return e
}

// previousStrings reads the "#|" part of an entry and moves to the keyword after
// it.
func (p *parser) previousStrings(e *Entry) error {
	prev := new(Previous)
	e.Previous = prev
	at := p.pos
	keyword := p.word()
	if keyword == "msgctxt" {
		if err := p.take(keyword, e, true, &prev.Context); err != nil {
			return err
		}
		if keyword = p.word(); keyword != "msgid" || !p.previous {
			return p.unexpected(ErrPrevious, at, "there is a #| msgctxt but no #| msgid after it")
		}
		if err := p.same(e, true); err != nil {
			return err
		}
	}
	if keyword != "msgid" {
		if keyword == "" {
			return p.stray(ErrPrevious, "expected msgctxt or msgid after #|")
		}
		return p.fail(ErrPrevious, p.pos, "only msgctxt, msgid and msgid_plural, in this order, can follow #|, not %s", clip(keyword))
	}
	if err := p.take(keyword, e, true, &prev.ID); err != nil {
		return err
	}
	if p.previous && p.on("msgid_plural") {
		if err := p.take("msgid_plural", e, true, &prev.IDPlural); err != nil {
			return err
		}
	}
	if keyword = p.word(); keyword != "msgid" && keyword != "msgctxt" {
		return p.unexpected(ErrPrevious, at, "the msgctxt or msgid of the entry does not follow its #| lines directly (comments go before them)")
	}
	return p.same(e, false)
}

// take reads the value of the keyword at the position into dst.
func (p *parser) take(keyword string, e *Entry, previous bool, dst *string) (err error) {
	if err := p.same(e, previous); err != nil {
		return err
	}
	p.pos += len(keyword)
	*dst, err = p.value(keyword, e.Obsolete, previous)
	return err
}

// same checks that the next token has the prefix that the entry began with.
func (p *parser) same(e *Entry, previous bool) error {
	if p.obsolete != e.Obsolete || p.previous != previous {
		return p.mixed(e.Obsolete)
	}
	return nil
}

// mixed returns the error for a line whose prefix differs from the entry's.
func (p *parser) mixed(obsolete bool) error {
	if obsolete && !p.obsolete {
		return p.fail(ErrMixed, p.pos, "this line belongs to an obsolete entry but does not begin with #~: write #~ on all lines of an obsolete entry")
	}
	if !obsolete && p.obsolete {
		return p.fail(ErrMixed, p.pos, "this line begins with #~ but belongs to an entry that does not: write #~ on all lines of an obsolete entry or on none")
	}
	return p.fail(ErrMixed, p.pos, "lines with #| and without it do not make one string: write #| on all lines of a previous string and on none of the others")
}

// translations reads the msgstr or the msgstr[N] of an entry; idAt is the offset of
// its msgid.
func (p *parser) translations(e *Entry, idAt int) error {
	p.strs = p.strs[:0]
	at, line := p.pos, p.line
	p.pos += len("msgstr")
	index, indexed, err := p.index(e)
	if err != nil {
		return err
	}
	switch {
	case !indexed && e.HasPlural:
		return p.fail(ErrPlural, at, "the entry has a msgid_plural: number its translations, msgstr[0], msgstr[1] and so on")
	case indexed && !e.HasPlural:
		return p.fail(ErrPlural, idAt, "the entry has no msgid_plural for the msgstr[%d] on line %d: add it, or write msgstr", index, line)
	case !indexed:
		str, err := p.value("msgstr", e.Obsolete, false)
		e.Str = p.slots.one(str)
		return err
	}
	err = p.forms(e, index)
	p.slots.dropOne()
	e.Str = p.keep(p.strs)
	return err
}

// forms reads the translations of a plural. The first index has been read.
func (p *parser) forms(e *Entry, index int) error {
	var seen uint64 // a bit for each index
	line, odd := p.line, ""
	for {
		if index >= maxPlurals {
			return p.fail(ErrPlural, p.pos, "plural index %d: no language has that many forms, the highest index accepted is %d", index, maxPlurals-1)
		}
		str, err := p.value("msgstr[]", e.Obsolete, false)
		if err != nil {
			return err
		}
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
		if err := p.same(e, false); err != nil {
			return err
		}
		at := p.pos
		p.pos += len("msgstr")
		var indexed bool
		if index, indexed, err = p.index(e); err != nil {
			return err
		} else if !indexed {
			return p.fail(ErrPlural, at, "a second msgstr in one entry, without index: number the plural forms, or remove it")
		}
	}
	if seen != 1<<len(p.strs)-1 && odd == "" {
		odd = "there are gaps between the plural indices: the missing forms are read as empty"
	}
	if odd != "" {
		p.warn(line, 1, WarnPluralIndex, "%s", odd)
	}
	return nil
}

// index reads the "[N]" after msgstr; ok is false without one. As in gettext, "#~"
// must be the same at each of its tokens, and "#|" does not matter.
func (p *parser) index(e *Entry) (n int, ok bool, err error) {
	if strings.HasPrefix(p.text[p.pos:], ` "`) { // the usual case; value skips the blank
		return 0, false, nil
	}
	p.skip()
	if p.pos == len(p.text) || p.text[p.pos] != '[' {
		return 0, false, nil
	}
	if p.obsolete != e.Obsolete {
		return 0, false, p.mixed(e.Obsolete)
	}
	at := p.pos
	p.pos++
	p.skip()
	if p.obsolete != e.Obsolete {
		return 0, false, p.mixed(e.Obsolete)
	}
	digits := p.pos
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		n = min(10*n+int(p.text[p.pos]-'0'), 1<<20)
		p.pos++
	}
	empty := p.pos == digits
	p.skip()
	if p.pos == len(p.text) {
		return 0, false, p.fail(ErrTruncated, at, "the file ends inside the index of msgstr: is it truncated?")
	}
	if empty || p.text[p.pos] != ']' {
		return 0, false, p.fail(ErrPlural, at, "expected an index in brackets after msgstr, such as msgstr[0]")
	}
	if p.obsolete != e.Obsolete {
		return 0, false, p.mixed(e.Obsolete)
	}
	p.pos++
	return n, true, nil
}

// directive reads a domain directive.
func (p *parser) directive() error {
	// Comments before a directive are about it or about the file: gettext does
	// not give them to the next entry either.
	p.pending.reset()
	line, column := p.line, 1+utf8.RuneCountInString(p.text[p.lineStart:p.pos])
	p.pos += len("domain")
	at := p.pos
	name, err := p.value("domain", p.obsolete, p.previous)
	if err != nil {
		return err
	}
	if err := p.oneString(at, p.tokenEnd); err != nil {
		return err
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
	return nil
}

// oneString returns an error for more than one string between two offsets: the name
// of a domain is one string (gettext's po-gram-gen.y).
func (p *parser) oneString(at, end int) error {
	first := at + strings.IndexByte(p.text[at:], '"')
	if after := closingQuote(p.text, first+1) + 1; after < end {
		second := after + strings.IndexByte(p.text[after:], '"')
		return p.fail(ErrLooseString, second, "a second string after domain: its name is one string")
	}
	return nil
}

// misplaced returns the error for a keyword that cannot begin an entry.
func (p *parser) misplaced(keyword string) error {
	switch keyword {
	case "":
		return p.stray(ErrText, "unexpected text")
	case "msgid_plural", "msgstr":
		return p.fail(ErrNoMsgid, p.pos, "%s without a msgid before it: is the line of the msgid missing or commented out?", keyword)
	case "domain":
		return p.fail(ErrText, p.pos, "a domain directive inside an entry")
	}
	if e := p.sniff(p.pos); e != nil {
		return e
	}
	if p.afterQuote() {
		return p.stray(ErrText, "unexpected text")
	}
	return p.unknownKeyword()
}

func (p *parser) unknownKeyword() error {
	begun := func(keyword string) bool { return strings.HasPrefix(keyword, p.word()) }
	if word := p.word(); p.pos+len(word) == len(p.text) && slices.ContainsFunc(keywords, begun) {
		return p.fail(ErrTruncated, p.pos, "the file ends inside a keyword, after %q: is it truncated?", word)
	}
	return p.fail(ErrKeyword, p.pos, "unknown keyword %q: expected msgctxt, msgid, msgid_plural, msgstr or a comment", clip(p.word()))
}

// unexpected returns the error for an entry, or part of one, that does not continue
// as it must. at is the offset of its keyword; the text at the position is the
// reason.
func (p *parser) unexpected(code string, at int, msg string) error {
	if p.pos == len(p.text) {
		return p.fail(ErrTruncated, at, "%s: the file ends here, is it truncated?", msg)
	}
	if e := p.sniff(p.pos); e != nil {
		return e
	}
	switch c := p.text[p.pos]; {
	case c == '#':
		return p.fail(code, at, "%s: a comment on line %d interrupts it", msg, p.line)
	case c == '"':
		return p.mixed(p.entries[len(p.entries)-1].Obsolete)
	case isLetter(c) && slices.Contains(keywords, p.word()):
		return p.fail(code, at, "%s before %s on line %d", msg, p.word(), p.line)
	case isLetter(c) && !p.afterQuote():
		return p.unknownKeyword()
	}
	return p.stray(code, msg)
}

// keywords are all; msgid_plural begins with msgid.
var keywords = []string{"msgctxt", "msgid", "msgid_plural", "msgstr", "domain"}

// stray returns the error for text that is not allowed at the position.
func (p *parser) stray(code, msg string) error {
	if e := p.sniff(p.pos); e != nil {
		return e
	}
	line, _, _ := strings.Cut(p.text[p.pos:], "\n")
	if p.onNUL() {
		if p.afterQuote() {
			code = ErrAfterString
		}
		return p.fail(code, p.pos, "%s, NUL bytes: the file is damaged, as after a crash or on a full disk; get it anew", msg)
	}
	if p.afterQuote() {
		return p.fail(ErrAfterString, p.pos, "text after the closing quote, %q: write \\\" for a quote inside of a string", clip(line))
	}
	return p.fail(code, p.pos, "%s: %q", msg, clip(line))
}

// onNUL reports whether a NUL is at the position, as U+FFFD in the text. In a file
// with both characters it returns false.
func (p *parser) onNUL() bool {
	const replacement = "\uFFFD"
	return p.enc.withNUL != "" && strings.HasPrefix(p.text[p.pos:], replacement) && !strings.Contains(p.enc.withNUL, replacement)
}

// afterQuote reports whether a string ends directly before the position, on its
// line.
func (p *parser) afterQuote() bool {
	return p.tokenEnd > p.lineStart && p.text[p.tokenEnd-1] == '"' && strings.Trim(p.text[p.tokenEnd:p.pos], blanks) == ""
}
