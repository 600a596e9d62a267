package feed

import (
	"encoding/xml"
	"fmt"
	"time"
)

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
	Description string  `xml:"description"`
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
			Title: e.title, Link: e.page, Description: e.text, Creator: e.author, Published: e.at.Format(time.RFC1123Z), GUID: rssGUID{ID: e.id},
		})
	}
	if body, err = xml.MarshalIndent(&out, "", " "); err != nil {
		return nil, "", fmt.Errorf("write RSS: %w", err)
	}
	return append([]byte(xml.Header), body...), "application/rss+xml; charset=utf-8", nil
}
