package gitsource

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// BranchQuery asks for some of the branches of a remote.
type BranchQuery struct {
	// Pattern selects the branches.
	Pattern remote.BranchPattern
	// Most is how many of them are wanted, the first by name.
	Most int
}

// choose returns the branches that the query asks for, and how many more its pattern selects.
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

// OtherBranches are branches in a mirror besides its own.
type OtherBranches struct {
	// Heads of the branches that the mirror has, sorted by name.
	Heads []object.Head
	// Names of all branches of the remote that a pattern selects, mirrored or not, sorted.
	Names []string
	// Failed has the errors of branches not fetched now; Heads may have earlier commits.
	Failed map[string]error
}

// Select returns the heads that a query asks for, and how many more branches its pattern
// selects, beyond its bound or that of all. A branch that cannot be fetched counts as neither.
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

// otherRefs is the prefix of a mirror's refs for other branches. A repack keeps
// these refs, and clients that clone from the mirror do not see them.
const otherRefs = "refs/repoglot/sides/"

// FetchOtherBranches fetches the branches that any of the queries asks for, up to most of them,
// the first by name, and removes all others from the mirror. The mirror must have been fetched;
// its own branch is not moved. Finding nothing new costs one question to the remote.
func (m *Mirror) FetchOtherBranches(ctx context.Context, queries []BranchQuery, most int) (OtherBranches, error) {
	var others OtherBranches
	_, err := m.exclusively(ctx, func(ctx context.Context) (object.Head, error) {
		var err error
		others, err = m.updateOtherBranches(ctx, queries, most)
		return object.Head{}, err
	})
	return others, err
}

func (m *Mirror) updateOtherBranches(ctx context.Context, queries []BranchQuery, most int) (OtherBranches, error) {
	name, head, err := m.inUse()
	if err != nil {
		return OtherBranches{}, err
	}
	src := remote.NewSource(m.remote, m.opts.Remote)
	others, tips, err := wantedBranches(ctx, src, queries, most, head.Branch)
	if err != nil {
		return OtherBranches{}, err
	}
	had, err := refsBelow(filepath.Join(m.dir, name), otherRefs)
	if err != nil {
		return OtherBranches{}, err
	}
	for branch := range had { // first, since the file "a" would be in the way of "a/b"
		if !slices.ContainsFunc(tips, func(t object.Head) bool { return t.Branch == branch }) {
			root := filepath.Join(m.dir, name, filepath.FromSlash(otherRefs))
			for dir := filepath.Join(root, filepath.FromSlash(branch)); dir != root && os.Remove(dir) == nil; { // and empty directories
				dir = filepath.Dir(dir)
			}
		}
	}
	for _, tip := range tips {
		old, held := had[tip.Branch]
		if held && old == tip.Hash {
			others.Heads = append(others.Heads, tip)
			continue
		}
		if name, err = m.maintain(ctx, src, name); err != nil { // each branch may bring a pack
			return OtherBranches{}, err
		}
		have := []object.Hash{head.Hash}
		if !old.IsZero() {
			have = append(have, old)
		}
		err := m.fetchBranch(ctx, src, filepath.Join(m.dir, name), tip, have)
		switch {
		case err == nil:
			others.Heads = append(others.Heads, tip)
			continue
		case ctx.Err() != nil:
			return others, err
		case held:
			others.Heads = append(others.Heads, object.Head{Hash: old, Branch: tip.Branch})
		}
		if others.Failed == nil {
			others.Failed = map[string]error{}
		}
		others.Failed[tip.Branch] = err
	}
	return others, nil
}

// Bring fetches a commit of a branch of a repository, without an address of the mirrored one,
// if the mirror lacks it. No ref keeps it, so the next repack may lose it.
func (m *Mirror) Bring(ctx context.Context, of remote.Repository, tip object.Head) error {
	_, err := m.exclusively(ctx, func(ctx context.Context) (object.Head, error) {
		name, head, err := m.inUse()
		gitDir := filepath.Join(m.dir, name)
		if err != nil || object.Verify(ctx, gitDir, tip.Hash) == nil {
			return head, err
		}
		return head, m.transfer(ctx, remote.NewSource(m.orOwn(of), m.opts.Remote), gitDir, tip, head.Hash)
	})
	return err
}

// wantedBranches lists the remote's branches that the queries ask for; tips are those to fetch.
func wantedBranches(ctx context.Context, src remote.Source, queries []BranchQuery, most int, own string) (others OtherBranches, tips []object.Head, err error) {
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
		others.Names = append(others.Names, t.Branch)
	}
	wanted := map[string]bool{}
	for _, q := range queries {
		chosen, _ := q.choose(others.Names)
		for _, name := range chosen {
			wanted[name] = true
		}
	}
	tips = slices.DeleteFunc(tips, func(t object.Head) bool { return !wanted[t.Branch] })
	return others, tips[:min(most, len(tips))], nil
}

// refsBelow returns the refs of a git directory below a prefix, by the rest of their names.
func refsBelow(gitDir, prefix string) (map[string]object.Hash, error) {
	refs := map[string]object.Hash{}
	err := object.Refs(gitDir, prefix, func(name string, h object.Hash) error {
		refs[name] = h
		return nil
	})
	return refs, err
}

// fetchBranch fetches one branch into the mirror, whose git directory has the histories of
// have. It fails if the branch moves meanwhile; the next fetch gets the new commit.
func (m *Mirror) fetchBranch(ctx context.Context, src remote.Source, gitDir string, tip object.Head, have []object.Hash) error {
	if object.Verify(ctx, gitDir, tip.Hash) != nil { // otherwise the mirror has all of it already
		if err := m.transfer(ctx, src, gitDir, tip, have...); err != nil {
			return err
		}
	}
	return object.WriteText(filepath.Join(gitDir, filepath.FromSlash(otherRefs+tip.Branch)), tip.Hash.String()+"\n")
}
