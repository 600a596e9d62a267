package edit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestOffers: the text of the obsolete entry of a string is its own; those of similar strings
// come in the order of msgmerge's measure, without those that are not similar enough or have no
// text. A file that cannot be read offers none.
func TestOffers(t *testing.T) {
	t.Parallel()
	file := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open a file\"\nmsgstr \"Live\"\n" +
		"\n#, fuzzy\n#~ msgid \"Open the file\"\n#~ msgstr \"Own\"\n\n#~ msgctxt \"menu\"\n#~ msgid \"Open the file\"\n#~ msgstr \"Other context\"\n" +
		"\n#~ msgid \"Open the files\"\n#~ msgstr \"Nearly\"\n\n#~ msgid \"Open the fire\"\n#~ msgstr \"\"\n\n#~ msgid \"Quit\"\n#~ msgstr \"Far\"\n"
	gone := []catalog.Unit{{Source: "Open that file", Target: "Gone"}, {Source: "Open the file" + catalog.FormSeparator + "Open the files", Target: "Plural"}, {Source: "Exit", Target: "Far"}}
	of := &catalog.Unit{Source: "Open the file"}
	own, similar := Offers([]byte(file), of, gone, 3)
	want := []Offer{
		{"", gone[1].Source, "Plural"}, {"menu", "Open the file", "Other context"}, {"", "Open the files", "Nearly"},
	}
	if diff := cmp.Diff(want, similar); own != (Text{"Own", catalog.StateFuzzy}) || diff != "" {
		t.Errorf("own %v: %s", own, diff)
	}
	if own, similar = Offers([]byte(file), of, gone, 9); len(similar) != 4 || similar[3].Target != "Gone" {
		t.Errorf("all: %v %v", own, similar)
	}
	if own, similar = Offers([]byte("#~ msgid \"oops\n"), of, gone[:1], 3); own.Target != "" || len(similar) != 1 {
		t.Errorf("a broken file: %v %v", own, similar)
	}
}
