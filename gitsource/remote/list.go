package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// maxListed bounds the branches that a remote may list.
const maxListed = 100_000

// selected reports whether any of the patterns selects a branch.
func selected(patterns []BranchPattern, branch string) bool {
	return object.ValidBranch(branch) && slices.ContainsFunc(patterns, func(p BranchPattern) bool { return p.Match(branch) })
}

// List reads the refs of the repository.
func (s *localSource) List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error) {
	repo, err := s.repo()
	if err != nil {
		return nil, err
	}
	found := branchList{}
	if err := object.PackedRefs(repo.commonDir, func(name, id string) bool { found.add(patterns, name, id); return true }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.fail(ErrUnreachable, "its packed refs cannot be read: "+plainPathError(err), "repair the repository")
	}
	root := filepath.Join(repo.commonDir, "refs", "heads")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil // removed in the meantime
		case err != nil || !d.Type().IsRegular():
			return err
		}
		name, err := filepath.Rel(repo.commonDir, path)
		if err != nil || strings.HasSuffix(name, ".lock") {
			return err
		}
		name = filepath.ToSlash(name)
		if h, err := object.ReadRef(repo.commonDir, name); err == nil {
			found.add(patterns, name, h.String())
		}
		return nil
	})
	if err != nil {
		if contextCause(err) != nil {
			return nil, err
		}
		return nil, s.fail(ErrUnreachable, "its branches cannot be listed: "+plainPathError(err), "repair the repository")
	}
	return found.heads(), nil
}

// branchList is branches and their commits.
type branchList map[string]object.Hash

// add adds a ref with an id if any of the patterns selects it.
func (l branchList) add(patterns []BranchPattern, name, id string) {
	branch, ok := strings.CutPrefix(name, "refs/heads/")
	if h, err := object.ParseHash(id); ok && err == nil && len(l) < maxListed && selected(patterns, branch) {
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
		id, name, _ := strings.Cut(line, "\t")
		found.add(patterns, name, id)
	}
	return found.heads(), nil
}
