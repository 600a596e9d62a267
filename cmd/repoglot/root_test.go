package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestExitCodes: errors in the command line or the configuration and failures have
// different exit statuses.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/r.yaml"
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, exitOK},
		{[]string{"--help"}, exitOK},
		{[]string{"serve", "--help"}, exitOK},
		{nil, exitUsage},
		{[]string{"nonsense"}, exitUsage},
		{[]string{"version", "extra"}, exitUsage},
		{[]string{"serve", "a", "b"}, exitUsage},
		{[]string{"serve", "--config", file}, exitUsage},
		{[]string{"serve", "--config", file, "repo"}, exitUsage},
		{[]string{"sync", "--log-format", "xml"}, exitUsage},
		{[]string{"serve", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", t.TempDir() + "/none"}, exitFailure},
	} {
		var out, errs bytes.Buffer
		if got := run(context.Background(), tt.args, strings.NewReader(""), &out, &errs); got != tt.want {
			t.Errorf("repoglot %s: exit code %d, want %d; %s", strings.Join(tt.args, " "), got, tt.want, &errs)
		}
		if tt.want != exitOK && (out.Len() > 0 || !strings.HasPrefix(errs.String(), "repoglot: ") && !strings.Contains(errs.String(), "\nrepoglot: ")) {
			t.Errorf("repoglot %s: stdout %q, stderr %q", strings.Join(tt.args, " "), &out, &errs)
		}
	}
}
