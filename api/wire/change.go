package wire

import (
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// NewChange makes the object of a change entry: the keys of Weblate 4.x in their order, and ours,
// old and details, after them (docs/compatibility.md#change-entries).
func NewChange(l Links, from *catalog.Change) Object {
	var unit, translation, user *string
	var details any
	target := from.Target
	if from.Action.Credited() && from.Username != "" {
		user = OrNull(l.User(from.Username))
	}
	switch own := newDetails(from); {
	case from.UnitID == 0:
		if details = eventDetails(own, from); from.Action == catalog.ActionRemoveTranslation {
			target = from.Event["file"]
		}
	case from.TranslationRemoved: // its code instead of its URL, which would answer 404
		unit, details = OrNull(l.Unit(from.UnitID)), own.some("language", from.Language)
	default:
		unit, details = OrNull(l.Unit(from.UnitID)), own
		translation = OrNull(l.API(TranslationPath(from.Project, from.Component, from.Language)))
	}
	return Object{
		"unit", unit, "component", l.API(ComponentPath(from.Project, from.Component)), "translation", translation, "user", user, "author", user,
		"timestamp", ChangeTime(from.Timestamp), "action", int64(from.Action), "target", target, "id", from.ID, "action_name", from.Action.Name(),
		"url", l.API("/api/changes/" + FormatID(from.ID) + "/"), "old", from.Old, "details", details,
	}
}

// newDetails are the details of an entry about a string. State and old_state are -1 where the unit does not
// exist, co_authors are the full names of the commit's Co-authored-by trailers, and previous_source
// is the source of the removed string that this new one replaced, as its file says.
func newDetails(from *catalog.Change) Object {
	o := Object{
		"commit", OrNull(from.Commit), "commit_time", TimeOrNull(from.CommitTime, UnitTime), "author_name", OrNull(from.AuthorName),
		"state", int64(from.State), "old_state", int64(from.OldState), "source", from.Source, "context", from.Context,
	}
	if len(from.CoAuthors) > 0 {
		o = append(o, "co_authors", from.CoAuthors)
	}
	return o.some("previous_source", from.Event[catalog.EventPreviousSource])
}

// some adds a text, unless it is empty.
func (o Object) some(key, text string) Object {
	if text == "" {
		return o
	}
	return append(o, key, text)
}

// eventDetails makes the details of an entry about a component or a file
// (docs/compatibility.md#component-events): the keys of every entry, then the
// event's own, which win.
func eventDetails(own Object, from *catalog.Change) map[string]any {
	details := map[string]any{}
	for i := 0; i < len(own); i += 2 {
		details[own[i].(string)] = own[i+1]
	}
	for key, value := range from.Event {
		details[key] = value
		if line, err := strconv.Atoi(value); err == nil && key == "line" {
			details[key] = line
		}
	}
	return details
}

// TimeOrNull formats a time by form, which is UnitTime or ChangeTime; nil for the zero time.
func TimeOrNull(t time.Time, form func(time.Time) string) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(form(t))
}

// ChangePage returns the URL of the page of what a change is about: a string, a translation or a
// component.
func (l Links) ChangePage(c *catalog.Change) string {
	switch {
	case c.Language == "" || c.TranslationRemoved:
		return l.Web(Path("projects", c.Project, c.Component))
	case c.UnitID == 0 || c.Action == catalog.ActionStringRemove:
		return l.Web(Path("projects", c.Project, c.Component, c.Language))
	}
	var h catalog.Hasher
	return l.Web(TranslatePath(c.Project, c.Component, c.Language)) + "?checksum=" + catalog.Checksum(h.Identity(c.Source, c.Context).Hash)
}
