package poparse

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMutationsAgainstMsgfmt damages small files in many ways and compares with msgfmt
// whether they can still be read, where the first error is, and the counts. Long tests
// damage more.
func TestMutationsAgainstMsgfmt(t *testing.T) {
	needMsgfmt(t)
	seeds := mutationSeeds(t)
	n := 150
	if os.Getenv("REPOGLOT_LONG_TESTS") != "" {
		n = 20_000
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := make(chan string)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for text := range texts {
				if diff := compareWithMsgfmt(t, []byte(text)); diff != "" {
					t.Errorf("%s\n%s", diff, text)
				}
			}
		})
	}
	for range n {
		texts <- mutate(random, seeds[random.IntN(len(seeds))])
	}
	close(texts)
	wg.Wait()
}

// pieces are inserted at random offsets of files.
var pieces = []string{
	"#", "#~", "#|", "#~|", "# ", "#,", "#:", "#.", "\"", "\"\"", "\\", "\n", "\r\n", "\t", " ", "msgid", "msgstr", "msgctxt",
	"msgid_plural", "msgstr[0]", "msgstr[1]", "[", "]", "0", "#, fuzzy\n", "\"a\"\n", "msgid \"x\"\n", "msgstr \"y\"\n", "#~ ",
	"#| msgid \"p\"\n", "\\n", "\\x41", "\\101", "\\q", ":", "x", "é",
}

// mutate changes a text at one to three offsets.
func mutate(random *rand.Rand, text string) string {
	for range 1 + random.IntN(3) {
		lines := strings.SplitAfter(text, "\n")
		i, j := random.IntN(len(lines)), random.IntN(len(lines))
		switch random.IntN(5) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, i, lines[j])
		case 2:
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			if at := random.IntN(len(lines[i]) + 1); at < len(lines[i]) && lines[i][at] < 0x80 {
				lines[i] = lines[i][:at] + lines[i][at+1:]
			}
		case 4:
			at := random.IntN(len(lines[i]) + 1)
			if at == len(lines[i]) || lines[i][at]&0xC0 != 0x80 {
				lines[i] = lines[i][:at] + pieces[random.IntN(len(pieces))] + lines[i][at:]
			}
		}
		text = strings.Join(lines, "")
	}
	return text
}
