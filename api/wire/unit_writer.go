package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// UnitPage is a page of units, each in the scope of its translation. It is a
// ListWriter.
type UnitPage struct {
	units []catalog.Unit
	scope func(u *catalog.Unit) *UnitScope
}

// NewUnitPage makes a page of units; scope returns the scope of a unit.
func NewUnitPage(units []catalog.Unit, scope func(u *catalog.Unit) *UnitScope) *UnitPage {
	return &UnitPage{units, scope}
}

// Objects returns a slice of Unit.
func (p *UnitPage) Objects() any {
	objects := make([]Unit, len(p.units))
	for i := range p.units {
		objects[i] = p.scope(&p.units[i]).Unit(&p.units[i])
	}
	return objects
}

// AppendJSON writes the page as an array.
func (p *UnitPage) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i := range p.units {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.AppendObject(b, i)
	}
	return append(b, ']')
}

// Len is the number of units.
func (p *UnitPage) Len() int { return len(p.units) }

// AppendObject writes the unit at index i.
func (p *UnitPage) AppendObject(b []byte, i int) []byte {
	return p.scope(&p.units[i]).appendUnit(b, &p.units[i])
}

// unitText is the escaped JSON that all units of a scope share, and the last
// time that was written: most units of a page have the same time.
type unitText struct {
	head, link, format, web, language string
	at                                time.Time
	atText                            []byte
}

func (s *UnitScope) makeText() {
	escaped := func(text string) string { return string(appendText(nil, text)) }
	s.text = &unitText{
		head:   `{"translation":"` + escaped(s.translation) + `","source":`,
		link:   `"` + escaped(s.link.Base) + "/api/units/",
		format: "/" + escaped(s.link.suffix()) + `"`,
		web:    `,"web_url":"` + escaped(s.translate),

		language: `","language_code":"` + escaped(s.language) + `"`,
	}
}

// appendUnit writes the JSON of s.Unit(u). TestAppendedUnits compares the two:
// a new field has to be added to both.
func (s *UnitScope) appendUnit(b []byte, u *catalog.Unit) []byte {
	if s.text == nil {
		s.makeText()
	}
	t := s.text
	b = appendSource(append(b, t.head...), u.Source)
	b = appendString(append(b, `,"previous_source":`...), u.PreviousSource)
	b = s.appendTarget(append(b, `,"target":`...), u)
	b = appendInt(append(b, `,"id_hash":`...), u.Identity.Hash)
	b = appendInt(append(b, `,"content_hash":`...), u.Identity.Hash)
	b = appendString(append(b, `,"location":`...), u.Location)
	b = appendString(append(b, `,"context":`...), u.Context)
	b = appendString(append(b, `,"note":`...), u.Note)
	b = appendString(append(b, `,"flags":`...), u.Flags)
	b = appendInt(append(b, `,"state":`...), int64(u.State))
	b = strconv.AppendBool(append(b, `,"fuzzy":`...), u.State.Fuzzy())
	b = strconv.AppendBool(append(b, `,"translated":`...), u.State.Translated())
	b = strconv.AppendBool(append(b, `,"approved":`...), u.State.Approved())
	b = appendInt(append(b, `,"position":`...), int64(u.Position))
	b = strconv.AppendBool(append(b, `,"has_suggestion":`...), u.HasSuggestion)
	b = strconv.AppendBool(append(b, `,"has_comment":`...), u.Comment != "")
	b = strconv.AppendBool(append(b, `,"has_failing_check":`...), u.Failing != [2]uint64{})
	b = appendInt(append(b, `,"num_words":`...), int64(u.Words))
	b = t.appendLink(append(b, `,"source_unit":`...), u.SourceID)
	b = appendInt(append(b, `,"priority":`...), int64(u.Priority))
	b = appendInt(append(b, `,"id":`...), u.ID)
	b = catalog.AppendChecksum(append(b, t.web...), u.Identity.Hash)
	b = t.appendLink(append(b, `","url":`...), u.ID)
	b = strconv.AppendBool(append(b, `,"explanation":"","extra_flags":"","pending":`...), u.Pending)
	b = append(b, `,"timestamp":"`...)
	b = append(t.appendTime(b, u.Created), t.language...)
	if u.Removed {
		b = append(b, `,"removed":true`...)
	}
	return append(b, '}')
}

func (t *unitText) appendLink(b []byte, id int64) []byte {
	return append(appendInt(append(b, t.link...), id), t.format...)
}

func (t *unitText) appendTime(b []byte, at time.Time) []byte {
	if t.atText == nil || at != t.at {
		t.at, t.atText = at, appendUnitTime(t.atText[:0], at)
	}
	return append(b, t.atText...)
}

// appendSource writes the forms of a source.
func appendSource(b []byte, source string) []byte {
	if strings.Contains(source, catalog.FormSeparator) {
		return appendForms(b, catalog.SplitForms(source))
	}
	return append(appendString(append(b, '['), source), ']')
}

// appendTarget writes the forms of a target.
func (s *UnitScope) appendTarget(b []byte, u *catalog.Unit) []byte {
	if strings.Contains(u.Source, catalog.FormSeparator) || strings.Contains(u.Target, catalog.FormSeparator) {
		return appendForms(b, catalog.TargetForms(u.Source, u.Target, s.forms))
	}
	return append(appendString(append(b, '['), u.Target), ']')
}
