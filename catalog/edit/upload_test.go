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
		{"translate", UploadOptions{Method: Translate}, map[string]Text{"new": {"nové", done}, forms("a", "b"): {plural, done}}, Counts{1, 4, 2, 9, []string{"line 31: Number of plurals does not match"}}},
		{"ignore is the default", UploadOptions{Method: Translate, Conflicts: "ignore"}, map[string]Text{"new": {"nové", done}, forms("a", "b"): {plural, done}}, Counts{1, 4, 2, 9, []string{"line 31: Number of plurals does not match"}}},
		{
			"replace-translated",
			UploadOptions{Method: Translate, Conflicts: "replace-translated"},
			map[string]Text{"new": {"nové", done}, "other": {"jiné", done}, forms("a", "b"): {plural, done}},
			Counts{1, 3, 3, 9, []string{"line 31: Number of plurals does not match"}},
		},
		{
			"process",
			UploadOptions{Method: Translate, Fuzzy: "process"},
			map[string]Text{"new": {"nové", done}, "unsure": {"snad", fuzzy}, forms("a", "b"): {plural, done}},
			Counts{1, 4, 3, 9, []string{"line 31: Number of plurals does not match"}},
		},
		{
			"approve",
			UploadOptions{Method: Translate, Fuzzy: "approve"},
			map[string]Text{"new": {"nové", done}, "unsure": {"snad", done}, forms("a", "b"): {plural, done}},
			Counts{1, 4, 3, 9, []string{"line 31: Number of plurals does not match"}},
		},
		{
			"fuzzy",
			UploadOptions{Method: Fuzzy, Fuzzy: "approve", Conflicts: "replace-approved"},
			map[string]Text{"new": {"nové", fuzzy}, "same": {"stejné", fuzzy}, "other": {"jiné", fuzzy}, "unsure": {"snad", fuzzy}, forms("a", "b"): {plural, fuzzy}},
			Counts{1, 2, 5, 9, []string{"line 31: Number of plurals does not match"}},
		},
		{"suggest", UploadOptions{Method: Suggest}, map[string]Text{"new": {"nové", done}, "other": {"jiné", done}, forms("a", "b"): {plural, done}}, Counts{1, 3, 3, 9, []string{"line 31: Number of plurals does not match"}}},
		{
			"replace",
			UploadOptions{Method: Replace},
			map[string]Text{
				"untranslated here": {"", empty}, "new": {"nové", done}, "other": {"jiné", done}, "unsure": {"snad", fuzzy},
				forms("a", "b"): {plural, done},
			},
			Counts{0, 0, 10, 9, []string{"line 31: Number of plurals does not match"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes, counts, err := Upload(f, tt.o, len(stored), find)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]Text{}
			for _, c := range changes {
				got[c.Source] = c.Text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.counts, counts); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, o := range []UploadOptions{{Method: "approve"}, {Method: "source"}, {}, {Method: Translate, Conflicts: "x"}, {Method: Translate, Fuzzy: "x"}} {
		if _, _, err := Upload(f, o, 1, find); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestCheckUpload refuses a whole file before any of its texts.
func TestCheckUpload(t *testing.T) {
	const czech = "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"
	file := func(rule, entry string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n" + rule + "\"\n\nmsgid \"a\"\n" + entry
	}
	const plural = "msgid_plural \"b\"\nmsgstr[0] \"x\"\nmsgstr[1] \"y\"\nmsgstr[2] \"z\"\n"
	for name, tt := range map[string]struct{ file, want string }{
		"the same rule":            {file("Plural-Forms: nplurals=3; plural="+czech+";\\n", plural), ""},
		"written otherwise":        {file("Plural-Forms: nplurals=3; plural=n==1?0:(n<5&&n>1?1:2);\\n", plural), ""},
		"no rule":                  {file("", plural), ""},
		"another, without plurals": {file("Plural-Forms: nplurals=2; plural=n!=1;\\n", "msgstr \"x\"\n"), ""},
		"another number":           {file("Plural-Forms: nplurals=2; plural=n!=1;\\n", plural), "file: Plural forms do not match the language."},
		"another rule":             {file("Plural-Forms: nplurals=3; plural=n%10==1&&n%100!=11?0:n!=0?1:2;\\n", plural), "file: Plural forms do not match the language."},
		"a rule for low numbers":   {file("Plural-Forms: nplurals=3; plural=n==0?0:"+czech+";\\n", plural), "file: Plural forms do not match the language."},
		"forms that no number has": {file("Plural-Forms: nplurals=4; plural="+czech+";\\n", plural), "file: Plural forms do not match the language."},
		"a rule for high numbers":  {file("Plural-Forms: nplurals=3; plural=n==1000000?1:"+czech+";\\n", plural), "file: Plural forms do not match the language."},
		"NUL":                      {file("", "msgstr \"x\x00\"\n"), "file: Line 5 has a NUL, which no text can have."},
		"an escape of NUL":         {file("", "msgstr \"x\\000\"\n"), "file: Line 5 has a NUL, which no text can have."},
	} {
		f, err := poparse.Parse("cs.po", []byte(tt.file))
		if err != nil {
			t.Fatal(name, err)
		}
		got := ""
		if err := CheckUpload(f, 3, czech); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
