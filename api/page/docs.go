package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// ordered is a JSON object whose members keep their order.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads an object.
func (o *ordered[T]) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil { // the opening brace
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		m := member[T]{Name: fmt.Sprint(name)}
		if err := dec.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

// description is a description in OpenAPI, as docs.html shows it.
type description struct {
	Style  template.CSS `json:"-"`
	Groups []*group     `json:"-"` // the operations of Paths
	Info   struct {
		Title, Version string
		Description    prose
	}
	Paths      ordered[json.RawMessage]
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    ordered[schema]
	}
}

type group struct {
	Name       string
	Operations []operation
}

type operation struct {
	Method      string `json:"-"`
	Path        string `json:"-"`
	ID          string `json:"operationId"`
	Summary     string
	Description prose
	Tags        []string
	Parameters  []parameter
	Responses   ordered[response]
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description prose
}

type response struct {
	Ref         string `json:"$ref"`
	Description prose
	Content     ordered[struct{ Schema schema }]
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        any    // a name or a list of names
	Description prose
	Properties  ordered[schema]
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
	for _, path := range d.Paths {
		if err := d.group(path.Name, path.Value); err != nil {
			return nil, fmt.Errorf("show the description of %s: %w", path.Name, err)
		}
	}
	var err error
	if d.Style, err = style(); err != nil {
		return nil, fmt.Errorf("read the style: %w", err)
	}
	return execute("docs.html", &d)
}

// group adds the operations of a path to the groups of their tags.
func (d *description) group(path string, item []byte) error {
	var shared struct{ Parameters []parameter }
	var members ordered[json.RawMessage]
	if err := errors.Join(json.Unmarshal(item, &shared), json.Unmarshal(item, &members)); err != nil {
		return err
	}
	for _, m := range members {
		if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, m.Name) {
			continue
		}
		op := operation{Method: strings.ToUpper(m.Name), Path: path, Tags: []string{"other"}}
		if err := json.Unmarshal(m.Value, &op); err != nil {
			return err
		}
		op.Parameters = slices.Concat(shared.Parameters, op.Parameters)
		for i, p := range op.Parameters {
			if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
				op.Parameters[i] = d.Components.Parameters[name]
			}
		}
		for i, r := range op.Responses {
			if name, ok := strings.CutPrefix(r.Value.Ref, "#/components/responses/"); ok {
				op.Responses[i].Value = d.Components.Responses[name]
			}
		}
		at := slices.IndexFunc(d.Groups, func(g *group) bool { return g.Name == op.Tags[0] })
		if at < 0 {
			at, d.Groups = len(d.Groups), append(d.Groups, &group{Name: op.Tags[0]})
		}
		d.Groups[at].Operations = append(d.Groups[at].Operations, op)
	}
	return nil
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
func (s schema) Fields() ordered[schema] {
	fields := slices.Clone(s.Properties)
	for _, part := range s.AllOf {
		fields = append(fields, part.Properties...)
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
			spans = append(spans, span{visible(part), code})
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
