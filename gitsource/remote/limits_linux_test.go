package remote

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestLimits: a program that git stands for here waits until it has limits, and prints
// them.
func TestLimits(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "git")
	gittest.Must(t, os.WriteFile(script, []byte(`#!/bin/sh
until [ "$(ulimit -f)" != unlimited ] && [ "$(ulimit -d)" != unlimited ] && [ "$(ulimit -t)" != unlimited ] && [ "$(cat /proc/$$/oom_score_adj)" = 500 ]; do :; done
echo $(ulimit -d) $(ulimit -c)
`), 0o700))
	out, err := (Git{path: script, maxFile: 1 << 20}).run(t.Context(), environment(nil))
	if err != nil || out != "4194304 0\n" {
		t.Errorf("%q, %v", out, err)
	}
}
