package check_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

var update = flag.Bool("update", false, "rewrite goldens and docs/check.md")

// wanted are the reports of a golden archive.
var wanted = map[string]check.ReportOptions{
	"want.text":       {},
	"want.json":       {Format: check.FormatJSON},
	"want.sarif":      {Format: check.FormatSARIF, Version: "v1.2.3"},
	"want.github":     {Format: check.FormatGitHub},
	"want.stats.text": {Stats: true},
	"want.stats.json": {Format: check.FormatJSON, Stats: true},
}

// TestGolden checks the tree in each archive and renders it in every format.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, archive := range archives {
		name, err := filepath.Abs(archive)
		must(t, err)
		t.Run(filepath.Base(name), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	a, err := txtar.ParseFile(name)
	must(t, err)
	t.Chdir(t.TempDir())
	kept := a.Files[:0:0]
	want := map[string]string{}
	for _, f := range a.Files {
		if _, ok := wanted[f.Name]; ok {
			want[f.Name] = string(f.Data)
			continue
		}
		kept = append(kept, f)
		writeFile(t, f.Name, f.Data)
	}
	for _, file := range []string{"want.text", "want.stats.text", "want.json", "want.stats.json", "want.github", "want.sarif"} {
		got := report(t, wanted[file], check.Options{Workers: 3})
		if *update {
			kept = append(kept, txtar.File{Name: file, Data: []byte(got)})
		} else if diff := cmp.Diff(want[file], got); diff != "" {
			t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
		}
	}
	if *update {
		a.Files = kept
		must(t, os.WriteFile(name, txtar.Format(a), 0o600))
	}
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, data, 0o600))
}

// report renders a whole check.
func report(t testing.TB, ro check.ReportOptions, o check.Options) string {
	t.Helper()
	var out bytes.Buffer
	r, err := check.NewReport(&out, ro)
	must(t, err)
	must(t, check.Run(context.Background(), o, r.File))
	must(t, r.Close())
	return out.String()
}

// results returns the verdicts of a check.
func results(t testing.TB, o check.Options) (list []check.Result) {
	t.Helper()
	if err := check.Run(context.Background(), o, func(r check.Result) error {
		list = append(list, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSummary: with --summary each code has one line, those with the most findings first.
func TestSummary(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("a.po", []byte("msgid \"\"\nmsgstr \"\"\n"+strings.Repeat("\nmsgid \"One\"\nmsgstr \"\"\n", 3)), 0o600))
	got := strings.Split(report(t, check.ReportOptions{Summary: true}, check.Options{}), "\n")
	if len(got) != 3 || !strings.HasPrefix(got[0], "     2 × a.po:7:1: warning: ") || !strings.HasPrefix(got[1], "     1 × a.po:1:1: warning: ") {
		t.Errorf("%q", got)
	}
}

// TestNothing renders an empty folder.
func TestNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		o    check.ReportOptions
		want string
	}{
		{check.ReportOptions{}, ""},
		{check.ReportOptions{Stats: true}, ""},
		{check.ReportOptions{Format: check.FormatGitHub}, ""},
		{check.ReportOptions{Format: check.FormatJSON}, "{\"version\":1,\"findings\":[\n],\n\"files\":0,\"errors\":0,\"warnings\":0}\n"},
	} {
		if got := report(t, tt.o, check.Options{}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.o, got, tt.want)
		}
	}
}

// TestReportOptions: unknown options are errors.
func TestReportOptions(t *testing.T) {
	for _, tt := range []struct {
		o    check.ReportOptions
		want string
	}{
		{check.ReportOptions{Format: "xml"}, `--format "xml": write one of text, json, sarif, github`},
		{check.ReportOptions{Format: check.FormatSARIF, Stats: true}, "--stats has no place in --format sarif"},
		{check.ReportOptions{Format: check.FormatGitHub, Stats: true}, "--stats has no place in --format github"},
		{check.ReportOptions{Format: check.FormatJSON, Summary: true}, "--summary has no place in --format json"},
	} {
		if _, err := check.NewReport(&bytes.Buffer{}, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %q", tt.o, err, tt.want)
		}
	}
}

var must = gittest.Must
