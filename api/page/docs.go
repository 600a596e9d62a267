package page

import (
	"cmp"
	"errors"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// description is a description in OpenAPI, as docs.html shows it.
type description struct {
	gjson.Result
	Style  template.CSS
	Groups map[string][]operation // the operations by their first tag
}

type operation struct {
	gjson.Result
	Method, Path string
	Parameters   []gjson.Result
}

// Docs makes the page of a description in OpenAPI 3.1, as JSON: the operations by their first
// tag, their parameters and answers, and the schemas, without those of other documents.
func Docs(openapi []byte) ([]byte, error) {
	if !gjson.ValidBytes(openapi) {
		return nil, errors.New("show the description: it is no JSON")
	}
	d := description{gjson.ParseBytes(openapi), template.CSS(style), map[string][]operation{}}
	paths := d.Get("paths").Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			op := paths[path].Get(method)
			if !op.Exists() {
				continue
			}
			tag := cmp.Or(op.Get("tags.0").String(), "other")
			parameters := slices.Concat(paths[path].Get("parameters").Array(), op.Get("parameters").Array())
			d.Groups[tag] = append(d.Groups[tag], operation{op, strings.ToUpper(method), path, parameters})
		}
	}
	return execute("docs.html", &d)
}

// Meant is what an object refers to, or the object itself.
func (d *description) Meant(object gjson.Result) gjson.Result {
	path, ok := strings.CutPrefix(object.Get("$ref").String(), "#/")
	if !ok {
		return object
	}
	return d.Get(strings.ReplaceAll(path, "/", "."))
}

// Named is the name of the schema that a schema or its items refer to; "" without a reference.
func (*description) Named(schema gjson.Result) string {
	ref := cmp.Or(schema.Get("$ref").String(), schema.Get("items.$ref").String())
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

// Types is the type of a schema in words.
func (*description) Types(schema gjson.Result) string {
	var names []string
	for _, name := range schema.Get("type").Array() { // of one, too
		names = append(names, name.String())
	}
	return strings.Join(names, " or ")
}

// Fields are the properties of a schema and of those that it is made of.
func (*description) Fields(schema gjson.Result) map[string]gjson.Result {
	fields := map[string]gjson.Result{}
	for _, part := range append(schema.Get("allOf").Array(), schema) {
		maps.Copy(fields, part.Get("properties").Map())
	}
	return fields
}

type span struct {
	Text string
	Code bool
}

// spans are the parts of a text of which those between backticks are code.
func spans(text string) []span {
	var list []span
	for i, part := range strings.Split(text, "`") {
		if code := i%2 == 1; code || part != "" {
			list = append(list, span{Visible(part), code})
		}
	}
	return list
}

// paragraphs splits a text at its empty lines.
func paragraphs(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
