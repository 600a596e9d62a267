package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/testrepos"
)

// TestServeRepoClonesOnce: discovery and import share a mirror.
func TestServeRepoClonesOnce(t *testing.T) {
	repo := testrepos.Load(t, "lifecycle")
	c, err := config.FromEnviron(nil)
	must(t, err)
	c.DataDir = config.Path(t.TempDir())
	log := slog.New(slog.DiscardHandler)
	e, err := openEngine(t.Context(), c, workServe, memory{}, log, newProgress(nil, time.Now, func(string, done) {}))
	must(t, err)
	defer e.close()
	must(t, e.discover(t.Context(), c, repo.Path()))
	p := newPlan(c)
	must(t, e.configureOnce(t.Context(), p))
	before, err := filepath.Glob(filepath.Join(string(c.DataDir), "mirrors", "*", "git-*"))
	if err != nil || len(before) != 1 {
		t.Fatalf("clones %v, %v", before, err)
	}
	marker := filepath.Join(before[0], "marker") // stays if it is not cloned again
	must(t, os.WriteFile(marker, nil, 0o600))
	for i := range p.branches {
		report, err := e.pull(t.Context(), &p.branches[i])
		if err != nil || report.Head != repo.Head() {
			t.Errorf("%+v, %v", report, err)
		}
	}
	after, _ := filepath.Glob(filepath.Join(string(c.DataDir), "mirrors", "*", "git-*"))
	if _, err := os.Stat(marker); err != nil || len(after) != 1 {
		t.Errorf("cloned again: %v", after)
	}
}
