package web

import (
	"bytes"
	"context"
	"html/template"
	slashes "path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/docs"
)

type chapter struct {
	Name, Title, URL string
	Body             template.HTML
	Sections         []link
	text             string // folded, for the search
}

type theme struct {
	Name     string
	Chapters []*chapter
}

// readManual renders the pages, which are a part of the program, by theme, as in the README.
func readManual() (all []theme) {
	for _, t := range []struct {
		name  string
		pages []string
	}{
		{intl.Text("To begin"), []string{"tutorial", "faq", "comparison"}},
		{intl.Text("To use it"), []string{"translating", "search", "checks", "check", "merging", "editing", "api", "codes"}},
		{intl.Text("To run it"), []string{"configuration", "deploy", "operation", "access", "teams", "webhooks", "cluster", "scale"}},
		{intl.Text("To change it"), []string{"contributing", "design", "compatibility", "po", "benchmarks", "security"}},
	} {
		part := theme{Name: t.name}
		for _, name := range t.pages {
			source, err := docs.Files.ReadFile(name + ".md")
			if err != nil {
				panic(err)
			}
			part.Chapters = append(part.Chapters, renderChapter(name, source))
		}
		all = append(all, part)
	}
	return all
}

// renderChapter makes HTML of a page. Raw HTML in it is left out, as goldmark does by
// default; links to other pages of the manual stay within it.
func renderChapter(name string, source []byte) *chapter {
	c := &chapter{Name: name, Title: name, URL: path("docs", name), text: strings.ToLower(string(source))}
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(manualLinks{c}, 100))),
	)
	var b bytes.Buffer
	if err := md.Convert(source, &b); err != nil {
		panic(err) // only writing can fail, and memory does not
	}
	c.Body = template.HTML(strings.NewReplacer( // what may be wider than a phone is scrolled by itself, with the keyboard too
		"<table>", `<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`,
	).Replace(b.String()))
	return c
}

// manualLinks collects the headings of a page and corrects its links.
type manualLinks struct{ c *chapter }

// Transform implements parser.ASTTransformer.
func (m manualLinks) Transform(doc *ast.Document, reader gmtext.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := string(nodeText(n, reader.Source()))
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			switch n.Level {
			case 1:
				m.c.Title = title
			case 2:
				m.c.Sections = append(m.c.Sections, link{Name: title, URL: "#" + string(anchor)})
			}
		case *ast.Link:
			n.Destination = []byte(manualTarget(string(n.Destination)))
		case *ast.Image:
			n.Destination = append([]byte("/docs/"), n.Destination...)
		}
		return ast.WalkContinue, nil
	})
}

func nodeText(n ast.Node, source []byte) (text []byte) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			text = append(text, t.Segment.Value(source)...)
		} else {
			text = append(text, nodeText(child, source)...)
		}
	}
	return text
}

// repository is where files are that are not in the program.
const repository = "https://github.com/repoglot/repoglot/blob/main"

// manualTarget is where a link of a page leads: file.md#section is another page of the
// manual, and a file outside of it is in the repository.
func manualTarget(target string) string {
	file, anchor, _ := strings.Cut(target, "#")
	name, isPage := strings.CutSuffix(file, ".md")
	switch {
	case file == "" || strings.Contains(file, ":"):
		return target
	case !isPage || strings.Contains(name, "/"):
		return repository + slashes.Join("/docs", file) + target[len(file):]
	}
	target = path("docs", name)
	if anchor != "" {
		target += "#" + anchor
	}
	return target
}

type manual struct {
	Chapter *chapter
	Parts   []theme
	Query   string
	Found   []*chapter
}

func (p *Pages) manualPage(_ context.Context, _ *store.Snapshot, r *rest.Request, v *view) error {
	o := manual{Parts: p.manual, Query: strings.TrimSpace(v.param("q"))}
	var all []*chapter
	for _, part := range p.manual {
		all = append(all, part.Chapters...)
	}
	v.Crumbs = []link{{Name: v.L.T("Manual"), URL: "/docs/"}}
	v.named(v.L.T("Manual"), "repoglot")
	if name := r.PathParam("chapter"); name != "" {
		i := slices.IndexFunc(all, func(c *chapter) bool { return c.Name == strings.TrimSuffix(name, ".md") })
		if i < 0 {
			return rest.ErrNotFound
		}
		o.Chapter = all[i]
		v.Heading, v.Title = "", o.Chapter.Title+" · "+v.Title
	}
	if o.Query != "" {
		o.Found = findChapters(all, o.Query)
	}
	v.Body = o
	return nil
}

// findChapters finds pages with all words of a query: those with one in a title or name first.
func findChapters(all []*chapter, q string) []*chapter {
	words := strings.Fields(strings.ToLower(q))
	var titled, others []*chapter
	for _, c := range all {
		headings := strings.ToLower(c.Title)
		for _, s := range c.Sections {
			headings += "\n" + strings.ToLower(s.Name)
		}
		switch {
		case slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(c.text, word) }):
		case slices.ContainsFunc(words, func(word string) bool { return strings.Contains(headings, word) }):
			titled = append(titled, c)
		default:
			others = append(others, c)
		}
	}
	return append(titled, others...)
}

func picture(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	data, err := docs.Files.ReadFile("img/" + r.PathParam("picture"))
	if err != nil {
		return nil, rest.ErrNotFound
	}
	return &rest.Document{ContentType: "image/png", Body: data}, nil
}
