package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is where a mirror copies from.
type source interface {
	// tip asks what the branch points to, without transferring objects.
	tip(ctx context.Context) (Head, error)
	// list asks where the branches stand that a pattern selects, in any order.
	list(ctx context.Context, patterns []BranchPattern) ([]Head, error)
	// transfer brings tip and all its history into the bare repository gitDir,
	// which has the histories of have already. It moves no ref. Errors are
	// *RemoteError, or ErrCorrupt and the like where gitDir itself is at fault.
	transfer(ctx context.Context, gitDir string, tip Head, have []Hash) error
}

const (
	// maxPacks: 150 packs make a walk 15 times slower and cost 160 descriptors.
	maxPacks = 50
	// looseSample: so many loose objects in one of the 256 directories stand
	// for some 7,000 in all; git gc --auto uses the same estimate.
	looseSample = 27
)

// Fetch brings the mirror up to date with the remote's branch: a clone the
// first time, then what is new. Finding nothing new costs one question to the
// remote. Damage is healed by cloning again beside the old repository; Readers
// that are open go on with the old one. On an error the mirror stays as it
// was.
func (m *Mirror) Fetch(ctx context.Context) (Head, error) { return m.exclusively(ctx, m.update) }

// Rebuild clones anew beside the repository in use, for callers that met
// ErrCorrupt or ErrUnknownObject while reading.
func (m *Mirror) Rebuild(ctx context.Context) (Head, error) {
	return m.exclusively(ctx, func(ctx context.Context) (Head, error) {
		src := m.source()
		tip, err := src.tip(ctx)
		if err != nil {
			return Head{}, err
		}
		return tip, m.clone(ctx, src, tip)
	})
}

func (m *Mirror) exclusively(ctx context.Context, fn func(context.Context) (Head, error)) (Head, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return Head{}, ctx.Err()
	}
	defer func() { <-m.turn }()
	head, err := fn(ctx)
	if err != nil {
		return Head{}, m.describe(err)
	}
	return head, nil
}

// describe makes sure that the message names the repository.
func (m *Mirror) describe(err error) error {
	var remote *RemoteError
	if errors.As(err, &remote) {
		return err
	}
	return fmt.Errorf("fetch %s: %w", m.remote, err)
}

func (m *Mirror) update(ctx context.Context) (Head, error) {
	src := m.source()
	tip, err := src.tip(ctx)
	if err != nil {
		return Head{}, err
	}
	m.mu.Lock()
	name := m.current
	head, err := m.headLocked()
	m.mu.Unlock()
	switch {
	case name == "":
		return tip, m.clone(ctx, src, tip)
	case err == nil && head == tip:
		return tip, nil
	case err == nil:
		if name, err = m.maintain(ctx, name); err == nil {
			err = m.advance(ctx, src, name, tip, head)
		}
	}
	if Damaged(err) {
		m.log.Warn("mirror is damaged; cloning again beside it", "error", err)
		return tip, m.clone(ctx, src, tip)
	}
	return tip, err
}

// Damaged reports whether an error speaks of the mirror on disk, not of the
// remote: a caller that meets one while reading calls [Mirror.Rebuild] once. A
// commit that is unknown counts too, though it may just be gone after a force
// push.
func Damaged(err error) bool {
	var remote *RemoteError
	return err != nil && !errors.As(err, &remote) &&
		(errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnknownObject) || errors.Is(err, ErrUnknownCommit))
}

// advance brings what is new into a repository of ours.
func (m *Mirror) advance(ctx context.Context, src source, name string, tip, head Head) error {
	gitDir := filepath.Join(m.dir, name)
	if err := src.transfer(ctx, gitDir, tip, []Hash{head.Hash}); err != nil {
		return err
	}
	if err := verify(ctx, gitDir, tip); err != nil {
		return err
	}
	return m.setHead(gitDir, tip)
}

// clone makes a new repository and then the one in use of it.
func (m *Mirror) clone(ctx context.Context, src source, tip Head) error {
	name := m.next()
	gitDir := filepath.Join(m.dir, name)
	err := initBare(gitDir)
	if err == nil {
		err = src.transfer(ctx, gitDir, tip, nil)
	}
	if err == nil {
		err = verify(ctx, gitDir, tip)
	}
	if err == nil {
		err = m.setHead(gitDir, tip)
	}
	if err == nil {
		err = m.swap(name)
	}
	if err != nil {
		_ = os.RemoveAll(gitDir)
	}
	return err
}

// verify makes sure that the commit and its root directory can be read.
func verify(ctx context.Context, gitDir string, tip Head) error {
	r, err := openReader(gitDir, tip, func() {})
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := r.node(tip.Hash)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = r.tree(n.tree)
	return err
}

// maintain repacks a crowded repository into a new one beside it, with the git
// binary where it may be used, and gives the name of the one to go on with.
// Failing costs speed only, and is not tried again in this process; an error
// says that the repository is damaged.
func (m *Mirror) maintain(ctx context.Context, name string) (string, error) {
	old := filepath.Join(m.dir, name)
	if m.keep == name || !crowded(old) {
		return name, nil
	}
	next := m.next()
	gitDir := filepath.Join(m.dir, next)
	err := initBare(gitDir)
	if err == nil {
		if git, ok := m.binary(); ok {
			err = git.repack(ctx, old, gitDir)
		} else {
			err = repackBuiltin(ctx, old, gitDir)
		}
	}
	if err == nil {
		err = m.sameHead(ctx, old, gitDir)
	}
	if err == nil {
		err = m.swap(next)
	}
	if err != nil {
		_ = os.RemoveAll(gitDir)
		if Damaged(err) || ctx.Err() != nil {
			return name, err
		}
		m.keep = name
		m.log.Warn("mirror could not be repacked; it goes on as it is", "error", err)
		return name, nil
	}
	return next, nil
}

// sameHead makes sure that a copy stands where the original does.
func (m *Mirror) sameHead(ctx context.Context, old, gitDir string) error {
	want, err := currentHead(old)
	if err != nil {
		return err
	}
	got, err := currentHead(gitDir)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("its head is %s, not %s", got.Hash, want.Hash)
	}
	return verify(ctx, gitDir, got)
}

// crowded reports whether a repository holds too many packs or loose objects.
func crowded(gitDir string) bool {
	packs, _ := os.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	n := 0
	for _, p := range packs {
		if strings.HasSuffix(p.Name(), ".pack") {
			n++
		}
	}
	loose, _ := os.ReadDir(filepath.Join(gitDir, "objects", "17"))
	return n > maxPacks || len(loose) > looseSample
}

// source chooses who transports.
func (m *Mirror) source() source {
	path, local := IsLocal(m.remote.URL)
	git, have := m.binary()
	if local && (m.opts.Transport != transportBinary && !(have && isReftable(path))) {
		return &localSource{path: path, remote: m.remote}
	}
	if m.opts.Transport == transportBinary || have && m.binaryFits() {
		return &binarySource{git: git, remote: m.remote, access: m.access(), knownHosts: m.opts.KnownHosts, limits: m.opts.limits(), stall: m.opts.stall}
	}
	return &wireSource{remote: m.remote, access: m.access(), knownHosts: m.opts.KnownHosts, limits: m.opts.limits(), stall: m.opts.stall}
}

// binaryFits reports whether git can open this remote without asking anybody:
// it needs ssh beside it, and cannot be given a passphrase or password for it.
func (m *Mirror) binaryFits() bool {
	e, err := parseEndpoint(m.remote.URL)
	switch {
	case err == nil && e.scheme == "git":
		return false // nothing ends a git that waits for a silent daemon
	case err != nil || e.scheme != "ssh":
		return true
	}
	_, err = exec.LookPath("ssh")
	return err == nil && m.access().password == ""
}
