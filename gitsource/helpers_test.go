package gitsource

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

func TestMain(m *testing.M) { gittest.Main(m) }

type (
	upstream = gittest.Upstream[object.Hash]
	files    = gittest.Files
)

func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return gittest.NewUpstream[object.Hash](tb)
}

// mirrorOf opens a mirror of an upstream in a new directory.
func mirrorOf(tb testing.TB, u *upstream, opts Options) *Mirror {
	tb.Helper()
	return openMirror(tb, remote.Repository{URL: u.Dir}, opts)
}

// mirrored makes an upstream with one commit, and opens a mirror of it.
func mirrored(tb testing.TB, fs files, opts Options) (u *upstream, head object.Hash, m *Mirror) {
	tb.Helper()
	u = newUpstream(tb)
	head = u.Push("A", fs)
	return u, head, mirrorOf(tb, u, opts)
}

func openMirror(tb testing.TB, repo remote.Repository, opts Options) *Mirror {
	tb.Helper()
	m, err := Open(context.Background(), filepath.Join(tb.TempDir(), "mirror"), repo, opts)
	gittest.Must(tb, err)
	return m
}

// upstreamBelow makes the upstream up.git in a new directory.
func upstreamBelow(tb testing.TB) (root string, u *upstream) {
	tb.Helper()
	root = tb.TempDir()
	return root, gittest.NewUpstreamAt[object.Hash](tb, filepath.Join(root, "up.git"))
}

func fetch(tb testing.TB, m *Mirror) object.Head {
	tb.Helper()
	head, err := m.Fetch(context.Background())
	gittest.Must(tb, err)
	return head
}

// reader fetches and opens.
func reader(tb testing.TB, m *Mirror) *Reader {
	tb.Helper()
	fetch(tb, m)
	return open(tb, m)
}

func open(tb testing.TB, m *Mirror) *Reader {
	tb.Helper()
	r, err := m.Reader(context.Background())
	gittest.Must(tb, err)
	tb.Cleanup(func() { _ = r.Close() })
	return r
}

// contents reads all files of a commit that the matcher wants.
func contents(tb testing.TB, r *Reader, commit object.Hash, m filemask.Matcher) files {
	tb.Helper()
	list, err := r.Snapshot(context.Background(), commit, m.Want, m.Prune)
	gittest.Must(tb, err)
	fs := files{}
	for _, f := range list {
		data, err := r.Blob(context.Background(), f.Blob, 0)
		gittest.Must(tb, err)
		fs[f.Path] = string(data)
	}
	return fs
}

// steps collects a walk.
func steps(tb testing.TB, r *Reader, from, to object.Hash, m filemask.Matcher) []Step {
	tb.Helper()
	var list []Step
	for s, err := range r.Steps(context.Background(), from, to, m) {
		gittest.Must(tb, err)
		list = append(list, s)
	}
	return list
}

func mask(tb testing.TB, text string) filemask.Mask {
	tb.Helper()
	m, err := filemask.Parse(text)
	gittest.Must(tb, err)
	return m
}

// introducer returns the index of the origin that introduced a text of
// Step.Changes[change]. same says whether a version of that file (zero: the
// file is absent) has the text; it must be true for Changes[change].New, and
// is asked once per version. It is the rule that is written down at Origin, for
// tests; package ingest does it for all strings of a file at once.
func introducer(s Step, change int, same func(blob object.Hash) bool) int {
	last := len(s.Origins) - 1
	known := map[object.Hash]bool{}
	has := func(blob object.Hash) bool {
		v, ok := known[blob]
		if !ok {
			v = same(blob)
			known[blob] = v
		}
		return v
	}
	seen := make([]bool, len(s.Origins))
	todo := []int{last}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		inherited := false
		for k := len(s.Origins[i].Parents) - 1; k >= 0; k-- { // the first parent is on top of the stack
			p, blobs := s.Origins[i].Parents[k], s.Origins[i].Outside[k]
			if p >= 0 {
				blobs = s.Origins[p].Blobs
			}
			if !has(blobs[change]) {
				continue
			}
			inherited = true
			todo = append(todo, p)
		}
		if !inherited {
			return i
		}
	}
	return last
}
