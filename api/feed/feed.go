// Package feed writes the newest changes as RSS 2.0 and as Atom (RFC 4287).
//
// Goals: the same changes give the same bytes; any text is safe in them.
// Non-goals: choosing the changes, which is api/resource's.
package feed

import (
	"bytes"
	"embed"
	"encoding/xml"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// Feed is a feed before it is written.
type Feed struct {
	// Title is "Recent changes in …".
	Title string
	// Page is the URL of the resource that the feed is about, Self the feed's own.
	Page, Self string
	// Updated is the time of the newest entry, in UTC; zero in an empty feed.
	Updated time.Time
	Entries []Entry
}

// Entry is one change as feeds show it (docs/compatibility.md#feeds).
type Entry struct {
	// ID names the entry and never changes; it is a URL that need not exist.
	ID string
	// Title is the action; Text is one line about the string; Author is a full name or "".
	Title, Text, Author string
	// Page is the web address of the unit, or of what the change is about.
	Page string
	At   time.Time
}

// New makes a feed of entries, newest first, about something; page and self are paths.
func New(l wire.Links, entries []catalog.Change, about, page, self string) *Feed {
	f := &Feed{Title: "Recent changes", Page: l.Web(page), Self: l.Web(self)}
	if about != "" {
		f.Title += " in " + about
	}
	for i := range entries {
		f.Entries = append(f.Entries, newEntry(l, &entries[i]))
	}
	if len(entries) > 0 {
		f.Updated = entries[0].Timestamp.UTC()
	}
	return f
}

func newEntry(l wire.Links, c *catalog.Change) Entry {
	e := Entry{
		ID: l.Base + "/api/changes/" + wire.FormatID(c.ID) + "/", Title: c.Action.Name(), Author: c.AuthorName, At: c.Timestamp.UTC(),
		Text: c.Project + "/" + c.Component, Page: l.ChangePage(c),
	}
	if c.Language == "" {
		return e
	}
	e.Text += "/" + c.Language
	if c.Source != "" {
		e.Text += ": " + oneLine(c.Source) + " → " + oneLine(c.Target)
		e.Title += ": " + catalog.Clip(oneLine(c.Source), 60) // readers show a list of titles
	}
	if c.Commit != "" {
		e.Text += " (" + c.Commit[:min(len(c.Commit), 10)] + ")"
	}
	return e
}

// oneLine puts a text on one line and cuts it after 200 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, catalog.FormSeparator, " / ")), " ")
	return catalog.Clip(s, 200)
}

//go:embed *.xml
var files embed.FS

// templates parses rss.xml and atom.xml once.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"xml": escaped}).ParseFS(files, "*.xml"))
})

// escaped writes a text for XML 1.0, which has no control characters: each becomes U+FFFD. A
// title of RSS is text to some readers and markup to others; the RSS Advisory Board's profile
// says which form of < most take as the character.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return strings.ReplaceAll(b.String(), "&lt;", "&#x3C;")
}

// Write writes the feed as "rss", RSS 2.0, or "atom", Atom 1.0 (RFC 4287).
func (f *Feed) Write(format string) (body []byte, contentType string, err error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := templates().ExecuteTemplate(&b, format+".xml", f); err != nil {
		return nil, "", fmt.Errorf("write a feed: %w", err)
	}
	return b.Bytes(), "application/" + format + "+xml; charset=utf-8", nil
}
