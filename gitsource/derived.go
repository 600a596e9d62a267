package gitsource

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/gitsource/object"
)

// derivedFolder holds a git namespace (gitnamespaces(7)) with the name of the head that
// derived commits are on: they are shown in one moment, and no longer when the head moves.
const derivedFolder = "refs/namespaces"

// derivedRef is the ref of the derived commits on a head, within a git directory.
func derivedRef(head object.Head) string {
	return derivedFolder + "/" + head.Hash.String() + "/refs/heads/" + head.Branch
}

// derivedTip returns the newest of the commits that are shown on a head and their
// namespace; the head itself and "" without any.
func derivedTip(gitDir string, head object.Head) (namespace string, tip object.Hash) {
	tip, err := object.ReadRef(gitDir, derivedRef(head))
	if err != nil {
		return "", head.Hash
	}
	return head.Hash.String(), tip
}

// Show has clones of the mirror see commits on top of its head, up to tip, until it is
// called again or the head moves; with the head itself, none. The commits last as long as
// they are shown. It must not run beside another Show or a Fetch.
func (w *Writer) Show(tip object.Hash) error {
	err := w.Store()
	if err == nil {
		err = w.show(tip)
	}
	if err != nil {
		return fmt.Errorf("mirror of %s: show commits: %w", w.mirror.remote, err)
	}
	return nil
}

func (w *Writer) show(tip object.Hash) error {
	folder := filepath.Join(w.gitDir, filepath.FromSlash(derivedFolder))
	kept, _ := derivedTip(w.gitDir, w.head)
	switch _, shown := derivedTip(w.gitDir, w.head); {
	case tip == w.head.Hash || w.head.Branch == object.Detached:
		kept = ""
	case tip != shown:
		kept = w.head.Hash.String()
		ref := derivedRef(w.head)
		// HEAD before the branch: a namespace counts from when it has the branch.
		if err := object.WriteText(filepath.Join(folder, kept, "HEAD"), "ref: "+ref+"\n"); err != nil {
			return err
		}
		if err := object.WriteText(filepath.Join(w.gitDir, filepath.FromSlash(ref)), tip.String()+"\n"); err != nil {
			return err
		}
	}
	old, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range old {
		if e.Name() != kept {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return err
}
