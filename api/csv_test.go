package api

import (
	"strings"
	"testing"
)

// TestCSV: nested objects, arrays, null, and what CSV has to quote.
func TestCSV(t *testing.T) {
	t.Parallel()
	got, err := renderCSV([]any{
		map[string]any{"a": map[string]any{"b": 1, "c": []string{"x", "y"}}, "z": nil},
		map[string]any{"a": map[string]any{"b": true}, "z": "q\"u,o\nte", "more": "<&>"},
	})
	want := "a.b,a.c.0,a.c.1,z,more\n1,x,y,,\ntrue,,,\"q\"\"u,o\nte\",<&>\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, empty := range []any{[]int{}, []any{map[string]any{}}} {
		if got, err := renderCSV(empty); err != nil || strings.TrimSpace(string(got)) != "" {
			t.Errorf("%v: %v %q", empty, err, got)
		}
	}
}
