package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestStopDuringImport stops a server during an import; the next start finishes it.
func TestStopDuringImport(t *testing.T) {
	t.Parallel()
	repo := testrepos.GenSpec{Languages: testrepos.Languages(12), Entries: 2000, Template: true}.Generate(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "r.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:0\nprojects:\n- slug: p\n  components:\n  - {slug: app, repo: %q, filemask: 'po/*.po'}\n", repo.Path())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	errs := &output{}
	serve := exec.Command(exe, "serve", "--config", file, "--log-level", "debug")
	serve.Env = append(os.Environ(), childVar+"=1")
	serve.Stderr = errs
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	if !until(func() bool { return strings.Contains(errs.String(), "run started") }) {
		t.Errorf("no pull began:\n%s", errs)
	}
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("repoglot serve: %v:\n%s", err, errs)
	}
	if strings.Contains(errs.String(), "level=ERROR") {
		t.Errorf("errors at the end:\n%s", errs)
	}
	var line, problems bytes.Buffer
	if got := run(context.Background(), []string{"sync", "--config", file}, strings.NewReader(""), &line, &problems); got != exitOK || !strings.HasPrefix(line.String(), "p/app: ") {
		t.Errorf("sync after the stop: exit code %d, %s%s", got, &line, &problems)
	}
}
