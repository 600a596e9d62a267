package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SideQuery asks for the first Most branches by name that Pattern selects.
type SideQuery struct {
	Pattern BranchPattern
	Most    int
}

// choose gives those of branches, which are sorted, that the query asks for, and
// how many more the pattern selects.
func (q SideQuery) choose(branches []string) (chosen []string, omitted int) {
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
type Sides struct {
	// Heads are where they stand, by name.
	Heads []Head
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
func (s *Sides) Chosen(q SideQuery) (heads []Head, omitted int) {
	names, omitted := q.choose(s.Names)
	for _, name := range names {
		if i, held := slices.BinarySearchFunc(s.Heads, name, func(h Head, name string) int { return strings.Compare(h.Branch, name) }); held {
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
// of a hundred files may have changed them in 20,000 commits.
const maxLeapBlobs = 2_000_000

// maxListed bounds the branches that a remote may list.
const maxListed = 100_000

// FetchSides brings other branches of the remote into the mirror, those that any
// of the queries asks for, the first most by name, and forgets all others. The
// mirror must have been fetched. Nothing of it moves the mirror's own branch.
// Finding nothing new costs one question to the remote.
func (m *Mirror) FetchSides(ctx context.Context, queries []SideQuery, most int) (Sides, error) {
	var sides Sides
	_, err := m.exclusively(ctx, func(ctx context.Context) (Head, error) {
		var err error
		sides, err = m.updateSides(ctx, queries, most)
		return Head{}, err
	})
	return sides, err
}

func (m *Mirror) updateSides(ctx context.Context, queries []SideQuery, most int) (Sides, error) {
	m.mu.Lock()
	name := m.current
	head, err := m.headLocked()
	m.mu.Unlock()
	if err != nil {
		return Sides{}, err
	}
	src := m.source()
	sides, tips, err := wantedSides(ctx, src, queries, most, head.Branch)
	if err != nil {
		return Sides{}, err
	}
	had, err := heldSides(filepath.Join(m.dir, name))
	if err != nil {
		return Sides{}, err
	}
	for branch := range had { // first: "a" may stand in the way of "a/b"
		if !slices.ContainsFunc(tips, func(t Head) bool { return t.Branch == branch }) {
			forgetRef(filepath.Join(m.dir, name, filepath.FromSlash(sideRefs)), branch)
		}
	}
	for _, tip := range tips {
		old, held := had[tip.Branch]
		if old != tip.Hash {
			if name, err = m.maintain(ctx, name); err != nil { // each may bring a pack
				return Sides{}, err
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
			sides.Heads = append(sides.Heads, Head{Hash: old, Branch: tip.Branch})
		}
		if sides.Failed == nil {
			sides.Failed = map[string]error{}
		}
		sides.Failed[tip.Branch] = err
	}
	return sides, nil
}

// wantedSides asks the remote for its branches; tips are those to be fetched.
func wantedSides(ctx context.Context, src source, queries []SideQuery, most int, own string) (sides Sides, tips []Head, err error) {
	if len(queries) == 0 {
		return Sides{}, nil, nil
	}
	patterns := make([]BranchPattern, len(queries))
	for i, q := range queries {
		patterns[i] = q.Pattern
	}
	if tips, err = src.list(ctx, patterns); err != nil {
		return Sides{}, nil, err
	}
	tips = slices.DeleteFunc(tips, func(t Head) bool { return t.Branch == own })
	slices.SortFunc(tips, func(a, b Head) int { return strings.Compare(a.Branch, b.Branch) })
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
	tips = slices.DeleteFunc(tips, func(t Head) bool { return !wanted[t.Branch] })
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
func (m *Mirror) fetchSide(ctx context.Context, src source, gitDir string, tip Head, old Hash, head Head) error {
	if old == tip.Hash {
		return nil
	}
	if verify(ctx, gitDir, tip) != nil { // else merged, or made of what is there
		have := []Hash{head.Hash}
		if !old.IsZero() {
			have = append(have, old)
		}
		if err := src.transfer(ctx, gitDir, tip, have); err != nil {
			return err
		}
		if err := verify(ctx, gitDir, tip); err != nil {
			return err
		}
	}
	return writeAtomic(filepath.Join(gitDir, filepath.FromSlash(sideRefs+tip.Branch)), tip.Hash.String()+"\n")
}

// heldSides are the side branches that a repository of ours holds.
func heldSides(gitDir string) (map[string]Hash, error) {
	held := map[string]Hash{}
	root := filepath.Join(gitDir, filepath.FromSlash(sideRefs))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && isNotExist(err):
			return nil
		case err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".tmp-"):
			return err
		}
		text, err := readSmall(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if h, herr := ParseHash(text); herr == nil {
			held[filepath.ToSlash(name)] = h
		}
		return err
	})
	return held, err
}

// selected reports whether any of the patterns selects a branch.
func selected(patterns []BranchPattern, branch string) bool {
	return validBranch(branch) && slices.ContainsFunc(patterns, func(p BranchPattern) bool { return p.Match(branch) })
}

// list reads the refs of a repository on this machine.
func (s *localSource) list(ctx context.Context, patterns []BranchPattern) ([]Head, error) {
	repo, err := s.repo()
	if err != nil {
		return nil, err
	}
	found := map[string]Hash{}
	const heads = "refs/heads/"
	take := func(name, id string) {
		branch, ok := strings.CutPrefix(name, heads)
		if h, err := ParseHash(id); ok && err == nil && len(found) < maxListed && selected(patterns, branch) {
			found[branch] = h
		}
	}
	if err := packedRefs(repo.commonDir, func(name, id string) bool { take(name, id); return true }); err != nil && !isNotExist(err) {
		return nil, s.fail(ErrUnreachable, "its packed refs cannot be read: "+plainPathError(err), "repair the repository")
	}
	root := filepath.Join(repo.commonDir, filepath.FromSlash(heads))
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && isNotExist(err):
			return nil // gone meanwhile
		case err != nil || !d.Type().IsRegular():
			return err
		}
		name, err := filepath.Rel(repo.commonDir, path)
		if err != nil || strings.HasSuffix(name, ".lock") {
			return err
		}
		name = filepath.ToSlash(name)
		if h, err := readRef(repo.commonDir, name); err == nil {
			take(name, h.String())
		}
		return nil
	})
	if err != nil {
		if contextCause(err) != nil {
			return nil, err
		}
		return nil, s.fail(ErrUnreachable, "its branches cannot be listed: "+plainPathError(err), "repair the repository")
	}
	return headsOf(found), nil
}

func headsOf(found map[string]Hash) []Head {
	list := make([]Head, 0, len(found))
	for branch, h := range found {
		list = append(list, Head{Hash: h, Branch: branch})
	}
	return list
}

func (s *binarySource) list(ctx context.Context, patterns []BranchPattern) ([]Head, error) {
	address, err := s.address()
	if err != nil {
		return nil, s.describe(err)
	}
	args := []string{"ls-remote", "--quiet", "--heads", "--", address}
	for _, p := range patterns {
		args = append(args, "refs/heads/"+p.String())
	}
	out, err := s.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	if len(out) >= maxStdout {
		return nil, s.fail(ErrTooLarge, fmt.Sprintf("it lists more than %d MiB of branches", maxStdout>>20), "narrow suggestions.branches")
	}
	found := map[string]Hash{}
	for line := range strings.SplitSeq(out, "\n") {
		id, name, _ := strings.Cut(line, "\t")
		branch, ok := strings.CutPrefix(name, "refs/heads/")
		if h, err := ParseHash(id); ok && err == nil && len(found) < maxListed && selected(patterns, branch) {
			found[branch] = h
		}
	}
	return headsOf(found), nil
}

func (s *wireSource) list(ctx context.Context, patterns []BranchPattern) ([]Head, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.patience())
	defer cancel()
	e, err := parseEndpoint(s.remote.URL)
	if err != nil {
		return nil, s.describe(err)
	}
	if e.scheme == "http" || e.scheme == "https" {
		var prefixes []string
		for _, p := range patterns {
			prefixes = append(prefixes, "refs/heads/"+p.anchored())
		}
		found := newTipSearch(s.remote.Branch)
		found.sides = patterns
		if err := s.httpRefs(ctx, e, found, prefixes); err != nil {
			return nil, s.describe(err)
		}
		return headsOf(found.listed), nil
	}
	c, err := s.openFor(ctx, e, patterns)
	if err != nil {
		return nil, s.describe(err)
	}
	defer c.close()
	return headsOf(c.found.listed), nil
}

// Leap is one step from a commit to another that need not be behind it: what
// differs between their trees in the files of match, and the commits that to has
// and from has not. Origins are empty where it has none: to is merged. Truncated
// says that they would be too many to know: more than 50,000 commits, or 2 million
// files of all of them. The step has no Changes where nothing differs. A commit that the mirror does not have is
// ErrUnknownCommit.
func (r *Reader) Leap(ctx context.Context, from, to Hash, match Matcher) (Step, error) {
	return r.leap(ctx, from, to, match, maxLeapBlobs)
}

func (r *Reader) leap(ctx context.Context, from, to Hash, match Matcher, most int) (Step, error) {
	old, err := r.node(from)
	if err != nil {
		return Step{}, fmt.Errorf("leap from %s: %w", from, err)
	}
	n, err := r.node(to)
	if err != nil {
		return Step{}, fmt.Errorf("leap to %s: %w", to, err)
	}
	d := diffWalk{r: r, m: match}
	if err := d.dir(ctx, old.tree, n.tree, "", 0); err != nil || len(d.changes) == 0 {
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
	if s.Origins, err = r.origins(ctx, s, fresh, most); errors.Is(err, errMany) {
		s.Truncated, err = true, nil
	}
	return s, err
}
