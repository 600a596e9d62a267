package unit

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReader reads files in turn, as a first import does. Each gives what it gives when
// it is read alone, whether it has the strings of the previous one in the same order, in
// another order or not at all, and with other rules.
func TestReader(t *testing.T) {
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
