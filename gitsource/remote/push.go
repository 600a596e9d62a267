package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// The kinds of an [Error] of Push, besides ErrAuth, ErrUnreachable and ErrUnsupported.
var (
	// ErrMoved: the branch is not where it was expected. Fetch and derive anew.
	ErrMoved = errors.New("branch has moved")
	// ErrDeclined: the remote refuses this push for a reason of its own, such as a
	// protected branch or a hook. Trying again is of no use.
	ErrDeclined = errors.New("push declined")
)

// Push is what Push does to one branch of a remote.
type Push struct {
	// Branch is the branch there, without refs/heads/.
	Branch string
	// Commit is where the branch shall be; the zero hash removes it.
	Commit object.Hash
	// Replace moves the branch from Expect to Commit, whatever the history of both;
	// a zero Expect says that there is no such branch. Without it, only a branch of
	// which Commit is a descendant moves, and only from Expect, unless that is zero.
	Replace bool
	Expect  object.Hash
}

// Push pushes from the git directory gitDir, with go-git where the git program may not or
// cannot; no hooks of ours run. If it returns nil, the branch is where it shall be. An error is an [*Error],
// or says that the branch has no valid name. If the connection ends, the branch may
// have moved nevertheless: ask for its tip.
func (r Repository) Push(ctx context.Context, o Options, gitDir string, p Push) error {
	if !object.ValidBranch(p.Branch) {
		return fmt.Errorf("push to %s: %q is no name of a branch", r, p.Branch)
	}
	c := newClient(r, o)
	git, ok := o.Git()
	_, local := repourl.IsLocal(r.URL)
	switch {
	case ok && c.binaryFits() || o.Transport == transportBinary:
		return (&binarySource{client: c, git: git}).push(ctx, gitDir, p)
	case local:
		return c.fail(ErrUnsupported, "pushing to a path needs the git program, which runs the hooks there", "install git, and do not set git: builtin")
	}
	return (&wireSource{c}).push(ctx, gitDir, p)
}

// push pushes with go-git.
func (s *wireSource) push(ctx context.Context, gitDir string, p Push) error {
	store, err := object.Open(gitDir)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, c, err := s.open(ctx)
	if err != nil {
		return s.describe(err)
	}
	defer c.close()
	to, err := c.NewReceivePackSession(c.endpoint, c.auth)
	if err != nil {
		return s.describe(err)
	}
	refs, err := to.AdvertisedReferencesContext(ctx)
	if err != nil {
		return s.describe(c.why(ctx, err))
	}
	name := plumbing.NewBranchReferenceName(p.Branch)
	now := object.Hash(refs.References[name.String()])
	if moved, err := p.moved(ctx, store, now); err != nil {
		return err
	} else if moved != "" {
		return s.fail(ErrMoved, moved, "")
	}
	if now == p.Commit {
		return nil
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(refs.Capabilities)
	req.Commands = []*packp.Command{{Name: name, Old: plumbing.Hash(now), New: plumbing.Hash(p.Commit)}}
	said := &capped{max: maxStderr}
	if refs.Capabilities.Supports(capability.Sideband64k) {
		_ = req.Capabilities.Set(capability.Sideband64k)
		req.Progress = said
	}
	if p.Commit.IsZero() {
		_ = req.Capabilities.Set(capability.DeleteRefs)
	} else {
		var have []object.Hash
		for _, h := range refs.References {
			have = append(have, object.Hash(h))
		}
		var pack bytes.Buffer // go-git holds the whole request, too
		if err := store.Send(ctx, &pack, p.Commit, have, !refs.Capabilities.Supports(capability.OFSDelta)); err != nil {
			return err
		}
		req.Packfile = io.NopCloser(&pack)
	}
	report, err := to.ReceivePack(ctx, req)
	if err == nil {
		return nil
	}
	if report != nil {
		for _, r := range report.CommandStatuses {
			if r.Error() != nil {
				return s.refused("remote rejected", r.Status, remoteLines(said.String()), p.remedy())
			}
		}
	}
	return s.describe(c.why(ctx, err))
}

// moved says why a branch that is at now shall not be pushed to; "" if it may.
func (p Push) moved(ctx context.Context, store *object.Store, now object.Hash) (string, error) {
	if (p.Replace || !p.Expect.IsZero()) && now != p.Expect {
		return "stale info", nil
	}
	if p.Replace || now.IsZero() || now == p.Commit {
		return "", nil
	}
	if !store.Has(now) {
		return "fetch first", nil
	}
	lost, err := store.Difference(ctx, now, []object.Hash{p.Commit}, 0)
	if err == nil && len(lost) > 0 {
		return "non-fast-forward", nil
	}
	return "", err
}

// remedy is what a maintainer can do about a refusal.
func (p Push) remedy() string {
	if p.Replace {
		return "allow this user to push to the branch, also by force, or set another push_branch"
	}
	return "allow this user to push to the branch, or set push_mode: request"
}

func (s *binarySource) push(ctx context.Context, gitDir string, p Push) error {
	ref := "refs/heads/" + p.Branch
	args := []string{
		"--git-dir=" + gitDir, "-c", "core.hooksPath=/dev/null", "-c", "push.gpgSign=false", "-c", "push.followTags=false",
		"push", "--quiet", "--porcelain", "--no-verify", "--no-recurse-submodules", "--no-signed",
	}
	if p.Replace || !p.Expect.IsZero() {
		expect := ""
		if !p.Expect.IsZero() {
			expect = p.Expect.String()
		}
		args = append(args, "--force-with-lease="+ref+":"+expect)
	}
	commit := ""
	if !p.Commit.IsZero() {
		commit = p.Commit.String()
	}
	out, err := s.run(ctx, receiveService, args, commit+":"+ref)
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "detected dubious ownership") { // git: auto can read it, but git pushes
		return s.fail(ErrDeclined, "git refuses a repository of another user", "run repoglot as its owner, or set push: to an address by which its owner serves it")
	}
	status := pushStatus.FindStringSubmatch(out)
	if status == nil || contextCause(err) != nil {
		return s.describe(err)
	}
	return s.refused(status[1], status[2], remoteWords(err.Error()), p.remedy())
}

// pushStatus is a line of git push --porcelain about a ref that was refused.
var pushStatus = regexp.MustCompile(`(?m)^!\t[^\t]*\t\[(.*?)\](?: \((.*)\))?$`)

// refused makes an *Error of a push that the remote refused: how is git's word for that,
// why the remote's, and words what it said besides.
func (s *client) refused(how, why, words, remedy string) error {
	switch {
	case how == "rejected",
		strings.Contains(why, "cannot lock ref"), strings.Contains(why, "failed to update ref"),
		strings.Contains(why, "incorrect old value"), strings.Contains(why, "remote ref updated since checkout"),
		strings.Contains(why, "reference already exists"):
		return s.fail(ErrMoved, redactText(why, s.remote, s.access), "")
	case how == "remote failure":
		return s.fail(ErrUnreachable, redactText(why, s.remote, s.access), "try again")
	}
	if words != "" {
		why += ": " + words
	}
	return s.fail(ErrDeclined, redactText(why, s.remote, s.access), remedy)
}

// remoteWords returns what the remote said through git.
func remoteWords(said string) string {
	var words strings.Builder
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "remote:"); ok {
			words.WriteString(text + "\n")
		}
	}
	return remoteLines(words.String())
}

// remoteLines returns what a remote said, without frames and blank lines.
func remoteLines(said string) string {
	var words []string
	for line := range strings.Lines(said) {
		text := strings.Trim(line, " \r\n\t=*-#")
		if text = strings.TrimSpace(strings.TrimPrefix(text, "error:")); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "; ")
}
