package feed

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// TestMarkupOfStrings: readers of RSS take a description for HTML, so the text of a
// string must be text there, too; a summary of Atom is text by its type.
func TestMarkupOfStrings(t *testing.T) {
	t.Parallel()
	f := New(wire.Links{}, []catalog.Change{{Action: catalog.ActionNewUnit, Source: "<img src=x>", Target: "a & b"}}, "", "/", "/")
	f.Entries[0].Text = "<img src=x> & b"
	rss, _, err := f.Write("rss")
	if err != nil || !strings.Contains(string(rss), "&amp;lt;img src=x&amp;gt; &amp;amp; b") {
		t.Errorf("RSS: %v\n%s", err, rss)
	}
	atom, _, err := f.Write("atom")
	if err != nil || !strings.Contains(string(atom), "&#x3C;img src=x&gt; &amp; b") {
		t.Errorf("Atom: %v\n%s", err, atom)
	}
}
