package unit

import "testing"

// TestFind: units are found at their places, also in files with repeated strings.
func TestFind(t *testing.T) {
	for _, body := range repeated() {
		f, err := Read("x.po", []byte("msgid \"\"\nmsgstr \"\"\n\n"+body), NewRules("", false))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Units {
			if at, ok := f.Find(f.Units[i].Identity); !ok || int(at) != i {
				t.Fatalf("%q: unit %d is found at %d (%v)", body, i, at, ok)
			}
		}
	}
}

// repeated are files with strings that repeat others, in all the ways in which
// two entries can be one string.
func repeated() []string {
	return []string{
		"msgid \"a\"\nmsgstr \"1\"\n\nmsgctxt \"\"\nmsgid \"a\"\nmsgstr \"2\"\n",
		"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"1\"\n\nmsgid \"a\\036\\036b\"\nmsgstr \"2\"\n",
		"msgid \"a\\036\\036b\"\nmsgstr \"2\"\n\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"1\"\n",
		"msgid \"a\"\nmsgstr \"1\"\n\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"2\"\n\nmsgid \"b\"\nmsgstr \"3\"\n",
		"msgid \"a\"\nmsgstr \"1\"\n\nmsgid \"b\"\nmsgstr \"1\"\n\nmsgid \"a\"\nmsgstr \"3\"\n",
	}
}
