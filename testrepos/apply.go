package testrepos

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// start returns all parents of a commit, and the files that it begins with: the files
// of Tree if it is given, otherwise the files of the first parent, merged with Merge.
func (p *push) start(st *Step) (files *fileSet, parents []plumbing.Hash, err error) {
	if parents, err = p.parents(st); err != nil {
		return nil, nil, err
	}
	merge, err := p.resolveAll(st.Merge)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case st.Tree != "":
		files, err = p.filesAt(st.Tree)
	case len(parents) == 0:
		files, err = readTree(p.r.git.Storer, plumbing.ZeroHash)
	default:
		files, err = p.mergedTree(parents[0], merge)
	}
	return files, append(parents, merge...), err
}

// filesAt returns the files at rev: a hash, a label or a branch.
func (p *push) filesAt(rev string) (*fileSet, error) {
	h, err := p.resolve(rev)
	if err != nil {
		return nil, err
	}
	return readTree(p.r.git.Storer, h)
}

// mergedTree merges file by file; several parents are merged one by one, as in
// git's octopus strategy.
func (p *push) mergedTree(ours plumbing.Hash, others []plumbing.Hash) (*fileSet, error) {
	st := p.r.git.Storer
	files, err := readTree(st, ours)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		base, err := p.mergeBase(ours, other)
		if err != nil {
			return nil, err
		}
		baseFiles, err := readTree(st, base)
		if err != nil {
			return nil, err
		}
		theirs, err := readTree(st, other)
		if err != nil {
			return nil, err
		}
		files.mergeIn(baseFiles, theirs)
	}
	return files, nil
}

// mergeBase is zero for histories without a common commit.
func (p *push) mergeBase(a, b plumbing.Hash) (plumbing.Hash, error) {
	ca, cb, err := p.two(a, b)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	bases, err := ca.MergeBase(cb)
	if err != nil || len(bases) == 0 {
		return plumbing.ZeroHash, err
	}
	return bases[0].Hash, nil
}

func (p *push) applyFile(files *fileSet, f *File) error {
	if f.op == opDelete {
		if !files.remove(f.Path) {
			return fmt.Errorf("deleted, but it is not there")
		}
		return nil
	}
	if f.kind == filemode.Submodule {
		files.set(f.Path, entry{mode: filemode.Submodule, hash: plumbing.NewHash(strings.TrimSpace(string(f.text)))})
		return nil
	}
	data, err := p.content(files, f)
	if err != nil {
		return err
	}
	hash, err := store(p.r.Dir, plumbing.BlobObject, int64(len(data)), bytes.NewReader(data))
	if err != nil {
		return err
	}
	files.set(f.Path, entry{mode: cmp.Or(f.kind, filemode.Regular), hash: hash})
	return nil
}

// content returns the bytes of a file after the change.
func (p *push) content(files *fileSet, f *File) ([]byte, error) {
	switch f.op {
	case opBase64:
		return decode64(f.text)
	case opText:
		return f.encode(f.text)
	case opRepeat:
		n, err := strconv.Atoi(f.arg)
		if err != nil {
			return nil, fmt.Errorf("repeat %q: %w", f.arg, err)
		}
		return f.encode(repeat(f.text, n))
	}
	old, err := p.present(files, f)
	if err != nil {
		return nil, err
	}
	text, err := p.changed(files, f, old)
	if err != nil {
		return nil, err
	}
	return f.encode(text)
}

// present returns the text that the change begins with.
func (p *push) present(files *fileSet, f *File) ([]byte, error) {
	e, ok := files.entries[f.Path]
	if !ok && f.op == opMerge {
		return nil, nil // a new language
	}
	if !ok {
		return nil, fmt.Errorf("there is no such file to change yet")
	}
	return readBlob(p.r.git.Storer, e.hash)
}

// changed applies the directives that change the present text.
func (p *push) changed(files *fileSet, f *File, old []byte) ([]byte, error) {
	switch f.op {
	case opEntries:
		return putEntries(old, f.text), nil
	case opMerge:
		e, ok := files.entries[f.arg]
		if !ok {
			return nil, fmt.Errorf("msgmerge: there is no %s in this commit", f.arg)
		}
		pot, err := readBlob(p.r.git.Storer, e.hash)
		if err != nil {
			return nil, err
		}
		return mergePO(pot, old, f.text)
	}
	return nil, fmt.Errorf("operation %d is unknown", f.op) // unreachable: all are listed
}

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
	hash, _, err := r.TimedPush(c)
	return hash, err
}

// TimedPush is Push that returns when the branch began to move, after all objects were written.
func (r *Repo) TimedPush(c Change) (hash string, moved time.Time, err error) {
	p := newPush(r)
	st, err := c.step(r.scenario.Branch)
	if err == nil {
		err = p.step(&st)
	}
	if moved = time.Now(); err == nil {
		err = p.flush()
	}
	if err != nil {
		return "", moved, fmt.Errorf("repository %s: commit on %s: %w", r.Dir, st.Branch, err)
	}
	return p.commits[0].Hash, moved, nil
}

// step returns the change as a step of a scenario with a default branch.
func (c *Change) step(branch string) (Step, error) {
	st := Step{
		Branch: cmp.Or(c.Branch, branch), Parents: c.Parents, Merge: c.Merge, Force: c.Force,
		Message: strings.TrimRight(cmp.Or(c.Message, "Change"), "\n") + "\n",
	}
	for _, path := range c.Delete {
		st.Files = append(st.Files, File{Path: path, op: opDelete})
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		f := File{Path: path, text: []byte(c.Files[path])}
		if slices.Contains(c.Executable, path) {
			f.kind = filemode.Executable
		}
		st.Files = append(st.Files, f)
	}
	for _, path := range slices.Sorted(maps.Keys(c.Symlinks)) {
		st.Files = append(st.Files, File{Path: path, text: []byte(c.Symlinks[path]), kind: filemode.Symlink})
	}
	var err error
	if st.Author, err = parsePerson(c.Author, Person{Name: defaultAuthorName, Email: defaultAuthorEmail}); err != nil {
		return st, err
	}
	st.Committer, err = parsePerson(c.Committer, st.Author)
	st.Author.When, st.Committer.When = inZone(c.When), inZone(c.When)
	return st, err
}

// after is a minute after the youngest of some commits, or 2024-01-01 09:00 UTC without one.
func (p *push) after(parents []plumbing.Hash) (time.Time, error) {
	when := time.Date(2024, 1, 1, 8, 59, 0, 0, time.UTC)
	for _, h := range parents {
		parent, err := p.commitObject(h)
		if err != nil {
			return when, err
		}
		if parent.Committer.When.After(when) {
			when = parent.Committer.When
		}
	}
	return inZone(when.Add(time.Minute)), nil
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
