package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// The limits of gitsource, against the git binary on the same repository.
const (
	listedCommits  = 500
	overLog        = 5   // listing their changed files, against git log --raw
	limitListRSS   = 100 // MiB
	overClone      = 2.5 // go-git alone, against git clone --bare --single-branch
	overCloneGit   = 1.2 // with git: binary
	overPackRSS    = 4   // peak RSS, minus the RSS of an idle process, against the pack
	sourceRuns     = 5
	quietPolls     = 200
	limitPollBytes = 64 // kB allocated by a poll over HTTP that finds nothing
)

// source measures mirrors: each figure is measured in a process of its own, this
// program with -child, which separates their memory.
func (b *bench) source(ctx context.Context) error {
	for _, name := range []string{"gtranslator-po", "switchboard"} {
		repo, err := b.cloneBundle(ctx, name)
		if err != nil {
			return err
		}
		if repo == "" {
			fmt.Fprintf(b.out, "history and clone of %s: not measured, there is no shared data\n", name)
			continue
		}
		if err := b.listHistory(ctx, name, repo); err != nil {
			return err
		}
		if err := b.firstClone(ctx, name, repo); err != nil {
			return err
		}
	}
	return b.poll(ctx)
}

// listHistory lists the changed PO files of the last commits.
func (b *bench) listHistory(ctx context.Context, name, repo string) error {
	mirror := filepath.Join(b.dir, "list-"+name)
	if _, err := b.child(ctx, "clone", mirror, repo, "builtin"); err != nil {
		return err
	}
	ours, theirs, rss := math.Inf(1), math.Inf(1), 0.0
	for range sourceRuns {
		u, err := b.child(ctx, "list", mirror, repo, "builtin")
		if err != nil {
			return err
		}
		ours, rss = min(ours, u.wall.Seconds()), max(rss, u.rss)
		u, err = measure(exec.CommandContext(ctx, "git", "-C", repo, "log", "--raw", "--first-parent", "-m", "-n", strconv.Itoa(listedCommits)))
		if err != nil {
			return err
		}
		theirs = min(theirs, u.wall.Seconds())
	}
	what := fmt.Sprintf("source: PO files changed by %d commits, %s", listedCommits, name)
	b.row(what, "ms", ours*1e3, overLog*theirs*1e3)
	b.row("  against git log --raw --first-parent -m", "×", ours/theirs, overLog)
	b.row("  its peak RSS", "MiB", rss, limitListRSS)
	return nil
}

// firstClone makes new mirrors, over http on loopback and from a path.
func (b *bench) firstClone(ctx context.Context, name, repo string) error {
	srv, err := serveGit(ctx, filepath.Dir(repo))
	if err != nil {
		return err
	}
	defer srv.Close()
	pack, err := packSize(repo)
	if err != nil {
		return err
	}
	idle, err := b.child(ctx, "nothing", "-", "-", "builtin")
	if err != nil {
		return err
	}
	for _, c := range []struct {
		from, address, transport string
		limit                    float64
	}{
		{"a path", repo, "builtin", overClone},
		{"http", srv.URL + "/" + filepath.Base(repo), "builtin", overClone},
		{"http", srv.URL + "/" + filepath.Base(repo), "binary", overCloneGit},
	} {
		ours, theirs, rss := math.Inf(1), math.Inf(1), 0.0
		for i := range sourceRuns {
			dir := filepath.Join(b.dir, fmt.Sprintf("clone-%s-%d", name, i))
			u, err := b.child(ctx, "clone", dir, c.address, c.transport)
			if err != nil {
				return err
			}
			ours, rss = min(ours, u.wall.Seconds()), max(rss, u.rss)
			theirDir := dir + ".theirs"
			address := c.address
			if c.from == "a path" {
				address = "file://" + address // a path alone is copied by links
			}
			u, err = measure(exec.CommandContext(ctx, "git", "clone", "--quiet", "--bare", "--single-branch", "--no-tags", address, theirDir))
			if err != nil {
				return err
			}
			theirs = min(theirs, u.wall.Seconds())
			if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(theirDir)); err != nil {
				return err
			}
		}
		b.row(fmt.Sprintf("source: first clone of %s from %s, git: %s", name, c.from, c.transport), "ms", ours*1e3, c.limit*theirs*1e3)
		b.row("  against git clone --bare --single-branch", "×", ours/theirs, c.limit)
		b.row("  its peak RSS above an idle process, against the pack", "×", (rss-idle.rss)*(1<<20)/float64(pack), overPackRSS)
	}
	return nil
}

// poll fetches from a remote without changes.
func (b *bench) poll(ctx context.Context) error {
	repo := filepath.Join(b.dir, "quiet.git")
	if _, err := git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", repo); err != nil {
		return err
	}
	if err := growHistory(ctx, repo, 0, 10); err != nil {
		return err
	}
	srv, err := serveGit(ctx, b.dir)
	if err != nil {
		return err
	}
	defer srv.Close()
	address := srv.URL + "/quiet.git"
	mirror := filepath.Join(b.dir, "quiet-mirror")
	if _, err := b.child(ctx, "clone", mirror, address, "builtin"); err != nil {
		return err
	}
	cmd, err := childCommand(ctx, "poll", mirror, address, "builtin")
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var took, bytesEach float64
	if _, err := fmt.Sscan(string(out), &took, &bytesEach); err != nil {
		return fmt.Errorf("output of the child %q: %w", out, err)
	}
	theirs := math.Inf(1)
	for range sourceRuns {
		u, err := measure(exec.CommandContext(ctx, "git", "ls-remote", address, "refs/heads/main"))
		if err != nil {
			return err
		}
		theirs = min(theirs, u.wall.Seconds())
	}
	b.row("source: a poll over http that finds nothing", "ms", took*1e3, theirs*1e3)
	b.row("  allocated by it", "kB", bytesEach/1e3, limitPollBytes)
	return nil
}

// serveGit serves the repositories of a folder by git's own http-backend.
func serveGit(ctx context.Context, root string) (*httptest.Server, error) {
	execPath, err := git(ctx, "--exec-path")
	if err != nil {
		return nil, err
	}
	return httptest.NewServer(http.Handler(&cgi.Handler{
		Path: filepath.Join(execPath, "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	})), nil
}

// packSize returns the bytes of a repository's packs.
func packSize(repo string) (int64, error) {
	packs, err := filepath.Glob(filepath.Join(repo, "objects/pack/*.pack"))
	size := int64(0)
	for _, p := range packs {
		info, err := os.Stat(p)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	if size == 0 {
		return 0, fmt.Errorf("%s has no pack: %w", repo, errors.Join(err, os.ErrNotExist))
	}
	return size, err
}

func childCommand(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, append([]string{"-child"}, args...)...), nil
}

func (b *bench) child(ctx context.Context, args ...string) (usage, error) {
	cmd, err := childCommand(ctx, args...)
	if err != nil {
		return usage{}, err
	}
	return measure(cmd)
}

// runChild is the measured process. Its arguments are the measurement, the mirror's
// folder, the remote's address and the transport.
func runChild(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("-child takes four arguments, not %q", args)
	}
	what, dir, address, transport := args[0], args[1], args[2], args[3]
	switch what {
	case "nothing":
		return nil
	case "project":
		return makeProjectHere(dir, address, out)
	case "bare":
		return serveBare(dir, address, out)
	}
	mirror, err := gitsource.Open(ctx, dir, remote.Repository{URL: address}, gitsource.Options{Remote: remote.Options{Transport: transport}})
	if err != nil {
		return err
	}
	switch what {
	case "clone":
		_, err := mirror.Fetch(ctx)
		return err
	case "list":
		return listSteps(ctx, mirror)
	case "poll":
		return pollOften(ctx, mirror, out)
	}
	return fmt.Errorf("-child %q is not known", what)
}

func listSteps(ctx context.Context, mirror *gitsource.Mirror) error {
	r, err := mirror.Reader(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var masks []filemask.Mask
	for _, text := range []string{"po/*.po", "help/*/*.po", "po/extra/*.po"} {
		mask, err := filemask.Parse(text)
		if err != nil {
			return err
		}
		masks = append(masks, mask)
	}
	// The commit before the first listed one.
	var from object.Hash
	n := 0
	for link, err := range r.FirstParents(ctx, r.Head().Hash) {
		if err != nil {
			return err
		}
		if n == listedCommits {
			from = link.Hash
			break
		}
		n++
	}
	for _, err := range r.Steps(ctx, from, r.Head().Hash, filemask.NewMatcher(masks)) {
		if err != nil {
			return err
		}
	}
	return nil
}
