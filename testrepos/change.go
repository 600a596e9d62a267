package testrepos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Change is a commit that a test makes. The zero value is an empty commit on the
// default branch by Test Author, one minute after its parent.
type Change struct {
	// Branch is the branch of the commit; "" means the default branch. A new branch
	// begins at Parents, or without a parent.
	Branch string
	// Files are the new texts by path.
	Files map[string]string
	// Symlinks are targets by path.
	Symlinks map[string]string
	// Executable are the paths of Files with the mode 100755.
	Executable []string
	// Delete are paths, or folders with all files below them, that are deleted
	// first.
	Delete []string
	// Author as `Name <email>`; "" means Test Author.
	Author string
	// Committer as `Name <email>`; "" means the author.
	Committer string
	// When is the author's and committer's time; zero means a minute after the
	// youngest parent, or 2024-01-01 09:00 UTC without one.
	When time.Time
	// Message; "" means "Change".
	Message string
	// Parents are hashes, labels or branches; empty means the tip of the branch.
	// The commit begins with the files of the first one.
	Parents []string
	// Merge are further parents whose changes are merged; see [Repo.Merge].
	Merge []string
	// Force allows the branch to lose commits.
	Force bool
}

// Push makes a commit that is not in the scenario and returns its hash.
func (r *Repo) Push(c Change) (string, error) {
	p := newPush(r)
	st := Step{Branch: c.Branch, Parents: c.Parents, Merge: c.Merge, Force: c.Force}
	if st.Branch == "" {
		st.Branch = r.scenario.Branch
	}
	hash, err := p.change(&st, c)
	if err != nil {
		return "", fmt.Errorf("repository %s: commit on %s: %w", r.Dir, st.Branch, err)
	}
	if err := p.flush(); err != nil {
		return "", fmt.Errorf("repository %s: %w", r.Dir, err)
	}
	return hash.String(), nil
}

func (p *push) change(st *Step, c Change) (plumbing.Hash, error) {
	files, parents, err := p.start(st)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := p.changeFiles(files, c); err != nil {
		return plumbing.ZeroHash, err
	}
	spec, err := p.changeSpec(c, parents)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	hash, err := p.commit(files, spec)
	if err != nil {
		return hash, err
	}
	return hash, p.setRefs(st, hash)
}

func (p *push) changeFiles(files *fileSet, c Change) error {
	for _, path := range c.Delete {
		if !files.remove(path) {
			return fmt.Errorf("file %q: deleted, but it is not there", path)
		}
	}
	put := func(path, text string, mode filemode.FileMode) error {
		hash, err := p.r.storeBlob([]byte(text))
		if err != nil {
			return fmt.Errorf("file %q: %w", path, err)
		}
		files.set(path, entry{mode: mode, hash: hash})
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		mode := filemode.Regular
		if slices.Contains(c.Executable, path) {
			mode = filemode.Executable
		}
		if err := put(path, c.Files[path], mode); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Symlinks)) {
		if err := put(path, c.Symlinks[path], filemode.Symlink); err != nil {
			return err
		}
	}
	return files.unmerged()
}

// changeSpec applies the defaults of a Change.
func (p *push) changeSpec(c Change, parents []plumbing.Hash) (commitSpec, error) {
	spec := commitSpec{message: strings.TrimRight(c.Message, "\n") + "\n", parents: parents}
	if c.Message == "" {
		spec.message = "Change\n"
	}
	when := c.When
	if when.IsZero() {
		when = time.Date(2024, 1, 1, 8, 59, 0, 0, time.UTC)
		for _, h := range parents {
			parent, err := p.commitObject(h)
			if err != nil {
				return spec, err
			}
			if parent.Committer.When.After(when) {
				when = parent.Committer.When
			}
		}
		when = when.Add(time.Minute)
	}
	var err error
	if spec.author, err = parsePerson(c.Author, Person{Name: defaultAuthorName, Email: defaultAuthorEmail}); err != nil {
		return spec, err
	}
	if spec.committer, err = parsePerson(c.Committer, spec.author); err != nil {
		return spec, err
	}
	spec.author.When, spec.committer.When = inZone(when), inZone(when)
	return spec, nil
}

// parsePerson reads `Name <email>`; "" gives fallback.
func parsePerson(s string, fallback Person) (Person, error) {
	if s == "" {
		return fallback, nil
	}
	name, rest, ok := strings.Cut(s, " <")
	email, tail, ok2 := strings.Cut(rest, ">")
	if !ok || !ok2 || name == "" || tail != "" {
		return Person{}, fmt.Errorf("%q: want Name <email>", s)
	}
	return Person{Name: name, Email: email}, nil
}

// setBranch makes a branch or moves it, even if it loses commits, to rev: a hash, a
// label or a branch. "" deletes the branch, which must exist.
func (r *Repo) setBranch(name, rev string) error {
	p := newPush(r)
	err := p.moveRef(&Step{Branch: name, To: rev, Force: true})
	if err == nil {
		err = p.flush()
	}
	if err != nil {
		return fmt.Errorf("repository %s: branch %s: %w", r.Dir, name, err)
	}
	return nil
}

// ReadFile returns the bytes of a file, or the target of a symbolic link, at rev: a
// hash, a label or a branch.
func (r *Repo) ReadFile(rev, path string) ([]byte, error) {
	files, err := newPush(r).filesAt(rev)
	if err != nil {
		return nil, err
	}
	e, ok := files.entries[path]
	if !ok {
		return nil, fmt.Errorf("%s has no %q", rev, path)
	}
	return readBlob(r.git.Storer, e.hash)
}

// Paths lists the files at rev, sorted.
func (r *Repo) Paths(rev string) ([]string, error) {
	files, err := newPush(r).filesAt(rev)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(files.entries)), nil
}

func subject(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}
