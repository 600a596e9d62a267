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

// TestHistoryAgainstMsgfmt compares with msgfmt on the PO files of all commits of
// the bundles: every version in small ones, every 25th in the others. Long tests take
// all, some 17,500; short tests, and tests with the race detector, a few.
func TestHistoryAgainstMsgfmt(t *testing.T) {
	needMsgfmt(t)
	bundles, err := filepath.Glob(filepath.Join(sharedDir(t, "data", "repos"), "*.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	long := os.Getenv("REPOGLOT_LONG_TESTS") != ""
	compared := 0
	for _, bundle := range bundles {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			path, err := filepath.Abs(bundle)
			if err != nil {
				t.Fatal(err)
			}
			repo := cloneBundle(t, path)
			blobs := historyFiles(t, repo)
			switch all := len(blobs); {
			case long:
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

// needMsgfmt skips a test if gettext is not installed; in CI it must be.
func needMsgfmt(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("msgfmt"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("gettext is needed in CI: .ci/tools installs it")
		}
		t.Skip("skipped: msgfmt (gettext) is not installed")
	}
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
