package gitsource

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"go.uber.org/goleak"
)

// bundles are unpacked once for all tests, which read them only.
var bundles struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gitsource")
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

// upstream is a repository made object by object, so that tests can have any
// history and any malformed tree.
type upstream struct {
	tb    testing.TB
	dir   string
	st    *filesystem.Storage
	clock int64
}

// newUpstream makes an empty bare repository with HEAD at main.
func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return newUpstreamAt(tb, filepath.Join(tb.TempDir(), "up.git"))
}

func newUpstreamAt(tb testing.TB, dir string) *upstream {
	tb.Helper()
	must(tb, initBare(dir))
	u := &upstream{tb: tb, dir: dir, clock: 1_600_000_000}
	u.st = filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	u.write("HEAD", "ref: refs/heads/main\n")
	return u
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func (u *upstream) write(name, text string) {
	u.tb.Helper()
	must(u.tb, writeAtomic(filepath.Join(u.dir, filepath.FromSlash(name)), text))
}

func (u *upstream) object(t plumbing.ObjectType, data []byte) Hash {
	u.tb.Helper()
	obj := u.st.NewEncodedObject()
	obj.SetType(t)
	obj.SetSize(int64(len(data)))
	w, err := obj.Writer()
	must(u.tb, err)
	_, err = w.Write(data)
	must(u.tb, err)
	must(u.tb, w.Close())
	h, err := u.st.SetEncodedObject(obj)
	must(u.tb, err)
	return Hash(h)
}

func (u *upstream) blob(text string) Hash { return u.object(plumbing.BlobObject, []byte(text)) }

// raw is one line of a tree as it stands in the object.
type raw struct {
	mode, name string
	hash       Hash
}

func (u *upstream) rawTree(entries ...raw) Hash {
	var data []byte
	for _, e := range entries {
		data = fmt.Appendf(data, "%s %s\x00", e.mode, e.name)
		data = append(data, e.hash[:]...)
	}
	return u.object(plumbing.TreeObject, data)
}

// files is a tree as path → contents; "->x" is a symlink to x, "@" a submodule.
type files map[string]string

func (u *upstream) tree(fs files) Hash {
	sub := map[string]files{}
	var entries []raw
	for p, text := range fs {
		dir, rest, ok := strings.Cut(p, "/")
		switch {
		case ok:
			if sub[dir] == nil {
				sub[dir] = files{}
			}
			sub[dir][rest] = text
		case text == "@":
			entries = append(entries, raw{"160000", p, Hash{1}})
		case strings.HasPrefix(text, "->"):
			entries = append(entries, raw{"120000", p, u.blob(text[2:])})
		default:
			entries = append(entries, raw{"100644", p, u.blob(text)})
		}
	}
	for dir, fs := range sub {
		entries = append(entries, raw{"40000", dir, u.tree(fs)})
	}
	key := func(e raw) string {
		if e.mode == "40000" {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(entries, func(a, b raw) int { return strings.Compare(key(a), key(b)) })
	return u.rawTree(entries...)
}

// commit adds a commit a minute after the last one; its author is "who".
func (u *upstream) commit(who string, fs files, parents ...Hash) Hash {
	u.tb.Helper()
	return u.commitTree(who, u.tree(fs), parents...)
}

func (u *upstream) commitTree(who string, tree Hash, parents ...Hash) Hash {
	u.tb.Helper()
	u.clock += 60
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s <%s@example.org> %d +0000\n", who, strings.ToLower(who), u.clock)
	fmt.Fprintf(&b, "committer Hub <hub@example.org> %d +0000\n\nBy %s\n", u.clock, who)
	return u.object(plumbing.CommitObject, []byte(b.String()))
}

func (u *upstream) set(branch string, h Hash) { u.write("refs/heads/"+branch, h.String()+"\n") }

// mirror opens a mirror of the upstream in a new directory.
func (u *upstream) mirror(opts Options) *Mirror {
	u.tb.Helper()
	return openMirror(u.tb, Remote{URL: u.dir}, opts)
}

func openMirror(tb testing.TB, remote Remote, opts Options) *Mirror {
	tb.Helper()
	m, err := Open(context.Background(), filepath.Join(tb.TempDir(), "mirror"), remote, opts)
	must(tb, err)
	return m
}

// reader fetches and opens.
func reader(tb testing.TB, m *Mirror) *Reader {
	tb.Helper()
	_, err := m.Fetch(context.Background())
	must(tb, err)
	return open(tb, m)
}

func open(tb testing.TB, m *Mirror) *Reader {
	tb.Helper()
	r, err := m.Reader(context.Background())
	must(tb, err)
	tb.Cleanup(func() { _ = r.Close() })
	return r
}

// contents reads all files of a commit that the matcher wants.
func contents(tb testing.TB, r *Reader, commit Hash, m Matcher) files {
	tb.Helper()
	list, err := r.Snapshot(context.Background(), commit, m.Want, m.Prune)
	must(tb, err)
	fs := files{}
	for _, f := range list {
		if f.Link != "" {
			fs[f.Path] = "->" + f.Link
			continue
		}
		data, err := r.Blob(context.Background(), f.Blob, 0)
		must(tb, err)
		fs[f.Path] = string(data)
	}
	return fs
}

// steps collects a walk.
func steps(tb testing.TB, r *Reader, from, to Hash, m Matcher) []Step {
	tb.Helper()
	var list []Step
	for s, err := range r.Steps(context.Background(), from, to, m) {
		must(tb, err)
		list = append(list, s)
	}
	return list
}

func mask(tb testing.TB, text string) Filemask {
	tb.Helper()
	m, err := ParseFilemask(text)
	must(tb, err)
	return m
}

// needGit skips where there is no git program; CI has one.
func needGit(tb testing.TB) string {
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

func runGit(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(needGit(tb), args...)
	cmd.Dir = dir
	cmd.Env = environment([]setting{{"user.name", "T"}, {"user.email", "t@example.org"}, {"protocol.file.allow", "always"}},
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// bundle unpacks one of the shared bundles into a bare repository, with the git
// program where there is one (it is not slowed down by the race detector). Do
// not change it.
func bundle(tb testing.TB, name string) string {
	tb.Helper()
	file, err := filepath.Abs(filepath.Join("..", "..", "shared", "data", "repos", name+".bundle"))
	must(tb, err)
	f, err := os.Open(file)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("CI=true, but the shared repositories are not there: %v", err)
		}
		tb.Skipf("skipped: ../shared/data/repos is not beside the repository: %v", err)
	}
	defer f.Close()
	bundles.Lock()
	defer bundles.Unlock()
	dir := filepath.Join(bundles.dir, name+".git")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if _, err := exec.LookPath("git"); err == nil {
		runGit(tb, "", "clone", "-q", "--bare", f.Name(), dir)
		return dir
	}
	must(tb, initBare(dir))
	in := bufio.NewReader(f)
	line, err := in.ReadString('\n')
	must(tb, err)
	if !strings.HasPrefix(line, "# v2 git bundle") {
		tb.Fatalf("bundle begins with %q", line)
	}
	for {
		line, err := in.ReadString('\n')
		must(tb, err)
		if line == "\n" {
			break
		}
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			must(tb, writeAtomic(filepath.Join(dir, "refs", "heads", branch), id+"\n"))
			must(tb, writeAtomic(filepath.Join(dir, "HEAD"), "ref: "+ref+"\n"))
		}
	}
	must(tb, storePack(tb.Context(), dir, in, (&Options{}).limits()))
	return dir
}
