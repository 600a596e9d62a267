package ingest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// versionOf writes a version of a file of some strings, in which notes, flags,
// places and translations come and go.
func versionOf(r *rand.Rand, from, to int) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i := from; i < to; i++ {
		if r.IntN(10) == 0 {
			continue
		}
		if r.IntN(20) == 0 {
			fmt.Fprintf(&b, "\n#. note %d", r.IntN(3))
		}
		fmt.Fprintf(&b, "\n#: src/%d.c:%d", i%7, r.IntN(100))
		switch r.IntN(20) {
		case 0:
			b.WriteString("\n#, fuzzy, c-format\n#| msgid \"before\"")
		case 1:
			b.WriteString("\n#, priority:200")
		}
		if i%5 == 0 {
			fmt.Fprintf(&b, "\nmsgctxt \"context %d\"", i%3)
		}
		if i%4 == 0 {
			fmt.Fprintf(&b, "\nmsgid \"one of %d\"\nmsgid_plural \"many of %d\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b %d\"\n", i, i, r.IntN(3))
			continue
		}
		fmt.Fprintf(&b, "\nmsgid \"string %d\"\nmsgstr \"%d\"\n", i, r.IntN(3))
	}
	return b.String()
}

// TestLexicon reads versions of files in turn with one scratch: each gives what
// it gives when it is read alone. The strings are more than a generation of the
// lexicon holds, and the memory of earlier versions is used again.
func TestLexicon(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := newScratch(newUnitRooms())
	for n := range 24 {
		from := n % 6 * 4000
		var settings catalog.ComponentSettings
		rules := newRules(&settings, n%5 == 0)
		sameAsAlone(t, s, rules, versionOf(r, from, from+5000))
	}
	if s.lexicon.generation == 0 {
		t.Error("the lexicon never began a new generation: give it more strings")
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

func TestLexiconRepeated(t *testing.T) {
	var settings catalog.ComponentSettings
	s := newScratch(newUnitRooms())
	for _, body := range repeated() {
		sameAsAlone(t, s, newRules(&settings, false), "msgid \"\"\nmsgstr \"\"\n\n"+body)
	}
}

func sameAsAlone(t *testing.T, s *scratch, r rules, text string) {
	t.Helper()
	want, bad := parse("x.po", []byte(text), r, nil)
	if bad != nil {
		t.Fatal(bad)
	}
	got, bad := parse("x.po", []byte(text), r, s)
	if bad != nil {
		t.Fatal(bad)
	}
	if diff := cmp.Diff(want.units, got.units, cmp.AllowUnexported(unit{})); diff != "" {
		t.Fatalf("units differ (-alone +with scratch):\n%.2000s", diff)
	}
	if want.outline != got.outline || want.repeated != got.repeated || want.repeatedLine != got.repeatedLine {
		t.Errorf("outline %x, %d repeated from line %d; alone %x, %d from %d",
			got.outline, got.repeated, got.repeatedLine, want.outline, want.repeated, want.repeatedLine)
	}
	for i := range want.units {
		if at, ok := got.find(want.units[i].Identity); !ok || int(at) != i {
			t.Fatalf("unit %d is found at %d (%v)", i, at, ok)
		}
	}
	if s.rooms != nil {
		s.rooms.give(got)
	}
}
