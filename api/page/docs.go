package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// docs is what docs.html shows: a description in OpenAPI.
type docs struct {
	Style          template.CSS
	Title, Version string
	About          []prose
	Groups         []*group
	Schemas        []schema
}

type group struct {
	Name       string
	Operations []operation
}

type operation struct {
	ID, Method, Path, Summary string
	About                     []prose
	Parameters                []parameter
	Answers                   []response
}

type parameter struct {
	Name, In string
	About    prose
}

type response struct {
	Status string
	About  prose
	Bodies []media
}

type media struct{ Media, Schema string }

type schema struct {
	Name   string
	About  prose
	Fields []field
}

type field struct {
	Name, Type, Schema string
	About              prose
}

// Docs makes the page of a description in OpenAPI 3.1, given as JSON: the
// operations by their first tag, their parameters and answers, and the schemas.
// References to other documents are left out.
func Docs(openapi []byte) ([]byte, error) {
	root, err := parse(openapi)
	if err != nil {
		return nil, fmt.Errorf("show the description: %w", err)
	}
	d := docs{Title: root.text("info", "title"), Version: root.text("info", "version"), About: paragraphs(root.text("info", "description"))}
	if d.Style, err = style(); err != nil {
		return nil, fmt.Errorf("read the style: %w", err)
	}
	b := &builder{root: root}
	b.operations(&d)
	b.schemas(&d)
	return execute("docs.html", d)
}

// builder reads a description in OpenAPI.
type builder struct{ root *node }

// follow returns the target of a reference within the document.
func (b *builder) follow(n *node) *node {
	for range maxDepth {
		ref := n.text("$ref")
		if ref == "" {
			return n
		}
		target := b.root.get(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		if target == nil {
			return n
		}
		n = target
	}
	return n
}

func (b *builder) operations(d *docs) {
	paths := b.root.get("paths")
	if paths == nil {
		return
	}
	for i, path := range paths.keys {
		item := paths.members[i]
		for j, method := range item.keys {
			if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				continue
			}
			op := item.members[j]
			name := "other"
			if tags := op.get("tags"); tags != nil && len(tags.members) > 0 {
				name = tags.members[0].value
			}
			g := d.group(name)
			g.Operations = append(g.Operations, operation{
				ID: op.text("operationId"), Method: strings.ToUpper(method), Path: path,
				Summary: op.text("summary"), About: paragraphs(op.text("description")),
				Parameters: append(b.parameters(item), b.parameters(op)...), Answers: b.answers(op),
			})
		}
	}
}

func (d *docs) group(name string) *group {
	for _, g := range d.Groups {
		if g.Name == name {
			return g
		}
	}
	g := &group{Name: name}
	d.Groups = append(d.Groups, g)
	return g
}

func (b *builder) parameters(of *node) []parameter {
	list := of.get("parameters")
	if list == nil {
		return nil
	}
	var all []parameter
	for _, p := range list.members {
		p = b.follow(p)
		all = append(all, parameter{p.text("name"), p.text("in"), proseOf(p.text("description"))})
	}
	return all
}

func (b *builder) answers(op *node) []response {
	list := op.get("responses")
	if list == nil {
		return nil
	}
	var all []response
	for i, status := range list.keys {
		res := b.follow(list.members[i])
		a := response{Status: status, About: proseOf(res.text("description"))}
		if content := res.get("content"); content != nil {
			for j, name := range content.keys {
				a.Bodies = append(a.Bodies, media{name, named(content.members[j].get("schema"))})
			}
		}
		all = append(all, a)
	}
	return all
}

// named returns the name of the schema that a schema or its items refer to; ""
// without a reference.
func named(n *node) string {
	if n == nil {
		return ""
	}
	ref := n.text("$ref")
	if ref == "" {
		ref = n.text("items", "$ref")
	}
	name, ok := strings.CutPrefix(ref, "#/components/schemas/")
	if !ok {
		return ""
	}
	return name
}

func (b *builder) schemas(d *docs) {
	list := b.root.get("components", "schemas")
	if list == nil {
		return
	}
	for i, name := range list.keys {
		s := schema{Name: name, About: proseOf(list.members[i].text("description"))}
		parts := []*node{list.members[i]}
		if all := list.members[i].get("allOf"); all != nil {
			parts = append(parts, all.members...)
		}
		for _, part := range parts {
			s.Fields = append(s.Fields, fields(part)...)
		}
		d.Schemas = append(d.Schemas, s)
	}
}

func fields(part *node) []field {
	properties := part.get("properties")
	if properties == nil {
		return nil
	}
	var list []field
	for i, name := range properties.keys {
		p := properties.members[i]
		list = append(list, field{name, typeOf(p), named(p), proseOf(p.text("description"))})
	}
	return list
}

// typeOf returns the type of a schema in words.
func typeOf(p *node) string {
	t := p.get("type")
	switch {
	case t == nil:
		return ""
	case t.kind != array:
		return t.value
	}
	var names []string
	for _, m := range t.members {
		names = append(names, m.value)
	}
	return strings.Join(names, " or ")
}

// prose is a text of which the parts between backticks are code, what the
// template "prose" shows.
type prose []span

type span struct {
	Text string
	Code bool
}

func proseOf(s string) prose {
	var p prose
	for i, part := range strings.Split(s, "`") {
		if code := i%2 == 1; code || part != "" {
			p = append(p, span{visible(part), code})
		}
	}
	return p
}

// paragraphs splits a text at its empty lines.
func paragraphs(s string) []prose {
	var list []prose
	for p := range strings.SplitSeq(s, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			list = append(list, proseOf(p))
		}
	}
	return list
}
