package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// description is a description in OpenAPI, as docs.html shows it.
type description struct {
	Style  template.CSS           `json:"-"`
	Groups map[string][]operation `json:"-"` // the operations of Paths by their first tag
	Info   struct {
		Title, Version string
		Description    prose
	}
	Paths map[string]struct {
		Parameters                    []parameter
		Get, Post, Put, Patch, Delete *operation
	}
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    map[string]schema
	}
}

type operation struct {
	Method      string `json:"-"`
	Path        string `json:"-"`
	ID          string `json:"operationId"`
	Summary     string
	Description prose
	Tags        []string
	Parameters  []parameter
	Responses   map[string]response
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description prose
}

type response struct {
	Ref         string `json:"$ref"`
	Description prose
	Content     map[string]struct{ Schema schema }
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        any    // a name or a list of names
	Description prose
	Properties  map[string]schema
	AllOf       []schema
	Items       *schema
}

// Docs makes the page of a description in OpenAPI 3.1, given as JSON: the
// operations by their first tag, their parameters and answers, and the schemas.
// References to other documents are left out.
func Docs(openapi []byte) ([]byte, error) {
	var d description
	if err := json.Unmarshal(openapi, &d); err != nil {
		return nil, fmt.Errorf("show the description: %w", err)
	}
	d.Groups = map[string][]operation{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[path]
		for i, op := range []*operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			op.Method, op.Path = [...]string{"GET", "POST", "PUT", "PATCH", "DELETE"}[i], path
			op.Parameters = slices.Concat(item.Parameters, op.Parameters)
			for i, p := range op.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					op.Parameters[i] = d.Components.Parameters[name]
				}
			}
			for status, r := range op.Responses {
				if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
					op.Responses[status] = d.Components.Responses[name]
				}
			}
			tag := append(op.Tags, "other")[0]
			d.Groups[tag] = append(d.Groups[tag], *op)
		}
	}
	d.Style = template.CSS(style)
	return execute("docs.html", &d)
}

// Named is the name of the schema that a schema or its items refer to; "" without a
// reference.
func (s schema) Named() string {
	ref := s.Ref
	if ref == "" && s.Items != nil {
		ref = s.Items.Ref
	}
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

// Types is the type in words.
func (s schema) Types() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		var names []string
		for _, name := range t {
			names = append(names, fmt.Sprint(name))
		}
		return strings.Join(names, " or ")
	}
	return ""
}

// Fields are the properties of the schema and of those that it is made of.
func (s schema) Fields() map[string]schema {
	fields := map[string]schema{}
	for _, part := range append(s.AllOf, s) {
		maps.Copy(fields, part.Properties)
	}
	return fields
}

// prose is a text of which the parts between backticks are code, what the
// template "prose" shows.
type prose string

type span struct {
	Text string
	Code bool
}

// Spans are the parts of the text.
func (p prose) Spans() []span {
	var spans []span
	for i, part := range strings.Split(string(p), "`") {
		if code := i%2 == 1; code || part != "" {
			spans = append(spans, span{Visible(part), code})
		}
	}
	return spans
}

// Paragraphs splits the text at its empty lines.
func (p prose) Paragraphs() []prose {
	var list []prose
	for part := range strings.SplitSeq(string(p), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, prose(part))
		}
	}
	return list
}
