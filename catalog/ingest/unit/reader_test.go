package unit

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReader reads files in turn. Each gives what it gives when it is read alone.
func TestReader(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := new(Reader)
	for n := range 60 {
		from := n % 7 / 5 * 300 // some have other strings than the one before
		text := versionOf(r, from, from+200)
		if n%3 == 0 {
			entries := strings.Split(text, "\n\n")
			r.Shuffle(len(entries)-1, func(i, k int) { entries[i+1], entries[k+1] = entries[k+1], entries[i+1] })
			text = strings.Join(entries, "\n\n") + "\n"
		}
		sameAsAlone(t, s, NewRules("", n%11 == 0), text)
		for _, body := range repeated() {
			sameAsAlone(t, s, NewRules("", false), "msgid \"\"\nmsgstr \"\"\n\n"+body)
		}
	}
}

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

func sameAsAlone(t *testing.T, s *Reader, rules Rules, text string) {
	t.Helper()
	want, err := (*Reader)(nil).Read("x.po", []byte(text), rules)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Read("x.po", []byte(text), rules)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want.Units, got.Units) {
		t.Fatalf("units differ (-alone +with the Reader):\n%.2000s", cmp.Diff(want.Units, got.Units))
	}
	if want.Outline != got.Outline || want.Repeated != got.Repeated || want.RepeatedLine != got.RepeatedLine ||
		want.Plural != got.Plural || want.HasPlural != got.HasPlural || want.Plain != got.Plain {
		t.Fatalf("outline %x, %d repeated from line %d; alone %x, %d from %d",
			got.Outline, got.Repeated, got.RepeatedLine, want.Outline, want.Repeated, want.RepeatedLine)
	}
	for i := range want.Units {
		if at, ok := got.Find(want.Units[i].Identity); !ok || int(at) != i {
			t.Fatalf("unit %d is found at %d (%v)", i, at, ok)
		}
	}
}
