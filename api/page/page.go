// Package page shows an answer of the API to a person: the resource as a page
// of HTML whose links can be clicked.
//
// It takes the JSON that a program would get and renders it, first as a table,
// then as text with a link for every URL.
//
// Goals: text from a PO file or a request never becomes markup, runs or reorders
// the text around it: html/template writes all markup; pages need no script and
// nothing from another host; they can be read on a phone, in the dark and by a
// screen reader; their size is bounded.
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

// Policy is the Content-Security-Policy of every page: it allows the page's own
// style and nothing else.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

//go:embed *.html style.css
var files embed.FS

// Page is an answer to be shown.
type Page struct {
	// Title names the resource, such as "Unit List".
	Title string
	// Target is path and query of the request, for the line that shows it.
	Target string
	// Status is the line after the version of HTTP, such as "200 OK".
	Status string
	// Failed says that Body describes an error.
	Failed bool
	// Headers are the headers worth showing, name and value.
	Headers [][2]string
	// People is the path of the page for people about the same; "" if there is none.
	People string
	// Formats are other forms of the same resource.
	Formats []Link
	// Views are filters and orders of the same list.
	Views []Link
	// Search is the search form of a list; nil for no form.
	Search *Search
	// Body is the answer, which must be JSON.
	Body []byte
	// Direction returns "rtl" or "ltr" for the code of a language; if it is nil
	// or returns "", browsers decide by each text.
	Direction func(code string) string
}

// Link is a link of a page.
type Link struct {
	Name, URL string
	// Current says that it leads to the page that it is on.
	Current bool
}

// Search is a form for the parameter q.
type Search struct {
	// Path is the address that it leads to, and Query the present q.
	Path, Query string
}

// view is what the frame shows.
type view struct {
	Page
	Style          template.CSS
	Window         string // the title of the browser's window
	Heading, Kind  string // the name of an object, and what it is
	Crumbs         []Link
	Table          *table
	Empty          bool // a list without entries
	Open           bool // the JSON says more than the table
	Text           *answer
	Count          string
	Next, Previous string
	First, Last    string // "" if Previous or Next is
	Problem        string
}

// templates parses the embedded templates once.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.ParseFS(files, "*.html")
})

// style returns the style sheet, which every page contains.
func style() (template.CSS, error) {
	data, err := files.ReadFile("style.css")
	return template.CSS(data), err //nolint:gosec // an embedded file of this package
}

// Render makes the page, in UTF-8.
func Render(p *Page) ([]byte, error) {
	body, err := parse(p.Body)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", p.Target, err)
	}
	v := view{Page: *p, Crumbs: crumbs(p.Target), Heading: p.Title}
	if v.Style, err = style(); err != nil {
		return nil, fmt.Errorf("read the style: %w", err)
	}
	v.fill(body)
	v.Window = window(&v)
	v.Text = answerOf(body)
	return execute("frame.html", v)
}

// fill takes from the JSON what the page shows above it.
func (v *view) fill(body *node) {
	results := body
	if body.kind == object {
		if r := body.get("results"); r != nil && body.get("count") != nil {
			results = r
			v.Count, v.Next, v.Previous = body.text("count"), webURL(body.text("next")), webURL(body.text("previous"))
			v.First, v.Last = turnTo(v.Previous, ""), turnTo(v.Next, "last")
		}
	}
	t := &tabler{direction: v.Direction}
	switch {
	case v.Failed:
		v.Problem = problem(body)
		v.Open = v.Problem == ""
	case results.kind == array:
		v.Table, v.Empty = t.list(results), len(results.members) == 0
		v.Open = v.Table == nil && !v.Empty
	case body.kind == object:
		var whole bool
		v.Table, whole = t.object(body)
		v.Open = v.Table == nil || !whole
		if name := nameOf(body); name != "" {
			v.Heading, v.Kind = visible(cut(name, maxCrumb)), v.Title
		}
	default:
		v.Open = true
	}
}

// turnTo returns the address of another page of a list: of the first one if page
// is "".
func turnTo(link, page string) string {
	u, err := url.Parse(link)
	if err != nil || link == "" {
		return ""
	}
	query := u.Query()
	if query.Del("page"); page != "" {
		query.Set("page", page)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// problem returns the message of an error: the text under detail, or the texts
// about parameters (docs/compatibility.md#errors).
func problem(body *node) string {
	var said []string
	for i, key := range body.keys {
		switch m := body.members[i]; {
		case key == "detail":
			said = append(said, m.value)
		case key == "errors": // says again what is under the other keys
		case m.kind == array:
			for _, text := range m.members {
				said = append(said, key+": "+text.value)
			}
		}
	}
	return visible(cut(strings.Join(said, "\n"), maxShown))
}

// window returns the title of the window: the heading and what it belongs to.
func window(v *view) string {
	parts := []string{v.Heading}
	if v.Kind != "" {
		parts = append(parts, v.Kind)
	} else if len(v.Crumbs) > 3 {
		var of []string
		for _, crumb := range v.Crumbs[2 : len(v.Crumbs)-1] {
			of = append(of, crumb.Name)
		}
		parts = append(parts, strings.Join(of, "/"))
	}
	return strings.Join(append(parts, "repoglot"), " · ")
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

// crumbs returns the resources above a target. Every prefix of a path of the API
// is a resource, except between a collection and its members.
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
			switch { // two or three segments name a member
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

// Bounds of the path above a page, which any client may choose.
const (
	maxCrumb  = 80
	maxCrumbs = 10
)
