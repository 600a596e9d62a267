package poparse

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestMutationsAgainstMsgfmt damages small files in many ways and compares with msgfmt
// whether they can still be read, where the first error is, and the counts. Long tests
// damage more.
func TestMutationsAgainstMsgfmt(t *testing.T) {
	gittest.Need(t, "msgfmt")
	seeds := mutationSeeds(t)
	n := testsize.Of(150, 150, 20_000)
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

// TestHistoryAgainstMsgfmt compares with msgfmt on the PO files of all commits of
// the bundles: every version in small ones, every 25th in the others. Long tests take
// all, some 17,500; short tests, and tests with the race detector, a few.
func TestHistoryAgainstMsgfmt(t *testing.T) {
	gittest.Need(t, "msgfmt")
	bundles, err := filepath.Glob(filepath.Join(gittest.Shared(t, "data", "repos"), "*.bundle"))
	must(t, err)
	compared := 0
	for _, bundle := range bundles {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			path, err := filepath.Abs(bundle)
			must(t, err)
			repo := cloneBundle(t, path)
			blobs := historyFiles(t, repo)
			switch all := len(blobs); {
			case testsize.Nightly():
			case testing.Short() || underRace:
				blobs = everyNth(blobs, 200)
			case all > 1000:
				blobs = everyNth(blobs, 25)
			}
			t.Logf("%d files", len(blobs))
			readBlobs(t, repo, blobs)
			compared += len(blobs)
			compareBlobs(t, blobs)
		})
	}
	if compared < 1000 && !testing.Short() && !underRace && !t.Failed() {
		t.Errorf("only %d files", compared)
	}
}

func everyNth(blobs []blob, n int) (some []blob) {
	for i := 0; i < len(blobs); i += n {
		some = append(some, blobs[i])
	}
	return some
}

// compareBlobs compares each file with msgfmt, three at a time.
func compareBlobs(t *testing.T, blobs []blob) {
	todo := make(chan blob)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for b := range todo {
				if diff := compareWithMsgfmt(t, b.data); diff != "" {
					t.Errorf("%s %s: %s", b.path, b.id[:10], diff)
				}
			}
		})
	}
	for _, b := range blobs {
		todo <- b
	}
	close(todo)
	wg.Wait()
}

// historyFiles lists every version of every PO file, without reading it.
func historyFiles(t *testing.T, repo string) []blob {
	t.Helper()
	var blobs []blob
	for line := range strings.Lines(string(git(t, repo, "rev-list", "--objects", "--all"))) {
		id, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && strings.HasSuffix(path, ".po") {
			blobs = append(blobs, blob{path: path, id: id})
		}
	}
	return blobs
}
