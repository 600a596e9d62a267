package testrepos_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// demo runs .ci/demo and returns its exit status and what it prints.
func demo(t *testing.T, args ...string) (status int, out string) {
	t.Helper()
	gittest.NeedGit(t)
	text, err := exec.Command("../.ci/demo", args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(text)
	}
	must(t, err)
	return 0, string(text)
}

func demoDone(t *testing.T, args ...string) string {
	t.Helper()
	status, out := demo(t, args...)
	if status != 0 {
		t.Fatalf("demo %v: status %d\n%s", args, status, out)
	}
	return out
}

// TestDemoCommand makes the demo twice and pushes all its commits; the heads are those of the
// scenarios.
func TestDemoCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a \"demo\" of mine")
	must(t, os.MkdirAll(filepath.Join(dir, "app.git.new", "refs"), 0o755)) // of an interrupted run
	if out := demoDone(t, dir); strings.Count(out, "made ") != 5 {
		t.Errorf("not five things made:\n%s", out)
	}
	config := filepath.Join(dir, "repoglot.yaml")
	must(t, os.WriteFile(config, []byte("mine"), 0o600))
	if out := demoDone(t, dir); strings.Count(out, "kept ") != 5 {
		t.Errorf("second run did not keep everything:\n%s", out)
	}
	if data, err := os.ReadFile(config); err != nil || string(data) != "mine" {
		t.Errorf("configuration of the user is now %q, %v", data, err)
	}
	want := []string{"app.git c1dc438b6d Camille Roussel: ", "docs.git 139bd1da65 Jana ", "glossary.git 83c2655e07 Lukas "}
	for n := 0; ; n++ {
		out := demoDone(t, "-advance", dir)
		for i, line := range strings.SplitAfter(strings.TrimSpace(out), "\n") {
			if n == 0 && !strings.HasPrefix(line, want[i]) {
				t.Errorf("line %q, want %q", line, want[i])
			}
		}
		if n == 6 {
			if !strings.Contains(out, "nothing is left") {
				t.Errorf("there is no end of commits:\n%s", out)
			}
			break
		}
	}
	for _, scenario := range []string{"demo", "demo-docs", "demo-glossary"} {
		r := testrepos.Load(t, scenario)
		for r.Rest() > 0 {
			r.Advance(t)
		}
		name := map[string]string{"demo": "app.git", "demo-docs": "docs.git", "demo-glossary": "glossary.git"}[scenario]
		if got := gittest.RunGit(t, filepath.Join(dir, name), "rev-parse", "main"); got != r.Head() {
			t.Errorf("%s is at %s, want %s", name, got, r.Head())
		}
	}
}

// TestDemoMerges: what somebody else pushed stays, but for lines that the next push changes,
// too; translations of the pages that differ are committed again.
func TestDemoMerges(t *testing.T) {
	dir := t.TempDir()
	demoDone(t, dir)
	app, pages, clone := filepath.Join(dir, "app.git"), filepath.Join(dir, "pages.git"), filepath.Join(dir, "clone")
	gittest.RunGit(t, "", "clone", "-q", app, clone)
	file := filepath.Join(clone, "po", "fr.po")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append([]byte("# mine\n"), text...), 0o600))
	gittest.RunGit(t, clone, "commit", "-q", "-a", "-m", "mine")
	gittest.RunGit(t, clone, "push", "-q")
	mine := gittest.RunGit(t, clone, "rev-parse", "HEAD")
	before := gittest.RunGit(t, pages, "rev-parse", "main^{tree}")
	gittest.RunGit(t, pages, "update-ref", "refs/heads/main", gittest.RunGit(t, pages, "commit-tree", "-p", "main", "-m", "x", gittest.RunGit(t, pages, "rev-parse", "main:po")))
	out := demoDone(t, "-advance", dir)
	if !strings.Contains(out, "app.git c1dc438b6d Camille") || !strings.Contains(out, "pages.git: the translations of the pages changed") {
		t.Errorf("printed\n%s", out)
	}
	if after := gittest.RunGit(t, pages, "rev-parse", "main^{tree}"); after != before {
		t.Errorf("the pages' translations are %s, were %s", after, before)
	}
	merged := gittest.RunGit(t, app, "show", "main:po/fr.po")
	if !strings.HasPrefix(merged, "# mine\n") || strings.Contains(merged, "<<<") || merged == "# mine\n"+strings.TrimSpace(string(text)) {
		t.Errorf("the file is\n%s", merged)
	}
	if base := gittest.RunGit(t, app, "merge-base", mine, "main"); base != mine {
		t.Errorf("the commit of somebody else is lost: %s", base)
	}
	for range 5 {
		demoDone(t, "-advance", dir)
	}
	if got := gittest.RunGit(t, app, "show", "main:po/fr.po"); !strings.HasPrefix(got, "# mine\n") {
		t.Errorf("the file is in the end\n%s", got)
	}
}

// TestDemoConfig: every component of the configuration has files.
func TestDemoConfig(t *testing.T) {
	dir := t.TempDir()
	demoDone(t, dir)
	data, err := os.ReadFile(filepath.Join(dir, "repoglot.yaml"))
	must(t, err)
	var c struct {
		Projects []struct {
			Slug       string
			Components []struct {
				Slug, Repo, Branch, Filemask string
				NewBase                      string `yaml:"new_base"`
			}
		}
	}
	must(t, yaml.Unmarshal(data, &c))
	want := map[string]int{"app": 7, "docs-{component}": 6, "glossary": 2, "pages": 4}
	for _, project := range c.Projects {
		for _, comp := range project.Components {
			mask := strings.NewReplacer(`\*`, "[^/]+", `\{component\}`, ".+").Replace(regexp.QuoteMeta(comp.Filemask))
			n, base := 0, comp.NewBase == ""
			for path := range strings.SplitSeq(gittest.RunGit(t, filepath.Join(dir, comp.Repo), "ls-tree", "-r", "--name-only", comp.Branch), "\n") {
				if regexp.MustCompile("^" + mask + "$").MatchString(path) {
					n++
				}
				base = base || path == comp.NewBase
			}
			if n < want[comp.Slug] || want[comp.Slug] == 0 || !base {
				t.Errorf("component %s: %d files match, want %d; template found: %v", comp.Slug, n, want[comp.Slug], base)
			}
		}
	}
}

// TestDemoUsage: the exit status is 2 for wrong usage, and the message names the remedy.
func TestDemoUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "usage: demo [-advance] DIR"},
		{[]string{"a", "b"}, 2, "usage: demo [-advance] DIR"},
		{[]string{"-x", "a"}, 2, "usage: demo [-advance] DIR"},
		{[]string{"-advance", t.TempDir()}, 1, "make the demo first: .ci/demo "},
		{[]string{file}, 1, file},
	} {
		if status, out := demo(t, tt.args...); status != tt.status || !strings.Contains(out, tt.want) {
			t.Errorf("%q: status %d, %q, want %d and %q", tt.args, status, out, tt.status, tt.want)
		}
	}
}
