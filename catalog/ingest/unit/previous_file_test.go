package unit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPreviousFile reads files in turn, as a first import does. Each gives what
// it gives when it is read alone, whether it has the strings of the previous one
// in the same order, in another order or not at all, and with other rules.
func TestPreviousFile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s Reader
	for n := range 60 {
		from := n % 7 / 5 * 300 // some have other strings than the one before
		text := versionOf(r, from, from+200)
		if n%3 == 0 {
			entries := strings.Split(text, "\n\n")
			r.Shuffle(len(entries)-1, func(i, k int) { entries[i+1], entries[k+1] = entries[k+1], entries[i+1] })
			text = strings.Join(entries, "\n\n") + "\n"
		}
		sameAsAlone(t, &s, NewRules("", n%11 == 0), text)
		for _, body := range repeated() {
			sameAsAlone(t, &s, NewRules("", false), "msgid \"\"\nmsgstr \"\"\n\n"+body)
		}
	}
}

// TestPreviousFileFinds: a string of the previous file is found wherever it is
// there, and a file that has nothing in common costs few searches.
func TestPreviousFileFinds(t *testing.T) {
	file := func(order []int, prefix string) string {
		var b strings.Builder
		b.WriteString("msgid \"\"\nmsgstr \"\"\n")
		for _, i := range order {
			fmt.Fprintf(&b, "\nmsgid \"%s %d of the strings\"\nmsgstr \"\"\n", prefix, i)
		}
		return b.String()
	}
	order := rand.New(rand.NewPCG(7, 8)).Perm(500)
	var sorted []int
	for i := range order {
		sorted = append(sorted, i)
	}
	rules := NewRules("", false)
	for name, tt := range map[string]struct {
		text  string
		found int // at least
		fails int // at most
	}{
		"the same":      {file(sorted, "string"), 500, 0},
		"some are gone": {file(sorted[100:300], "string"), 200, 0},
		"shuffled":      {file(order, "string"), 495, 5}, // of the index, a few have no place
		"others":        {file(sorted, "text"), 0, firstBudget},
	} {
		var s Reader
		if _, err := s.Read("x.po", []byte(file(sorted, "string")), rules); err != nil {
			t.Fatal(err)
		}
		s.previous.begin(false)
		f, err := s.parser.Parse("x.po", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		found, fails := 0, 0
		for _, e := range f.Entries {
			luck := s.previous.budget
			if u := s.previous.find(e); u != nil {
				if found++; u.Source != e.ID {
					t.Errorf("%s: %q found for %q", name, u.Source, e.ID)
				}
			}
			if s.previous.budget < luck {
				fails++
			}
		}
		if found < tt.found || fails > tt.fails {
			t.Errorf("%s: %d found, want %d; %d failed searches, want at most %d", name, found, tt.found, fails, tt.fails)
		}
	}
}
