package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// ciJob is a folder with PO files, and what a CI system would set.
type ciJob struct {
	folder string
	env    []string
}

// newCIJob makes a folder with one file without faults, po/de.po.
func newCIJob(t *testing.T) *ciJob {
	t.Helper()
	root := t.TempDir()
	j := &ciJob{folder: filepath.Join(root, "project"), env: []string{
		childVar + "=1", "HOME=" + root, "TMPDIR=" + root, "RUNNER_TEMP=" + filepath.Join(root, "runner"),
		"GITHUB_PATH=" + filepath.Join(root, "path"), "GITHUB_STEP_SUMMARY=" + filepath.Join(root, "summary"),
		"PATH=" + installHere(t, filepath.Join(root, "bin")) + string(os.PathListSeparator) + os.Getenv("PATH"),
	}}
	must(t, os.MkdirAll(filepath.Join(root, "runner"), 0o755))
	j.write(t, "po/de.po", cleanPO+"msgid \"Open.\"\nmsgstr \"Öffnen.\"\n")
	return j
}

const cleanPO = `msgid ""
msgstr ""
"Project-Id-Version: a 1\n"
"PO-Revision-Date: 2024-01-01 10:00+0000\n"
"Last-Translator: A <a@example.org>\n"
"Language-Team: de <de@example.org>\n"
"Language: de\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"

`

// installHere puts repoglot into a folder and returns the folder.
func installHere(t *testing.T, folder string) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	must(t, os.MkdirAll(folder, 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "repoglot"), []byte("#!/bin/sh\nexec '"+exe+"' \"$@\"\n"), 0o755))
	return folder
}

func (j *ciJob) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(j.folder, name)
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o600))
}

// run runs a script with a shell; the exit status is 1 if it fails.
func (j *ciJob) run(t *testing.T, shell, script string, env ...string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell, "-c", script)
	cmd.Dir, cmd.Env = j.folder, append(append([]string{}, j.env...), env...)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	if err := cmd.Run(); err != nil {
		return all.String() + err.Error(), 1
	}
	return all.String(), 0
}

// read returns a file that the job wrote beside its folder.
func (j *ciJob) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(j.folder), name))
	must(t, err)
	return string(text)
}

// fakeRelease makes a folder with a release for this machine.
func fakeRelease(t *testing.T) string {
	t.Helper()
	latest := filepath.Join(t.TempDir(), "latest", "download")
	file := "repoglot_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	content := installHere(t, filepath.Join(latest, "content"))
	script := "cd '" + latest + "' && tar czf " + file + " -C '" + content + "' repoglot && sha256sum " + file + " > checksums.txt"
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Dir(filepath.Dir(latest))
}

func needPrograms(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("skipped: there is no %s here", name)
		}
	}
}

// TestAction runs what the steps of the GitHub action run: with a release, with faults
// and without, and with inputs.
func TestAction(t *testing.T) {
	t.Parallel()
	needPrograms(t, "bash", "curl", "jq", "tar", "sha256sum")
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Run, Shell string
				Env        map[string]string
			}
		}
	}
	readYAML(t, "../../.github/actions/check/action.yml", &action)
	path, err := filepath.Abs("../../.github/actions/check")
	must(t, err)
	run := func(j *ciJob, inputs map[string]string) (string, int) {
		for _, step := range action.Runs.Steps {
			env := []string{"GITHUB_ACTION_PATH=" + path, "REPOGLOT_RELEASES=file://" + fakeRelease(t)}
			for name, value := range step.Env {
				env = append(env, name+"="+regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`).ReplaceAllStringFunc(value, func(ref string) string {
					input := strings.TrimSuffix(strings.TrimPrefix(ref, "${{ inputs."), " }}")
					if v, ok := inputs[input]; ok {
						return v
					}
					known, ok := action.Inputs[input]
					if !ok {
						t.Errorf("there is no input %s", input)
					}
					return known.Default
				}))
			}
			if out, status := j.run(t, step.Shell, step.Run, env...); status != 0 || strings.Contains(step.Run, "check.sh") {
				return out, status
			}
		}
		return "", 0
	}
	j := newCIJob(t)
	if out, status := run(j, nil); status != 0 || !strings.Contains(out, "0 errors and 0 warnings in 1 file") {
		t.Errorf("clean: status %d\n%s", status, out)
	}
	if got := j.read(t, "path"); !strings.HasSuffix(got, "runner/repoglot\n") {
		t.Errorf("GITHUB_PATH has %q", got)
	}
	if got := j.read(t, "summary"); !strings.Contains(got, "\n0 errors and 0 warnings in 1 file\n") || !strings.Contains(got, "| de | 1 | 0 | 0 | 100 % |\n") {
		t.Errorf("the summary is\n%s", got)
	}
	j.write(t, "po/cs.po", cleanPO+"msgid \"Open.\"\nmsgstr \"Otevřít!\"\n\nmsgid \"oops\n")
	inputs := map[string]string{"version": "installed", "paths": "po/cs.po po/de.po", "quality": "true"}
	if out, status := run(j, inputs); status != 1 || !strings.Contains(out, "::error file=po/cs.po,line=15,") {
		t.Errorf("an error: status %d\n%s", status, out)
	}
	j.write(t, "po/cs.po", cleanPO+"msgid \"Open.\"\nmsgstr \"Otevřít!\"\n")
	if out, status := run(j, inputs); status != 0 || !strings.Contains(out, "::warning file=po/cs.po") {
		t.Errorf("warnings: status %d\n%s", status, out)
	}
	inputs["strict"] = "true"
	if out, status := run(j, inputs); status != 1 {
		t.Errorf("strict: status %d\n%s", status, out)
	}
	inputs["check-flags"] = "ignore-end-stop,ignore-end-exclamation"
	if out, status := run(j, inputs); status != 0 {
		t.Errorf("flags: status %d\n%s", status, out)
	}
}

// TestActionChecksum: an archive that differs from its checksum is not installed.
func TestActionChecksum(t *testing.T) {
	t.Parallel()
	needPrograms(t, "bash", "curl", "tar", "sha256sum")
	release := fakeRelease(t)
	archive := filepath.Join(release, "latest", "download", "repoglot_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	must(t, os.WriteFile(archive, []byte("another"), 0o600))
	script, err := filepath.Abs("../../.github/actions/check/install.sh")
	must(t, err)
	if out, status := newCIJob(t).run(t, "bash", script, "VERSION=latest", "REPOGLOT_RELEASES=file://"+release); status == 0 {
		t.Errorf("it was installed:\n%s", out)
	}
}

// TestGitLab runs the script of the GitLab job.
func TestGitLab(t *testing.T) {
	t.Parallel()
	needPrograms(t, "sh", "curl", "tar", "sha256sum")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("skipped: the job is for linux/amd64")
	}
	var jobs map[string]struct {
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
	}
	readYAML(t, "../../docs/ci/gitlab.yml", &jobs)
	job := jobs["repoglot"]
	j := newCIJob(t)
	env := []string{}
	for name, value := range job.Variables {
		if name == "REPOGLOT_RELEASES" {
			value = "file://" + fakeRelease(t)
		}
		env = append(env, name+"="+value)
	}
	script := "set -e\n" + strings.Join(append(job.BeforeScript, job.Script...), "\n")
	script = strings.ReplaceAll(script, "/tmp/repoglot", filepath.Join(filepath.Dir(j.folder), "tmp"))
	if out, status := j.run(t, "sh", script, env...); status != 0 || !strings.Contains(out, "0 errors and 0 warnings in 1 file") {
		t.Errorf("clean: status %d\n%s", status, out)
	}
	j.write(t, "po/cs.po", "oops")
	if out, status := j.run(t, "sh", script, env...); status != 1 || !strings.Contains(out, "po/cs.po:1:1: error") {
		t.Errorf("an error: status %d\n%s", status, out)
	}
}

// TestPreCommit runs what the hooks of pre-commit run, on the files that they select.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	var hooks []struct{ ID, Entry, Language, Files string }
	readYAML(t, "../../.pre-commit-hooks.yaml", &hooks)
	j := newCIJob(t)
	j.write(t, "po/cs.po", "oops")
	for _, hook := range hooks {
		selects := regexp.MustCompile(hook.Files)
		if !selects.MatchString("po/de.po") || !selects.MatchString("po/app.pot") || selects.MatchString("po/app.potx") || selects.MatchString("po/POTFILES") {
			t.Errorf("%s selects other files: %s", hook.ID, hook.Files)
		}
		if out, status := j.run(t, "sh", hook.Entry+" po/de.po"); status != 0 {
			t.Errorf("%s: clean: status %d\n%s", hook.ID, status, out)
		}
		if out, status := j.run(t, "sh", hook.Entry+" po/de.po po/cs.po"); status != 1 {
			t.Errorf("%s: an error: status %d\n%s", hook.ID, status, out)
		}
	}
	if len(hooks) != 2 || hooks[0].Language != "golang" {
		t.Errorf("%+v", hooks)
	}
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, yaml.UnmarshalContext(context.Background(), text, into))
}
