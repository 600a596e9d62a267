package gittest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Must ends the test on an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// bundles are unpacked once for all tests of a package, which read them only.
var bundles struct {
	sync.Mutex
	dir string
}

// Main runs the tests of a package: it is its TestMain, and fails on goroutines
// that a test leaves.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "gittest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bundles.dir = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// NeedGit returns the path of the git program. Without it the test is skipped, or
// fails if CI=true.
func NeedGit(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("CI=true, but there is no git program")
		}
		tb.Skip("skipped: there is no git program on this machine")
	}
	return path
}

// Environment returns this process's environment without git's own variables, and without the
// configuration of the machine and of its user.
func Environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "LC_") && !strings.HasPrefix(v, "LANG") {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
}

// RunGit runs git in a directory and returns what it prints.
func RunGit(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	return strings.TrimSpace(string(PipeGit(tb, dir, nil, args...)))
}

// PipeGit runs git with an input and returns what it prints.
func PipeGit(tb testing.TB, dir string, in io.Reader, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command(NeedGit(tb), args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, in, Environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Bundle unpacks one of the shared bundles into a bare repository, with the git
// program. Do not change it.
func Bundle(tb testing.TB, name string) string {
	tb.Helper()
	file := findBundle(tb, name)
	bundles.Lock()
	defer bundles.Unlock()
	dir := filepath.Join(bundles.dir, name+".git")
	if _, err := os.Stat(dir); err != nil {
		RunGit(tb, "", "clone", "-q", "--bare", file, dir)
	}
	return dir
}

// findBundle finds a file in ../shared, which is beside the repository, from the directory
// of any package.
func findBundle(tb testing.TB, name string) string {
	tb.Helper()
	for up := ".."; len(up) < 20; up = filepath.Join("..", up) {
		file, err := filepath.Abs(filepath.Join(up, "shared", "data", "repos", name+".bundle"))
		Must(tb, err)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal("CI=true, but the shared repositories are not there")
	}
	tb.Skip("skipped: the bundles of real repositories are not in the repository")
	return ""
}
