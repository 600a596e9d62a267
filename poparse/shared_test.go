package poparse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sharedDir returns a directory of the material next to the repository. Without it the
// test is skipped, except in CI, where it fails.
func sharedDir(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{"..", "..", "shared"}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is needed in CI: %v", dir, err)
		}
		t.Skipf("skipped: %s, which lies beside the repository, is not here", dir)
	}
	return dir
}

// counts are the numbers that msgfmt --statistics prints.
type counts struct{ translated, fuzzy, untranslated int }

func (c counts) String() string {
	return fmt.Sprintf("%d translated, %d fuzzy, %d untranslated", c.translated, c.fuzzy, c.untranslated)
}

// count counts the entries by docs/po.md#states, without the flag read-only.
func count(f *File) counts {
	var c counts
	for e := range f.Live() {
		switch {
		case e.Str[0] == "":
			c.untranslated++
		case e.Fuzzy:
			c.fuzzy++
		default:
			c.translated++
		}
	}
	return c
}

// tsv reads a table; the first line names the columns.
func tsv(t *testing.T, file string) (rows []map[string]string) {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	names := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, "\t") {
			if i < len(names) {
				row[names[i]] = cell
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	must(t, err)
	return n
}

// cloneBundle makes a bare repository of a bundle and returns its directory.
func cloneBundle(t testing.TB, bundle string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed")
	}
	dir := filepath.Join(t.TempDir(), "repo.git")
	git(t, "", "clone", "--quiet", "--bare", bundle, dir)
	return dir
}

func git(t testing.TB, dir string, args ...string) []byte {
	t.Helper()
	return gitWith(t, dir, nil, args...)
}

func gitWith(t testing.TB, dir string, stdin io.Reader, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = stdin
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

// blob is a file of a commit.
type blob struct {
	path string
	id   string
	data []byte
}

// headFiles returns the regular files of HEAD with a suffix.
func headFiles(t testing.TB, repo, suffix string) []blob {
	t.Helper()
	var blobs []blob
	for _, line := range bytes.Split(git(t, repo, "ls-tree", "-r", "-z", "HEAD"), []byte{0}) {
		meta, path, ok := strings.Cut(string(line), "\t")
		fields := strings.Fields(meta)
		if ok && strings.HasPrefix(fields[0], "100") && strings.HasSuffix(path, suffix) {
			blobs = append(blobs, blob{path: path, id: fields[2]})
		}
	}
	readBlobs(t, repo, blobs)
	return blobs
}

// readBlobs fills in the data.
func readBlobs(t testing.TB, repo string, blobs []blob) {
	t.Helper()
	var ids strings.Builder
	for _, b := range blobs {
		fmt.Fprintln(&ids, b.id)
	}
	out := bufio.NewReader(bytes.NewReader(gitWith(t, repo, strings.NewReader(ids.String()), "cat-file", "--batch")))
	for i := range blobs {
		var id, kind string
		var size int
		if _, err := fmt.Fscanf(out, "%s %s %d\n", &id, &kind, &size); err != nil {
			t.Fatal(err)
		}
		blobs[i].data = make([]byte, size)
		if _, err := io.ReadFull(out, blobs[i].data); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Discard(1); err != nil {
			t.Fatal(err)
		}
	}
}
