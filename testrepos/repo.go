package testrepos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

var (
	// ErrNoStep is returned by Next when every step was pushed.
	ErrNoStep = errors.New("no step is left")
	// ErrConflict is returned by a merge for a file that both sides changed and
	// that the commit does not have.
	ErrConflict = errors.New("merge conflict")
)

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
	if r.state.Labels == nil {
		r.state.Labels = map[string]string{}
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
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(r.Dir)}
	return u.String()
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

// fileSet is a tree, flat: path to entry. Empty folders do not exist.
type fileSet struct {
	entries  map[string]entry
	conflict map[string]bool // paths with a conflict of a merge
}

type entry struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

// set adds a file; a file in place of its folder, or a folder in its place, is
// removed.
func (fs *fileSet) set(path string, e entry) {
	fs.remove(path)
	for i, c := range path {
		if c == '/' {
			delete(fs.entries, path[:i])
		}
	}
	fs.entries[path] = e
}

// remove removes a path and all files below it and reports whether there were any.
func (fs *fileSet) remove(path string) bool {
	n := len(fs.entries)
	delete(fs.conflict, path)
	if _, ok := fs.entries[path]; ok {
		delete(fs.entries, path)
		return true
	}
	maps.DeleteFunc(fs.entries, func(p string, _ entry) bool { return strings.HasPrefix(p, path+"/") })
	return len(fs.entries) < n
}

// unmerged returns an error if a merge left a conflict.
func (fs *fileSet) unmerged() error {
	if len(fs.conflict) == 0 {
		return nil
	}
	return fmt.Errorf("%w: both sides changed %s; give its text", ErrConflict,
		strings.Join(slices.Sorted(maps.Keys(fs.conflict)), ", "))
}

// mergeIn applies the changes from base to theirs.
func (fs *fileSet) mergeIn(base, theirs *fileSet) {
	paths := maps.Clone(base.entries)
	maps.Copy(paths, theirs.entries)
	for path := range paths {
		b, t, o := base.entries[path], theirs.entries[path], fs.entries[path]
		switch {
		case t == b || t == o:
		case o != b:
			fs.conflict[path] = true
		case t == entry{}:
			delete(fs.entries, path)
		default:
			fs.entries[path] = t
		}
	}
}

// readTree lists the files of a commit; the zero hash has no files.
func readTree(st storer.EncodedObjectStorer, commit plumbing.Hash) (*fileSet, error) {
	fs := &fileSet{entries: map[string]entry{}, conflict: map[string]bool{}}
	if commit.IsZero() {
		return fs, nil
	}
	c, err := object.GetCommit(st, commit)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", commit, err)
	}
	return fs, fs.read(st, c.TreeHash, "")
}

func (fs *fileSet) read(st storer.EncodedObjectStorer, tree plumbing.Hash, prefix string) error {
	t, err := object.GetTree(st, tree)
	if err != nil {
		return fmt.Errorf("tree %s: %w", tree, err)
	}
	for _, e := range t.Entries {
		if e.Mode == filemode.Dir {
			if err := fs.read(st, e.Hash, prefix+e.Name+"/"); err != nil {
				return err
			}
			continue
		}
		fs.entries[prefix+e.Name] = entry{mode: e.Mode, hash: e.Hash}
	}
	return nil
}

// writeFolder stores the folder of paths, which is their first skip bytes, with its
// subfolders, and returns its hash. Paths are sorted, so that the paths of a subfolder
// are together.
func writeFolder(st storer.EncodedObjectStorer, fs *fileSet, paths []string, skip int) (plumbing.Hash, error) {
	t := object.Tree{}
	for i := 0; i < len(paths); {
		name, _, isDir := strings.Cut(paths[i][skip:], "/")
		if !isDir {
			e := fs.entries[paths[i]]
			t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: e.mode, Hash: e.hash})
			i++
			continue
		}
		end, prefix := i, paths[i][:skip]+name+"/"
		for end < len(paths) && strings.HasPrefix(paths[end], prefix) {
			end++
		}
		hash, err := writeFolder(st, fs, paths[i:end], len(prefix))
		if err != nil {
			return plumbing.ZeroHash, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
		i = end
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return writeObject(st, &t)
}

// encoder is the interface of object.Commit and object.Tree.
type encoder interface {
	Encode(plumbing.EncodedObject) error
}

// writeObject stores an object unless it exists, as most trees and blobs do.
func writeObject(st storer.EncodedObjectStorer, e encoder) (plumbing.Hash, error) {
	o := st.NewEncodedObject()
	if err := e.Encode(o); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("object: %w", err)
	}
	if st.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	h, err := st.SetEncodedObject(o)
	if err != nil {
		return h, fmt.Errorf("object %s: %w", o.Hash(), err)
	}
	return h, nil
}

// store stores an object of a size in a git directory without a copy in memory: a generated
// file may have 100 MB.
func store(dir string, kind plumbing.ObjectType, size int64, from io.Reader) (plumbing.Hash, error) {
	out, err := dotgit.New(osfs.New(dir)).NewObject()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("%s: %w", kind, err)
	}
	err = out.WriteHeader(kind, size)
	if err == nil {
		_, err = io.Copy(out, from)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		err = fmt.Errorf("%s %s: %w", kind, out.Hash(), err)
	}
	return out.Hash(), err
}

func readBlob(st storer.EncodedObjectStorer, h plumbing.Hash) ([]byte, error) {
	b, err := object.GetBlob(st, h)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	r, err := b.Reader()
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	return data, nil
}
