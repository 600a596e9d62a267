package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// localSource copies from a repository on this machine. Refs are read and objects
// are copied as files, without git's protocol or the git program.
type localSource struct {
	path   string
	remote Repository
	fresh  *object.Fresh // of Options
}

// localRepo is the directories of a repository on this machine.
type localRepo struct {
	gitDir    string // HEAD of this work tree
	commonDir string // refs and objects, shared by linked work trees
}

func (s *localSource) fail(kind error, detail, remedy string) error {
	return &Error{URL: s.remote.String(), Kind: kind, Detail: detail, Remedy: remedy}
}

// findRepo finds the directories of a bare repository, a work tree or a linked work
// tree (gitrepository-layout(5)). The error says why path is none of these.
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
	if common, err := object.ReadText(filepath.Join(dir, "commondir")); err == nil {
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
	text, err := object.ReadText(name)
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

// isReftable reports whether a repository keeps its refs in a reftable, which only
// git can read.
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
	case errors.Is(err, fs.ErrNotExist):
		return repo, s.fail(ErrUnreachable, "no such directory", "create the repository, or correct its address")
	case err != nil:
		return repo, s.fail(ErrUnreachable, plainPathError(err), "correct the address, or give this user the right to read it")
	}
	config, _ := object.ReadText(filepath.Join(repo.commonDir, "config"))
	if strings.Contains(strings.ToLower(strings.ReplaceAll(config, " ", "")), "objectformat=sha256") {
		return repo, s.fail(ErrUnsupported, "repository with SHA-256 object ids", "use a repository with SHA-1 ids")
	}
	return repo, nil
}

// plainPathError returns the text of an error without the path, which the message
// around it has already.
func plainPathError(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return oneLine(err.Error())
}

func (s *localSource) Tip(ctx context.Context) (object.Head, error) {
	if err := ctx.Err(); err != nil {
		return object.Head{}, err
	}
	repo, err := s.repo()
	if err != nil {
		return object.Head{}, err
	}
	if isReftable(s.path) {
		return object.Head{}, s.fail(ErrUnsupported, "refs are kept in a reftable", "install git 2.45 or newer, or set git: auto")
	}
	if s.remote.Branch != "" {
		return s.branch(repo, s.remote.Branch, "correct branch:, or leave it out to follow the repository's HEAD")
	}
	ref, hash, err := object.ReadHEAD(repo.gitDir)
	switch {
	case err != nil:
		return object.Head{}, s.fail(ErrUnreachable, "HEAD cannot be read: "+plainPathError(err), "repair the repository")
	case ref == "":
		return object.Head{Hash: hash, Branch: object.Detached}, nil
	}
	return s.branch(repo, strings.TrimPrefix(ref, "refs/heads/"), "HEAD names a branch that has no commit; set branch:")
}

func (s *localSource) branch(repo localRepo, branch, remedy string) (object.Head, error) {
	hash, err := object.ReadRef(repo.commonDir, "refs/heads/"+branch)
	switch {
	case err == nil:
		return object.Head{Hash: hash, Branch: branch}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return object.Head{}, s.fail(ErrUnreachable, "branch cannot be read: "+plainPathError(err), "repair the repository")
	case !object.HasBranches(repo.commonDir):
		return object.Head{}, s.fail(ErrEmptyRepository, "", "push a first commit")
	}
	return object.Head{}, s.fail(ErrBranchMissing, fmt.Sprintf("%q", branch), remedy)
}

func (s *localSource) describe(err error) error {
	if errors.Is(err, object.ErrSource) {
		return s.fail(ErrUnreachable, "an object of its history cannot be read: "+oneLine(err.Error()), "run git fsck there")
	}
	return err
}

func (s *localSource) Transfer(ctx context.Context, gitDir string, tip object.Head, have []object.Hash) error {
	repo, err := s.repo()
	if err != nil {
		return err
	}
	if len(have) == 0 {
		return s.describe(object.CopyAll(ctx, repo.commonDir, gitDir, tip.Hash))
	}
	return s.describe(object.CopyHistory(ctx, repo.commonDir, gitDir, tip.Hash, s.fresh))
}
