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

// Upload is one round of git's smart HTTP protocol (gitprotocol-http(5)). The server
// keeps no state between two rounds.
type Upload struct {
	// Request is the body that the client posted; nil asks for the body of info/refs.
	Request []byte
	// Version is the protocol that the client asked for, 0 to 2.
	Version int
}

// ErrNoGit says that a mirror cannot be served: there is no git program, or the
// Options forbid it.
var ErrNoGit = errors.New("cloning from this server needs the git program")

// UploadPack answers one round of a clone or fetch from the mirror with the git
// program. It gives the history of the branch with the commits of Writer.Show, and
// neither gives nor tells of any other object. The git directory
// stays until the answer is complete, even if the mirror is replaced in the meantime.
// The error wraps ErrNoGit without the program, ErrNotFetched before the first fetch,
// and ErrBadRequest if Request is not valid.
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
	request, err := parseUpload(u.Request)
	if err != nil {
		return err
	}
	if u.Request != nil && len(u.Request) == 0 {
		return fmt.Errorf("%w: it is empty", ErrBadRequest)
	}
	namespace, tip := derivedTip(dir, head)
	head.Hash = tip
	known, err := request.history(ctx, dir, head)
	if err != nil {
		return fmt.Errorf("serve the mirror of %s: %w", m.remote, err)
	}
	for _, want := range request.wants {
		if !known[want] {
			return refuseWant(w, want)
		}
	}
	if len(request.has) > 0 {
		u.Request = request.knowing(known)
	}
	out := &trackedWriter{w: w}
	err = git.UploadPack(ctx, dir, namespace, u.Request, u.Version, out)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && u.Request != nil && !out.yet && errors.As(err, &exit) && exit.Exited():
		err = fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return fmt.Errorf("serve the mirror of %s: %w", m.remote, err)
}

// lease keeps the git directory in use on disk until release is called.
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

// trackedWriter knows whether anything was written. If git fails without an answer, the
// request was wrong: other faults are in its answer.
type trackedWriter struct {
	w   io.Writer
	yet bool
}

// Write writes to w.
func (b *trackedWriter) Write(p []byte) (int, error) {
	b.yet = true
	return b.w.Write(p)
}
