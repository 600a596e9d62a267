package remote

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// sizeGuard ends a transfer by the git binary whose objects grow beyond the
// limit, and removes what it left: git has no setting for it where it fetches.
type sizeGuard struct {
	objects string // the folder
	limit   int64
	before  map[string]bool // files that were there
}

func newSizeGuard(gitDir string, limit int64) *sizeGuard {
	g := &sizeGuard{objects: filepath.Join(gitDir, "objects"), limit: limit, before: map[string]bool{}}
	g.each(func(path string, _ int64) { g.before[path] = true })
	return g
}

// watch stops the transfer once it exceeds the limit; it returns when ctx is
// done.
func (g *sizeGuard) watch(ctx context.Context, stop context.CancelFunc) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if g.exceeded() {
				stop()
				return
			}
		}
	}
}

// exceeded reports whether the new files are larger than the limit together:
// packs, loose objects, and what is being written.
func (g *sizeGuard) exceeded() bool {
	var size int64
	g.each(func(path string, n int64) {
		if !g.before[path] {
			size += n
		}
	})
	return size > g.limit
}

// clear removes the new files. A reference of the transfer to them is of no
// use to anyone: the next transfer replaces it.
func (g *sizeGuard) clear() {
	g.each(func(path string, _ int64) {
		if !g.before[path] {
			_ = os.Remove(path)
		}
	})
	_ = os.Remove(filepath.Join(filepath.Dir(g.objects), "refs", "repoglot", "incoming"))
}

// each gives the files of the packs and of the 256 folders of loose objects.
func (g *sizeGuard) each(f func(path string, size int64)) {
	dirs, _ := os.ReadDir(g.objects) // gone while git works on it: nothing to count
	for _, d := range dirs {
		if !d.IsDir() {
			g.file(g.objects, d, f)
			continue
		}
		dir := filepath.Join(g.objects, d.Name())
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() {
				g.file(dir, e, f)
			}
		}
	}
}

func (g *sizeGuard) file(dir string, e os.DirEntry, f func(path string, size int64)) {
	if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
		f(filepath.Join(dir, e.Name()), info.Size())
	}
}
