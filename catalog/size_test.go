package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largestFile is how many bytes a file of the repository may have.
const largestFile = 1_000_000

// largeFiles are the files that may have more, by their path from the root.
var largeFiles = []string{}

// TestSizesDrift: nothing large is in the repository, like a built program or a dump of a
// database, which every clone would keep for good.
func TestSizesDrift(t *testing.T) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("list the files of the repository: %v", err)
		}
		t.Skipf("this is no clone, or git is missing: %v", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for _, name := range largeFilesOf(t, names) {
		t.Errorf("%s has more than %d bytes: a built program or a dump does not belong here (git rm --cached, .gitignore)", name, largestFile)
	}
	if len(names) < 100 {
		t.Errorf("only %d files were looked at", len(names))
	}
}

// largeFilesOf returns the files above the limit that are not named in largeFiles.
func largeFilesOf(t *testing.T, names []string) (large []string) {
	t.Helper()
	for _, name := range names {
		info, err := os.Lstat(filepath.Join("..", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > largestFile && !slices.Contains(largeFiles, name) {
			large = append(large, name)
		}
	}
	return large
}
