package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const deploy = "../../docs/deploy"

// TestAlerts: the rules for Prometheus are about metrics that the manual lists.
func TestAlerts(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(filepath.Join(deploy, "alerts.yaml"))
	must(t, err)
	var parsed map[string]any
	must(t, yaml.Unmarshal(rules, &parsed))
	manual, err := os.ReadFile("../../docs/operation.md")
	must(t, err)
	names := regexp.MustCompile(`\brepoglot_[a-z_]+`).FindAllString(string(rules), -1)
	if len(names) < 5 {
		t.Errorf("%d names of metrics", len(names))
	}
	for _, name := range names {
		if !strings.Contains(string(manual), "`"+name) {
			t.Errorf("docs/operation.md does not list %s", name)
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
