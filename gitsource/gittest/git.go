package gittest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
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

// RunGit runs git in a directory and returns its output.
func RunGit(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(NeedGit(tb), args...)
	cmd.Dir = dir
	cmd.Env = Environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Bundle unpacks one of the shared bundles into a bare repository, with the git
// program where there is one (it is not slowed down by the race detector). Do
// not change it.
func Bundle(tb testing.TB, name string) string {
	tb.Helper()
	f := openBundle(tb, name)
	defer f.Close()
	bundles.Lock()
	defer bundles.Unlock()
	dir := filepath.Join(bundles.dir, name+".git")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if _, err := exec.LookPath("git"); err == nil {
		RunGit(tb, "", "clone", "-q", "--bare", f.Name(), dir)
		return dir
	}
	initBare(tb, dir)
	in := bufio.NewReader(f)
	line, err := in.ReadString('\n')
	Must(tb, err)
	if !strings.HasPrefix(line, "# v2 git bundle") {
		tb.Fatalf("bundle begins with %q", line)
	}
	for {
		line, err := in.ReadString('\n')
		Must(tb, err)
		if line == "\n" {
			break
		}
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(ref, "refs/heads/") {
			write(tb, filepath.Join(dir, filepath.FromSlash(ref)), id+"\n")
			write(tb, filepath.Join(dir, "HEAD"), "ref: "+ref+"\n")
		}
	}
	st := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	defer st.Close()
	Must(tb, packfile.UpdateObjectStorage(st, in))
	return dir
}

// openBundle finds ../shared, which is beside the repository, from the directory
// Of any package.
func openBundle(tb testing.TB, name string) *os.File {
	tb.Helper()
	var err error
	for up := ".."; len(up) < 20; up = filepath.Join("..", up) {
		var f *os.File
		var file string
		if file, err = filepath.Abs(filepath.Join(up, "shared", "data", "repos", name+".bundle")); err != nil {
			break
		}
		if f, err = os.Open(file); err == nil {
			return f
		}
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("CI=true, but the shared repositories are not there: %v", err)
	}
	tb.Skipf("skipped: the bundles of real repositories are not in the repository: %v", err)
	return nil
}

// PipeGit runs git with an input and returns its output.
func PipeGit(tb testing.TB, dir string, in io.Reader, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command(NeedGit(tb), args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, in, Environment()
	data, err := cmd.Output()
	if err != nil {
		tb.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return data
}
