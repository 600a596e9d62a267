package remote

import "testing"

func TestEndpointClean(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h:1/a.git":   "https://h:1/a.git",
		"https://h/a?x=y":         "https://h/a?x=y",
		"ssh://git:pw@h:22/a":     "ssh://git@h:22/a",
		"git@h:a/b":               "git@h:a/b",
		"git@h:/a/b":              "ssh://git@h/a/b",
		"git+ssh://h/a":           "ssh://h/a",
		"https://u:p%40q@h/a%20b": "https://h/a%20b",
	} {
		e, err := parseEndpoint(in)
		if err != nil || e.clean() != want {
			t.Errorf("%q: %q, %v; want %q", in, e.clean(), err, want)
		}
	}
}
