// Package page shows an answer of the API to a person: the resource as a page
// of HTML whose links can be clicked.
//
// What it does: it takes the JSON that a program would get and renders it, a
// list as a table first, then as the text itself with a link for every URL.
//
// Goals: nothing that a PO file or a request says can become markup, run or
// reorder the text around it; pages need no script and nothing from another
// host; they can be read on a phone, in the dark and by a screen reader; their
// size is bounded.
//
// Non-goals: it knows no resource, no store and no HTTP. It adds no facts: what
// a page tells, the JSON tells.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"sync"
)

// Policy is the Content-Security-Policy of every page: its own style and no
// more.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

//go:embed frame.html style.css docs.html front.html
var files embed.FS

// Page is an answer to be shown.
type Page struct {
	// Title names the resource, such as "Unit List".
	Title string
	// Target is path and query of the request, for the line that repeats it.
	Target string
	// Status is the line after the version of HTTP, such as "200 OK".
	Status string
	// Headers are the headers worth showing, name and value.
	Headers [][2]string
	// Formats are other forms of the same resource.
	Formats []Link
	// Body is the answer as JSON; what is no JSON is an error.
	Body []byte
	// Direction tells how a language is written, "rtl" or "ltr", by its code;
	// nil, or "", leaves it to each text.
	Direction func(code string) string
}

// Link is something to click.
type Link struct{ Name, URL string }

// view is what the frame shows.
type view struct {
	Page
	Style          template.CSS
	Crumbs         []Link
	Table          template.HTML
	Object         bool // no list
	Text           template.HTML
	Count          string
	Next, Previous string
	Problem        string
}

// templates are parsed once; they cannot change while the program runs.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.ParseFS(files, "*.html")
})

// style is the sheet that every page carries.
func style() (template.CSS, error) {
	data, err := files.ReadFile("style.css")
	return template.CSS(data), err //nolint:gosec // our own, embedded
}

// Render makes the page, in UTF-8.
func Render(p *Page) ([]byte, error) {
	body, err := parse(p.Body)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", p.Target, err)
	}
	v := view{Page: *p, Crumbs: crumbs(p.Target)}
	if v.Style, err = style(); err != nil {
		return nil, fmt.Errorf("read the style: %w", err)
	}
	results := body
	if body.kind == object {
		if r := body.get("results"); r != nil && body.get("count") != nil {
			results = r
			v.Count, v.Next, v.Previous = body.text("count"), webURL(body.text("next")), webURL(body.text("previous"))
		}
		if detail := body.get("detail"); detail != nil && len(body.members) == 1 {
			v.Problem = visible(detail.value)
		}
	}
	switch {
	case results.kind == array:
		v.Table = tableOf(results, p.Direction)
	case body.kind == object:
		v.Table, v.Object = rowOf(body, p.Direction), true
	}
	v.Text = textOf(body)
	return execute("frame.html", v)
}

func execute(name string, v any) ([]byte, error) {
	t, err := templates()
	if err != nil {
		return nil, fmt.Errorf("parse the templates: %w", err)
	}
	var buf bytes.Buffer
	if err := t.ExecuteTemplate(&buf, name, v); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return buf.Bytes(), nil
}

// crumbs are the resources above that of a target. Every prefix of a path of
// the API answers, but those between a collection and a member of it.
func crumbs(target string) []Link {
	path, _, _ := strings.Cut(target, "?")
	segments := strings.Split(strings.Trim(path, "/"), "/")
	var list []Link
	at := "/"
	for i, segment := range segments {
		at += segment + "/"
		name := segment
		if plain, err := url.PathUnescape(segment); err == nil {
			name = plain
		}
		link := Link{Name: visible(cut(name, maxCrumb)), URL: at}
		if i > 1 && i < 4 && (segments[1] == "components" || segments[1] == "translations") {
			switch { // members are named by two or three segments
			case i == 2:
				link.URL = "/api/projects/" + segment + "/"
			case i == 3 && segments[1] == "translations":
				link.URL = "/api/components/" + segments[2] + "/" + segment + "/"
			}
		}
		list = append(list, link)
	}
	if len(list) > maxCrumbs {
		list = list[:maxCrumbs]
	}
	return list
}

// Bounds of the path above a page: it is a stranger's.
const (
	maxCrumb  = 80
	maxCrumbs = 10
)
