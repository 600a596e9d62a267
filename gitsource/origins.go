package gitsource

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// Origin is one commit that a step brings in (reachable from the step's commit, not from its
// base) and that has its own version of a changed path. A commit with one parent and the same
// versions as that parent is left out: its children have that parent instead.
//
// To find the commit that introduced a text of a changed path, start at the step's own commit,
// the last of Step.Origins, and follow parents that have the same text; a commit none of whose
// parents has it introduced it. If only a parent outside the step has it, it is of the step's
// own commit (docs/compatibility.md#authors). Package ingest does this for the strings of
// files.
type Origin struct {
	// Commit of this origin.
	Commit object.Commit
	// Parents of the commit: indices into Step.Origins, all smaller than its own
	// index; -1 for a parent outside the step. Empty for a first commit.
	Parents []int
	// Blobs are the ids of the changed paths at this commit, parallel to
	// Step.Changes; zero: absent. Origins share equal slices: do not write.
	Blobs []object.Hash
	// Outside is parallel to Parents: the Blobs of each parent that is -1; nil for
	// the other parents. Origins share equal slices: do not write.
	Outside [][]object.Hash
}

// ownOrigin returns the only origin of a step that is no merge.
func ownOrigin(s Step) Origin {
	o := Origin{Commit: s.Commit, Blobs: make([]object.Hash, len(s.Changes))}
	old := make([]object.Hash, len(s.Changes))
	for i, c := range s.Changes {
		o.Blobs[i], old[i] = c.New, c.Old
	}
	if !s.Base.IsZero() {
		o.Parents, o.Outside = []int{-1}, [][]object.Hash{old}
	}
	return o
}

// ancestor replaces a commit as a parent: by an origin, or by blobs outside the step.
type ancestor struct {
	index int // into the origins; -1: outside
	blobs []object.Hash
}

// origins makes Step.Origins from the commits that the step brings in. With most > 0
// the error is errManyBlobs if their Blobs are more than most ids.
func (r *Reader) origins(ctx context.Context, s Step, fresh map[object.Hash]object.Node, most int) ([]Origin, error) {
	b := originBuilder{
		r: r, fresh: fresh, paths: newPathSet(s.Changes),
		ancestors: make(map[object.Hash]ancestor, len(fresh)),
	}
	b.paths.most = most
	for _, h := range parentsFirst(s.Commit.Hash, fresh) {
		if err := b.add(ctx, h, h == s.Commit.Hash); err != nil {
			return nil, err
		}
	}
	return b.list, nil
}

type originBuilder struct {
	r         *Reader
	fresh     map[object.Hash]object.Node
	paths     *pathSet
	ancestors map[object.Hash]ancestor
	list      []Origin
}

// add adds the next commit; its parents inside the step were added before.
func (b *originBuilder) add(ctx context.Context, h object.Hash, own bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := b.fresh[h]
	blobs, err := b.paths.at(b.r, n.Tree)
	if err != nil {
		return err
	}
	parents, err := b.parents(n)
	if err != nil {
		return err
	}
	if !own && len(parents) == 1 && slices.Equal(parents[0].blobs, blobs) {
		b.ancestors[h] = parents[0]
		return nil
	}
	if !own && len(parents) == 0 && !slices.ContainsFunc(blobs, func(h object.Hash) bool { return !h.IsZero() }) {
		b.ancestors[h] = ancestor{index: -1, blobs: blobs}
		return nil
	}
	o := Origin{Blobs: blobs}
	if o.Commit, err = b.r.Commit(ctx, h); err != nil {
		return err
	}
	for _, p := range parents {
		o.Parents = append(o.Parents, p.index)
		if p.index < 0 {
			o.Outside = append(o.Outside, p.blobs)
		} else {
			o.Outside = append(o.Outside, nil)
		}
	}
	b.ancestors[h] = ancestor{index: len(b.list), blobs: blobs}
	b.list = append(b.list, o)
	return nil
}

// parents returns the ancestors for a commit's parents, each once.
func (b *originBuilder) parents(n object.Node) ([]ancestor, error) {
	var list []ancestor
	for _, p := range n.Parents {
		a, ok := b.ancestors[p]
		if !ok {
			outside, err := b.r.store.Node(p)
			if err != nil {
				return nil, err
			}
			blobs, err := b.paths.at(b.r, outside.Tree)
			if err != nil {
				return nil, err
			}
			a = ancestor{index: -1, blobs: blobs}
			b.ancestors[p] = a
		}
		twin := func(x ancestor) bool { return x.index == a.index && (a.index >= 0 || slices.Equal(x.blobs, a.blobs)) }
		if !slices.ContainsFunc(list, twin) {
			list = append(list, a)
		}
	}
	return list, nil
}

// parentsFirst sorts the commits so that parents, and ancestors of the first parent, are first.
func parentsFirst(tip object.Hash, fresh map[object.Hash]object.Node) []object.Hash {
	type frame struct {
		hash object.Hash
		next int
	}
	order := make([]object.Hash, 0, len(fresh))
	met := make(map[object.Hash]struct{}, len(fresh))
	stack := []frame{{hash: tip}}
	met[tip] = struct{}{}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		parents := fresh[top.hash].Parents
		if top.next == len(parents) {
			order = append(order, top.hash)
			stack = stack[:len(stack)-1]
			continue
		}
		p := parents[top.next]
		top.next++
		if _, ok := met[p]; ok {
			continue
		}
		if _, ok := fresh[p]; ok {
			met[p] = struct{}{}
			stack = append(stack, frame{hash: p})
		}
	}
	return order
}

// errManyBlobs says that the origins of a step have too many ids of files.
var errManyBlobs = errors.New("too many versions of files")

// pathSet looks the same paths up in many trees, and shares equal results.
type pathSet struct {
	dirs  []string        // "" or without trailing slash
	names [][]changedName // parallel to dirs
	n     int
	roots map[object.Hash][]object.Hash
	known map[string][]object.Hash // by the ids of all dirs
	// most bounds the ids that are kept, 0: no bound; kept counts these ids.
	most, kept int
}

// changedName is the name of a changed file in its directory.
type changedName struct {
	name  string
	index int // in Step.Changes
}

func newPathSet(changes []Change) *pathSet {
	s := &pathSet{n: len(changes), roots: map[object.Hash][]object.Hash{}, known: map[string][]object.Hash{}}
	at := map[string]int{}
	for i, c := range changes {
		dir, name := path.Split(c.Path)
		dir = strings.TrimSuffix(dir, "/")
		k, ok := at[dir]
		if !ok {
			k = len(s.dirs)
			at[dir] = k
			s.dirs = append(s.dirs, dir)
			s.names = append(s.names, nil)
		}
		s.names[k] = append(s.names[k], changedName{name: name, index: i})
	}
	return s
}

// at returns the ids of the paths in a tree; zero if the path is no file.
func (s *pathSet) at(r *Reader, root object.Hash) ([]object.Hash, error) {
	if blobs, ok := s.roots[root]; ok {
		return blobs, nil
	}
	ids := make([]object.Hash, len(s.dirs))
	var key strings.Builder
	for k, dir := range s.dirs {
		id, err := r.subtree(root, dir)
		if err != nil {
			return nil, err
		}
		ids[k] = id
		key.Write(id[:])
	}
	blobs, ok := s.known[key.String()]
	if !ok {
		if s.kept += s.n; s.most > 0 && s.kept > s.most {
			return nil, errManyBlobs
		}
		blobs = make([]object.Hash, s.n)
		for k, id := range ids {
			list, err := r.store.Tree(id)
			if err != nil {
				return nil, err
			}
			for _, p := range s.names[k] {
				if e, ok := object.Lookup(list, p.name); ok {
					blobs[p.index] = e.Of(object.KindFile)
				}
			}
		}
		s.known[key.String()] = blobs
	}
	s.roots[root] = blobs
	return blobs, nil
}

// subtree returns the id of a directory in a tree; zero if it does not exist.
func (r *Reader) subtree(root object.Hash, dir string) (object.Hash, error) {
	id := root
	for dir != "" && !id.IsZero() {
		var name string
		name, dir, _ = strings.Cut(dir, "/")
		list, err := r.store.Tree(id)
		if err != nil {
			return object.Hash{}, err
		}
		e, _ := object.Lookup(list, name)
		id = e.Of(object.KindTree)
	}
	return id, nil
}
