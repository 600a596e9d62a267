package wire

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// NewUnitPage makes a page of units; scope returns that of a unit's translation.
func NewUnitPage(units []catalog.Unit, scope func(u *catalog.Unit) *UnitScope) ListWriter {
	return ListWriter{len(units), func(b []byte, i int) []byte { return scope(&units[i]).appendUnit(b, &units[i]) }}
}

// UnitScope is what the units of one translation share: escaped JSON between their values, and
// the last time that was written, since most units of a page have the same. It is for one
// answer and not safe for concurrent use.
type UnitScope struct {
	head, link, format, web, language string

	forms  int
	at     time.Time
	atText []byte
}

// NewUnitScope makes the scope of the units of a translation.
func NewUnitScope(l Links, t *catalog.Translation, project, component string) UnitScope {
	escaped := func(text string) string { return string(appendText(nil, text)) }
	return UnitScope{
		head:   `{"translation":"` + escaped(l.API(TranslationPath(project, component, t.Language))) + `","source":`,
		link:   `"` + escaped(l.Base) + "/api/units/",
		format: "/" + escaped(l.suffix()) + `"`,
		web:    `,"web_url":"` + escaped(l.Web(TranslatePath(project, component, t.Language))) + "?checksum=",

		language: `","language_code":"` + escaped(t.Language) + `"`,
		forms:    t.PluralNumber,
	}
}

// Unit is a unit with the keys of Weblate 4.x in their order, and ours after them.
type Unit struct {
	scope *UnitScope
	unit  *catalog.Unit
}

// Unit makes the object of a unit.
func (s *UnitScope) Unit(u *catalog.Unit) Unit { return Unit{s, u} }

// MarshalJSON writes the keys.
func (u Unit) MarshalJSON() ([]byte, error) { return u.scope.appendUnit(nil, u.unit), nil }

// HasText reports whether a later state of the unit has the same state and text.
func (u Unit) HasText(now *catalog.Unit) bool {
	forms := func(u *catalog.Unit, n int) []string { return catalog.TargetForms(u.Source, u.Target, n) }
	return now.State == u.unit.State && slices.Equal(forms(now, u.scope.forms), forms(u.unit, u.scope.forms))
}

// appendUnit writes the keys of a unit. PO is bilingual: both of its hashes are of source and
// context. The key language_code is of newer Weblates. The key removed is ours: true for a
// unit that is in no file any more, otherwise left out (docs/compatibility.md#ids).
func (s *UnitScope) appendUnit(b []byte, u *catalog.Unit) []byte {
	b = appendSource(append(b, s.head...), u.Source)
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
	b = s.appendLink(append(b, `,"source_unit":`...), u.SourceID)
	b = appendInt(append(b, `,"priority":`...), int64(u.Priority))
	b = appendInt(append(b, `,"id":`...), u.ID)
	b = catalog.AppendChecksum(append(b, s.web...), u.Identity.Hash)
	b = s.appendLink(append(b, `","url":`...), u.ID)
	b = strconv.AppendBool(append(b, `,"explanation":"","extra_flags":"","pending":`...), u.Pending)
	b = append(b, `,"timestamp":"`...)
	b = append(s.appendTime(b, u.Created), s.language...)
	if u.Removed {
		b = append(b, `,"removed":true`...)
	}
	return append(b, '}')
}

func (s *UnitScope) appendLink(b []byte, id int64) []byte {
	return append(appendInt(append(b, s.link...), id), s.format...)
}

func (s *UnitScope) appendTime(b []byte, at time.Time) []byte {
	if s.atText == nil || at != s.at {
		s.at, s.atText = at, appendUnitTime(s.atText[:0], at)
	}
	return append(b, s.atText...)
}

func appendSource(b []byte, source string) []byte {
	if strings.Contains(source, catalog.FormSeparator) {
		return appendForms(b, catalog.SplitForms(source))
	}
	return append(appendString(append(b, '['), source), ']')
}

func (s *UnitScope) appendTarget(b []byte, u *catalog.Unit) []byte {
	if strings.Contains(u.Source, catalog.FormSeparator) || strings.Contains(u.Target, catalog.FormSeparator) {
		return appendForms(b, catalog.TargetForms(u.Source, u.Target, s.forms))
	}
	return append(appendString(append(b, '['), u.Target), ']')
}

// Done is the answer to an operation on a repository.
type Done struct {
	Result bool   `json:"result"`
	Detail string `json:"detail,omitempty"`
}
