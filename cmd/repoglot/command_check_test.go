package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckStatus: errors in files and errors in the command line have different
// exit statuses.
func TestCheckStatus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"warned.po": "msgid \"a\"\nmsgstr \"b\"\n", "broken.po": "garbage", "fine.pot": ""} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{dir + "/fine.pot"}, exitOK},
		{[]string{dir + "/warned.po"}, exitOK},
		{[]string{"--strict", dir + "/fine.pot"}, exitOK},
		{[]string{"--strict", dir + "/warned.po"}, exitFailure},
		{[]string{dir + "/broken.po"}, exitFailure},
		{[]string{dir}, exitFailure},
		{[]string{dir + "/none.po"}, exitFailure},
		{[]string{"-"}, exitFailure},
		{[]string{"--", "-"}, exitFailure},
		{[]string{"--format", "sarif", dir + "/fine.pot"}, exitOK},
		{[]string{"--format", "xml", dir + "/fine.pot"}, exitUsage},
		{[]string{"--format", "github", "--stats", dir + "/fine.pot"}, exitUsage},
		{[]string{"--nonsense"}, exitUsage},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"check"}, tt.args...)
		if got := run(context.Background(), args, strings.NewReader("garbage"), &out, &errs); got != tt.want {
			t.Errorf("repoglot %s: exit status %d, want %d; %s", strings.Join(args, " "), got, tt.want, &errs)
		}
		if tt.want == exitUsage && out.Len() > 0 {
			t.Errorf("repoglot %s: stdout %q", strings.Join(args, " "), &out)
		}
	}
}

// TestCheckStop: a signal ends a check of a standard input without end.
func TestCheckStop(t *testing.T) {
	t.Parallel()
	in, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = writer.Write([]byte("msgid")) // it is being read now
		cancel()
	}()
	var out, errs bytes.Buffer
	if got := run(ctx, []string{"check", "-"}, in, &out, &errs); got != exitFailure || out.Len() > 0 {
		t.Errorf("exit status %d, stdout %q", got, &out)
	}
	if want := "repoglot: stopped by a signal; the report is not complete\n"; errs.String() != want {
		t.Errorf("stderr %q, want %q", &errs, want)
	}
}

// brokenPipe is a writer that fails.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestCheckOutput: a report that cannot be written is a failure.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "sarif", "github"} {
		var errs bytes.Buffer
		if got := run(context.Background(), []string{"check", "--format", format, "-"}, strings.NewReader("garbage"), brokenPipe{}, &errs); got != exitFailure || !strings.Contains(errs.String(), "writing the report") {
			t.Errorf("%s: exit status %d: %s", format, got, &errs)
		}
	}
}
