package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// localSource copies from a repository on this machine. Refs are read and objects
// are copied as files, without git's protocol or the git program.
type localSource struct {
	client
	path string
}

func (s *localSource) repo() (localRepo, error) {
	repo, err := s.Trust.find(s.path)
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

// Directories returns where HEAD and the index of the work tree in a folder are, and where its
// refs and objects are (gitrepository-layout(5)), whoever they belong to: for a program that
// its user runs there. Errors are those of a repository that is copied.
func Directories(path string) (gitDir, commonDir string, err error) {
	s := localSource{client: client{remote: Repository{URL: path}, Options: Options{Trust: Trust{SafeDirectories: []string{"*"}}}}, path: path}
	repo, err := s.repo()
	if err == nil && repo.isReftable() {
		err = s.fail(ErrUnsupported, "refs are kept in a reftable", "name commits by their ids, or run git refs migrate --ref-format=files")
	}
	return repo.gitDir, repo.commonDir, err
}

// untrusted is the error of a repository not read because of its owner or where it leads.
func (c *client) untrusted(err error) error {
	if errors.Is(err, errOwner) {
		return c.fail(ErrUnreachable, err.Error(), "run repoglot as its owner, or add its path to safe_directories")
	}
	return c.fail(ErrUnreachable, err.Error(), "use the repository that it leads to")
}

// plainPathError returns the text of an error without the path, which stands around it.
func plainPathError(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
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
	return s.describe(object.Copy(ctx, from, gitDir, tip.Hash, s.Fresh))
}

// localRepo is the directories of a repository on this machine.
type localRepo struct {
	gitDir    string   // HEAD of this work tree
	commonDir string   // refs, shared by linked work trees
	objects   []string // those of commonDir, and alternates
}

// isReftable reports whether a repository's refs are in a reftable, which only git reads.
func (r localRepo) isReftable() bool {
	info, err := os.Lstat(filepath.Join(r.commonDir, "reftable"))
	return err == nil && info.IsDir()
}

// Errors of a repository that may be somebody else's.
var (
	errOwner = errors.New("belongs to another user")
	errLeads = errors.New("leads to another place")
)

// Trust says which repositories on this machine are read. One of another user may be made to
// show files of this user (git-config(1), safe.directory). The zero value trusts this user's.
type Trust struct {
	// SafeDirectories are paths of repositories that are read although they belong to
	// another user: absolute paths, FOLDER/* for all below a folder, or * for all.
	SafeDirectories []string
	// PrivateDir is a folder into which no repository may lead, by symlinks, gitdir,
	// commondir or alternates; empty: none.
	PrivateDir string
}

// find finds the directories of a bare repository, a work tree or a linked work tree
// (gitrepository-layout(5)), and checks to whom they belong. The error says why path
// is none of these, or wraps errOwner or errLeads.
func (t Trust) find(path string) (localRepo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return localRepo{}, err
	}
	if !info.IsDir() {
		return localRepo{}, errors.New("is a file, not a directory")
	}
	c, err := t.check(path)
	if err != nil {
		return localRepo{}, err
	}
	dir := path
	dotGit := filepath.Join(path, ".git")
	if info, err := os.Lstat(dotGit); err == nil {
		if dir = dotGit; info.Mode().IsRegular() {
			if dir, err = followGitFile(path); err != nil {
				return localRepo{}, err
			}
		}
		if err := c.leads(dotGit, dir); err != nil {
			return localRepo{}, err
		}
	}
	repo := localRepo{gitDir: dir, commonDir: dir}
	if common, err := object.ReadText(dir, "commondir"); err == nil {
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		repo.commonDir = filepath.Clean(common)
		if err := c.leads(repo.commonDir); err != nil {
			return localRepo{}, err
		}
	}
	return c.contents(repo)
}

// followGitFile reads the ".git" file of linked work trees, "gitdir: path".
func followGitFile(dir string) (string, error) {
	text, err := object.ReadText(dir, ".git")
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return "", errors.New(".git is neither a directory nor names one")
	}
	target = strings.TrimSpace(target)
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return target, nil
}

// checked is a repository whose owner may be trusted.
type checked struct {
	Trust
	owner int // -1 where files have none
}

// check refuses a repository of another user, unless it is listed as safe.
func (t Trust) check(path string) (checked, error) {
	c := checked{Trust: t, owner: -1}
	real, err := realPath(path)
	if err != nil {
		return c, err
	}
	if t.holds(real) {
		return c, fmt.Errorf("%w: into the data of this server", errLeads)
	}
	uid, ok := ownerOf(real)
	if !ok {
		return c, nil
	}
	c.owner = uid
	if uid != os.Geteuid() && !t.lists(path, real) {
		return c, fmt.Errorf("%w (user id %d)", errOwner, uid)
	}
	return c, nil
}

// leads checks directories that a repository names: they belong to its owner, or are
// listed as safe, and have no data of this server.
func (c checked) leads(dirs ...string) error {
	for _, dir := range dirs {
		real, err := realPath(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // which is reported later
		}
		if err != nil {
			return err
		}
		if c.holds(real) {
			return fmt.Errorf("%w: into the data of this server", errLeads)
		}
		if uid, ok := ownerOf(real); ok && uid != c.owner && !c.lists(dir, real) {
			return fmt.Errorf("%w: a directory of another user (user id %d)", errLeads, uid)
		}
	}
	return nil
}

// contents checks what a repository must have, and where its objects are.
func (c checked) contents(repo localRepo) (localRepo, error) {
	none := errors.New("is not a git repository")
	if _, err := os.Lstat(filepath.Join(repo.gitDir, "HEAD")); err != nil {
		return localRepo{}, none
	}
	for _, name := range []string{"objects", "refs"} {
		dir := filepath.Join(repo.commonDir, name)
		info, err := os.Stat(dir)
		if err != nil && name == "refs" {
			continue // all refs are packed, or in a reftable
		}
		if err != nil || !info.IsDir() {
			return localRepo{}, none
		}
		if err := c.leads(dir); err != nil {
			return localRepo{}, err
		}
	}
	repo.objects = object.ObjectDirs(repo.commonDir)
	return repo, c.leads(repo.objects...)
}

// holds reports whether a path is in the folder that nothing leads into.
func (t Trust) holds(real string) bool {
	if t.PrivateDir == "" {
		return false
	}
	private, err := realPath(t.PrivateDir)
	return err == nil && within(real, private)
}

// lists reports whether a path is listed as safe, under either name.
func (t Trust) lists(names ...string) bool {
	return slices.ContainsFunc(t.SafeDirectories, func(safe string) bool {
		if safe == "*" {
			return true
		}
		folder, all := strings.CutSuffix(safe, "/*")
		return slices.ContainsFunc(names, func(name string) bool {
			abs, err := filepath.Abs(name)
			return err == nil && (abs == filepath.Clean(safe) || all && abs != folder && within(abs, filepath.Clean(folder)))
		})
	})
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath is an absolute path without symlinks.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
