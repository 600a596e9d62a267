package api

import (
	"strconv"

	"github.com/repoglot/repoglot/catalog"
)

// unitPage is a page of units, each in the scope of its translation (an
// appender).
type unitPage struct {
	units []catalog.Unit
	scope func(u *catalog.Unit) *unitScope
}

func (p *unitPage) objects() any {
	objects := make([]unitObject, len(p.units))
	for i := range p.units {
		objects[i] = p.scope(&p.units[i]).unit(&p.units[i])
	}
	return objects
}

func (p *unitPage) appendJSON(b []byte) []byte {
	b = append(b, '[')
	for i := range p.units {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendObject(b, i)
	}
	return append(b, ']')
}

func (p *unitPage) length() int { return len(p.units) }

func (p *unitPage) appendObject(b []byte, i int) []byte {
	return p.scope(&p.units[i]).appendUnit(b, &p.units[i])
}

// appendUnit writes what encoding/json makes of unit(u). The test holds the two
// together: a field that is new there has to come here.
func (s *unitScope) appendUnit(b []byte, u *catalog.Unit) []byte {
	b = appendText(append(b, `{"translation":"`...), s.translation)
	b = appendForms(append(b, `","source":`...), catalog.SplitForms(u.Source))
	b = appendString(append(b, `,"previous_source":`...), u.PreviousSource)
	b = appendForms(append(b, `,"target":`...), catalog.TargetForms(u.Source, u.Target, s.forms))
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
	b = s.appendLink(append(b, `,"source_unit":`...), u.SourceID)
	b = appendInt(append(b, `,"priority":`...), int64(u.Priority))
	b = appendInt(append(b, `,"id":`...), u.ID)
	b = appendText(append(b, `,"web_url":"`...), s.translate)
	b = catalog.AppendChecksum(b, u.Identity.Hash)
	b = s.appendLink(append(b, `","url":`...), u.ID)
	b = append(b, `,"explanation":"","extra_flags":"","pending":false,"timestamp":"`...)
	b = append(appendUnitTime(b, u.Created), '"')
	if u.Removed {
		b = append(b, `,"removed":true`...)
	}
	return append(b, '}')
}

func (s *unitScope) appendLink(b []byte, id int64) []byte {
	b = appendText(append(b, '"'), s.link.base)
	b = appendInt(append(b, "/api/units/"...), id)
	b = appendText(append(b, "/?format="...), s.link.format)
	return append(b, '"')
}
