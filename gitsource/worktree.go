package gitsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

var (
	// ErrNoRepository: no git repository is around a folder.
	ErrNoRepository = errors.New("there is no git repository here")
	// ErrShallow: the clone is shallow and lacks a commit that is needed.
	ErrShallow = errors.New("this clone is shallow: fetch the whole history (fetch-depth: 0 with actions/checkout, GIT_DEPTH: 0 in GitLab CI, git fetch --unshallow)")
	// ErrUnknownName: no commit has this name.
	ErrUnknownName = errors.New("no such branch, tag or commit: fetch it, or correct the name")
)

// WorkTree is the repository around a folder, read where it is: without a mirror, and without
// the git program as long as names are of branches, tags or whole ids. It belongs to one
// goroutine and must be closed.
type WorkTree struct {
	*Reader
	// Root is the folder that has .git.
	Root              string
	gitDir, commonDir string
}

// OpenWorkTree opens the repository around a folder. ErrNoRepository, or why it cannot be read.
func OpenWorkTree(ctx context.Context, dir string) (*WorkTree, error) {
	root, err := filepath.Abs(dir)
	for ; err == nil; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return nil, fmt.Errorf("%s: %w", dir, ErrNoRepository)
		}
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	w := &WorkTree{Root: root}
	if w.gitDir, w.commonDir, err = remote.Directories(root); err != nil {
		return nil, err
	}
	w.Reader, err = openReader(w.commonDir, object.Head{}, func() {})
	return w, err
}

// Resolve returns the commit of a name: HEAD, a branch, a branch of a remote, a tag, an id, with
// ~3 or ^ for ancestors; other forms of gitrevisions(7) if there is a git program. The error is
// ErrUnknownName, or ErrShallow if that may be the cause.
func (w *WorkTree) Resolve(ctx context.Context, name string) (object.Hash, error) {
	plain, back := parentsOf(name)
	h, err := w.named(plain)
	if err != nil {
		// The program knows short ids, @{upstream} and more.
		cmd := exec.CommandContext(ctx, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
		cmd.Dir, back = w.Root, 0
		out, _ := cmd.Output()
		h, err = object.ParseHash(strings.TrimSpace(string(out)))
	}
	if err == nil {
		h, err = w.store.Peel(h)
	}
	for ; err == nil && back > 0; back-- {
		n, nodeErr := w.store.Node(h)
		if err = nodeErr; err == nil && len(n.Parents) == 0 {
			err = object.ErrUnknownCommit
		} else if err == nil {
			h = n.Parents[0]
		}
	}
	if err == nil {
		_, err = w.Commit(ctx, h)
	}
	switch {
	case err == nil, ctx.Err() != nil:
		return h, cmp.Or(ctx.Err(), err)
	case w.store.Shallow():
		return h, fmt.Errorf("%q is not here: %w", name, ErrShallow)
	}
	return h, fmt.Errorf("%q: %w", name, ErrUnknownName)
}

// parentsOf takes ~3 and ^ from a name, and says how many first parents they go back. The git
// program is not asked: containers have none, or refuse a work tree of another user.
func parentsOf(name string) (plain string, back int) {
	for {
		if rest, ok := strings.CutSuffix(name, "^"); ok {
			name, back = rest, back+1
			continue
		}
		at := strings.LastIndexByte(name, '~')
		if at < 0 {
			return name, back
		}
		n, err := strconv.Atoi(cmp.Or(name[at+1:], "1"))
		if err != nil || n < 0 {
			return name, back
		}
		name, back = name[:at], back+n
	}
}

// named finds a name as gitrevisions(7) does.
func (w *WorkTree) named(name string) (object.Hash, error) {
	if h, err := object.ParseHash(name); err == nil {
		return h, nil
	}
	switch name {
	case "HEAD", "@":
		ref, h, err := object.ReadHEAD(w.gitDir)
		if err != nil || ref == "" {
			return h, err
		}
		return object.ReadRef(w.commonDir, ref)
	case "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD":
		text, err := object.ReadText(w.gitDir, name)
		if err != nil || len(text) < 40 {
			return object.Hash{}, cmp.Or(err, ErrUnknownName)
		}
		return object.ParseHash(text[:40])
	}
	if object.ValidBranch(name) {
		for _, form := range []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"} {
			if ref := fmt.Sprintf(form, name); strings.HasPrefix(ref, "refs/") {
				if h, err := object.ReadRef(w.commonDir, ref); err == nil {
					return h, nil
				}
			}
		}
	}
	return object.Hash{}, ErrUnknownName
}

// MergeBase returns the newest commit that two have in their histories (git-merge-base(1)); zero
// if they have none. The error is ErrShallow if it may be beyond the end of a shallow history.
func (w *WorkTree) MergeBase(ctx context.Context, a, b object.Hash) (base object.Hash, err error) {
	bases, err := w.leaving(ctx, a, b)
	if err != nil || len(bases) == 1 && bases[0] == a {
		return a, err
	}
	newest := int64(0)
	var ties []object.Hash // older ones are no descendants of these
	for _, h := range bases {
		n, err := w.store.Node(h)
		if err != nil {
			return base, err
		}
		if n.When > newest {
			newest, ties = n.When, nil
		}
		if n.When == newest {
			ties = append(ties, h)
		}
	}
	for _, tie := range ties {
		above, err := w.IsAncestor(ctx, cmp.Or(base, tie), tie)
		if err != nil {
			return base, err
		}
		if above {
			base = tie
		}
	}
	if !w.store.Shallow() {
		return base, nil
	}
	for _, side := range []object.Hash{a, b} {
		after, err := w.store.Difference(ctx, side, []object.Hash{base}, 0)
		if err != nil {
			return base, err
		}
		for h, node := range after {
			if c, err := w.Commit(ctx, h); err != nil || len(c.Parents) > len(node.Parents) {
				return base, cmp.Or(err, ErrShallow)
			}
		}
	}
	return base, nil
}

// Tracked lists the files that git tracks in the work tree; those of a commit if its index
// cannot be read.
func (w *WorkTree) Tracked(ctx context.Context, commit object.Hash, want func(path string) bool) (list []string, err error) {
	if all, err := object.Tracked(w.gitDir); err == nil {
		return slices.DeleteFunc(all, func(path string) bool { return !want(path) }), ctx.Err()
	}
	files, err := w.Snapshot(ctx, commit, want, nil)
	for _, f := range files {
		list = append(list, f.Path)
	}
	return list, err
}
