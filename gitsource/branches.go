package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// BranchQuery asks for the first Most branches by name that Pattern selects.
type BranchQuery struct {
	Pattern remote.BranchPattern
	Most    int
}

// choose gives those of branches, which are sorted, that the query asks for, and
// how many more the pattern selects.
func (q BranchQuery) choose(branches []string) (chosen []string, omitted int) {
	for _, branch := range branches {
		switch {
		case !q.Pattern.Match(branch):
		case len(chosen) < q.Most:
			chosen = append(chosen, branch)
		default:
			omitted++
		}
	}
	return chosen, omitted
}

// Sides are other branches than the mirror's own that it holds.
type OtherBranches struct {
	// Heads are where they stand, by name.
	Heads []object.Head
	// Names are all branches of the remote that a pattern selects, held or not,
	// sorted.
	Names []string
	// Failed says of branches why they could not be brought up to date. What an
	// earlier fetch brought stands in Heads.
	Failed map[string]error
}

// Chosen gives the heads that a query asks for, and how many more branches it
// selects: those beyond its bound or that of all. One that cannot be fetched is
// neither.
func (s *OtherBranches) Select(q BranchQuery) (heads []object.Head, omitted int) {
	names, omitted := q.choose(s.Names)
	for _, name := range names {
		if i, held := slices.BinarySearchFunc(s.Heads, name, func(h object.Head, name string) int { return strings.Compare(h.Branch, name) }); held {
			heads = append(heads, s.Heads[i])
		} else if s.Failed[name] == nil {
			omitted++
		}
	}
	return heads, omitted
}

// sideRefs is where a mirror keeps other branches: among refs of its own, which
// maintenance keeps, and which are no heads.
const sideRefs = "refs/repoglot/sides/"

// maxLeapBlobs bounds the ids of files in a Leap's origins: 40 MB. A stale branch
// Of a hundred files may have changed them in 20,000 commits.
const maxLeapBlobs = 2_000_000

// FetchSides brings other branches of the remote into the mirror, those that any
// Of the queries asks for, the first most by name, and forgets all others. The
// mirror must have been fetched. Nothing of it moves the mirror's own branch.
// Finding nothing new costs one question to the remote.
func (m *Mirror) FetchOtherBranches(ctx context.Context, queries []BranchQuery, most int) (OtherBranches, error) {
	var sides OtherBranches
	_, err := m.exclusively(ctx, func(ctx context.Context) (object.Head, error) {
		var err error
		sides, err = m.updateSides(ctx, queries, most)
		return object.Head{}, err
	})
	return sides, err
}

func (m *Mirror) updateSides(ctx context.Context, queries []BranchQuery, most int) (OtherBranches, error) {
	m.mu.Lock()
	name := m.current
	head, err := m.headLocked()
	m.mu.Unlock()
	if err != nil {
		return OtherBranches{}, err
	}
	src := remote.NewSource(m.remote, m.opts.Remote)
	sides, tips, err := wantedSides(ctx, src, queries, most, head.Branch)
	if err != nil {
		return OtherBranches{}, err
	}
	had, err := object.LooseRefs(filepath.Join(m.dir, name), sideRefs)
	if err != nil {
		return OtherBranches{}, err
	}
	for branch := range had { // first: "a" may stand in the way of "a/b"
		if !slices.ContainsFunc(tips, func(t object.Head) bool { return t.Branch == branch }) {
			forgetRef(filepath.Join(m.dir, name, filepath.FromSlash(sideRefs)), branch)
		}
	}
	for _, tip := range tips {
		old, held := had[tip.Branch]
		if old != tip.Hash {
			if name, err = m.maintain(ctx, name); err != nil { // each may bring a pack
				return OtherBranches{}, err
			}
		}
		err := m.fetchSide(ctx, src, filepath.Join(m.dir, name), tip, old, head)
		switch {
		case err == nil:
			sides.Heads = append(sides.Heads, tip)
			continue
		case ctx.Err() != nil:
			return sides, err
		case held:
			sides.Heads = append(sides.Heads, object.Head{Hash: old, Branch: tip.Branch})
		}
		if sides.Failed == nil {
			sides.Failed = map[string]error{}
		}
		sides.Failed[tip.Branch] = err
	}
	return sides, nil
}

// wantedSides asks the remote for its branches; tips are those to be fetched.
func wantedSides(ctx context.Context, src remote.Source, queries []BranchQuery, most int, own string) (sides OtherBranches, tips []object.Head, err error) {
	if len(queries) == 0 {
		return OtherBranches{}, nil, nil
	}
	patterns := make([]remote.BranchPattern, len(queries))
	for i, q := range queries {
		patterns[i] = q.Pattern
	}
	if tips, err = src.List(ctx, patterns); err != nil {
		return OtherBranches{}, nil, err
	}
	tips = slices.DeleteFunc(tips, func(t object.Head) bool { return t.Branch == own })
	slices.SortFunc(tips, func(a, b object.Head) int { return strings.Compare(a.Branch, b.Branch) })
	for _, t := range tips {
		sides.Names = append(sides.Names, t.Branch)
	}
	wanted := map[string]bool{}
	for _, q := range queries {
		chosen, _ := q.choose(sides.Names)
		for _, name := range chosen {
			wanted[name] = true
		}
	}
	tips = slices.DeleteFunc(tips, func(t object.Head) bool { return !wanted[t.Branch] })
	return sides, tips[:min(most, len(tips))], nil
}

// forgetRef removes a ref, and folders that held it alone.
func forgetRef(root, branch string) {
	for name := filepath.Join(root, filepath.FromSlash(branch)); name != root && os.Remove(name) == nil; {
		name = filepath.Dir(name)
	}
}

// fetchSide brings one branch into the mirror. One that moves meanwhile fails,
// and is found where it then stands by the next fetch.
func (m *Mirror) fetchSide(ctx context.Context, src remote.Source, gitDir string, tip object.Head, old object.Hash, head object.Head) error {
	if old == tip.Hash {
		return nil
	}
	if object.Verify(ctx, gitDir, tip.Hash) != nil { // else merged, or made of what is there
		have := []object.Hash{head.Hash}
		if !old.IsZero() {
			have = append(have, old)
		}
		if err := src.Transfer(ctx, gitDir, tip, have); err != nil {
			return err
		}
		if err := object.Verify(ctx, gitDir, tip.Hash); err != nil {
			return err
		}
	}
	return object.WriteText(filepath.Join(gitDir, filepath.FromSlash(sideRefs+tip.Branch)), tip.Hash.String()+"\n")
}

// Leap is one step from a commit to another that need not be behind it: what
// differs between their trees in the files of match, and the commits that to has
// and from has not. Origins are empty where it has none: to is merged. Truncated
// says that they would be too many to know: more than 50,000 commits, or 2 million
// files of all of them. The step has no Changes where nothing differs. A commit that the mirror does not have is
// ErrUnknownCommit.
func (r *Reader) Between(ctx context.Context, from, to object.Hash, match filemask.Matcher) (Step, error) {
	return r.between(ctx, from, to, match, maxLeapBlobs)
}

func (r *Reader) between(ctx context.Context, from, to object.Hash, match filemask.Matcher, most int) (Step, error) {
	old, err := r.store.Node(from)
	if err != nil {
		return Step{}, fmt.Errorf("leap from %s: %w", from, err)
	}
	n, err := r.store.Node(to)
	if err != nil {
		return Step{}, fmt.Errorf("leap to %s: %w", to, err)
	}
	d := diffWalk{r: r, m: match}
	if err := d.dir(ctx, old.Tree, n.Tree, "", 0); err != nil || len(d.changes) == 0 {
		return Step{}, errors.Join(err, ctx.Err())
	}
	fresh, err := r.difference(ctx, to, from, maxRange)
	if err != nil {
		return Step{}, fmt.Errorf("leap from %s to %s: %w", from, to, err)
	}
	slices.SortFunc(d.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	s := Step{Base: from, Changes: d.changes, Truncated: len(fresh) > maxRange}
	if s.Commit, err = r.Commit(ctx, to); err != nil || len(fresh) == 0 || s.Truncated {
		return s, err
	}
	if s.Origins, err = r.origins(ctx, s, fresh, most); errors.Is(err, errManyBlobs) {
		s.Truncated, err = true, nil
	}
	return s, err
}
