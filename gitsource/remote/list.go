package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// maxListed bounds the branches that a remote may list.
const maxListed = 100_000

// List reads the refs of the repository.
func (s *localSource) List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error) {
	repo, err := s.repo()
	if err != nil {
		return nil, err
	}
	found := branchList{}
	err = object.Refs(repo.commonDir, "refs/heads/", func(branch string, h object.Hash) error {
		found.add(patterns, branch, h)
		return ctx.Err()
	})
	if err != nil && contextCause(err) == nil {
		err = s.fail(ErrUnreachable, "its branches cannot be listed: "+plainPathError(err), "repair the repository")
	}
	return found.heads(), err
}

// branchList is branches and their commits.
type branchList map[string]object.Hash

// add adds a branch if any of the patterns selects it.
func (l branchList) add(patterns []BranchPattern, branch string, h object.Hash) {
	if len(l) < maxListed && object.ValidBranch(branch) && slices.ContainsFunc(patterns, func(p BranchPattern) bool { return p.Match(branch) }) {
		l[branch] = h
	}
}

func (l branchList) heads() []object.Head {
	list := make([]object.Head, 0, len(l))
	for branch, h := range l {
		list = append(list, object.Head{Hash: h, Branch: branch})
	}
	return list
}

func (s *binarySource) List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error) {
	var refs []string
	for _, p := range patterns {
		refs = append(refs, "refs/heads/"+p.String())
	}
	out, err := s.read(ctx, []string{"ls-remote", "--quiet", "--heads"}, refs...)
	if err != nil {
		return nil, err
	}
	if len(out) >= maxStdout {
		return nil, s.fail(object.ErrTooLarge, fmt.Sprintf("it lists more than %d MiB of branches", maxStdout>>20), "narrow suggestions.branches")
	}
	found := branchList{}
	for line := range strings.SplitSeq(out, "\n") {
		id, branch, ok := strings.Cut(line, "\trefs/heads/")
		if h, err := object.ParseHash(id); ok && err == nil {
			found.add(patterns, branch, h)
		}
	}
	return found.heads(), nil
}
