package catalog

import "testing"

// TestClip: texts are shortened by characters, with and without room for the ellipsis.
func TestClip(t *testing.T) {
	for _, c := range []struct{ text, clip, fit string }{
		{"", "", ""},
		{"žluť", "žluť", "žluť"},
		{"žluťa", "žluť…", "žlu…"},
		{"long text", "long…", "lon…"},
	} {
		if clip, fit := Clip(c.text, 4), Fit(c.text, 4); clip != c.clip || fit != c.fit {
			t.Errorf("%q: %q, %q, want %q, %q", c.text, clip, fit, c.clip, c.fit)
		}
	}
}
