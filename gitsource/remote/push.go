package remote

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// The kinds of an [Error] of Push, besides ErrAuth, ErrUnreachable and ErrUnsupported.
var (
	// ErrMoved: the branch is not where it was expected: somebody pushed. Fetch and
	// derive anew.
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

// Push pushes from the git directory gitDir with the git program, which runs no hooks
// of ours. If it returns nil, the branch is where it shall be. An error is an [*Error],
// or says that the branch has no valid name. If the connection ends, the branch may
// have moved nevertheless: ask for its tip.
func (r Repository) Push(ctx context.Context, o Options, gitDir string, p Push) error {
	if !object.ValidBranch(p.Branch) {
		return fmt.Errorf("push to %s: %q is no name of a branch", r, p.Branch)
	}
	c := client{trust: o.Trust, remote: r, access: r.access(o), knownHosts: o.KnownHosts, limits: object.NewLimits(o.MaxPack), silence: o.Silence}
	if c.silence == 0 {
		c.silence = defaultSilence
	}
	git, ok := o.Git()
	switch {
	case !ok:
		return c.fail(ErrUnsupported, "pushing needs the git program", "install git, and do not set git: builtin")
	case !c.binaryFits():
		return c.fail(ErrUnsupported, "git cannot push here", "use https without a query, or ssh with a key without passphrase, and install ssh")
	}
	return (&binarySource{client: c, git: git}).push(ctx, gitDir, p)
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
	remedy := "allow this user to push to the branch, or set push_mode: request"
	if strings.Contains(err.Error(), "detected dubious ownership") { // git: auto can read it, but git pushes
		return s.fail(ErrDeclined, "git refuses a repository of another user", "run repoglot as its owner, or set push: to an address by which its owner serves it")
	}
	if p.Replace {
		remedy = "allow this user to push to the branch, also by force, or set another push_branch"
	}
	return s.describePush(out, err, remedy)
}

// pushStatus is a line of git push --porcelain about a ref that was refused.
var pushStatus = regexp.MustCompile(`(?m)^!\t[^\t]*\t\[(.*?)\](?: \((.*)\))?$`)

// describePush makes an *Error of what git push says; remedy is that of a refusal.
func (s *binarySource) describePush(out string, err error, remedy string) error {
	status := pushStatus.FindStringSubmatch(out)
	if status == nil || contextCause(err) != nil {
		return s.describe(err)
	}
	why := status[2]
	switch {
	case status[1] == "rejected",
		strings.Contains(why, "cannot lock ref"), strings.Contains(why, "failed to update ref"),
		strings.Contains(why, "incorrect old value"), strings.Contains(why, "remote ref updated since checkout"),
		strings.Contains(why, "reference already exists"):
		return s.fail(ErrMoved, redactText(why, s.remote, s.access), "")
	case status[1] == "remote failure":
		return s.fail(ErrUnreachable, redactText(why, s.remote, s.access), "try again")
	}
	if words := remoteWords(err.Error()); words != "" {
		why += ": " + words
	}
	return s.fail(ErrDeclined, redactText(why, s.remote, s.access), remedy)
}

// remoteWords returns what the remote said, without frames and blank lines.
func remoteWords(said string) string {
	var words []string
	for line := range strings.Lines(said) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "remote:")
		if text = strings.Trim(text, " \t=*-#"); ok && text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "; ")
}
