package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// command runs demorepos and returns its exit status and output.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

var must = gittest.Must

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := command(t, args...)
	if code != 0 || errs != "" {
		t.Fatalf("demorepos %v: status %d, stderr %s", args, code, errs)
	}
	return out
}

// TestDemo makes the demo twice and pushes all its commits.
func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a \"demo\" of mine")
	out := mustRun(t, dir)
	if n := strings.Count(out, "made "); n != 5 {
		t.Errorf("%d things made, want 5:\n%s", n, out)
	}
	first := mustRun(t, "-advance", dir)
	if n := strings.Count(first, "\n"); n != 3 || !strings.Contains(first, "app.git ") {
		t.Errorf("first push shows %d commits, want 3:\n%s", n, first)
	}
	config := filepath.Join(dir, configFile)
	must(t, os.WriteFile(config, []byte("mine"), 0o600))
	if out = mustRun(t, dir); strings.Count(out, "kept ") != 5 {
		t.Errorf("second run did not keep everything:\n%s", out)
	}
	if data, err := os.ReadFile(config); err != nil || string(data) != "mine" {
		t.Errorf("configuration of the user is now %q, %v", data, err)
	}
	for range 20 {
		if out = mustRun(t, "-advance", dir); strings.Contains(out, "nothing is left") {
			return
		}
		if out == first {
			t.Fatalf("the same commits again:\n%s", out)
		}
	}
	t.Errorf("there is no end of commits")
}

// TestConfig: every component of the configuration has files.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir)
	data, err := os.ReadFile(filepath.Join(dir, configFile))
	must(t, err)
	var c struct {
		Listen   string `yaml:"listen"`
		DataDir  string `yaml:"data_dir"`
		Projects []struct {
			Slug, Name, Web string
			Components      []struct {
				Slug, Name, Repo, Branch, Filemask, License string
				NewBase                                     string `yaml:"new_base"`
				CheckFlags                                  string `yaml:"check_flags"`
				SourceLanguage                              string `yaml:"source_language"`
				IsGlossary                                  bool   `yaml:"is_glossary"`
				PushMode                                    string `yaml:"push_mode"`
				Flush                                       string
			}
		}
	}
	must(t, yaml.UnmarshalWithOptions(data, &c, yaml.Strict()))
	if c.DataDir != filepath.Join(dir, "data") || len(c.Projects) != 2 || c.Projects[0].Slug != "demo" {
		t.Errorf("configuration %+v", c)
	}
	scenarios := map[string]string{}
	for _, d := range demoRepos() {
		scenarios[filepath.Join(dir, d.dir)] = d.scenario
	}
	want := map[string]int{"app": 7, "docs-{component}": 6, "glossary": 2}
	for _, comp := range c.Projects[0].Components {
		r, err := testrepos.Open(comp.Repo, scenarios[comp.Repo])
		must(t, err)
		paths, err := r.Paths(comp.Branch)
		must(t, err)
		mask := strings.NewReplacer(`\*`, "[^/]+", `\{component\}`, ".+").Replace(regexp.QuoteMeta(comp.Filemask))
		n, base := 0, comp.NewBase == ""
		for _, p := range paths {
			if regexp.MustCompile("^" + mask + "$").MatchString(p) {
				n++
			}
			base = base || p == comp.NewBase
		}
		if n != want[comp.Slug] || !base {
			t.Errorf("component %s: %d files match, want %d; template found: %v", comp.Slug, n, want[comp.Slug], base)
		}
	}
}

// TestInterrupted: an unfinished repository is made again.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "app.git.new", "refs"), 0o755))
	if out := mustRun(t, dir); strings.Count(out, "made ") != 5 {
		t.Errorf("not everything was made:\n%s", out)
	}
}

// TestWrongUsage: the exit status is 2, and the message names the remedy.
func TestWrongUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no directory", nil, 2, "usage: demorepos DIR"},
		{"two directories", []string{"a", "b"}, 2, "usage: demorepos DIR"},
		{"unknown flag", []string{"-x", "a"}, 2, "usage: demorepos DIR"},
		{"nothing to advance", []string{"-advance", filepath.Join(t.TempDir(), "none")}, 1, "make the demo first: demorepos "},
		{"a file is in the way", []string{file}, 1, "demorepos: directory: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := command(t, tt.args...)
			if code != tt.code || !strings.Contains(errs, tt.want) || out != "" {
				t.Errorf("status %d, stdout %q, stderr %q, want %d and %q", code, out, errs, tt.code, tt.want)
			}
		})
	}
	if code, _, _ := command(t, "-h"); code != 0 {
		t.Errorf("-h: status %d, want 0", code)
	}
}

// TestPagesRepo: the translations of the pages are committed once, and again when they
// have changed.
func TestPagesRepo(t *testing.T) {
	r := testrepos.Empty(t)
	for _, want := range []bool{true, false} {
		if made, err := commitPages(r); err != nil || made != want {
			t.Fatalf("made %v %v, want %v", made, err, want)
		}
	}
	if _, err := r.ReadFile("main", "po/cs.po"); err != nil {
		t.Error(err)
	}
	r.Commit(t, testrepos.Change{Delete: []string{"po"}, Files: map[string]string{"po/x.po": ""}})
	if made, err := commitPages(r); err != nil || !made {
		t.Errorf("other files: made %v %v", made, err)
	}
	if paths, err := r.Paths("main"); err != nil || len(paths) < 2 || slices.Contains(paths, "po/x.po") {
		t.Errorf("files %q, %v", paths, err)
	}
}
