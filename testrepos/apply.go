package testrepos

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

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
	case opCopy:
		return p.copied(f)
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
	data, err := readBlob(p.r.git.Storer, e.hash)
	if err != nil {
		return nil, err
	}
	return f.decode(data)
}

// changed applies the directives that change the present text.
func (p *push) changed(files *fileSet, f *File, old []byte) ([]byte, error) {
	switch f.op {
	case opEdit:
		return applyEdits(old, f.text)
	case opEntries:
		return putEntries(old, f.text), nil
	case opDrop:
		text, missing := dropEntries(old, f.text)
		if len(missing) > 0 {
			return nil, fmt.Errorf("drop: there is no entry %q", missing[0])
		}
		return text, nil
	case opShift:
		by, err := strconv.Atoi(f.arg)
		if err != nil {
			return nil, fmt.Errorf("shift %q: %w", f.arg, err)
		}
		return shiftReferences(old, by), nil
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

// copied is (copy LABEL) or (copy LABEL:PATH).
func (p *push) copied(f *File) ([]byte, error) {
	rev, path, ok := strings.Cut(f.arg, ":")
	if !ok {
		path = f.Path
	}
	from, err := p.filesAt(rev)
	if err != nil {
		return nil, err
	}
	e, ok := from.entries[path]
	if !ok {
		return nil, fmt.Errorf("copy: %s has no %s", rev, path)
	}
	return readBlob(p.r.git.Storer, e.hash)
}
