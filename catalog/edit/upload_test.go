package edit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

const uploaded = `msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

msgid "untranslated here"
msgstr ""

msgid "new"
msgstr "nové"

msgid "same"
msgstr "stejné"

msgid "other"
msgstr "jiné"

#, fuzzy
msgid "unsure"
msgstr "snad"

msgid "unknown"
msgstr "x"

msgid "locked"
msgstr "zamčené"

msgid "a"
msgid_plural "b"
msgstr[0] "x"
msgstr[1] ""

msgid "c"
msgid_plural "d"
msgstr[0] "x"

msgid "new"
msgstr "podruhé"

#~ msgid "obsolete"
#~ msgstr "x"
`

// TestUpload uploads one file in all ways.
func TestUpload(t *testing.T) {
	f, err := poparse.Parse("cs.po", []byte(uploaded))
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]Current{
		"untranslated here": {Text{"je", done}, false, 1},
		"new":               {Text{"", empty}, false, 1},
		"same":              {Text{"stejné", done}, false, 1},
		"other":             {Text{"původní", done}, false, 1},
		"unsure":            {Text{"", empty}, false, 1},
		"locked":            {Text{"", catalog.StateReadOnly}, true, 1},
		forms("a", "b"):     {Text{"", empty}, false, 2},
		forms("c", "d"):     {Text{"", empty}, false, 2},
		"obsolete":          {Text{"", empty}, false, 1},
		"not in the upload": {Text{"y", done}, false, 1},
	}
	var h catalog.Hasher
	byID := map[catalog.Identity]Current{}
	for source, current := range stored {
		byID[h.Identity(source, "")] = current
	}
	find := func(id catalog.Identity) (Current, bool) { c, ok := byID[id]; return c, ok }
	plural := forms("x", "")
	for _, tt := range []struct {
		name   string
		o      UploadOptions
		want   map[string]Text
		counts Counts
	}{
		{"translate", UploadOptions{Method: Translate}, map[string]Text{"new": {"nové", done}, forms("a", "b"): {plural, done}}, Counts{1, 4, 2, 9}},
		{"ignore is the default", UploadOptions{Method: Translate, Conflicts: "ignore"}, map[string]Text{"new": {"nové", done}, forms("a", "b"): {plural, done}}, Counts{1, 4, 2, 9}},
		{
			"replace-translated",
			UploadOptions{Method: Translate, Conflicts: "replace-translated"},
			map[string]Text{"new": {"nové", done}, "other": {"jiné", done}, forms("a", "b"): {plural, done}},
			Counts{1, 3, 3, 9},
		},
		{
			"process",
			UploadOptions{Method: Translate, Fuzzy: "process"},
			map[string]Text{"new": {"nové", done}, "unsure": {"snad", fuzzy}, forms("a", "b"): {plural, done}},
			Counts{1, 4, 3, 9},
		},
		{
			"approve",
			UploadOptions{Method: Translate, Fuzzy: "approve"},
			map[string]Text{"new": {"nové", done}, "unsure": {"snad", done}, forms("a", "b"): {plural, done}},
			Counts{1, 4, 3, 9},
		},
		{
			"fuzzy",
			UploadOptions{Method: Fuzzy, Fuzzy: "approve", Conflicts: "replace-approved"},
			map[string]Text{"new": {"nové", fuzzy}, "same": {"stejné", fuzzy}, "other": {"jiné", fuzzy}, "unsure": {"snad", fuzzy}, forms("a", "b"): {plural, fuzzy}},
			Counts{1, 2, 5, 9},
		},
		{"suggest", UploadOptions{Method: Suggest}, map[string]Text{"new": {"nové", done}, "other": {"jiné", done}, forms("a", "b"): {plural, done}}, Counts{1, 3, 3, 9}},
		{
			"replace",
			UploadOptions{Method: Replace},
			map[string]Text{
				"untranslated here": {"", empty}, "new": {"nové", done}, "other": {"jiné", done}, "unsure": {"snad", fuzzy},
				forms("a", "b"): {plural, done},
			},
			Counts{0, 0, 10, 9},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes, counts, err := Upload(f, tt.o, len(stored), find)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]Text{}
			for _, c := range changes {
				if got[c.Source] = c.Text; c.Was != stored[c.Source].Text {
					t.Errorf("%s was %v", c.Source, c.Was)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if counts != tt.counts {
				t.Errorf("got %+v, want %+v", counts, tt.counts)
			}
		})
	}
	for _, o := range []UploadOptions{{Method: "approve"}, {Method: "source"}, {}, {Method: Translate, Conflicts: "x"}, {Method: Translate, Fuzzy: "x"}} {
		if _, _, err := Upload(f, o, 1, find); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
