package gitsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Guests are commits of strangers, such as heads of requests, beside a mirror. They are in a
// git directory of their own, which borrows the objects of the mirror's: what reads or clones
// the mirror cannot see them, and what they are too large for is never a pull. Only one may be
// open, and no fetch of the mirror may run meanwhile. One goroutine uses it and must close it.
type Guests struct {
	mirror  *Mirror
	gitDir  string
	lender  string // the mirror's git directory
	head    object.Head
	known   map[string]object.Hash
	reader  *Reader // nil before the first read and after a fetch
	release func()
}

const (
	guestsFolder = "guests"
	guestRefs    = "refs/repoglot/guests/"
	maxGuests    = 512 << 20 // bytes of their objects
)

// ForgetGuests removes all guests, and what they have taken of the disk.
func (m *Mirror) ForgetGuests() error { return os.RemoveAll(filepath.Join(m.dir, guestsFolder)) }

// Guests opens the guests and removes all but those that keep has, by their names. A directory
// that is damaged, crowded or has no room left in Options.Remote.MaxMirror begins anew.
// ErrNotFetched before the mirror's first fetch.
func (m *Mirror) Guests(ctx context.Context, keep map[string]object.Hash) (*Guests, error) {
	dir, head, release, err := m.lease(ctx)
	if err != nil {
		return nil, err
	}
	g := &Guests{mirror: m, gitDir: filepath.Join(m.dir, guestsFolder), lender: dir, head: head, release: release}
	if err = g.open(ctx, keep); err != nil {
		g.Close()
		return nil, fmt.Errorf("mirror of %s: guests: %w", m.remote, err)
	}
	return g, nil
}

func (g *Guests) open(ctx context.Context, keep map[string]object.Hash) (err error) {
	borrow := func() error { // the mirror may be another one than last time
		return object.WriteText(filepath.Join(g.gitDir, "objects", "info", "alternates"), filepath.Join(g.lender, "objects")+"\n")
	}
	sweep(g.gitDir)
	if err := borrow(); err != nil {
		return err
	}
	if g.known, err = refsBelow(g.gitDir, guestRefs); err != nil {
		return err
	}
	whole := g.room() > 0 && !object.Crowded(g.gitDir) && object.Verify(ctx, g.gitDir, g.head.Hash) == nil
	if most := g.mirror.opts.Remote.MaxMirror; most > 0 {
		whole = whole && object.Size(g.gitDir) <= most
	}
	maps.DeleteFunc(g.known, func(name string, h object.Hash) bool {
		gone := keep[name] != h
		if gone && err == nil {
			err = os.Remove(filepath.Join(g.gitDir, filepath.FromSlash(guestRefs+name)))
		}
		whole = whole && (gone || object.Verify(ctx, g.gitDir, h) == nil)
		return gone
	})
	if err != nil || whole && len(g.known) > 0 {
		return err
	}
	clear(g.known)
	err = errors.Join(g.mirror.ForgetGuests(), object.Init(g.gitDir), borrow())
	if ends, shallow := object.ReadText(g.lender, "shallow"); err == nil && shallow == nil {
		err = object.WriteShallow(g.gitDir, ends)
	}
	return err
}

// room is how many bytes more the guests may have.
func (g *Guests) room() int64 {
	return maxGuests - object.Size(g.gitDir) + object.Size(g.lender)
}

// Head is the mirror's head as of the opening.
func (g *Guests) Head() object.Head { return g.head }

// Fetch brings a commit of a repository under a name, with at most so many bytes of objects.
func (g *Guests) Fetch(ctx context.Context, of remote.Repository, name string, commit object.Hash, most int64) error {
	if g.known[name] == commit {
		return nil
	}
	opts := g.mirror.opts.Remote
	opts.MaxPack = max(1, min(most, g.room()))
	err := g.mirror.transfer(ctx, remote.NewSource(of, opts), g.gitDir, object.Head{Hash: commit}, g.head.Hash)
	_ = os.Remove(filepath.Join(g.gitDir, "refs", "repoglot", "incoming"))
	if err == nil {
		err = object.WriteText(filepath.Join(g.gitDir, filepath.FromSlash(guestRefs+name)), commit.String()+"\n")
	}
	if err != nil {
		return g.mirror.describe(err)
	}
	g.known[name] = commit
	g.closeReader()
	return nil
}

// Reader reads the mirror and the guests. It ends with the next Fetch.
func (g *Guests) Reader() (_ *Reader, err error) {
	if g.reader == nil {
		g.reader, err = openReader(g.gitDir, g.head, func() {})
	}
	return g.reader, err
}

func (g *Guests) closeReader() {
	if g.reader != nil {
		_ = g.reader.Close()
	}
	g.reader = nil
}

// Close lets the mirror's git directory go.
func (g *Guests) Close() {
	g.closeReader()
	g.release()
}

// GuestMerge is what git merges of a guest and the mirror's head.
type GuestMerge struct {
	// Clean says that git finds no conflict, and Tree is its result; else files with a
	// conflict have its markers there.
	Clean bool
	Tree  object.Hash
	// Touched are the paths of selected files that the guest changed since it left the
	// history of the head, ascending.
	Touched []string
	// Both are the selected files that both changed, by path.
	Both []BothChanged
}

// BothChanged is a file that a guest and the head changed: three blobs, none of which is
// missing, except for the base of a file that both added.
type BothChanged struct {
	Path               string
	Base, Ours, Theirs object.Hash
}

// ErrUnmergeable says why more than the contents of selected files is in the way of a merge.
var ErrUnmergeable = errors.New("it cannot be merged by meaning")

// Merge merges a guest, which is ours, with the head, which is theirs. Conflicts may be left
// in Both only: others are an ErrUnmergeable, beside a result of which Touched is known.
// remote.ErrUnsupported: it needs a git program of version 2.38.
func (g *Guests) Merge(ctx context.Context, guest object.Hash, selects func(path string) bool) (m GuestMerge, err error) {
	git, ok := g.mirror.opts.Remote.Git()
	if !ok {
		return m, remote.ErrUnsupported
	}
	merged, err := git.MergeTree(ctx, g.gitDir, guest, g.head.Hash)
	if err != nil {
		return m, err
	}
	m.Tree, m.Clean = merged.Tree, len(merged.Conflicts) == 0 && len(merged.Bases) > 0
	switch {
	case m.Clean:
		return m, nil
	case len(merged.Bases) == 0:
		return m, fmt.Errorf("%w: the histories have nothing in common", ErrUnmergeable)
	}
	g.closeReader() // git wrote objects
	r, err := g.Reader()
	if err != nil {
		return m, err
	}
	match := filemask.Matcher{Want: selects}
	ours, err := r.Changed(ctx, merged.Bases[0], guest, match)
	if err != nil {
		return m, err
	}
	theirs, err := r.Changed(ctx, merged.Bases[0], g.head.Hash, match)
	if err != nil {
		return m, err
	}
	for i := range ours {
		m.Touched = append(m.Touched, ours[i].Path)
	}
	if len(merged.Bases) > 1 {
		return m, fmt.Errorf("%w: the branches were merged into each other", ErrUnmergeable)
	}
	return m, m.both(ours, theirs, merged.Conflicts)
}

// both finds the files that both changed, and conflicts that are not of their contents.
func (m *GuestMerge) both(ours, theirs []Change, conflicts map[string][]string) error {
	for _, t := range theirs {
		i, found := slices.BinarySearchFunc(ours, t.Path, func(c Change, path string) int { return cmp.Compare(c.Path, path) })
		if !found || ours[i].New == t.New {
			continue
		}
		if ours[i].New.IsZero() || t.New.IsZero() {
			return fmt.Errorf("%w: %q was changed on one side, and removed or made a link on the other", ErrUnmergeable, t.Path)
		}
		m.Both = append(m.Both, BothChanged{t.Path, t.Old, ours[i].New, t.New})
	}
	for _, path := range slices.Sorted(maps.Keys(conflicts)) {
		_, found := slices.BinarySearchFunc(m.Both, path, func(b BothChanged, path string) int { return cmp.Compare(b.Path, path) })
		modes := slices.Compact(conflicts[path])
		switch {
		case !found:
			return fmt.Errorf("%w: %q conflicts, too", ErrUnmergeable, path)
		case len(modes) > 1 || modes[0] != "100644" && modes[0] != "100755":
			return fmt.Errorf("%w: the mode of %q was changed", ErrUnmergeable, path)
		}
	}
	return nil
}

// Push makes a commit, whose parent is a guest, and pushes it to a branch that is at this
// guest; remote.ErrMoved if it is not any more. The errors are those of [derive.Chain.Commit]
// and remote.Repository.Push.
func (g *Guests) Push(ctx context.Context, c derive.Commit, to remote.Repository, branch string) (id object.Hash, err error) {
	w, err := g.mirror.writer(g.gitDir, g.head, func() {})
	if err != nil {
		return id, err
	}
	defer w.Close()
	if id, err = w.Commit(ctx, c); err == nil {
		err = w.Push(ctx, to, remote.Push{Branch: branch, Commit: id, Expect: c.Parent})
	}
	return id, err
}
