package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// localSource copies from a repository on this machine: refs are read and
// objects copied as files, without git's protocol, a git binary or a daemon.
type localSource struct {
	path   string
	remote Remote
}

// localRepo is where a repository on disk keeps its parts.
type localRepo struct {
	gitDir    string // HEAD of this work tree
	commonDir string // refs and objects, shared by linked work trees
}

func (s *localSource) fail(kind error, detail, remedy string) error {
	return &RemoteError{URL: s.remote.String(), Kind: kind, Detail: detail, Remedy: remedy}
}

// findRepo finds a bare repository, a work tree, or a linked work tree
// (gitrepository-layout(5)); err says why there is none.
func findRepo(path string) (localRepo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return localRepo{}, err
	}
	if !info.IsDir() {
		return localRepo{}, errors.New("is a file, not a directory")
	}
	dir := path
	dotGit := filepath.Join(path, ".git")
	if info, err := os.Stat(dotGit); err == nil {
		dir = dotGit
		if !info.IsDir() {
			if dir, err = followGitFile(dotGit); err != nil {
				return localRepo{}, err
			}
		}
	}
	repo := localRepo{gitDir: dir, commonDir: dir}
	if common, err := readSmall(filepath.Join(dir, "commondir")); err == nil {
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		repo.commonDir = filepath.Clean(common)
	}
	if _, err := os.Stat(filepath.Join(repo.gitDir, "HEAD")); err != nil {
		return localRepo{}, errors.New("is not a git repository")
	}
	if info, err := os.Stat(filepath.Join(repo.commonDir, "objects")); err != nil || !info.IsDir() {
		return localRepo{}, errors.New("is not a git repository")
	}
	return repo, nil
}

// followGitFile reads the "gitdir: path" file of linked work trees.
func followGitFile(name string) (string, error) {
	text, err := readSmall(name)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return "", errors.New(".git is neither a directory nor names one")
	}
	dir = strings.TrimSpace(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(name), dir)
	}
	return dir, nil
}

// isReftable reports a repository whose refs only git can read.
func isReftable(path string) bool {
	repo, err := findRepo(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(repo.commonDir, "reftable"))
	return err == nil && info.IsDir()
}

func (s *localSource) repo() (localRepo, error) {
	repo, err := findRepo(s.path)
	switch {
	case isNotExist(err):
		return repo, s.fail(ErrUnreachable, "no such directory", "create the repository or correct repo:")
	case err != nil:
		return repo, s.fail(ErrUnreachable, plainPathError(err), "correct repo:, or give this user the right to read it")
	}
	config, _ := readSmall(filepath.Join(repo.commonDir, "config"))
	if strings.Contains(strings.ToLower(strings.ReplaceAll(config, " ", "")), "objectformat=sha256") {
		return repo, s.fail(ErrUnsupported, "repository with SHA-256 object ids", "use a repository with SHA-1 ids")
	}
	return repo, nil
}

// plainPathError drops the path, which the message names already.
func plainPathError(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return oneLine(err.Error())
}

func (s *localSource) tip(ctx context.Context) (Head, error) {
	if err := ctx.Err(); err != nil {
		return Head{}, err
	}
	repo, err := s.repo()
	if err != nil {
		return Head{}, err
	}
	if isReftable(s.path) {
		return Head{}, s.fail(ErrUnsupported, "refs are kept in a reftable", "install git 2.45 or newer, or set git: auto")
	}
	if s.remote.Branch != "" {
		return s.branch(repo, s.remote.Branch, "correct branch:, or leave it out to follow the repository's HEAD")
	}
	ref, hash, err := readHEAD(repo.gitDir)
	switch {
	case err != nil:
		return Head{}, s.fail(ErrUnreachable, "HEAD cannot be read: "+plainPathError(err), "repair the repository")
	case ref == "":
		return Head{Hash: hash, Branch: detached}, nil
	}
	return s.branch(repo, strings.TrimPrefix(ref, "refs/heads/"), "HEAD names a branch that has no commit; set branch:")
}

func (s *localSource) branch(repo localRepo, branch, remedy string) (Head, error) {
	hash, err := readRef(repo.commonDir, "refs/heads/"+branch)
	switch {
	case err == nil:
		return Head{Hash: hash, Branch: branch}, nil
	case !isNotExist(err):
		return Head{}, s.fail(ErrUnreachable, "branch cannot be read: "+plainPathError(err), "repair the repository")
	case !hasBranches(repo.commonDir):
		return Head{}, s.fail(ErrEmptyRepository, "", "push a first commit")
	}
	return Head{}, s.fail(ErrBranchMissing, fmt.Sprintf("%q", branch), remedy)
}

func (s *localSource) transfer(ctx context.Context, gitDir string, tip Head, have []Hash) error {
	repo, err := s.repo()
	if err != nil {
		return err
	}
	c := &objectCopy{
		from: openObjects(repo.commonDir), to: openObjects(gitDir),
		target: filepath.Join(gitDir, "objects"), limit: manyObjects, done: map[Hash]struct{}{},
	}
	defer func() { _ = errors.Join(c.from.close(), c.to.close()) }()
	if c.shallow, err = copyShallow(repo.commonDir, gitDir); err != nil {
		return err
	}
	if len(have) == 0 {
		if err := c.everything(ctx); err != nil {
			return s.describe(err)
		}
		return s.describe(verifySource(ctx, gitDir, tip))
	}
	if err := c.to.list(); err != nil {
		return err
	}
	if err = c.history(ctx, tip.Hash); errors.Is(err, errMany) || errors.Is(err, errSource) {
		err = c.everything(ctx)
	}
	return s.describe(err)
}

// verifySource reports an incomplete copy as the source's fault: all of it was
// made a moment ago.
func verifySource(ctx context.Context, gitDir string, tip Head) error {
	if err := verify(ctx, gitDir, tip); err != nil {
		if cause := contextCause(err); cause != nil {
			return cause
		}
		return fmt.Errorf("%w: %w", errSource, err)
	}
	return nil
}

func (s *localSource) describe(err error) error {
	if errors.Is(err, errSource) {
		return s.fail(ErrUnreachable, "an object of its history cannot be read: "+oneLine(err.Error()), "run git fsck there")
	}
	return err
}

// copyShallow takes over where a shallow repository's history ends.
func copyShallow(from, to string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(from, "shallow"))
	if isNotExist(err) {
		_ = os.Remove(filepath.Join(to, "shallow"))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, writeAtomic(filepath.Join(to, "shallow"), string(text))
}

// writeShallow notes where a remote's history ends; see [copyShallow].
func writeShallow(gitDir string, cut []plumbing.Hash) error {
	name := filepath.Join(gitDir, "shallow")
	if len(cut) == 0 {
		if err := os.Remove(name); err != nil && !isNotExist(err) {
			return fmt.Errorf("store where history ends: %w", err)
		}
		return nil
	}
	var b strings.Builder
	for _, h := range cut {
		b.WriteString(h.String() + "\n")
	}
	return writeAtomic(name, b.String())
}
