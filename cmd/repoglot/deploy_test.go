package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const deploy = "../../docs/deploy"

// TestAlerts: the rules for Prometheus and the dashboard are about metrics that the
// manual lists.
func TestAlerts(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/operation.md")
	must(t, err)
	for _, file := range []string{"alerts.yaml", "grafana.json"} {
		text, err := os.ReadFile(filepath.Join(deploy, file))
		must(t, err)
		var parsed map[string]any
		must(t, yaml.Unmarshal(text, &parsed))
		names := regexp.MustCompile(`\brepoglot_[a-z_]+`).FindAllString(string(text), -1)
		if len(names) < 5 {
			t.Errorf("%s: %d names of metrics", file, len(names))
		}
		for _, name := range names {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, part)
			}
			if !strings.Contains(string(manual), "`"+name) {
				t.Errorf("%s: docs/operation.md does not list %s", file, name)
			}
		}
	}
}

// TestUnit: systemd takes the unit for a strict sandbox.
func TestUnit(t *testing.T) {
	t.Parallel()
	systemd, err := exec.LookPath("systemd-analyze")
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal("there is no systemd-analyze, which .ci/tools installs")
	case err != nil:
		t.Skip("skipped: there is no systemd-analyze here")
	}
	out, err := exec.CommandContext(t.Context(), systemd, "security", "--offline=true", "--threshold=20", filepath.Join(deploy, "repoglot.service")).CombinedOutput()
	if (strings.Contains(string(out), "unrecognized option") || strings.Contains(string(out), "Unknown")) && os.Getenv("CI") == "" {
		t.Skipf("skipped: this systemd cannot tell: %.100s", out)
	}
	if err != nil {
		t.Errorf("exposure above 2.0: %v\n%s", err, out)
	}
}

// TestDeployNames: the page names every file, and every file runs this program with
// commands and settings that exist.
func TestDeployNames(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/deploy.md")
	must(t, err)
	files, err := os.ReadDir(deploy)
	must(t, err)
	root := new(program).command()
	for _, f := range files {
		if !strings.Contains(string(page), "deploy/"+f.Name()) {
			t.Errorf("docs/deploy.md does not name %s", f.Name())
		}
		text, err := os.ReadFile(filepath.Join(deploy, f.Name()))
		must(t, err)
		for _, m := range regexp.MustCompile(`/usr/bin/repoglot"?,? "?([a-z]+)`).FindAllStringSubmatch(string(text), -1) {
			if c, _, err := root.Find([]string{m[1]}); err != nil || c == root {
				t.Errorf("%s runs repoglot %s: %v", f.Name(), m[1], err)
			}
		}
	}
}

// TestSecurityPage: every test that docs/security.md names exists.
func TestSecurityPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	must(t, err)
	missing := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1) {
		missing["func "+m[1]+"("] = true
	}
	for _, m := range regexp.MustCompile("`([a-z-]+\\.txtar)`").FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat("testdata/script/" + m[1]); err != nil {
			t.Error(err)
		}
	}
	if len(missing) < 20 {
		t.Errorf("%d tests are named", len(missing))
	}
	must(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for name := range missing {
			if strings.Contains(string(text), "\n"+name) {
				delete(missing, name)
			}
		}
		return err
	}))
	for name := range missing {
		t.Errorf("docs/security.md names a test that is not there: %s", name)
	}
}

// TestContainer: the container has what pushes edits, is not root, and checks itself; the
// compose file runs it read-only and without rights.
func TestContainer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(deploy, "Containerfile"))
	must(t, err)
	mod, err := os.ReadFile("../../go.mod")
	must(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	var stages [][]string // instructions
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "FROM "):
			stages = append(stages, nil)
		case strings.HasPrefix(line, "ADD "), strings.Contains(line, "curl "), strings.Contains(line, "sudo "):
			t.Errorf("%s: what it fetches is not checked", line)
		}
		stages[len(stages)-1] = append(stages[len(stages)-1], line)
	}
	if from := stages[0][0]; !strings.HasSuffix(from, "/golang:"+version+" AS build") {
		t.Errorf("%s: go.mod has %s", from, version)
	}
	if build := strings.Join(stages[0], "\n"); !strings.Contains(build, "CGO_ENABLED=0 ") || !strings.Contains(build, " -trimpath ") {
		t.Error("the program is not static")
	}
	last := strings.Join(stages[len(stages)-1], "\n")
	for _, want := range []string{
		`^FROM docker\.io/library/debian:\d+-slim\n`, `(?m)^USER [1-9]\d*:[1-9]\d*$`, `(?m)^HEALTHCHECK .*CMD \["/usr/bin/repoglot", "health"\]$`,
		`(?m)^ENTRYPOINT \["/usr/bin/repoglot"\]$`, `(?m)^CMD \["serve", `, `(?m)^VOLUME /data$`, `(?m)^EXPOSE 8080$`,
	} {
		if !regexp.MustCompile(want).MatchString(last) {
			t.Errorf("the last stage has no %s", want)
		}
	}
	install := regexp.MustCompile(`apt-get install --yes --no-install-recommends ([a-z -]+?) +&&`).FindStringSubmatch(last)
	if install == nil {
		t.Fatal("the last stage installs nothing")
	}
	for _, want := range []string{"ca-certificates", "git", "openssh-client"} { // https and ssh
		if !slices.Contains(strings.Fields(install[1]), want) {
			t.Errorf("the last stage has no %s, with which edits are pushed", want)
		}
	}
	user := regexp.MustCompile(`(?m)^USER (\d+)`).FindStringSubmatch(last)
	if user == nil || !strings.Contains(last, "useradd --uid "+user[1]+" ") {
		t.Error("the user has no name, without which ssh does not run")
	}
	var compose struct {
		Services map[string]struct {
			ReadOnly    bool     `yaml:"read_only"`
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
			Image       string
			Privileged  bool
		}
	}
	text, err = os.ReadFile(filepath.Join(deploy, "compose.yaml"))
	must(t, err)
	must(t, yaml.Unmarshal(text, &compose))
	if s := compose.Services["repoglot"]; !s.ReadOnly || s.Privileged || fmt.Sprint(s.CapDrop, s.SecurityOpt) != "[ALL] [no-new-privileges:true]" {
		t.Errorf("compose: %+v", s)
	}
	for name, s := range compose.Services {
		if strings.HasSuffix(s.Image, ":latest") || strings.Contains(s.Image, "/") && !strings.Contains(s.Image, ":") {
			t.Errorf("compose: %s has the image %s: name a version", name, s.Image)
		}
	}
}
