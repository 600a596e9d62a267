package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"github.com/repoglot/repoglot/gitsource/object"
)

// Upload is one round of git's smart HTTP protocol, of which the server keeps
// nothing between two (gitprotocol-http).
type Upload struct {
	// Request is what the client posted; nil asks for the body of info/refs.
	Request []byte
	// Version is the protocol that the client asked for, 0 to 2.
	Version int
}

// ErrNoGit says that a mirror cannot be served: there is no git program, or
// Options say not to use it.
var ErrNoGit = errors.New("cloning from this server needs the git program")

// UploadPack answers one round of a clone or fetch from the mirror. The
// repository stays until the answer is whole, even if the mirror is replaced
// meanwhile. It gives what is in the history of the branch and nothing else.
// The git program answers. ErrNoGit without it, ErrNotFetched before the first
// fetch, ErrBadRequest for what is no request.
func (m *Mirror) UploadPack(ctx context.Context, u Upload, w io.Writer) error {
	git, ok := m.opts.Remote.Git()
	if !ok {
		return fmt.Errorf("serve the mirror of %s: %w", m.remote, ErrNoGit)
	}
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
		return fmt.Errorf("%w: it is empty", ErrBadRequest)
	}
	if want, err := q.strange(ctx, dir, head); err != nil || !want.IsZero() {
		return errors.Join(err, refuseWant(w, want))
	}
	out := &begun{w: w}
	err = git.UploadPack(ctx, dir, u.Request, u.Version, out)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && u.Request != nil && !out.yet && errors.As(err, &exit) && exit.Exited():
		err = fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return fmt.Errorf("serve the mirror of %s: %w", m.remote, err)
}

// lease keeps the repository in use on disk until release is called.
func (m *Mirror) lease() (dir string, head object.Head, release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if head, err = m.headLocked(); err != nil {
		return "", object.Head{}, nil, err
	}
	name := m.current
	m.readers[name]++
	return filepath.Join(m.dir, name), head, func() { m.release(name) }, nil
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
