// Package feed writes the newest changes as RSS 2.0 and as Atom (RFC 4287).
//
// Goals: the same changes give the same bytes; any text is safe in them.
// Non-goals: choosing the changes, which is api/resource's.
package feed

import (
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// Feed is a feed before it is written.
type Feed struct {
	// title is "Recent changes in …".
	title string
	// page is the URL of the resource that the feed is about, self the feed's
	// own.
	page, self string
	// updated is the time of the newest entry; zero in an empty feed.
	updated time.Time
	entries []entry
}

// entry is one change as feeds show it (docs/compatibility.md#feeds).
type entry struct {
	// id names the entry and never changes; it is a URL that need not exist.
	id string
	// title is the action; text is one line about the string; author is a full
	// name or "".
	title, text, author string
	// page is the web address of the unit, or of what the change is about.
	page string
	at   time.Time
}

// New makes a feed of entries, newest first. about says in words what it is
// about; page and self are paths.
func New(l wire.Links, entries []catalog.Change, about, page, self string) *Feed {
	f := &Feed{title: "Recent changes", page: l.Web(page), self: l.Web(self)}
	if about != "" {
		f.title += " in " + about
	}
	for i := range entries {
		f.entries = append(f.entries, newEntry(l, &entries[i]))
	}
	if len(entries) > 0 {
		f.updated = entries[0].Timestamp
	}
	return f
}

func newEntry(l wire.Links, c *catalog.Change) entry {
	e := entry{
		id: l.Base + "/api/changes/" + wire.FormatID(c.ID) + "/", title: c.Action.Name(), author: c.AuthorName, at: c.Timestamp.UTC(),
		text: c.Project + "/" + c.Component, page: l.Web(wire.Path("projects", c.Project, c.Component)),
	}
	if c.Language == "" {
		return e
	}
	e.text += "/" + c.Language
	if c.Source != "" {
		e.text += ": " + oneLine(c.Source) + " → " + oneLine(c.Target)
	}
	switch {
	case c.TranslationRemoved:
	case c.UnitID == 0 || c.Action == catalog.ActionStringRemove:
		e.page = l.Web(wire.Path("projects", c.Project, c.Component, c.Language))
	default:
		var h catalog.Hasher
		e.page = l.Web(wire.TranslatePath(c.Project, c.Component, c.Language)) + "?checksum=" + catalog.Checksum(h.Identity(c.Source, c.Context).Hash)
	}
	return e
}

// oneLine puts a text on one line and cuts it after 200 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, catalog.FormSeparator, " / ")), " ")
	if runes := []rune(s); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return s
}
