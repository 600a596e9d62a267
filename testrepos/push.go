package testrepos

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
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

// resolve finds labels, full hashes or branches, in this order.
func (p *push) resolve(revs ...string) (out []*object.Commit, err error) {
	for _, rev := range revs {
		h := plumbing.NewHash(cmp.Or(p.labels[rev], rev))
		if p.labels[rev] == "" && !plumbing.IsHash(rev) {
			if h, err = p.tip(rev); err != nil {
				return nil, err
			}
		}
		c, err := p.r.git.CommitObject(h)
		if err != nil {
			return nil, fmt.Errorf("%q is no label, branch or commit of %s: %w", rev, p.r.Dir, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// step makes one step of a scenario.
func (p *push) step(st *Step) error {
	if st.RefOnly && st.To == "" {
		return p.drop(st.Branch)
	}
	if st.RefOnly {
		to, err := p.resolve(st.To)
		if err != nil {
			return err
		}
		return p.move(st.Branch, to[0], st.Force)
	}
	parents, files, err := p.start(st)
	if err != nil {
		return err
	}
	for i := range st.changes {
		if err := p.apply(files, &st.changes[i]); err != nil {
			return fmt.Errorf("file %q (line %d): %w", st.changes[i].Path, st.changes[i].Line, err)
		}
	}
	if err := files.unmerged(); err != nil {
		return err
	}
	c, err := p.commit(&st.Change, files, parents)
	if err != nil {
		return err
	}
	if st.Label != "" {
		p.labels[st.Label] = c.Hash.String()
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	p.commits = append(p.commits, PushedCommit{Label: st.Label, Hash: c.Hash.String(), Author: c.Author.Name, Subject: subject})
	if err := p.move(st.Branch, c, st.Force); err != nil {
		return err
	}
	for _, t := range st.Tags {
		p.refs[plumbing.NewTagReferenceName(t)] = c.Hash
	}
	for _, b := range st.Drop {
		if err := p.drop(b); err != nil {
			return err
		}
	}
	return nil
}

// start returns all parents of a commit, and the files that it begins with: the files
// of Tree if it is given, otherwise the files of the first parent, merged with Merge.
// Several parents are merged one by one, as in git's octopus strategy.
func (p *push) start(st *Step) ([]*object.Commit, *fileSet, error) {
	revs := st.Parents
	if tip, err := p.tip(st.Branch); err != nil {
		return nil, nil, err
	} else if len(revs) == 0 && !tip.IsZero() {
		revs = []string{tip.String()}
	} else if slices.Equal(revs, []string{"none"}) {
		revs = nil
	}
	parents, err := p.resolve(slices.Concat(revs, st.Merge)...)
	if err != nil || st.Tree == "" && len(parents) == 0 {
		return nil, newFileSet(), err
	}
	if st.Tree != "" {
		files, err := p.filesAt(st.Tree)
		return parents, files, err
	}
	files, err := readFiles(p.r.git, parents[0])
	for i := len(revs); i < len(parents) && err == nil; i++ {
		err = files.merge(p.r.git, parents[0], parents[i])
	}
	return parents, files, err
}

// filesAt returns the files at rev: a hash, a label or a branch.
func (p *push) filesAt(rev string) (*fileSet, error) {
	c, err := p.resolve(rev)
	if err != nil {
		return nil, err
	}
	return readFiles(p.r.git, c[0])
}

// drop deletes a branch, which must exist.
func (p *push) drop(branch string) error {
	if tip, err := p.tip(branch); err != nil || tip.IsZero() {
		return fmt.Errorf("there is no branch %q to delete (%w)", branch, err)
	}
	p.refs[plumbing.NewBranchReferenceName(branch)] = plumbing.ZeroHash
	return nil
}

// move sets a branch; without force it must not lose commits.
func (p *push) move(branch string, to *object.Commit, force bool) error {
	tip, err := p.tip(branch)
	if err != nil {
		return err
	}
	if !force && !tip.IsZero() {
		from, err := p.r.git.CommitObject(tip)
		if err != nil {
			return fmt.Errorf("branch %s: %w", branch, err)
		}
		if ok, err := from.IsAncestor(to); err != nil || !ok {
			return fmt.Errorf("branch %s would lose commits; say `force: true` if that is meant (%w)", branch, err)
		}
	}
	name := plumbing.NewBranchReferenceName(branch)
	p.refs[name] = to.Hash
	return name.Validate()
}

// commit stores a commit of files.
func (p *push) commit(c *Change, files *fileSet, parents []*object.Commit) (*object.Commit, error) {
	author, err := parsePerson(cmp.Or(c.Author, "Test Author <author@example.org>"))
	if err != nil {
		return nil, err
	}
	committer, err := parsePerson(cmp.Or(c.Committer, c.Author, "Test Author <author@example.org>"))
	if err != nil {
		return nil, err
	}
	youngest := time.Date(2024, 1, 1, 8, 59, 0, 0, time.UTC)
	commit := object.Commit{Message: strings.TrimRight(cmp.Or(c.Message, "Change"), "\n") + "\n"}
	for _, parent := range parents {
		commit.ParentHashes = append(commit.ParentHashes, parent.Hash)
		if parent.Committer.When.After(youngest) {
			youngest = parent.Committer.When
		}
	}
	author.When = inZone(c.When, youngest.Add(time.Minute))
	committer.When = inZone(c.Committed, author.When)
	commit.Author, commit.Committer = author, committer
	if commit.TreeHash, err = files.write(p.r.git.Storer, slices.Sorted(maps.Keys(files.entries)), 0); err != nil {
		return nil, err
	}
	hash, err := writeObject(p.r.git.Storer, &commit)
	if err != nil {
		return nil, err
	}
	return p.r.git.CommitObject(hash)
}

// inZone is a time, or another one if it is zero. It keeps the offset and drops the name
// of the zone: time.Parse prefers a matching local zone, on which commits must not depend.
func inZone(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		t = otherwise
	}
	_, offset := t.Zone()
	return t.In(time.FixedZone("", offset))
}

// parsePerson reads `Name <email>`.
func parsePerson(s string) (object.Signature, error) {
	name, rest, ok := strings.Cut(s, " <")
	email, tail, ok2 := strings.Cut(rest, ">")
	if !ok || !ok2 || name == "" || tail != "" {
		return object.Signature{}, fmt.Errorf("%q: want Name <email>", s)
	}
	return object.Signature{Name: name, Email: email}, nil
}

// apply makes one change to the files of a commit.
func (p *push) apply(files *fileSet, f *File) error {
	if f.op == "deleted" {
		if !files.remove(f.Path) {
			return fmt.Errorf("deleted, but it is not there")
		}
		return nil
	}
	e := entry{mode: cmp.Or(f.mode, filemode.Regular), hash: plumbing.NewHash(strings.TrimSpace(string(f.text)))}
	if f.mode != filemode.Submodule {
		data, err := p.content(files, f)
		if err != nil {
			return err
		}
		if e.hash, err = writeObject(p.r.git.Storer, blob(data)); err != nil {
			return err
		}
	}
	files.set(f.Path, e)
	return nil
}

// content returns the bytes of a file after the change.
func (p *push) content(files *fileSet, f *File) (text []byte, err error) {
	switch f.op {
	case "base64":
		return decode64(f.text)
	case "repeat":
		text, err = repeat(f.text, f.arg)
	case "entries":
		if text, err = p.r.read(files, f.Path); err == nil {
			text, err = written(putEntries(text, f.text))
		}
	case "msgmerge":
		var pot []byte
		if pot, err = p.r.read(files, f.arg); err == nil {
			text, _ = p.r.read(files, f.Path) // none: a new language
			text, err = written(mergePO(pot, text, f.text))
		}
	default:
		text = f.text
	}
	if err != nil {
		return nil, err
	}
	return f.encode(text)
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
