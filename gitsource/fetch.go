package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Fetch brings the mirror up to date with the remote's branch, the first time by a clone.
// Finding nothing new costs one question to the remote. A damaged mirror is replaced by a new
// clone; open Readers keep the old git directory. On an error the mirror is unchanged.
func (m *Mirror) Fetch(ctx context.Context) (object.Head, error) { return m.exclusively(ctx, m.update) }

// Rebuild replaces the mirror by a new clone, for callers that met object.Damaged.
func (m *Mirror) Rebuild(ctx context.Context) (object.Head, error) {
	return m.exclusively(ctx, func(ctx context.Context) (object.Head, error) {
		src := remote.NewSource(m.remote, m.opts.Remote)
		tip, err := src.Tip(ctx)
		if err != nil {
			return object.Head{}, err
		}
		return tip, m.clone(ctx, src, tip)
	})
}

func (m *Mirror) exclusively(ctx context.Context, fn func(context.Context) (object.Head, error)) (object.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return object.Head{}, ctx.Err()
	}
	defer func() { <-m.turn }()
	head, err := fn(ctx)
	if err != nil {
		return object.Head{}, m.describe(err)
	}
	return head, nil
}

// describe adds the repository to an error that does not name it.
func (m *Mirror) describe(err error) error {
	if _, ok := errors.AsType[*remote.Error](err); ok {
		return err
	}
	return fmt.Errorf("fetch %s: %w", m.remote, err)
}

func (m *Mirror) update(ctx context.Context) (object.Head, error) {
	opts := m.opts.Remote
	opts.Fresh = &m.fresh
	src := remote.NewSource(m.remote, opts)
	tip, err := src.Tip(ctx)
	if err != nil {
		return object.Head{}, err
	}
	name, head, err := m.inUse()
	switch {
	case name == "":
		return tip, m.clone(ctx, src, tip)
	case err == nil && head == tip:
		return tip, nil
	case err == nil:
		if name, err = m.maintain(ctx, src, name); err == nil {
			err = m.advance(ctx, src, filepath.Join(m.dir, name), tip, head.Hash)
		}
	}
	if object.Damaged(err) {
		m.log.Warn("mirror is damaged; it is replaced by a new clone", "error", err)
		return tip, m.clone(ctx, src, tip)
	}
	return tip, err
}

// advance makes a commit the head of a git directory, which has the histories of have.
func (m *Mirror) advance(ctx context.Context, src remote.Source, gitDir string, tip object.Head, have ...object.Hash) error {
	if err := m.transfer(ctx, src, gitDir, tip, have...); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return object.WriteHead(gitDir, tip)
}

// transfer is Transfer of a source, which ends when there is no room left, and proves what it
// brought. If it fails, it leaves no unfinished pack: a git program that is stopped does not
// remove its own, and the next transfer would find less room than this one.
func (m *Mirror) transfer(ctx context.Context, src remote.Source, gitDir string, tip object.Head, have ...object.Hash) error {
	err := m.opts.Room()
	if err == nil {
		roomy, ended := remote.EndIf(ctx, m.opts.Room)
		err = src.Transfer(roomy, gitDir, tip, have)
		if why := ended(); err != nil && why != nil {
			err = why
		}
	}
	if err != nil {
		sweep(gitDir)
		return err
	}
	return object.Verify(ctx, gitDir, tip.Hash)
}

// clone clones into a new git directory and makes it the current one.
func (m *Mirror) clone(ctx context.Context, src remote.Source, tip object.Head) error {
	_, err := m.replace(func(gitDir string) error { return m.advance(ctx, src, gitDir, tip) })
	return err
}

// replace fills a new git directory and makes it the current one.
func (m *Mirror) replace(fill func(gitDir string) error) (name string, err error) {
	name = m.next()
	gitDir := filepath.Join(m.dir, name)
	if err = object.Init(gitDir); err == nil {
		err = fill(gitDir)
	}
	if err == nil {
		err = m.swap(name)
	}
	if err != nil {
		_ = os.RemoveAll(gitDir)
	}
	return name, err
}

// maintain repacks a crowded git directory into a new one with the git program, or clones
// anew if that may not be used, which forgets other branches and the last state of a rewritten
// one. It returns the name of the one to use. A failure costs only speed, and it is not tried
// again in this process; an error means that the git directory is damaged or ctx is done.
func (m *Mirror) maintain(ctx context.Context, src remote.Source, name string) (string, error) {
	old := filepath.Join(m.dir, name)
	if m.keep == name || !object.Crowded(old) || m.opts.Room() != nil {
		return name, nil
	}
	next, err := m.replace(func(gitDir string) error {
		if git, ok := m.opts.Remote.Git(); ok {
			if err := git.Repack(ctx, old, gitDir); err != nil {
				return err
			}
			return sameHead(ctx, old, gitDir)
		}
		tip, err := src.Tip(ctx)
		if err != nil {
			return err
		}
		return m.advance(ctx, src, gitDir, tip)
	})
	switch {
	case err == nil:
		if object.Crowded(filepath.Join(m.dir, next)) { // as a local repository may be
			m.keep = next
		}
		return next, nil
	case object.Damaged(err) || ctx.Err() != nil:
		return name, err
	}
	m.keep = name
	m.log.Warn("mirror could not be repacked; it stays as it is", "error", err)
	return name, nil
}

// sameHead gives a copy the same head as the original, and checks that it can be read.
func sameHead(ctx context.Context, old, gitDir string) error {
	text, err := object.ReadText(old, "HEAD")
	if err == nil {
		err = object.WriteText(filepath.Join(gitDir, "HEAD"), text+"\n")
	}
	if err != nil {
		return err
	}
	want, err := object.CurrentHead(old)
	if err != nil {
		return err
	}
	got, err := object.CurrentHead(gitDir)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("its head is %s, not %s", got.Hash, want.Hash)
	}
	return object.Verify(ctx, gitDir, got.Hash)
}
