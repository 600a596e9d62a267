package merge

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/poparse"
)

// FuzzFiles merges any three files: no panic, bounded memory, an error only for files that
// are not merged by meaning, a side whole if the other is the base, and no text that a side
// has and the base has not is lost, or under a source that its author did not see.
func FuzzFiles(f *testing.F) {
	for _, tt := range tableCases {
		f.Add([]byte(tt.base), []byte(tt.ours), []byte(tt.theirs), byte(0))
	}
	f.Add([]byte(nil), []byte("msgid \"a\"\r\nmsgstr \"b\\\"\\303\\244\"\r\n"), []byte("#~ msgid \"a\"\n#~ msgstr \"c\""), byte(1))
	f.Add([]byte("domain \"x\"\nmsgid \"a\"\nmsgstr \"\"\n"), []byte("\xef\xbb\xbf# c\n#| msgid \"x\"\nmsgid \"a\" msgstr \"\""), []byte("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\n"), byte(3))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte, favor byte) {
		size := len(base) + len(ours) + len(theirs)
		if size > 20_000 {
			return
		}
		o := Options{Favor: []Favor{FavorNone, FavorOurs, FavorTheirs, FavorFuzzy}[favor%4], Comparisons: 2_000}
		data := [3][]byte{base, ours, theirs}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := files(data, o)
		runtime.ReadMemStats(&after)
		// Other goroutines of the fuzzer allocate, too.
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(100*size+16<<20) {
			t.Errorf("%d bytes: %d bytes allocated", size, got)
		}
		if err != nil {
			if !errors.Is(err, ErrUnreadable) {
				t.Fatal(err)
			}
			return
		}
		for _, sides := range [][3][]byte{{base, ours, base}, {base, base, ours}, {base, ours, ours}} {
			if one, err := files(sides, o); err == nil && !bytes.Equal(one.Data, ours) {
				t.Fatalf("of one side's change came\n%q, want\n%q, from\n%q", one.Data, ours, base)
			}
		}
		var have string
		var merged [3]*poparse.File
		for v := Ours; v <= Theirs; v++ {
			text := r.Data
			if r.Conflicts > 0 {
				text = resolved(text, v)
			}
			if merged[v], err = poparse.Parse("", text); err != nil {
				if r.Conflicts > 0 {
					return // its charset may be part of the conflict
				}
				t.Fatalf("%v in\n%s", err, text)
			}
			have += allComments(merged[v])
			for _, e := range merged[v].Entries {
				have += "\x00" + strings.Join(e.Str, "\x00")
			}
		}
		if o.Favor != FavorNone && o.Favor != FavorFuzzy {
			return
		}
		had, seen := map[string]bool{}, map[string]bool{}
		for v := range data {
			f, err := poparse.Parse("", data[v])
			if err != nil {
				return // read with a line end at its end only
			}
			for _, e := range f.Entries {
				for _, text := range e.Str {
					if v == int(Base) {
						had[text] = true
					} else if text != "" && !had[text] && !strings.Contains(have, text) {
						t.Errorf("%q of %q is lost in\n%s", text, e.ID, r.Data)
					}
				}
				if !e.Fuzzy {
					seen[sourceAndText(e)] = true
				}
			}
		}
		for _, e := range slices.Concat(merged[Ours].Entries, merged[Theirs].Entries) {
			if TextOf(e).Translated() && !e.Obsolete && !seen[sourceAndText(e)] {
				t.Errorf("%q is under %q, which its author did not see", e.Str, e.ID)
			}
		}
	})
}
