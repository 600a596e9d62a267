package main

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// commentJob runs what docs/ci has to keep a comment at a request, each time in a new clone.
type commentJob struct {
	*testing.T
	root, server string // folders; server is the repository
	fake         *testrepos.Forge
	env          []string
	run          func(number string, job *commentJob) (dir, script string, env []string)
}

// TestCommentJobs: the workflow and the job keep one comment at a request, with a release, on a
// repository whose base went on meanwhile. They leave comments of others alone, and write none
// where nothing differs.
func TestCommentJobs(t *testing.T) {
	t.Parallel()
	needPrograms(t, "bash", "sh", "curl", "tar", "sha256sum", "git")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("skipped: the job of GitLab is for linux/amd64")
	}
	release := fakeRelease(t)
	for kind, run := range map[string]func(string, *commentJob) (string, string, []string){"github": inGitHub, "gitea": inGitHub, "forgejo": inGitHub, "gitlab": inGitLab} {
		t.Run(kind, func(t *testing.T) {
			if testing.Short() && (kind == "gitea" || kind == "forgejo") {
				t.Skip("skipped: the workflow runs with -short as on GitHub only")
			}
			j := &commentJob{T: t, root: t.TempDir(), fake: &testrepos.Forge{Kind: kind, Repository: "own/app", Token: forgeToken}, run: run}
			server := httptest.NewTLSServer(j.fake)
			t.Cleanup(server.Close)
			ca := filepath.Join(j.root, "ca.pem")
			must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
			j.env = []string{
				childVar + "=1", "HOME=" + j.root, "TMPDIR=" + j.root, "PATH=" + os.Getenv("PATH"), "SSL_CERT_FILE=" + ca, "REPOGLOT_RELEASES=file://" + release, "GIT_CONFIG_NOSYSTEM=1",
				"GITHUB_SERVER_URL=" + server.URL, "CI_SERVER_URL=" + server.URL, strings.ToUpper(kind) + "_ACTIONS=true",
			}
			j.all()
		})
	}
}

func (j *commentJob) all() {
	j.server = filepath.Join(j.root, "server.git")
	gittest.RunGit(j, j.root, "init", "-q", "--bare", "-b", "main", j.server)
	author := diffRepo{j.T, filepath.Join(j.root, "author")}
	gittest.RunGit(j, j.root, "init", "-q", "-b", "main", author.dir)
	push := func(ref string, list ...string) {
		author.write("po/de.po", sourcesPO("de", "1", list...))
		author.commit("more")
		author.git("push", "-q", "-f", j.server, "HEAD:"+ref)
	}
	push("refs/heads/main", "Open", "Close")
	author.git("checkout", "-q", "-b", "request")
	request := map[string]string{"gitlab": "refs/merge-requests/%d/head"}[j.fake.Kind]
	if request == "" {
		request = "refs/pull/%d/head"
	}
	first, second := fmt.Sprintf(request, 1), fmt.Sprintf(request, 2)
	push(first, "Open=Öffnen", "Close")
	author.git("checkout", "-q", "main")
	author.write("po/cs.po", sourcesPO("cs", "1", "Open=Otevřít", "Close"))
	author.commit("on main")
	author.write("README", "y")
	author.commit("on main, too")
	author.git("push", "-q", j.server, "HEAD:refs/heads/main")
	author.git("push", "-q", j.server, "HEAD:"+second)
	author.git("checkout", "-q", "request")

	j.fake.Add(testrepos.ForgeRequest{State: "open"})
	j.fake.Add(testrepos.ForgeRequest{State: "open"})
	theirs := testrepos.ForgeComment{Request: 1, Author: "mallory", Body: "<!-- repoglot diff -->\nlook at example.com"}
	j.fake.Say(theirs)
	comment := func(number int, done string, count int, want ...string) {
		j.Helper()
		dir, script, env := j.run(fmt.Sprint(number), j)
		cmd := exec.CommandContext(j.Context(), "bash", "-c", "set -e\n"+script)
		cmd.Dir, cmd.Env = dir, append(append([]string{}, j.env...), env...)
		out, err := cmd.CombinedOutput()
		if said := strings.Contains(string(out), "repoglot: the comment at request"); err != nil || said != (done != "") || !strings.Contains(string(out), done) {
			j.Fatalf("%v, want it %q: %s", err, done, out)
		}
		list := j.fake.Comments()
		if len(list) != count || list[0] != theirs {
			j.Fatalf("%d comments: %+v", len(list), list)
		}
		for _, text := range want {
			if last := list[len(list)-1]; last.Author != testrepos.ForgeBot || last.Request != number || !strings.Contains(last.Body, text) || strings.Contains(last.Body, "cs.po") {
				j.Errorf("want %q: %+v", text, last)
			}
		}
	}
	comment(2, "", 1)
	comment(1, "request 1 was written", 2, "<!-- repoglot diff -->\n### Translations: 1 text new\n", "**`Öffnen`**")
	comment(1, "request 1 was kept", 2, "Öffnen")
	push(first, "Open=Öffnen", "Close=Schließen!")
	comment(1, "request 1 was updated", 2, "### Translations: 2 texts new, 1 check newly failing\n", "**`Schließen!`**")
	push(first, "Open", "Close")
	comment(1, "request 1 was updated", 2, "### Translations: no difference in meaning\n")
	comment(1, "request 1 was kept", 2)
	push(first, "Open=Offen", "Close")
	comment(1, "request 1 was updated", 2, "**`Offen`**")
	if problems := j.fake.Problems(); len(problems) > 0 {
		j.Errorf("what was sent: %q", problems)
	}
}

// inGitHub does what the runner of actions does: actions/checkout, and the steps with a script.
func inGitHub(number string, j *commentJob) (dir, script string, env []string) {
	var file struct {
		On          any
		Permissions map[string]string
		Jobs        map[string]struct {
			Env   map[string]string
			Steps []struct {
				Uses, Run string
				With, Env map[string]string
			}
		}
	}
	readYAML(j.T, "../../docs/ci/github-diff.yml", &file)
	if file.On != "pull_request_target" || file.Permissions["pull-requests"] != "write" || file.Permissions["contents"] != "read" || len(file.Permissions) != 2 {
		j.Errorf("%v %v", file.On, file.Permissions)
	}
	job := file.Jobs["diff"]
	dir, path := j.TempDir(), filepath.Join(j.TempDir(), "path")
	env = append(env, "RUNNER_TEMP="+j.TempDir(), "GITHUB_PATH="+path, "GITHUB_BASE_REF=main", "GITHUB_REPOSITORY=own/app", "REPOGLOT_VERSION="+job.Env["REPOGLOT_VERSION"])
	for _, step := range job.Steps {
		if strings.HasPrefix(step.Uses, "actions/checkout@") {
			depth := []string{"--depth", "1", "--branch", "main"} // as it does by default
			if step.With["fetch-depth"] == "0" {
				depth = nil
			}
			gittest.RunGit(j, j.root, append(append([]string{"clone", "-q"}, depth...), "file://"+j.server, dir)...)
			continue
		}
		for name, value := range step.Env {
			value = regexp.MustCompile(`\$\{\{ *([a-z_.]+) *\}\}`).ReplaceAllStringFunc(value, func(ref string) string {
				return map[string]string{"github.event.pull_request.number": number, "github.token": forgeToken}[strings.Trim(ref, "${} ")]
			})
			env = append(env, name+"="+value)
		}
		script += "(\n" + step.Run + ")\nif [ -e '" + path + "' ]; then PATH=$(cat '" + path + "'):$PATH; fi\n"
	}
	return dir, script, env
}

// inGitLab does what its runner does: a clone of so many commits of the request, and the script.
func inGitLab(number string, j *commentJob) (dir, script string, env []string) {
	var jobs map[string]struct {
		Rules        []map[string]string
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
	}
	readYAML(j.T, "../../docs/ci/gitlab-diff.yml", &jobs)
	job := jobs["repoglot-diff"]
	if len(job.Rules) != 1 || job.Rules[0]["if"] != `$CI_PIPELINE_SOURCE == "merge_request_event" && $FORGE_TOKEN` {
		j.Errorf("%v", job.Rules)
	}
	dir = j.TempDir()
	gittest.RunGit(j, dir, "init", "-q", "-b", "runner")
	gittest.RunGit(j, dir, "remote", "add", "origin", "file://"+j.server)
	fetch := []string{"fetch", "-q", "origin", "+refs/merge-requests/" + number + "/head:refs/pipelines/1"}
	if depth := job.Variables["GIT_DEPTH"]; depth != "0" {
		fetch = append(fetch, "--depth", map[bool]string{true: "20", false: depth}[depth == ""])
	}
	gittest.RunGit(j, dir, fetch...)
	gittest.RunGit(j, dir, "checkout", "-q", "--detach", "refs/pipelines/1")
	env = []string{
		"GITLAB_CI=true", "FORGE_TOKEN=" + forgeToken, "REPOGLOT_VERSION=" + job.Variables["REPOGLOT_VERSION"],
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_MERGE_REQUEST_IID=" + number, "CI_MERGE_REQUEST_PROJECT_PATH=own/app",
	}
	return dir, strings.ReplaceAll(strings.Join(append(job.BeforeScript, job.Script...), "\n"), "/tmp/repoglot", j.TempDir()), env
}
