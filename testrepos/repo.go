package testrepos

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// ErrNoStep is returned by Next when every step was pushed.
var ErrNoStep = errors.New("no step is left")

// stateFile is in the bare repository and stores what was pushed, so that Open can
// continue after another process. Git ignores it.
const stateFile = "testrepos.json"

// Repo is a bare repository made from a scenario.
type Repo struct {
	// Dir is the bare repository, an absolute path.
	Dir string

	git      *git.Repository
	scenario *Scenario
	state    state
}

// state is the content of stateFile.
type state struct {
	Scenario string            `json:"scenario"`
	Applied  int               `json:"applied"`
	Labels   map[string]string `json:"labels"` // label → commit
}

// PushedCommit is one commit of a push.
type PushedCommit struct {
	// Label is its name in the scenario.
	Label string
	// Hash in 40 hex digits.
	Hash string
	// Author's name.
	Author string
	// Subject is the first line of the message.
	Subject string
}

// Create makes the bare repository dir, which must be empty or not exist, with the
// initial push of the scenario.
func Create(dir string, s *Scenario) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	if files, err := os.ReadDir(abs); err == nil && len(files) > 0 {
		return nil, fmt.Errorf("repository %s: the directory is not empty; choose another or remove it", dir)
	}
	g, err := git.PlainInitWithOptions(abs, &git.PlainInitOptions{
		Bare:        true,
		InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName(s.Branch)},
	})
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	r := &Repo{Dir: abs, git: g, scenario: s}
	r.state = state{Scenario: s.Name, Labels: map[string]string{}}
	if s.Initial == 0 {
		return r, r.save(r.state)
	}
	if _, err := r.run(s.Initial); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return r, nil
}

// Open opens a repository that Create made of the same scenario.
func Open(dir string, s *Scenario) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	data, err := os.ReadFile(filepath.Join(abs, stateFile))
	if err != nil {
		return nil, fmt.Errorf("repository %s: not made by this package, or not to its end: %w", dir, err)
	}
	r := &Repo{Dir: abs, scenario: s}
	if err := json.Unmarshal(data, &r.state); err != nil {
		return nil, fmt.Errorf("repository %s: %s: %w", dir, stateFile, err)
	}
	if r.state.Scenario != s.Name || r.state.Applied < 0 || r.state.Applied > len(s.Steps) {
		return nil, fmt.Errorf("repository %s: is step %d of scenario %q, want %q; remove it and make it again",
			dir, r.state.Applied, r.state.Scenario, s.Name)
	}
	if r.git, err = git.PlainOpen(abs); err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	return r, nil
}

// Path is the directory of the bare repository.
func (r *Repo) Path() string { return r.Dir }

// URL is the file:// URL of the repository.
func (r *Repo) URL() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(r.Dir)}).String()
}

// Rest is the number of pushes (calls of Next or Advance) that are left.
func (r *Repo) Rest() int {
	n := 0
	for _, st := range r.scenario.Steps[r.state.Applied:] {
		if !st.Hold {
			n++
		}
	}
	return n
}

// Head is the commit of the default branch; "" before its first commit.
func (r *Repo) Head() string { return r.Tip(r.scenario.Branch) }

// DefaultBranch is the branch that HEAD points to.
func (r *Repo) DefaultBranch() string { return r.scenario.Branch }

// Tip is the commit of a branch; "" if the branch does not exist.
func (r *Repo) Tip(branch string) string {
	ref, err := r.git.Storer.Reference(plumbing.NewBranchReferenceName(branch))
	if err != nil {
		return ""
	}
	return ref.Hash().String()
}

// Hash is the commit of a label of the scenario; "" before it is pushed.
func (r *Repo) Hash(label string) string { return r.state.Labels[label] }

// Next makes the next push of the scenario: the next step and, while steps are held
// back, the ones after it. It returns the commits in the order in which they were made,
// none if only a reference moved. The error is ErrNoStep if no step is left.
func (r *Repo) Next() ([]PushedCommit, error) {
	for i, st := range r.scenario.Steps[r.state.Applied:] {
		if !st.Hold {
			commits, err := r.run(i + 1)
			if err != nil {
				return nil, fmt.Errorf("scenario %s: %w", r.scenario.Name, err)
			}
			return commits, nil
		}
	}
	return nil, fmt.Errorf("repository %s: %w", r.Dir, ErrNoStep)
}

// run makes the next n steps in one push.
func (r *Repo) run(n int) ([]PushedCommit, error) {
	p := newPush(r)
	for _, st := range r.scenario.Steps[r.state.Applied : r.state.Applied+n] {
		if err := p.step(&st); err != nil {
			return nil, fmt.Errorf("line %d: step %s: %w", st.Line, st.Label, err)
		}
	}
	next := state{Scenario: r.state.Scenario, Applied: r.state.Applied + n, Labels: p.labels}
	if err := p.flush(); err != nil {
		return nil, err
	}
	return p.commits, r.save(next)
}

// save writes the state file and sets the state. After a crash before it, the push
// is made again, with the same result.
func (r *Repo) save(s state) error {
	data, err := json.MarshalIndent(s, "", "  ")
	name := filepath.Join(r.Dir, stateFile)
	if err == nil {
		err = os.WriteFile(name+".new", append(data, '\n'), 0o644)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("repository %s: %w", r.Dir, err)
	}
	r.state = s
	return nil
}

// Push makes a commit that is not in the scenario and returns its hash.
func (r *Repo) Push(c Change) (string, error) {
	p := newPush(r)
	c.Branch = cmp.Or(c.Branch, r.scenario.Branch)
	st := Step{Change: c}
	for _, path := range c.Delete {
		st.changes = append(st.changes, File{Path: path, op: "deleted"})
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		st.changes = append(st.changes, File{Path: path, text: []byte(c.Files[path])})
	}
	err := p.step(&st)
	if err == nil {
		err = p.flush()
	}
	if err != nil {
		return "", fmt.Errorf("repository %s: commit on %s: %w", r.Dir, c.Branch, err)
	}
	return p.commits[0].Hash, nil
}

// ReadFile returns the bytes of a file, or the target of a symbolic link, at rev: a
// hash, a label or a branch.
func (r *Repo) ReadFile(rev, path string) ([]byte, error) {
	files, err := newPush(r).filesAt(rev)
	if err != nil {
		return nil, err
	}
	return r.read(files, path)
}

// Paths lists the files at rev, sorted.
func (r *Repo) Paths(rev string) ([]string, error) {
	files, err := newPush(r).filesAt(rev)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(files.entries)), nil
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("testrepos: %v", err)
	}
}

// Load makes the named scenario (see [Names]), with its initial push, in a temporary
// directory of the test.
func Load(tb testing.TB, name string) *Repo {
	tb.Helper()
	s, err := Named(name)
	must(tb, err)
	return create(tb, s)
}

// Empty makes a bare repository without commits, with the default branch main;
// Commit fills it.
func Empty(tb testing.TB) *Repo {
	tb.Helper()
	return create(tb, &Scenario{Name: "empty", Branch: DefaultBranch})
}

func create(tb testing.TB, s *Scenario) *Repo {
	tb.Helper()
	r, err := Create(filepath.Join(tb.TempDir(), s.Name+".git"), s)
	must(tb, err)
	return r
}

// Advance makes the next push of the scenario and returns the hash of its last
// commit ("" for a push that only moves a reference). The test ends if nothing
// is left; see Rest.
func (r *Repo) Advance(tb testing.TB) string {
	tb.Helper()
	commits, err := r.Next()
	must(tb, err)
	if len(commits) == 0 {
		return ""
	}
	return commits[len(commits)-1].Hash
}

// Commit pushes a commit that is not in the scenario and returns its hash.
func (r *Repo) Commit(tb testing.TB, c Change) string {
	tb.Helper()
	hash, err := r.Push(c)
	must(tb, err)
	return hash
}

// Branch makes or moves a branch (rev: a hash, label or branch), even if it loses commits,
// as `git push --force` does. Without rev it removes the branch, which must exist.
func (r *Repo) Branch(tb testing.TB, name, rev string) {
	tb.Helper()
	p := newPush(r)
	must(tb, p.step(&Step{RefOnly: true, Change: Change{Branch: name, Force: true}, To: rev}))
	must(tb, p.flush())
}

// File returns the bytes of a file at rev (a hash, label or branch), or of the
// target if it is a symbolic link.
func (r *Repo) File(tb testing.TB, rev, path string) []byte {
	tb.Helper()
	data, err := r.ReadFile(rev, path)
	must(tb, err)
	return data
}
