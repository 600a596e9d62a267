package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// localSource copies from a repository on this machine. Refs are read and objects
// are copied as files, without git's protocol or the git program.
type localSource struct {
	client
	path  string
	fresh *object.Fresh // of Options
}

func (s *localSource) repo() (localRepo, error) {
	repo, err := s.trust.find(s.path)
	switch {
	case errors.Is(err, errOwner), errors.Is(err, errLeads):
		return repo, s.untrusted(err)
	case errors.Is(err, fs.ErrNotExist):
		return repo, s.fail(ErrUnreachable, "no such directory", "create the repository, or correct its address")
	case err != nil:
		return repo, s.fail(ErrUnreachable, plainPathError(err), "correct the address, or give this user the right to read it")
	}
	config, _ := object.ReadText(repo.commonDir, "config")
	if strings.Contains(strings.ToLower(strings.ReplaceAll(config, " ", "")), "objectformat=sha256") {
		return repo, s.fail(ErrUnsupported, "repository with SHA-256 object ids", "use a repository with SHA-1 ids")
	}
	return repo, nil
}

// untrusted is the error of a repository that is not read because of its owner or of
// where it leads.
func (c *client) untrusted(err error) error {
	if errors.Is(err, errOwner) {
		return c.fail(ErrUnreachable, err.Error(), "run repoglot as its owner, or add its path to safe_directories")
	}
	return c.fail(ErrUnreachable, err.Error(), "use the repository that it leads to")
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
	if repo.isReftable() {
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
	}
	found := false
	_ = object.Refs(repo.commonDir, "refs/heads/", func(string, object.Hash) error { found = true; return fs.SkipAll })
	if !found {
		return object.Head{}, s.fail(ErrEmptyRepository, "", "push a first commit")
	}
	return object.Head{}, s.fail(ErrBranchMissing, fmt.Sprintf("%q", branch), remedy)
}

func (s *localSource) describe(err error) error {
	if limit, ok := errors.AsType[object.LimitError](err); ok {
		return s.fail(object.ErrTooLarge, limit.Error(), "use a smaller repository, or raise the limit")
	}
	if errors.Is(err, fs.ErrInvalid) { // of a file there: ours are plain files
		return s.fail(ErrUnreachable, plainPathError(err)+": a file that is too large, or is a pipe, a link or a device", "repair the repository")
	}
	if errors.Is(err, object.ErrSource) {
		return s.fail(ErrUnreachable, "an object of its history cannot be read: "+oneLine(err.Error()), "run git fsck there")
	}
	return err
}

func (s *localSource) Transfer(ctx context.Context, gitDir string, tip object.Head, _ []object.Hash) error {
	repo, err := s.repo()
	if err != nil {
		return err
	}
	from := object.Origin{Dir: repo.commonDir, Objects: repo.objects, Limits: s.limits.Within(gitDir)}
	return s.describe(object.Copy(ctx, from, gitDir, tip.Hash, s.fresh))
}
