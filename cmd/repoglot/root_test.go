package main

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// TestManual: the comment of the command lists every command with its usage and
// its help text.
func TestManual(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	must(t, err)
	got, _, _ := strings.Cut(file.Doc.Text(), "\n\nserve and sync")
	_, got, _ = strings.Cut(got, "\n\n")
	var want strings.Builder
	var list func(path string, of *cobra.Command)
	list = func(path string, of *cobra.Command) {
		for _, c := range of.Commands() {
			if c.HasSubCommands() {
				list(path+" "+c.Name(), c)
				continue
			}
			want.WriteString("\t" + path + " " + c.Use + "\n\t\t" + c.Short + "\n")
		}
	}
	list("repoglot", new(program).command())
	for usage := range strings.SplitSeq(strings.TrimSuffix(want.String(), "\n"), "\n\trepoglot") {
		if !strings.Contains(got+"\n", strings.TrimPrefix(usage, "\trepoglot")+"\n") {
			t.Errorf("main.go lacks repoglot%s", usage)
		}
	}
	if strings.Count(got, "\n") != strings.Count(want.String(), "\n")-1 {
		t.Errorf("main.go lists\n%s\nwant (in any order)\n%s", got, want.String())
	}
}
