package gitsource

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// TestMaxPack: a remote that sends more than it may is given up by both ways of
// transport, keeps the objects from before, and leaves no files.
func TestMaxPack(t *testing.T) {
	root := t.TempDir()
	u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(root, "up.git"))
	first := u.Commit("A", files{"de.po": "1"})
	noise := make([]byte, 3<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	second := u.Commit("B", files{"de.po": "2", "noise.bin": string(noise)}, first)
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		u.Set("main", first)
		srv := httptest.NewServer(h)
		defer srv.Close()
		m := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport, MaxPack: 1 << 20}})
		checkFetch(t, m, "main", files{"de.po": "1"})
		u.Set("main", second)
		_, err := m.Fetch(context.Background())
		if !errors.Is(err, object.ErrTooLarge) {
			t.Fatalf("%v, want ErrTooLarge", err)
		}
		if head, err := m.Head(); err != nil || head.Hash != first {
			t.Errorf("head %v, %v, want that of before", head, err)
		}
		path, _ := m.Path()
		if rest := bytesBelow(t, path); rest > 1<<20 {
			t.Errorf("%d bytes are left in the mirror", rest)
		}
		fresh := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport, MaxPack: 8 << 20}})
		if head, err := fresh.Fetch(context.Background()); err != nil || head.Hash != second {
			t.Errorf("with a higher limit: %v, %v", head, err)
		}
	})
}

func bytesBelow(t *testing.T, dir string) (size int64) {
	t.Helper()
	gittest.Must(t, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	}))
	return size
}
