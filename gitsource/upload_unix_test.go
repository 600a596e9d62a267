//go:build unix

package gitsource

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// TestUploadEndsProgram: git and its children end with the client.
func TestUploadEndsProgram(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	head := u.Push("A", files{"po/de.po": "1"})
	dir := t.TempDir()
	m := openMirror(t, remote.Repository{URL: u.Dir}, Options{Remote: remote.Options{GitBinary: filepath.Join(dir, "git")}})
	_, err := m.Fetch(t.Context()) // of a local repository: without the program
	gittest.Must(t, err)
	fifo := filepath.Join(dir, "alive")
	gittest.Must(t, syscall.Mkfifo(fifo, 0o600))
	// It and its child hold the fifo open; a reader sees its end when both have ended.
	script := "#!/bin/sh\nexec 3>'" + fifo + "'\nsleep 600 &\necho begun\nsleep 600\n"
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700)) //nolint:gosec // a program
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	w := &onFirst{first: func() error { cancel(); return nil }}
	go func() { ended <- m.UploadPack(ctx, wholeUpload(head), w) }()
	if _, err := os.ReadFile(fifo); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
}
