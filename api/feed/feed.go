// Package feed writes the newest changes as RSS 2.0 and as Atom (RFC 4287).
//
// Goals: the same changes give the same bytes; any text is safe in them.
// Non-goals: choosing the changes, which is api/resource's.
package feed

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
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
		e.title += ": " + catalog.Clip(oneLine(c.Source), 60) // readers show a list of titles
	}
	if c.Commit != "" {
		e.text += " (" + c.Commit[:min(len(c.Commit), 10)] + ")"
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
	return catalog.Clip(s, 200)
}

const atomNamespace = "http://www.w3.org/2005/Atom"

// atomFeed is Atom 1.0 (RFC 4287).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []link      `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type link struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
}

type atomEntry struct {
	ID      string  `xml:"id"`
	Title   string  `xml:"title"`
	Updated string  `xml:"updated"`
	Author  *string `xml:"author>name"` // nil: the feed's
	Link    link    `xml:"link"`
	Summary string  `xml:"summary"`
}

// WriteAtom writes Atom 1.0. A feed must have a time, so an empty one has the
// epoch's: the same changes give the same bytes.
func WriteAtom(f *Feed) (body []byte, contentType string, err error) {
	updated := f.updated
	if updated.IsZero() {
		updated = time.Unix(0, 0)
	}
	out := atomFeed{
		ID: f.self, Title: f.title, Updated: updated.UTC().Format(time.RFC3339), Author: "repoglot",
		Links: []link{{f.self, "self", "application/atom+xml"}, {f.page, "alternate", ""}},
	}
	for _, e := range f.entries {
		out.Entries = append(out.Entries, atomEntry{
			ID: e.id, Title: e.title, Updated: e.at.Format(time.RFC3339), Author: wire.OrNull(e.author), Link: link{e.page, "alternate", ""}, Summary: e.text,
		})
	}
	return document(&out, "application/atom+xml")
}

func document(feed any, mediaType string) (body []byte, contentType string, err error) {
	if body, err = xml.MarshalIndent(feed, "", " "); err != nil {
		return nil, "", fmt.Errorf("write %s: %w", mediaType, err)
	}
	// A title of RSS is text to some readers and markup to others; the RSS Advisory Board's
	// profile says which form most take as the character.
	body = bytes.ReplaceAll(body, []byte("&lt;"), []byte("&#x3C;"))
	return append([]byte(xml.Header), body...), mediaType + "; charset=utf-8", nil
}

// rssFeed is RSS 2.0.
type rssFeed struct {
	XMLName xml.Name  `xml:"rss"`
	Version string    `xml:"version,attr"`
	Creator string    `xml:"xmlns:dc,attr"`
	Atom    string    `xml:"xmlns:atom,attr"`
	Title   string    `xml:"channel>title"`
	Link    string    `xml:"channel>link"`
	About   string    `xml:"channel>description"`
	Self    link      `xml:"channel>atom:link"`
	Built   string    `xml:"channel>lastBuildDate,omitempty"`
	Items   []rssItem `xml:"channel>item"`
}

type rssItem struct {
	Title       string  `xml:"title"`
	Link        string  `xml:"link"`
	Description string  `xml:"description"` // HTML (RSS 2.0, elements of item)
	Creator     string  `xml:"dc:creator,omitempty"`
	Published   string  `xml:"pubDate"`
	GUID        rssGUID `xml:"guid"`
}

type rssGUID struct {
	Permalink bool   `xml:"isPermaLink,attr"`
	ID        string `xml:",chardata"`
}

// WriteRSS writes RSS 2.0. The authors are in dc:creator, since RSS's own
// author is an e-mail address.
func WriteRSS(f *Feed) (body []byte, contentType string, err error) {
	out := rssFeed{
		Version: "2.0", Creator: "http://purl.org/dc/elements/1.1/", Atom: atomNamespace,
		Title: f.title, Link: f.page, About: f.title, Self: link{Href: f.self, Rel: "self", Type: "application/rss+xml"},
	}
	if !f.updated.IsZero() {
		out.Built = f.updated.UTC().Format(time.RFC1123Z)
	}
	for _, e := range f.entries {
		out.Items = append(out.Items, rssItem{
			Title: e.title, Link: e.page, Description: html.EscapeString(e.text), Creator: e.author, Published: e.at.Format(time.RFC1123Z), GUID: rssGUID{ID: e.id},
		})
	}
	return document(&out, "application/rss+xml")
}
