package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
)

// description is openapi.yaml as its readers get it.
var description = sync.OnceValues(func() (map[string]any, error) {
	data, err := resource.NewSchema("test").JSON()
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	return doc, json.Unmarshal(data, &doc)
})

// validator checks values against the subset of JSON Schema that openapi.yaml
// uses. A keyword that it does not know is an error, so that none is ignored.
type validator struct {
	doc      map[string]any
	problems []string
}

func newValidator(tb testing.TB) *validator {
	tb.Helper()
	doc, err := description()
	if err != nil {
		tb.Fatalf("openapi.yaml: %v", err)
	}
	return &validator{doc: doc}
}

func (v *validator) failf(at, format string, args ...any) {
	v.problems = append(v.problems, at+": "+fmt.Sprintf(format, args...))
}

// resolve follows a "#/…" reference.
func (v *validator) resolve(ref string) map[string]any {
	node := any(v.doc)
	for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := node.(map[string]any)
		node = m[key]
	}
	m, _ := node.(map[string]any)
	return m
}

// operation finds the GET of a request's path.
func (v *validator) operation(path string) map[string]any {
	paths, _ := v.doc["paths"].(map[string]any)
	if item, ok := paths[path].(map[string]any); ok {
		get, _ := item["get"].(map[string]any)
		return get
	}
	want := strings.Split(path, "/")
	var best map[string]any
	params := 99
	for pattern, item := range paths {
		have := strings.Split(pattern, "/")
		if len(have) != len(want) {
			continue
		}
		n, match := 0, true
		for i := range have {
			if strings.HasPrefix(have[i], "{") {
				n++
			} else if have[i] != want[i] {
				match = false
			}
		}
		if match && n < params {
			get, _ := item.(map[string]any)["get"].(map[string]any)
			best, params = get, n
		}
	}
	return best
}

// response returns the schema of a status and media type of an operation.
func (v *validator) response(op map[string]any, status int, media string) map[string]any {
	responses, _ := op["responses"].(map[string]any)
	res, ok := responses[fmt.Sprint(status)].(map[string]any)
	if !ok {
		res, _ = responses["default"].(map[string]any)
	}
	if ref, ok := res["$ref"].(string); ok {
		res = v.resolve(ref)
	}
	content, _ := res["content"].(map[string]any)
	body, _ := content[media].(map[string]any)
	schema, _ := body["schema"].(map[string]any)
	return schema
}

func (v *validator) check(at string, schema map[string]any, value any) {
	for keyword, arg := range schema {
		switch keyword {
		case "$ref":
			target := v.resolve(arg.(string))
			if target == nil {
				v.failf(at, "reference %v leads nowhere", arg)
				continue
			}
			v.check(at, target, value)
		case "allOf":
			for _, part := range arg.([]any) {
				v.check(at, part.(map[string]any), value)
			}
		case "type":
			v.checkType(at, arg, value)
		case "required", "properties", "additionalProperties":
			if m, ok := value.(map[string]any); ok {
				v.checkObject(at, keyword, schema, m)
			}
		case "items", "minItems", "maxItems":
			if list, ok := value.([]any); ok {
				v.checkArray(at, keyword, arg, list)
			}
		case "enum":
			if !slices.ContainsFunc(arg.([]any), func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(value) }) {
				v.failf(at, "%v is not one of %v", value, arg)
			}
		case "const":
			if fmt.Sprint(arg) != fmt.Sprint(value) {
				v.failf(at, "%v is not %v", value, arg)
			}
		case "pattern":
			if s, ok := value.(string); ok && !regexp.MustCompile(arg.(string)).MatchString(s) {
				v.failf(at, "%q does not match %v", s, arg)
			}
		case "minimum", "maximum":
			v.checkBound(at, keyword, arg, value)
		case "format":
			v.checkFormat(at, arg.(string), value)
		case "unevaluatedProperties":
			v.checkUnevaluated(at, arg, schema, value)
		case "description", "default":
		default:
			v.failf(at, "keyword %q is not known to the validator", keyword)
		}
	}
}

func (v *validator) checkType(at string, types, value any) {
	list, ok := types.([]any)
	if !ok {
		list = []any{types}
	}
	for _, t := range list {
		if t == typeOf(value) || t == "number" && typeOf(value) == "integer" {
			return
		}
	}
	v.failf(at, "%v (%s) is not of type %v", value, typeOf(value), types)
}

func typeOf(value any) string {
	switch x := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if strings.ContainsAny(x.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return fmt.Sprintf("%T", value)
}

func (v *validator) checkObject(at, keyword string, schema, value map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	switch keyword {
	case "required":
		for _, name := range schema["required"].([]any) {
			if _, ok := value[name.(string)]; !ok {
				v.failf(at, "%v is missing", name)
			}
		}
	case "properties":
		for name, sub := range properties {
			if have, ok := value[name]; ok {
				v.check(at+"."+name, sub.(map[string]any), have)
			}
		}
	case "additionalProperties":
		for name, have := range value {
			if properties[name] != nil {
				continue
			}
			if sub, ok := schema["additionalProperties"].(map[string]any); ok {
				v.check(at+"."+name, sub, have)
			} else if schema["additionalProperties"] == false {
				v.failf(at, "%s is not described", name)
			}
		}
	}
}

// checkUnevaluated is unevaluatedProperties: false beside allOf, which closes
// what several schemas describe together.
func (v *validator) checkUnevaluated(at string, arg any, schema map[string]any, value any) {
	m, ok := value.(map[string]any)
	if arg != false {
		v.failf(at, "unevaluatedProperties %v is not known to the validator", arg)
	}
	if !ok {
		return
	}
	known := map[string]bool{}
	var gather func(map[string]any)
	gather = func(schema map[string]any) {
		if ref, ok := schema["$ref"].(string); ok {
			gather(v.resolve(ref))
		}
		parts, _ := schema["allOf"].([]any)
		for _, part := range parts {
			gather(part.(map[string]any))
		}
		properties, _ := schema["properties"].(map[string]any)
		for name := range properties {
			known[name] = true
		}
	}
	gather(schema)
	for name := range m {
		if !known[name] {
			v.failf(at, "%s is not described", name)
		}
	}
}

func (v *validator) checkArray(at, keyword string, arg any, value []any) {
	if keyword == "minItems" || keyword == "maxItems" {
		bound, _ := arg.(float64)
		if n := float64(len(value)); keyword == "minItems" && n < bound || keyword == "maxItems" && n > bound {
			v.failf(at, "%d elements", len(value))
		}
		return
	}
	for i, element := range value {
		v.check(fmt.Sprintf("%s[%d]", at, i), arg.(map[string]any), element)
	}
}

func (v *validator) checkBound(at, keyword string, arg, value any) {
	n, ok := value.(json.Number)
	if !ok {
		return
	}
	f, err := n.Float64()
	bound, _ := arg.(float64)
	if err != nil || math.IsNaN(f) || keyword == "minimum" && f < bound || keyword == "maximum" && f > bound {
		v.failf(at, "%v is beyond the %s %v", n, keyword, arg)
	}
}

func (v *validator) checkFormat(at, format string, value any) {
	s, ok := value.(string)
	if !ok {
		return
	}
	switch format {
	case "uri":
		if u, err := url.Parse(s); err != nil || !u.IsAbs() || u.Host == "" {
			v.failf(at, "%q is no absolute URL", s)
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil || !strings.HasSuffix(s, "Z") {
			v.failf(at, "%q is no UTC time", s)
		}
	}
}

// validate compares a JSON answer with the description of its path.
func validate(tb testing.TB, path string, status int, body []byte) {
	tb.Helper()
	v := newValidator(tb)
	op := v.operation(path)
	if op == nil {
		op = v.operation("/api/")
		if status != 404 {
			tb.Errorf("%s: %d, but openapi.yaml does not describe this path", path, status)
		}
	}
	schema := v.response(op, status, rest.TypeJSON)
	if schema == nil {
		tb.Errorf("%s: openapi.yaml describes no JSON for status %d", path, status)
		return
	}
	inspectJSON(tb, path, schema, body)
}

// TestOpenAPIDescribesRoutes: the description has all routes of the table with the methods
// that write, and no others.
func TestOpenAPIDescribesRoutes(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	paths, _ := v.doc["paths"].(map[string]any)
	described := map[string][]string{}
	for path, item := range paths {
		methods := []string{}
		for method := range item.(map[string]any) {
			if method != "get" && method != "parameters" {
				methods = append(methods, strings.ToUpper(method))
			}
		}
		described[regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")] = slices.Sorted(slices.Values(methods))
	}
	for _, rt := range resource.Routes(&resource.Env{Edits: resource.NewInTurn[resource.Edits](nil, nil)}) {
		methods, ok := described[rt.Path]
		want := slices.Sorted(maps.Keys(rt.Writes))
		if rt.Asks != nil {
			want = append(want, "POST")
		}
		if !ok || !slices.Equal(methods, want) {
			t.Errorf("route %s is in openapi.yaml: %v, with %v; want %v", rt.Path, ok, methods, want)
		}
		delete(described, rt.Path)
	}
	for path := range described {
		t.Errorf("openapi.yaml describes %s, which is no route", path)
	}
}

// TestOpenAPIReferences finds references that lead nowhere.
func TestOpenAPIReferences(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	var walk func(at string, node any)
	walk = func(at string, node any) {
		switch n := node.(type) {
		case map[string]any:
			if ref, ok := n["$ref"].(string); ok && v.resolve(ref) == nil {
				t.Errorf("%s: %s leads nowhere", at, ref)
			}
			for key, sub := range n {
				walk(at+"/"+key, sub)
			}
		case []any:
			for i, sub := range n {
				walk(fmt.Sprintf("%s/%d", at, i), sub)
			}
		}
	}
	walk("#", v.doc)
}

// TestValidatorSeesMistakes: the validator reports wrong values.
func TestValidatorSeesMistakes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ schema, value string }{
		{"Problem", `{"detail":7}`},
		{"Problem", `{"page":"x"}`},
		{"Plural", `{"id":1,"source":0,"number":2,"formula":"n"}`},
		{"Plural", `{"id":1,"source":0,"number":0,"formula":"n","type":1}`},
		{"Plural", `{"id":1,"source":0,"number":2,"formula":"n","type":1,"more":1}`},
		{"Plural", `{"id":1.5,"source":0,"number":2,"formula":"n","type":1}`},
		{"URL", `"/relative/"`},
		{"URLOrNull", `3`},
		{"Time", `"2026-01-02"`},
		{"Percent", `100.1`},
		{"UnitList", `{"count":1,"next":null,"previous":null,"results":[{}]}`},
		{"UnitList", `{"count":1,"next":null,"results":[]}`},
		{"EmptyList", `{"count":1,"next":null,"previous":null,"results":[{}]}`},
		{"Lock", `{"locked":null}`},
	} {
		v := newValidator(t)
		dec := json.NewDecoder(strings.NewReader(tc.value))
		dec.UseNumber()
		var value any
		must(t, dec.Decode(&value))
		v.check("$", v.resolve("#/components/schemas/"+tc.schema), value)
		if len(v.problems) == 0 {
			t.Errorf("%s accepts %s", tc.schema, tc.value)
		}
	}
}

// TestOpenAPIForms: every list, and no other resource, is described in all three
// forms.
func TestOpenAPIForms(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	for _, rt := range resource.Routes(&resource.Env{}) {
		if rt.Path == "/api/component-lists/:slug/components/" {
			continue // is never there
		}
		op := v.operation(described(rt.Path))
		for _, media := range []string{"text/csv", rest.TypeLines} {
			is := v.response(op, 200, media) != nil
			if rt.Kind != resource.KindList && is && rt.Kind != resource.KindFile || rt.Kind == resource.KindList && !is {
				t.Errorf("%s is described as %s: %v", rt.Path, media, is)
			}
		}
	}
}
