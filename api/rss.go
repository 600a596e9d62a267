package api

import (
	"context"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// rssEntries is the number of changes in a feed (facts §12).
const rssEntries = 10

type rssFeed struct {
	XMLName xml.Name  `xml:"rss"`
	Version string    `xml:"version,attr"`
	DC      string    `xml:"xmlns:dc,attr"`
	Title   string    `xml:"channel>title"`
	Link    string    `xml:"channel>link"`
	About   string    `xml:"channel>description"`
	Items   []rssItem `xml:"channel>item"`
}

type rssItem struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	Creator     string `xml:"dc:creator,omitempty"`
	Published   string `xml:"pubDate"`
	GUID        struct {
		Permalink bool   `xml:"isPermaLink,attr"`
		ID        string `xml:",chardata"`
	} `xml:"guid"`
}

// rssOf answers the newest changes of a scope as RSS 2.0.
func rssOf(scope changeScope) handler {
	return func(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
		q, _, err := scope(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		q.Newest = true
		l, err := snap.ChangeList(ctx, q)
		if err != nil {
			return nil, err
		}
		entries, err := l.Page(ctx, 0, rssEntries)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, name := range []string{"project", "component", "language", "code"} {
			if value := r.segment(name); value != "" {
				names = append(names, value)
			}
		}
		title := "Recent changes"
		if len(names) > 0 {
			title += " in " + strings.Join(names, "/")
		}
		f := rssFeed{Version: "2.0", DC: "http://purl.org/dc/elements/1.1/", Title: title, Link: r.link.web("/"), About: title}
		for i := range entries {
			f.Items = append(f.Items, newRSSItem(r.link, &entries[i]))
		}
		body, err := xml.MarshalIndent(&f, "", " ")
		if err != nil {
			return nil, fmt.Errorf("write RSS: %w", err)
		}
		return &document{contentType: "application/rss+xml; charset=utf-8", body: append([]byte(xml.Header), body...)}, nil
	}
}

func newRSSItem(l links, c *catalog.Change) rssItem {
	item := rssItem{Title: c.Action.Name(), Creator: c.AuthorName, Published: c.Timestamp.UTC().Format(time.RFC1123Z)}
	item.GUID.ID = l.base + "/api/changes/" + itoa(c.ID) + "/"
	where := []string{"projects", c.Project, c.Component}
	if c.Language != "" && !c.Gone {
		where = append(where, c.Language)
	}
	item.Link = l.web(path(where...))
	text := c.Project + "/" + c.Component
	if c.Language != "" {
		text += "/" + c.Language
	}
	if c.Source != "" {
		text += ": " + shortLine(c.Source) + " → " + shortLine(c.Target)
	}
	item.Description = text
	return item
}

// shortLine is a text, or its first 200 characters, in one line.
func shortLine(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, catalog.FormSeparator, " / ")), " ")
	if runes := []rune(s); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return s
}
