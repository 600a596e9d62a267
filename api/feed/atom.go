package feed

import (
	"encoding/xml"
	"fmt"
	"time"
)

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
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  *atomAuthor `xml:"author"` // nil: the feed's
	Link    link        `xml:"link"`
	Summary string      `xml:"summary"`
}

type atomAuthor struct {
	Name string `xml:"name"`
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
		entry := atomEntry{ID: e.id, Title: e.title, Updated: e.at.Format(time.RFC3339), Link: link{e.page, "alternate", ""}, Summary: e.text}
		if e.author != "" {
			entry.Author = &atomAuthor{e.author}
		}
		out.Entries = append(out.Entries, entry)
	}
	if body, err = xml.MarshalIndent(&out, "", " "); err != nil {
		return nil, "", fmt.Errorf("write Atom: %w", err)
	}
	return append([]byte(xml.Header), body...), "application/atom+xml; charset=utf-8", nil
}
