package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// configure writes a configuration with the component p/app and returns the path
// of the program.
func configure(t *testing.T, file, repo string) (exe string) {
	t.Helper()
	text := fmt.Sprintf("listen: 127.0.0.1:0\nprojects:\n- slug: p\n  components:\n  - {slug: app, repo: %q, filemask: 'po/*.po'}\n", repo)
	must(t, os.WriteFile(file, []byte(text), 0o600))
	exe, err := os.Executable()
	must(t, err)
	return exe
}

// TestStopDuringImport stops a server during an import; the next start finishes it.
func TestStopDuringImport(t *testing.T) {
	t.Parallel()
	repo := languagesAtOnce(t, 12, 2000)
	file := filepath.Join(t.TempDir(), "r.yaml")
	exe := configure(t, file, repo.Path())
	errs := &output{}
	serve := exec.Command(exe, "serve", "--config", file, "--log-level", "debug")
	serve.Env = append(os.Environ(), childVar+"=1")
	serve.Stderr = errs
	must(t, serve.Start())
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

// TestStopDuringStream stops a server while a client follows its changes: the stream
// ends at once and complete, and so does the server.
func TestStopDuringStream(t *testing.T) {
	t.Parallel()
	repo := languagesAtOnce(t, 2, 5)
	file := filepath.Join(t.TempDir(), "r.yaml")
	exe := configure(t, file, repo.Path())
	out, errs := &output{}, &output{}
	serve := exec.Command(exe, "serve", "--config", file)
	serve.Env = append(os.Environ(), childVar+"=1")
	serve.Stdout, serve.Stderr = out, errs
	must(t, serve.Start())
	defer func() { _ = serve.Process.Kill() }()
	var match []string
	if !until(func() bool { match = servesOn.FindStringSubmatch(out.String()); return match != nil }) {
		t.Fatalf("repoglot serve did not start:\n%s", errs)
	}
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(match[1] + "/api/projects/p/changes/stream/?after_id=0") // before the import is done
	must(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	created := false
	for !created && lines.Scan() {
		created = strings.HasPrefix(lines.Text(), "data: {") && strings.Contains(lines.Text(), `"action":51,`)
	}
	if !created {
		t.Fatalf("the stream ended without the component's first entry, %v:\n%s", lines.Err(), errs)
	}
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
	}
	if lines.Err() != nil {
		t.Errorf("the stream broke off: %v", lines.Err())
	}
	if err := serve.Wait(); err != nil || strings.Contains(errs.String(), "cut off") {
		t.Errorf("repoglot serve: %v:\n%s", err, errs)
	}
}
