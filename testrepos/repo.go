package testrepos

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// DefaultBranch is the branch that HEAD points to.
const DefaultBranch = "main"

//go:embed scenarios/*.stream
var scenarios embed.FS

// Repo is a bare repository made from a scenario.
type Repo struct {
	// Dir is the bare repository, an absolute path.
	Dir string

	pushes []string // streams of git fast-import that are left
}

// Change is a commit; the zero value is an empty one of Test Author on the default branch.
type Change struct {
	// Branch is the branch of the commit; "" means the default branch. A new branch
	// begins at Parents, or without a parent.
	Branch string
	// Files are the new texts by path.
	Files map[string]string
	// Delete are paths, or folders with all files below them, that are deleted first.
	Delete []string
	// Author as `Name <email>`; "" means Test Author.
	Author string
	// Committer as `Name <email>`; "" means the author.
	Committer string
	// When is the author's time; zero means a minute after the youngest parent, or
	// 2024-01-01 09:00 UTC without one. Its time zone is part of the commit's hash.
	When time.Time
	// Committed is the committer's time; zero means When.
	Committed time.Time
	// Message; "" means "Change".
	Message string
	// Parents are hashes or branches; empty means the tip of the branch. The commit begins
	// with the files of the first one.
	Parents []string
	// Merge is a further parent, which git merges; of lines that both changed, it wins.
	Merge string
	// Force allows the branch to lose commits.
	Force bool
}

// Create makes the bare repository dir, empty or not there yet, with a scenario's initial push.
func Create(dir, scenario string) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	text, err := scenarios.ReadFile("scenarios/" + scenario + ".stream")
	if err != nil {
		return nil, fmt.Errorf("scenario %q: %w", scenario, err)
	}
	if err := os.MkdirAll(abs, 0o755); err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	r := &Repo{Dir: abs, pushes: strings.Split(string(text), "\n# push\n")}
	if _, err := r.git("", "init", "-q", "--bare", "--template=", "-b", DefaultBranch); err != nil {
		return nil, err
	}
	return r, r.Next()
}

// git runs git in the repository and returns what it prints.
func (r *Repo) git(in string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"--git-dir=.", "-c", "core.fsync=none"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, gittest.Environment(), strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		said := out
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			said = append(said, exit.Stderr...)
		}
		return nil, fmt.Errorf("repository %s: git %s: %w: %s", r.Dir, args[0], err, said)
	}
	return out, nil
}

// Path is the directory of the bare repository.
func (r *Repo) Path() string { return r.Dir }

// URL is the file:// URL of the repository.
func (r *Repo) URL() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(r.Dir)}).String()
}

// Rest is the number of pushes (calls of Next or Advance) that are left.
func (r *Repo) Rest() int { return len(r.pushes) }

// Head is the commit of the default branch; "" before its first commit.
func (r *Repo) Head() string { return r.Tip(DefaultBranch) }

// Tip is the commit of a branch; "" if the branch does not exist.
func (r *Repo) Tip(branch string) string {
	out, err := r.git("", "rev-parse", "-q", "--verify", "refs/heads/"+branch)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(out))
}

// Next makes the next push of the scenario, over a test's own; an error if no push is left.
func (r *Repo) Next() error {
	if len(r.pushes) == 0 {
		return fmt.Errorf("repository %s: no push is left", r.Dir)
	}
	_, err := r.git(r.pushes[0], "fast-import", "--quiet", "--force", "--import-marks-if-exists=testrepos.marks", "--export-marks=testrepos.marks")
	r.pushes = r.pushes[1:]
	return err
}

// Push makes a commit that is not in the scenario and returns its hash.
func (r *Repo) Push(c Change) (string, error) {
	branch := cmp.Or(c.Branch, DefaultBranch)
	revs := c.Parents
	if tip := r.Tip(branch); len(revs) == 0 && tip != "" {
		revs = []string{tip}
	}
	if c.Merge != "" {
		revs = append(slices.Clone(revs), c.Merge)
	}
	parents, when, err := r.parents(revs)
	if err != nil {
		return "", err
	}
	if !c.When.IsZero() {
		when = c.When
	}
	committed := c.Committed
	if committed.IsZero() {
		committed = when
	}
	author := cmp.Or(c.Author, "Test Author <author@example.org>")
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/%s\nmark :1\nauthor %s %s\ncommitter %s %s\n", branch, author, stamp(when), cmp.Or(c.Committer, author), stamp(committed))
	inline(&b, strings.TrimRight(cmp.Or(c.Message, "Change"), "\n")+"\n")
	for i, parent := range parents {
		fmt.Fprintf(&b, "%s %s\n", [...]string{"from", "merge"}[min(i, 1)], parent)
	}
	if c.Merge != "" {
		tree, err := r.git("", "-c", "merge.default=theirs", "-c", "merge.theirs.driver=git merge-file --theirs %A %O %B",
			"merge-tree", "--write-tree", "--allow-unrelated-histories", parents[0], parents[len(parents)-1])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "M 040000 %s \"\"\n", bytes.TrimSpace(tree))
	}
	for _, path := range c.Delete {
		fmt.Fprintf(&b, "D %s\n", quoted(path))
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		fmt.Fprintf(&b, "M 100644 inline %s\n", quoted(path))
		inline(&b, c.Files[path])
	}
	b.WriteString("get-mark :1\n")
	args := []string{"fast-import", "--quiet"}
	if c.Force {
		args = append(args, "--force")
	}
	hash, err := r.git(b.String(), args...)
	return string(bytes.TrimSpace(hash)), err
}

// parents returns the hashes of revisions, and a minute after the youngest.
func (r *Repo) parents(revs []string) (list []string, next time.Time, err error) {
	last := time.Date(2024, 1, 1, 8, 59, 0, 0, time.UTC).Unix()
	var out []byte
	if len(revs) > 0 {
		out, err = r.git("", append([]string{"rev-list", "--no-walk=unsorted", "--timestamp"}, revs...)...)
	}
	for line := range strings.Lines(string(out)) {
		var at int64
		var hash string
		if _, err := fmt.Sscan(line, &at, &hash); err != nil {
			return nil, next, err
		}
		list, last = append(list, hash), max(last, at)
	}
	return list, time.Unix(last+60, 0).UTC(), err
}

// stamp is a time as git writes it.
func stamp(t time.Time) string { return fmt.Sprintf("%d %s", t.Unix(), t.Format("-0700")) }

func inline(b *strings.Builder, text string) { fmt.Fprintf(b, "data %d\n%s\n", len(text), text) }

func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// ReadFile returns the bytes of a file, or a symbolic link's target, at rev: a hash or branch.
func (r *Repo) ReadFile(rev, path string) ([]byte, error) {
	return r.git("", "cat-file", "blob", rev+":"+path)
}

// Load makes the scenario of a name, with its initial push, in a folder of the test.
func Load(tb testing.TB, name string) *Repo {
	tb.Helper()
	gittest.NeedGit(tb)
	r, err := Create(filepath.Join(tb.TempDir(), name+".git"), name)
	gittest.Must(tb, err)
	return r
}

// Empty makes a bare repository without commits, which Commit fills.
func Empty(tb testing.TB) *Repo {
	tb.Helper()
	return Load(tb, "empty")
}

// Advance makes the next push of the scenario. The test ends if nothing is left; see Rest.
func (r *Repo) Advance(tb testing.TB) {
	tb.Helper()
	gittest.Must(tb, r.Next())
}

// Commit pushes a commit that is not in the scenario and returns its hash.
func (r *Repo) Commit(tb testing.TB, c Change) string {
	tb.Helper()
	hash, err := r.Push(c)
	gittest.Must(tb, err)
	return hash
}

// Branch makes or moves a branch (rev: a hash or branch), even if it loses commits, as
// `git push --force` does. Without rev it removes the branch.
func (r *Repo) Branch(tb testing.TB, name, rev string) {
	tb.Helper()
	args := []string{"update-ref", "refs/heads/" + name, rev}
	if rev == "" {
		args = []string{"update-ref", "-d", "refs/heads/" + name}
	}
	_, err := r.git("", args...)
	gittest.Must(tb, err)
}

// File returns the bytes of a file, or a symbolic link's target, at rev: a hash or branch.
func (r *Repo) File(tb testing.TB, rev, path string) []byte {
	tb.Helper()
	data, err := r.ReadFile(rev, path)
	gittest.Must(tb, err)
	return data
}
