package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoSecretInArguments: all users of a machine can read the arguments of git, so it gets
// no user, no password and no query of an address. With a query git is not even started.
func TestNoSecretInArguments(t *testing.T) {
	dir := t.TempDir()
	log, program := filepath.Join(dir, "log"), filepath.Join(dir, "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >> "+log+"\nexit 128\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for address, started := range map[string]bool{
		"http://127.0.0.1:1/y.git?token=SECRET": false, "http://user:SECRET@127.0.0.1:1/y.git": true,
	} {
		_ = os.Remove(log)
		src := NewSource(Repository{URL: address}, Options{Transport: transportBinary, GitBinary: program})
		_, err := src.Tip(t.Context())
		if err == nil || errors.Is(err, ErrUnsupported) == started || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", address, err)
		}
		said, err := os.ReadFile(log)
		if (err == nil) != started || strings.Contains(string(said), "SECRET") {
			t.Errorf("%s: git was started with %q", address, said)
		}
	}
}
