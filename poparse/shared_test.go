package poparse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// count counts the entries by docs/po.md#states, without the flag read-only.
func count(f *File) gettexttest.Counts {
	var c gettexttest.Counts
	for e := range f.Live() {
		switch {
		case e.Str[0] == "":
			c.Untranslated++
		case e.Fuzzy:
			c.Fuzzy++
		default:
			c.Translated++
		}
	}
	return c
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
