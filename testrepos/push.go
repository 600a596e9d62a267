package testrepos

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// push collects the changes of a push: objects are written at once, since no
// reference leads to them, references by flush.
type push struct {
	r       *Repo
	refs    map[plumbing.ReferenceName]plumbing.Hash // zero: deleted
	labels  map[string]string
	commits []PushedCommit
}

func newPush(r *Repo) *push {
	return &push{
		r:      r,
		refs:   map[plumbing.ReferenceName]plumbing.Hash{},
		labels: maps.Clone(r.state.Labels),
	}
}

// tip is the commit of a branch within this push; zero if it does not exist.
func (p *push) tip(branch string) (plumbing.Hash, error) {
	name := plumbing.NewBranchReferenceName(branch)
	if h, ok := p.refs[name]; ok {
		return h, nil
	}
	ref, err := p.r.git.Storer.Reference(name)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("branch %s: %w", branch, err)
	}
	return ref.Hash(), nil
}

// resolve finds a label, a branch or a full hash, in this order.
func (p *push) resolve(rev string) (plumbing.Hash, error) {
	if h, ok := p.labels[rev]; ok {
		return plumbing.NewHash(h), nil
	}
	if h, err := p.tip(rev); err != nil || !h.IsZero() {
		return h, err
	}
	if plumbing.IsHash(rev) {
		h := plumbing.NewHash(rev)
		if _, err := p.r.git.CommitObject(h); err == nil {
			return h, nil
		}
	}
	return plumbing.ZeroHash, fmt.Errorf("%q is no label, branch or commit of %s", rev, p.r.Dir)
}

func (p *push) resolveAll(revs []string) ([]plumbing.Hash, error) {
	var out []plumbing.Hash
	for _, rev := range revs {
		h, err := p.resolve(rev)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// step makes one step of a scenario.
func (p *push) step(st *Step) error {
	if st.RefOnly {
		return p.moveRef(st)
	}
	files, parents, err := p.start(st)
	if err != nil {
		return err
	}
	for i := range st.Files {
		f := &st.Files[i]
		if err := p.applyFile(files, f); err != nil {
			return fmt.Errorf("file %q (line %d): %w", f.Path, f.Line, err)
		}
	}
	if err := files.unmerged(); err != nil {
		return err
	}
	if st.Author.When.IsZero() {
		if st.Author.When, err = p.after(parents); err != nil {
			return err
		}
		st.Committer.When = st.Author.When
	}
	hash, err := p.commit(files, st, parents)
	if err != nil {
		return err
	}
	if st.Label != "" {
		p.labels[st.Label] = hash.String()
	}
	subject, _, _ := strings.Cut(st.Message, "\n")
	p.commits = append(p.commits, PushedCommit{Label: st.Label, Hash: hash.String(), Author: st.Author.Name, Subject: subject})
	return p.setRefs(st, hash)
}

// parents returns the parents without those of Merge.
func (p *push) parents(st *Step) ([]plumbing.Hash, error) {
	tip, err := p.tip(st.Branch)
	if err != nil || st.Orphan {
		return nil, err
	}
	if len(st.Parents) == 0 && !tip.IsZero() {
		return []plumbing.Hash{tip}, nil
	}
	return p.resolveAll(st.Parents)
}

func (p *push) setRefs(st *Step, hash plumbing.Hash) error {
	if err := p.move(st.Branch, hash, st.Force); err != nil {
		return err
	}
	for _, t := range st.Tags {
		p.refs[plumbing.NewTagReferenceName(t)] = hash
	}
	for _, b := range st.Drop {
		if tip, err := p.tip(b); err != nil || tip.IsZero() {
			return fmt.Errorf("drop: there is no branch %q (%w)", b, err)
		}
		p.refs[plumbing.NewBranchReferenceName(b)] = plumbing.ZeroHash
	}
	return nil
}

// move sets a branch; without force it must not lose commits.
func (p *push) move(branch string, to plumbing.Hash, force bool) error {
	tip, err := p.tip(branch)
	if err != nil {
		return err
	}
	if !force && !tip.IsZero() {
		ok, err := p.isAncestor(tip, to)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("branch %s would lose commits; say `force: yes` if that is meant", branch)
		}
	}
	p.refs[plumbing.NewBranchReferenceName(branch)] = to
	return nil
}

func (p *push) moveRef(st *Step) error {
	if st.To == "" {
		tip, err := p.tip(st.Branch)
		if err != nil || tip.IsZero() {
			return fmt.Errorf("there is no branch %q to delete", st.Branch)
		}
		p.refs[plumbing.NewBranchReferenceName(st.Branch)] = plumbing.ZeroHash
		return nil
	}
	to, err := p.resolve(st.To)
	if err != nil {
		return err
	}
	return p.move(st.Branch, to, st.Force)
}

func (p *push) isAncestor(old, of plumbing.Hash) (bool, error) {
	if old == of {
		return true, nil
	}
	a, b, err := p.two(old, of)
	if err != nil {
		return false, err
	}
	return a.IsAncestor(b)
}

func (p *push) commitObject(h plumbing.Hash) (*object.Commit, error) {
	c, err := p.r.git.CommitObject(h)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", h, err)
	}
	return c, nil
}

// two reads two commits.
func (p *push) two(a, b plumbing.Hash) (*object.Commit, *object.Commit, error) {
	ca, err := p.commitObject(a)
	if err != nil {
		return nil, nil, err
	}
	cb, err := p.commitObject(b)
	return ca, cb, err
}

// commit stores a commit of files.
func (p *push) commit(files *fileSet, st *Step, parents []plumbing.Hash) (plumbing.Hash, error) {
	tree, err := writeFolder(p.r.git.Storer, files, slices.Sorted(maps.Keys(files.entries)), 0)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return writeObject(p.r.git.Storer, &object.Commit{
		Author: st.Author.signature(), Committer: st.Committer.signature(),
		Message: st.Message, TreeHash: tree, ParentHashes: parents,
	})
}

func (w Person) signature() object.Signature {
	return object.Signature{Name: w.Name, Email: w.Email, When: w.When}
}

// flush writes the references, in the order of their names.
func (p *push) flush() error {
	for _, name := range slices.Sorted(maps.Keys(p.refs)) {
		var err error
		if h := p.refs[name]; h.IsZero() {
			err = p.r.git.Storer.RemoveReference(name)
		} else {
			err = p.r.setRef(name, h)
		}
		if err != nil {
			return fmt.Errorf("reference %s: %w", name, err)
		}
	}
	return nil
}

// setRef replaces the file of a reference, as git does. go-git empties it first, which
// a server that watches it can see.
func (r *Repo) setRef(name plumbing.ReferenceName, hash plumbing.Hash) error {
	file := filepath.Join(r.Dir, filepath.FromSlash(name.String()))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file+".lock", []byte(hash.String()+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".lock", file)
}

// TB is the part of testing.TB that the helpers for tests need.
type TB interface {
	// Helper marks the caller as a helper, as in testing.TB.
	Helper()
	// Fatalf ends the test with a message, as in testing.TB.
	Fatalf(format string, args ...any)
	// TempDir is a directory that is removed after the test, as in testing.TB.
	TempDir() string
	// Cleanup registers a function for the end of the test, as in testing.TB.
	Cleanup(func())
}

func must(tb TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("testrepos: %v", err)
	}
}

// Load makes the named scenario (see [Names]), with its initial push, in a temporary
// directory of the test.
func Load(tb TB, name string) *Repo {
	tb.Helper()
	s, err := Named(name)
	must(tb, err)
	return create(tb, s)
}

// New is Load for a scenario in the test itself.
func New(tb TB, scenario []byte) *Repo {
	tb.Helper()
	s, err := Parse("scenario.txtar", scenario)
	must(tb, err)
	return create(tb, s)
}

// Empty makes a bare repository without commits, with the default branch main;
// Commit fills it.
func Empty(tb TB) *Repo {
	tb.Helper()
	return create(tb, &Scenario{Name: "empty", Branch: DefaultBranch})
}

func create(tb TB, s *Scenario) *Repo {
	tb.Helper()
	r, err := Create(filepath.Join(tb.TempDir(), s.Name+".git"), s)
	must(tb, err)
	return r
}

// Advance makes the next push of the scenario and returns the hash of its last
// commit ("" for a push that only moves a reference). The test ends if nothing
// is left; see Rest.
func (r *Repo) Advance(tb TB) string {
	tb.Helper()
	commits, err := r.Next()
	must(tb, err)
	if len(commits) == 0 {
		return ""
	}
	return commits[len(commits)-1].Hash
}

// Commit pushes a commit that is not in the scenario and returns its hash.
func (r *Repo) Commit(tb TB, c Change) string {
	tb.Helper()
	hash, err := r.Push(c)
	must(tb, err)
	return hash
}

// Merge pushes a commit that merges the given branches, labels or hashes into
// c.Branch, file by file as git does, with the files of c on top, and returns
// its hash. A file that both sides changed must be in c.
func (r *Repo) Merge(tb TB, c Change, others ...string) string {
	tb.Helper()
	c.Merge = append(c.Merge, others...)
	return r.Commit(tb, c)
}

// Branch makes or moves a branch (rev: a hash, label or branch), even if it loses commits,
// as `git push --force` does.
func (r *Repo) Branch(tb TB, name, rev string) {
	tb.Helper()
	must(tb, r.setBranch(name, rev))
}

// DeleteBranch removes a branch; it must exist.
func (r *Repo) DeleteBranch(tb TB, name string) {
	tb.Helper()
	must(tb, r.setBranch(name, ""))
}

// File returns the bytes of a file at rev (a hash, label or branch), or of the
// target if it is a symbolic link.
func (r *Repo) File(tb TB, rev, path string) []byte {
	tb.Helper()
	data, err := r.ReadFile(rev, path)
	must(tb, err)
	return data
}
