package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManual: the comment of the command lists every command with its usage and
// its help text.
func TestManual(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
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
