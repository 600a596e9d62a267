package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Upload is one round of git's smart HTTP protocol, of which the server keeps
// nothing between two (gitprotocol-http).
type Upload struct {
	// Request is what the client posted; nil asks for the body of info/refs.
	Request []byte
	// Version is the protocol that the client asked for, 0 to 2. The answer of
	// repoglot itself is always of version 0.
	Version int
}

// advertisement stands before what versions 0 and 1 tell in info/refs.
const advertisement = "001e# service=git-upload-pack\n0000"

// uploadSettings bound what the program may use and give. Variables of the
// environment are the only configuration besides the mirror's own, which we
// wrote ourselves; git reads uploadpack.packObjectsHook from protected
// configuration alone, of which there is none.
func uploadSettings() []setting {
	return []setting{
		{"core.hooksPath", os.DevNull},
		{"uploadpack.hideRefs", "refs/repoglot"}, // what we keep for ourselves, such as other branches
		{"uploadpack.allowFilter", "false"},
		{"uploadpack.allowRefInWant", "false"},
		{"transfer.advertiseObjectInfo", "false"}, // which tells of any object
		{"pack.threads", "1"},
		{"pack.windowMemory", "64m"},
		{"pack.deltaCacheSize", "32m"},
		{"gc.auto", "0"},
		{"safe.directory", "*"}, // the folder may belong to the user of a container's volume
	}
}

// UploadPack answers one round of a clone or fetch from the mirror. The
// repository stays until the answer is whole, even if the mirror is replaced
// meanwhile. It gives what is in the history of the branch and nothing else.
// ErrNotFetched before the first fetch, ErrUpload for what is no request,
// ErrTooLarge for a repository that only the program can serve: the client was
// told then. The program git
// answers if it may be used, else repoglot itself, which gives whole histories.
func (m *Mirror) UploadPack(ctx context.Context, u Upload, w io.Writer) error {
	dir, head, release, err := m.lease()
	if err != nil {
		return err
	}
	defer release()
	q, err := parseUpload(u.Request)
	if err != nil {
		return err
	}
	if u.Request != nil && len(u.Request) == 0 {
		return fmt.Errorf("%w: it is empty", ErrUpload)
	}
	if want, err := q.strange(ctx, dir, head); err != nil || !want.IsZero() {
		return errors.Join(err, refuseWant(w, want))
	}
	if git, ok := m.binary(); ok {
		err = git.uploadPack(ctx, dir, u, w)
	} else {
		err = ownUploadPack(ctx, dir, head, u, q, w)
	}
	if err != nil {
		return fmt.Errorf("serve the mirror of %s: %w", m.remote, err)
	}
	return nil
}

// lease keeps the repository in use on disk until release is called.
func (m *Mirror) lease() (dir string, head Head, release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if head, err = m.headLocked(); err != nil {
		return "", Head{}, nil, err
	}
	name := m.current
	m.readers[name]++
	return filepath.Join(m.dir, name), head, func() { m.release(name) }, nil
}

// uploadPack has the program answer. It ends, with what it started, when ctx
// does or when w takes nothing more.
func (g gitBinary) uploadPack(ctx context.Context, dir string, u Upload, w io.Writer) error {
	args := []string{"upload-pack", "--strict", "--stateless-rpc"}
	if u.Request == nil {
		args = append(args, "--advertise-refs")
		if u.Version != 2 {
			if _, err := io.WriteString(w, advertisement); err != nil {
				return err
			}
		}
	}
	cmd := exec.CommandContext(ctx, g.path, append(args, dir)...)
	cmd.Env = environment(uploadSettings(), "GIT_PROTOCOL=version="+strconv.Itoa(u.Version))
	cmd.Dir = os.TempDir()
	ownGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	stderr, out := &capped{max: maxStderr}, &begun{w: w}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(u.Request), out, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case u.Request != nil && !out.yet && errors.As(err, &exit) && exit.Exited():
		return fmt.Errorf("%w: %w", ErrUpload, &gitError{stderr: stderr.String(), err: err})
	}
	return &gitError{stderr: stderr.String(), err: err}
}

// begun knows whether something was written. Who gets nothing at all for a
// request has asked something wrong: git writes other faults into its answer.
type begun struct {
	w   io.Writer
	yet bool
}

// Write passes on.
func (b *begun) Write(p []byte) (int, error) {
	b.yet = true
	return b.w.Write(p)
}
