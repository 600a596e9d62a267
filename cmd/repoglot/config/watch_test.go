package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// patience bounds the wait for an event that should come at once.
const patience = 2 * time.Minute

// watched is a running watcher with its reports.
type watched struct {
	file    string
	changes chan *config.Config
	errs    chan error
}

func watch(t *testing.T, file string) *watched {
	t.Helper()
	c, err := config.Load(file, nil, true)
	must(t, err)
	w := &watched{file: file, changes: make(chan *config.Config, 9), errs: make(chan error, 9)}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		c.Watch(ctx, nil, func(c *config.Config) { w.changes <- c }, func(err error) { w.errs <- err })
	})
	t.Cleanup(func() {
		cancel()
		watching.Wait()
	})
	return w
}

// replace saves the file as editors do: under another name, then renamed.
func replace(t *testing.T, file, text string) {
	t.Helper()
	must(t, os.WriteFile(file+"~", []byte(text), 0o600))
	must(t, os.Rename(file+"~", file))
}

func (w *watched) wantChange(t *testing.T, listen string) {
	t.Helper()
	select {
	case c := <-w.changes:
		if c.Listen != listen {
			t.Errorf("listen = %q, want %q", c.Listen, listen)
		}
	case err := <-w.errs:
		t.Errorf("error instead of a change: %v", err)
	case <-time.After(patience):
		t.Fatal("no change was reported")
	}
}

func (w *watched) wantError(t *testing.T, part string) {
	t.Helper()
	select {
	case c := <-w.changes:
		t.Errorf("change instead of an error: %+v", c)
	case err := <-w.errs:
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not hold %q", err, part)
		}
	case <-time.After(patience):
		t.Fatal("no error was reported")
	}
}

func TestWatch(t *testing.T) {
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
	file := filepath.Join(t.TempDir(), "r.yaml")
	replace(t, file, "listen: :1\n")
	w := watch(t, file)

	replace(t, file, "listen: :2\n")
	w.wantChange(t, ":2")
	must(t, os.WriteFile(file, []byte("listen: :3\n"), 0o600))
	w.wantChange(t, ":3")
	replace(t, file, "listen: [\n")
	w.wantError(t, "r.yaml:")
	must(t, os.Remove(file))
	w.wantError(t, "there is no such file")
	replace(t, file, "listen: :4\n")
	w.wantChange(t, ":4")
	// A save without a change and other files of the folder are not reported.
	replace(t, file, "listen: :4\n")
	replace(t, file+".other", "listen: :9\n")
	replace(t, file, "listen: :5\n")
	w.wantChange(t, ":5")
}

// TestWatchLink replaces the file as Kubernetes does: the file is a link through a
// link to a folder, and that link is replaced.
func TestWatchLink(t *testing.T) {
	dir := t.TempDir()
	link := func(to, name string) {
		t.Helper()
		must(t, os.Symlink(to, filepath.Join(dir, "new")))
		must(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, name)))
	}
	for version, text := range map[string]string{"v1": "listen: :1\n", "v2": "listen: :2\n"} {
		must(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		replace(t, filepath.Join(dir, version, "r.yaml"), text)
	}
	link("v1", "data")
	link("data/r.yaml", "r.yaml")
	w := watch(t, filepath.Join(dir, "r.yaml"))
	link("v2", "data")
	w.wantChange(t, ":2")
	replace(t, filepath.Join(dir, "v2", "r.yaml"), "listen: :3\n")
	w.wantChange(t, ":3")
}

// TestWatchBegin changes the file between reading and watching it.
func TestWatchBegin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.yaml")
	replace(t, file, "listen: :1\n")
	c, err := config.Load(file, nil, true)
	must(t, err)
	replace(t, file, "listen: :2\n")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var got *config.Config
	c.Watch(ctx, nil, func(c *config.Config) { got = c; cancel() }, func(err error) { t.Error(err) })
	if got == nil || got.Listen != ":2" {
		t.Errorf("reported %+v", got)
	}
}

var must = gittest.Must
