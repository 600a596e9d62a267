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

func openMirror(tb testing.TB, repo remote.Repository, opts Options) *Mirror {
	tb.Helper()
	m, err := Open(context.Background(), filepath.Join(tb.TempDir(), "mirror"), repo, opts)
	gittest.Must(tb, err)
	return m
}

// reader fetches and opens.
func reader(tb testing.TB, m *Mirror) *Reader {
	tb.Helper()
	_, err := m.Fetch(context.Background())
	gittest.Must(tb, err)
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
		if f.Link != "" {
			fs[f.Path] = "->" + f.Link
			continue
		}
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
