package testrepos

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repoglot/repoglot/gitsource/object"
)

// maxChain is the number of versions that are made of each other, as in git's packs.
const maxChain = 50

// packWriter writes a pack like one that git made of a repository: the versions of
// a path stand together, the newest first and whole, older ones as deltas of the
// next newer. Loose objects would take a hundred times as long.
type packWriter struct {
	*object.Addition
	store *object.Store
}

// newPackWriter makes a pack in a bare repository.
func newPackWriter(repo string) (*packWriter, error) {
	store, err := object.Open(repo)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return &packWriter{object.NewAddition(repo, store), store}, nil
}

// close drops what was not stored.
func (w *packWriter) close() error {
	w.Close()
	return w.store.Close()
}

// chain has the versions of one path that were not written yet, the oldest first. Each is
// a list of paragraphs, most of which it shares with the others.
type chain struct {
	kind     plumbing.ObjectType
	versions [][]string
}

// add adds the next version of a path. It keeps the paragraphs.
func (w *packWriter) add(c *chain, paragraphs []string) (plumbing.Hash, error) {
	hash := plumbing.ComputeHash(c.kind, []byte(strings.Join(paragraphs, "")))
	if c.versions = append(c.versions, paragraphs); len(c.versions) < maxChain {
		return hash, nil
	}
	return hash, w.flush(c)
}

// flush writes the versions of some paths that were not written yet.
func (w *packWriter) flush(chains ...*chain) error {
	var errs []error
	for _, c := range chains {
		put := w.Blob
		if c.kind == plumbing.TreeObject {
			put = w.Tree
		}
		var newer object.Base
		for _, paragraphs := range slices.Backward(c.versions) {
			data := []byte(strings.Join(paragraphs, ""))
			hash, err := put(data, newer)
			errs = append(errs, err)
			newer = object.Base{Hash: hash, Data: data}
		}
		c.versions = nil
	}
	return errors.Join(errs...)
}
