package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
	"github.com/repoglot/repoglot/testrepos"
)

// TestServeRepoClonesOnce: discovery and import share a mirror.
func TestServeRepoClonesOnce(t *testing.T) {
	repo := testrepos.Load(t, "lifecycle")
	c, err := config.FromEnviron(nil)
	must(t, err)
	c.DataDir = config.Path(t.TempDir())
	e, err := server.Open(t.Context(), c, server.Options{Work: server.WorkServe, Logger: slog.New(slog.DiscardHandler), Line: func(string, string) {}})
	must(t, err)
	defer e.Close()
	must(t, addDiscovered(t.Context(), e, c, repo.Path()))
	p := server.NewPlan(c)
	must(t, e.Configure(t.Context(), p))
	before, err := filepath.Glob(filepath.Join(string(c.DataDir), "mirrors", "*", "git-*"))
	if err != nil || len(before) != 1 {
		t.Fatalf("clones %v, %v", before, err)
	}
	marker := filepath.Join(before[0], "marker") // stays if it is not cloned again
	must(t, os.WriteFile(marker, nil, 0o600))
	for i := range p.Branches() {
		report, err := e.Pull(t.Context(), &p.Branches()[i])
		if err != nil || report.Head != repo.Head() {
			t.Errorf("%+v, %v", report, err)
		}
	}
	after, _ := filepath.Glob(filepath.Join(string(c.DataDir), "mirrors", "*", "git-*"))
	if _, err := os.Stat(marker); err != nil || len(after) != 1 {
		t.Errorf("cloned again: %v", after)
	}
}

// TestDataDirNotWritable: the error for a folder without write access names the
// remedy.
func TestDataDirNotWritable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("skipped: root may write into every folder; testdata/script/second.txtar has the cases that root meets too")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o500))
	var out, errs bytes.Buffer
	got := run(context.Background(), []string{"serve", "--data-dir", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", dir}, strings.NewReader(""), &out, &errs)
	want := "repoglot: the data directory " + filepath.Join(dir, "data") + " cannot be written: give this user write access to it, or change data_dir (--data-dir)\n"
	if got != exitFailure || errs.String() != want {
		t.Errorf("exit code %d, stderr %q, want %q", got, &errs, want)
	}
}
