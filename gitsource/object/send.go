package object

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Send writes a pack with what a commit needs and a repository lacks that has the commits
// of have; ids that the directory does not know are ignored. go-git makes it, with deltas
// by name if refDeltas is set.
func (s *Store) Send(ctx context.Context, w io.Writer, commit Hash, have []Hash, refDeltas bool) error {
	have = slices.DeleteFunc(slices.Clone(have), func(h Hash) bool {
		kind, _, err := s.objects.readAny(h, commitLimit)
		return err != nil || kind != plumbing.CommitObject
	})
	fresh, err := s.Difference(ctx, commit, have, 0)
	if err != nil {
		return err
	}
	lacking := map[Hash]struct{}{}
	for h, n := range fresh {
		lacking[h] = struct{}{}
		var before []Hash
		for _, p := range n.Parents {
			parent, err := s.Node(p)
			if err != nil {
				return err
			}
			before = append(before, parent.Tree)
		}
		if err := s.lacking(ctx, n.Tree, before, lacking, 0); err != nil {
			return err
		}
	}
	list := make([]plumbing.Hash, 0, len(lacking))
	for h := range lacking {
		list = append(list, plumbing.Hash(h))
	}
	const window = 10 // git's pack.window
	if _, err := packfile.NewEncoder(w, lent{s: s}, refDeltas).Encode(list, window); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// lacking adds a directory and what is in it, without what one of the directories before
// it has at the same place.
func (s *Store) lacking(ctx context.Context, tree Hash, before []Hash, found map[Hash]struct{}, depth int) error {
	if _, ok := found[tree]; ok || slices.Contains(before, tree) || depth > MaxDepth {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	found[tree] = struct{}{}
	list, err := s.Tree(tree)
	if err != nil {
		return err
	}
	var old [][]Entry
	for _, h := range before {
		entries, err := s.Tree(h)
		if err != nil {
			return err
		}
		old = append(old, entries)
	}
	for _, e := range list {
		var same bool
		var below []Hash
		for _, entries := range old {
			x, _ := Lookup(entries, e.Name)
			same = same || x.Hash == e.Hash
			if x.Kind == KindTree {
				below = append(below, x.Hash)
			}
		}
		switch {
		case same, e.Kind == KindOther:
		case e.Kind == KindTree:
			err = s.lacking(ctx, e.Hash, below, found, depth+1)
		default:
			found[e.Hash] = struct{}{}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lent lets go-git read the objects of a Store.
type lent struct {
	storer.EncodedObjectStorer // nil: go-git's encoder only reads
	s                          *Store
}

// EncodedObject reads an object.
func (l lent) EncodedObject(_ plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	kind, data, err := l.s.objects.readAny(Hash(h), maxWhole)
	if err != nil {
		return nil, objectError("object", Hash(h), err)
	}
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, err = o.Write(data)
	return o, err
}
