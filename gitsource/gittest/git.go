package gittest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
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

// Main is the TestMain of a package: it fails on goroutines that a test leaves.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// NeedGit returns the path of the git program, as Need does.
func NeedGit(tb testing.TB) string { return Need(tb, "git") }

// Need returns the path of a program. Without it the test is skipped, or fails if CI=true.
func Need(tb testing.TB, program string) string {
	tb.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("CI=true, but there is no program %s: .ci/tools installs it", program)
		}
		tb.Skipf("skipped: there is no program %s on this machine", program)
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

// Bundle makes a bare repository of one of the shared bundles.
func Bundle(tb testing.TB, name string) string {
	tb.Helper()
	return Clone(tb, Shared(tb, "data", "repos", name+".bundle"))
}

// Clone makes a bare clone of a bundle or repository, in a directory of the test.
func Clone(tb testing.TB, from string) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "repo.git")
	RunGit(tb, "", "clone", "-q", "--bare", "--no-hardlinks", from, dir)
	return dir
}

// Shared returns the absolute path of something in the folder shared, which lies
// beside the repository. Without it the test is skipped, except in CI, where it fails.
func Shared(tb testing.TB, elem ...string) string {
	tb.Helper()
	below := filepath.Join(elem...)
	for up := ".."; len(up) < 20; up = filepath.Join("..", up) {
		path, err := filepath.Abs(filepath.Join(up, "shared", below))
		Must(tb, err)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("CI=true, but shared/%s is not there", below)
	}
	tb.Skipf("skipped: shared/%s is not beside the repository", below)
	return ""
}

// Upstream is a repository made object by object, so that tests can have any
// history and any malformed tree. H is the type of ids that a test wants.
type Upstream[H ~[20]byte] struct {
	// Dir is the bare repository.
	Dir string
	// Clock is the time of the last commit, in Unix seconds.
	Clock int64

	tb testing.TB
	st *filesystem.Storage
}

// NewUpstream makes an empty bare repository with HEAD at main.
func NewUpstream[H ~[20]byte](tb testing.TB) *Upstream[H] {
	tb.Helper()
	return NewUpstreamAt[H](tb, filepath.Join(tb.TempDir(), "up.git"))
}

// NewUpstreamAt is NewUpstream in a directory that does not exist yet.
func NewUpstreamAt[H ~[20]byte](tb testing.TB, dir string) *Upstream[H] {
	tb.Helper()
	initBare(tb, dir)
	u := &Upstream[H]{tb: tb, Dir: dir, Clock: 1_600_000_000}
	u.st = filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	return u
}

func initBare(tb testing.TB, dir string) {
	tb.Helper()
	for _, below := range []string{"objects/info", "objects/pack", "refs/heads"} {
		Must(tb, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(below)), 0o700))
	}
	write(tb, filepath.Join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n")
	write(tb, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
}

// write replaces a file in one step.
func write(tb testing.TB, name, text string) {
	tb.Helper()
	Must(tb, os.MkdirAll(filepath.Dir(name), 0o700))
	temporary := filepath.Join(filepath.Dir(name), ".tmp-test") // which a Watcher ignores
	Must(tb, os.WriteFile(temporary, []byte(text), 0o600))
	Must(tb, os.Rename(temporary, name))
}

// Write writes a file of the repository.
func (u *Upstream[H]) Write(name, text string) {
	u.tb.Helper()
	write(u.tb, filepath.Join(u.Dir, filepath.FromSlash(name)), text)
}

// Object writes any object.
func (u *Upstream[H]) Object(t plumbing.ObjectType, data []byte) H {
	u.tb.Helper()
	obj := &plumbing.MemoryObject{}
	obj.SetType(t)
	_, err := obj.Write(data)
	Must(u.tb, err)
	h, err := u.st.SetEncodedObject(obj)
	Must(u.tb, err)
	return H(h)
}

// Blob writes a file's contents.
func (u *Upstream[H]) Blob(text string) H { return u.Object(plumbing.BlobObject, []byte(text)) }

// Line is one line of a tree as the object holds it.
type Line[H ~[20]byte] struct {
	Mode, Name string
	Hash       H
}

// RawTree writes a tree of lines in any order, well formed or not.
func (u *Upstream[H]) RawTree(lines ...Line[H]) H {
	var data []byte
	for _, l := range lines {
		data = fmt.Appendf(data, "%s %s\x00", l.Mode, l.Name)
		data = append(data, l.Hash[:]...)
	}
	return u.Object(plumbing.TreeObject, data)
}

// Files is a tree as path → contents; "->x" is a symlink to x, "@" a submodule.
type Files map[string]string

// Tree writes a tree with its files and directories.
func (u *Upstream[H]) Tree(files Files) H {
	sub := map[string]Files{}
	var lines []Line[H]
	for p, text := range files {
		dir, rest, ok := strings.Cut(p, "/")
		switch {
		case ok:
			if sub[dir] == nil {
				sub[dir] = Files{}
			}
			sub[dir][rest] = text
		case text == "@":
			lines = append(lines, Line[H]{"160000", p, H{1}})
		case strings.HasPrefix(text, "->"):
			lines = append(lines, Line[H]{"120000", p, u.Blob(text[2:])})
		default:
			lines = append(lines, Line[H]{"100644", p, u.Blob(text)})
		}
	}
	for dir, files := range sub {
		lines = append(lines, Line[H]{"40000", dir, u.Tree(files)})
	}
	key := func(l Line[H]) string {
		if l.Mode == "40000" {
			return l.Name + "/"
		}
		return l.Name
	}
	slices.SortFunc(lines, func(a, b Line[H]) int { return strings.Compare(key(a), key(b)) })
	return u.RawTree(lines...)
}

// Commit adds a commit a minute after the last one; its author is "who".
func (u *Upstream[H]) Commit(who string, files Files, parents ...H) H {
	u.tb.Helper()
	return u.CommitTree(who, u.Tree(files), parents...)
}

// Push is Commit that makes main point to the commit.
func (u *Upstream[H]) Push(who string, files Files, parents ...H) H {
	u.tb.Helper()
	h := u.Commit(who, files, parents...)
	u.Set("main", h)
	return h
}

// CommitTree is Commit with a tree that was written before.
func (u *Upstream[H]) CommitTree(who string, tree H, parents ...H) H {
	u.tb.Helper()
	u.Clock += 60
	var b strings.Builder
	fmt.Fprintf(&b, "tree %x\n", tree[:])
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %x\n", p[:])
	}
	fmt.Fprintf(&b, "author %s <%s@example.org> %d +0000\n", who, strings.ToLower(who), u.Clock)
	fmt.Fprintf(&b, "committer Hub <hub@example.org> %d +0000\n\nBy %s\n", u.Clock, who)
	return u.Object(plumbing.CommitObject, []byte(b.String()))
}

// Set makes a branch point to a commit.
func (u *Upstream[H]) Set(branch string, h H) {
	u.tb.Helper()
	u.Write("refs/heads/"+branch, fmt.Sprintf("%x\n", h[:]))
}

// Remove removes a branch, and the folders that held it alone.
func (u *Upstream[H]) Remove(branch string) {
	root := filepath.Join(u.Dir, "refs", "heads")
	for name := filepath.Join(root, filepath.FromSlash(branch)); name != root && os.Remove(name) == nil; {
		name = filepath.Dir(name)
	}
}
