package gitsource

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// benchGit runs a command of git, which a benchmark beside it is compared with.
func benchGit(b *testing.B, args func() []string) {
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			if out, err := exec.Command("git", args()...).CombinedOutput(); err != nil {
				b.Fatalf("git %v: %v\n%.1000s", args(), err, out)
			}
		}
	})
}

// BenchmarkSteps walks the whole first-parent history of switchboard (1,838
// commits) for two masks, origins included, and has git list it.
func BenchmarkSteps(b *testing.B) {
	dir := gittest.Bundle(b, "switchboard")
	b.Run("ours", func(b *testing.B) { benchSteps(b, dir) })
	benchGit(b, func() []string { return []string{"-C", dir, "log", "--raw", "--first-parent", "-m"} })
}

func benchSteps(b *testing.B, dir string) {
	m := openMirror(b, remote.Repository{URL: dir}, Options{})
	fetch(b, m)
	match := filemask.NewMatcher([]filemask.Mask{mask(b, "po/*.po"), mask(b, "po/extra/*.po")})
	b.ReportAllocs()
	commits := 0
	for b.Loop() {
		r, err := m.Reader(context.Background())
		gittest.Must(b, err)
		for _, err := range r.Steps(context.Background(), object.Hash{}, r.Head().Hash, match) {
			gittest.Must(b, err)
			commits++
		}
		gittest.Must(b, r.Close())
	}
	b.ReportMetric(float64(commits)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkFetchNoop asks a local repository that has nothing new.
func BenchmarkFetchNoop(b *testing.B) {
	u := newUpstream(b)
	u.Push("A", files{"x": "1"})
	m := mirrorOf(b, u, Options{})
	fetch(b, m)
	b.ReportAllocs()
	for b.Loop() {
		fetch(b, m)
	}
}

// BenchmarkFetchOneCommit pulls one changed file of 20,000 entries (2 MB)
// beside 200 others from a local repository.
func BenchmarkFetchOneCommit(b *testing.B) {
	u := newUpstream(b)
	fs := files{}
	for i := range 200 {
		fs[fmt.Sprintf("po/l%d.po", i)] = fmt.Sprint(i)
	}
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "#: src/file%d.c:%d\nmsgid \"Message number %d of this file\"\nmsgstr \"Text %d\"\n\n", i%97, i, i, i*7919)
	}
	var h object.Hash
	m := mirrorOf(b, u, Options{})
	i := 0
	next := func() {
		fs["po/big.po"] = text.String() + fmt.Sprintf("msgid \"last\"\nmsgstr \"%d\"\n", i)
		if h.IsZero() {
			h = u.Commit("A", fs)
		} else {
			h = u.Commit("A", fs, h)
		}
		u.Set("main", h)
		i++
	}
	next()
	fetch(b, m)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		next()
		b.StartTimer()
		fetch(b, m)
	}
}

// BenchmarkClone clones vim-po from a path, as the first import does.
func BenchmarkClone(b *testing.B) {
	dir := gittest.Bundle(b, "vim-po")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m, err := Open(context.Background(), filepath.Join(b.TempDir(), fmt.Sprint(i)), remote.Repository{URL: dir}, Options{})
		gittest.Must(b, err)
		fetch(b, m)
		i++
	}
}

// BenchmarkReadHead reads all PO files of vim-po's head (10.6 MB).
func BenchmarkReadHead(b *testing.B) {
	m := openMirror(b, remote.Repository{URL: gittest.Bundle(b, "vim-po")}, Options{})
	fetch(b, m)
	match := filemask.NewMatcher([]filemask.Mask{mask(b, "src/po/*.po")})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r, err := m.Reader(context.Background())
		gittest.Must(b, err)
		list, err := r.Snapshot(context.Background(), r.Head().Hash, match.Want, match.Prune)
		gittest.Must(b, err)
		for _, f := range list {
			data, err := r.Blob(context.Background(), f.Blob, 0)
			gittest.Must(b, err)
			n += len(data)
		}
		gittest.Must(b, r.Close())
	}
	b.SetBytes(int64(n / b.N))
}

// BenchmarkPollHTTP asks a remote with 5,000 branches that has nothing new.
func BenchmarkPollHTTP(b *testing.B) {
	root := b.TempDir()
	u := gittest.NewUpstreamAt[object.Hash](b, filepath.Join(root, "up.git"))
	h := u.Push("A", files{"x": "1"})
	var packed strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&packed, "%s refs/heads/topic/%05d\n", h, i)
	}
	u.Write("packed-refs", packed.String())
	srv := httptest.NewServer(backend(b, root))
	defer srv.Close()
	for _, transport := range []string{"builtin", "binary"} {
		b.Run(transport, func(b *testing.B) {
			m := openMirror(b, remote.Repository{URL: srv.URL + "/up.git", Branch: "main"}, Options{Remote: remote.Options{Transport: transport}})
			fetch(b, m)
			b.ReportAllocs()
			for b.Loop() {
				fetch(b, m)
			}
		})
	}
	benchGit(b, func() []string { return []string{"ls-remote", srv.URL + "/up.git", "refs/heads/main"} })
}

// BenchmarkCloneHTTP clones a real history.
func BenchmarkCloneHTTP(b *testing.B) {
	dir := gittest.Bundle(b, "vim-po")
	srv := httptest.NewServer(backend(b, filepath.Dir(dir)))
	defer srv.Close()
	for _, transport := range []string{"builtin", "binary"} {
		b.Run(transport, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fetch(b, openMirror(b, remote.Repository{URL: srv.URL + "/" + filepath.Base(dir)}, Options{Remote: remote.Options{Transport: transport}}))
			}
		})
	}
	root, n := b.TempDir(), 0
	benchGit(b, func() []string {
		n++
		return []string{"clone", "--quiet", "--bare", "--single-branch", "--no-tags", srv.URL + "/" + filepath.Base(dir), filepath.Join(root, fmt.Sprint(n))}
	})
}
