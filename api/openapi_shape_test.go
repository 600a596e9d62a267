package api

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// TestOpenAPIShape checks openapi.yaml for what OpenAPI 3.1 requires, and for
// mistakes that generators of clients do not accept.
func TestOpenAPIShape(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	if version, _ := v.doc["openapi"].(string); !strings.HasPrefix(version, "3.1.") {
		t.Errorf("version %q", version)
	}
	var tags []string
	list, _ := v.doc["tags"].([]any)
	for _, tag := range list {
		name, _ := tag.(map[string]any)["name"].(string)
		tags = append(tags, name)
	}
	operations := map[string]string{}
	paths, _ := v.doc["paths"].(map[string]any)
	for path, item := range paths {
		node := item.(map[string]any)
		for method, op := range node {
			if method == "parameters" {
				continue
			}
			one, _ := op.(map[string]any)
			id, _ := one["operationId"].(string)
			if other := operations[id]; id == "" || other != "" {
				t.Errorf("%s %s: operationId %q, that of %q", method, path, id, other)
			}
			operations[id] = path
			checkResponses(t, v, path, one["responses"])
		}
		get, _ := node["get"].(map[string]any)
		own, _ := get["tags"].([]any)
		for _, tag := range own {
			if !slices.Contains(tags, tag.(string)) {
				t.Errorf("%s: tag %v is not among the document's", path, tag)
			}
		}
		if summary, _ := get["summary"].(string); summary == "" || len(own) == 0 {
			t.Errorf("%s: no summary, or no tag", path)
		}
		checkParameters(t, v, path, node["parameters"], get["parameters"])
	}
}

// checkParameters wants every segment in braces to be a parameter, and no name
// twice in a list.
func checkParameters(t *testing.T, v *validator, path string, lists ...any) {
	t.Helper()
	inPath := map[string]bool{}
	for _, list := range lists {
		params, _ := list.([]any)
		seen := map[string]bool{}
		for _, p := range params {
			param := p.(map[string]any)
			if ref, ok := param["$ref"].(string); ok {
				param = v.resolve(ref)
			}
			name, _ := param["name"].(string)
			in, _ := param["in"].(string)
			if seen[in+" "+name] || name == "" || !slices.Contains([]string{"path", "query", "header"}, in) || param["schema"] == nil {
				t.Errorf("%s: parameter %q in %q is there twice, or is not one", path, name, in)
			}
			seen[in+" "+name] = true
			if in == "path" {
				inPath[name] = true
				if param["required"] != true {
					t.Errorf("%s: %s is not required", path, name)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
		if !inPath[m[1]] {
			t.Errorf("%s: %s is no parameter", path, m[1])
		}
		delete(inPath, m[1])
	}
	for name := range inPath {
		t.Errorf("%s does not have %s", path, name)
	}
}

// checkResponses wants a description and, of each media type, a schema.
func checkResponses(t *testing.T, v *validator, path string, node any) {
	t.Helper()
	responses, _ := node.(map[string]any)
	if len(responses) == 0 {
		t.Errorf("%s: no responses", path)
	}
	for status, r := range responses {
		response := r.(map[string]any)
		if ref, ok := response["$ref"].(string); ok {
			response = v.resolve(ref)
		}
		if text, _ := response["description"].(string); text == "" || !regexp.MustCompile(`^([1-5]\d\d|default)$`).MatchString(status) {
			t.Errorf("%s: response %s has no description, or is not one", path, status)
		}
		content, _ := response["content"].(map[string]any)
		for media, c := range content {
			if schema, _ := c.(map[string]any)["schema"].(map[string]any); schema == nil || !strings.Contains(media, "/") {
				t.Errorf("%s: response %s as %s has no schema", path, status, media)
			}
		}
	}
}

// TestDescribedActions: the actions of entries that openapi.yaml lists are those that are
// ever recorded.
func TestDescribedActions(t *testing.T) {
	t.Parallel()
	var want []any
	for a := range catalog.Action(200) {
		if a.Recorded() {
			want = append(want, int(a))
		}
	}
	node := any(newValidator(t).doc)
	for _, key := range []string{"components", "schemas", "Change", "properties", "action", "enum"} {
		node = node.(map[string]any)[key]
	}
	if got := fmt.Sprint(node); got != fmt.Sprint(want) {
		t.Errorf("openapi.yaml lists the actions %s, recorded are %v", got, want)
	}
}
