package remote

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// sizeGuard ends a transfer by the git program when its objects exceed the limit,
// and removes the files that it left: git fetch has no setting for this.
type sizeGuard struct {
	objects string // the objects directory
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

// exceeded reports whether the new files are together larger than the limit: packs,
// loose objects and temporary files.
func (g *sizeGuard) exceeded() bool {
	var size int64
	g.each(func(path string, n int64) {
		if !g.before[path] {
			size += n
		}
	})
	return size > g.limit
}

// clear removes the new files, and the ref of the transfer.
func (g *sizeGuard) clear() {
	g.each(func(path string, _ int64) {
		if !g.before[path] {
			_ = os.Remove(path)
		}
	})
	_ = os.Remove(filepath.Join(filepath.Dir(g.objects), "refs", "repoglot", "incoming"))
}

// each calls f for the files of the objects directory and of its subdirectories.
func (g *sizeGuard) each(f func(path string, size int64)) {
	dirs, _ := os.ReadDir(g.objects) // an error means that there is nothing to count
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
