package poparse

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// msgfmt returns the counts that GNU msgfmt prints, or its complaints.
func msgfmt(t *testing.T, data []byte) (counts, string) {
	t.Helper()
	cmd := exec.Command("msgfmt", "--statistics", "-o", os.DevNull, "-")
	cmd.Stdin = bytes.NewReader(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return counts{}, string(out)
	}
	return parseStatistics(t, string(out)), ""
}

// parseStatistics reads the line that msgfmt --statistics prints.
func parseStatistics(t *testing.T, line string) (c counts) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(\d+) (translated|fuzzy|untranslated)`).FindAllStringSubmatch(line, -1) {
		switch n := atoi(t, m[1]); m[2] {
		case "translated":
			c.translated = n
		case "fuzzy":
			c.fuzzy = n
		default:
			c.untranslated = n
		}
	}
	return c
}

// TestHistoryAgainstMsgfmt compares with msgfmt on every PO file of every
// commit of the bundles. It takes minutes, so it has to be asked for.
func TestHistoryAgainstMsgfmt(t *testing.T) {
	if os.Getenv("REPOGLOT_LONG_TESTS") == "" {
		t.Skip("skipped: set REPOGLOT_LONG_TESTS=1 to compare the whole history with msgfmt")
	}
	if _, err := exec.LookPath("msgfmt"); err != nil {
		t.Skip("skipped: msgfmt is not installed")
	}
	bundles, err := filepath.Glob(filepath.Join(sharedDir(t, "data", "repos"), "*.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bundle := range bundles {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			path, err := filepath.Abs(bundle)
			if err != nil {
				t.Fatal(err)
			}
			repo := cloneBundle(t, path)
			blobs := historyFiles(t, repo)
			t.Logf("%d files", len(blobs))
			var next sync.Mutex
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for {
						next.Lock()
						if len(blobs) == 0 {
							next.Unlock()
							return
						}
						b := blobs[0]
						blobs = blobs[1:]
						next.Unlock()
						if diff := compareWithMsgfmt(t, b.data); diff != "" {
							t.Errorf("%s %s: %s", b.path, b.id[:10], diff)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// historyFiles returns every version of every PO file.
func historyFiles(t *testing.T, repo string) []blob {
	t.Helper()
	var blobs []blob
	for line := range strings.Lines(string(git(t, repo, "rev-list", "--objects", "--all"))) {
		id, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && strings.HasSuffix(path, ".po") {
			blobs = append(blobs, blob{path: path, id: id})
		}
	}
	readBlobs(t, repo, blobs)
	return blobs
}
