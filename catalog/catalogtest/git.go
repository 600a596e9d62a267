package catalogtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Git runs git in a directory and returns what it prints, without spaces around.
func Git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Bundle makes a bare repository of a bundle, in a directory of the test, and
// returns its path. It skips the test as NeedShared does.
func Bundle(tb testing.TB, bundle string) string {
	tb.Helper()
	NeedShared(tb, bundle)
	dir := filepath.Join(tb.TempDir(), "repo.git")
	Git(tb, "", "clone", "--quiet", "--bare", bundle, dir)
	return dir
}

// NeedShared skips a test if a path does not exist that is outside the
// repository, in a directory beside it. In CI it must exist.
func NeedShared(tb testing.TB, path string) {
	tb.Helper()
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatalf("the shared data must be there in CI: %v", err)
		}
		tb.Skipf("skipped: no shared data beside the project: %v", err)
	}
}
