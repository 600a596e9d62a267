package api

import (
	"mime"
	"testing"
)

// TestAttachment: no name leaves its quotes, and clients read it back.
func TestAttachment(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"app.pot": "app.pot", "a b.pot": "a b.pot", "žluť.pot": "žluť.pot", `q".pot`: `q".pot`, "x\r\nSet-Cookie: a=b": "x\r\nSet-Cookie: a=b",
		`a\b`: `a\b`, "100%.po": "100%.po", "a@b:c=d.po": "a@b:c=d.po",
	} {
		header := attachment(name, false)
		for _, c := range header {
			if c < ' ' || c > '~' {
				t.Errorf("%q: header %q", name, header)
			}
		}
		kind, attrs, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || attrs["filename"] != want {
			t.Errorf("%q: %q is read as %q (%v)", name, header, attrs["filename"], err)
		}
	}
}
