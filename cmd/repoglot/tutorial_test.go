package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// usualOrigin is the address of the server on the page.
const usualOrigin = "http://127.0.0.1:8080"

// TestTutorial runs every command of docs/tutorial.md, in order, in one folder, and
// compares what it prints with what the page says; … on the page stands for anything.
// A server goes on until the next one starts.
func TestTutorial(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sh", "git", "curl", "jq", "sed"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("there is no %s here", name)
			}
			t.Skipf("skipped: there is no %s here", name)
		}
	}
	page, err := os.ReadFile("../../docs/tutorial.md")
	must(t, err)
	reader := newReader(t)
	count := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```").FindAllStringSubmatch(string(page), -1) {
		for _, step := range readSteps(block[1]) {
			count++
			reader.follow(t, step)
		}
	}
	if count < 15 {
		t.Errorf("only %d commands were found", count)
	}
}

// tutorialStep is a command and what the page says that it prints.
type tutorialStep struct{ command, printed string }

// readSteps reads a block: "$ " begins a command, and "> " goes on with it.
func readSteps(block string) []tutorialStep {
	var steps []tutorialStep
	lines := bufio.NewScanner(strings.NewReader(block))
	for lines.Scan() {
		line := lines.Text()
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			steps = append(steps, tutorialStep{command: command + "\n"})
			continue
		}
		step := &steps[len(steps)-1]
		if more, ok := strings.CutPrefix(line, ">"); ok && step.printed == "" {
			step.command += strings.TrimPrefix(more, " ") + "\n"
		} else {
			step.printed += line + "\n"
		}
	}
	return steps
}

// tutorialReader does what the page says.
type tutorialReader struct {
	root, folder string
	env          []string
	server       *child
	origin       string
}

// newReader makes a reader with a home of its own and repoglot in the PATH.
func newReader(t *testing.T) *tutorialReader {
	t.Helper()
	root := t.TempDir()
	exe, err := os.Executable()
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(root, "bin"), 0o755))
	must(t, os.Symlink(exe, filepath.Join(root, "bin", "repoglot")))
	r := &tutorialReader{root: root, folder: root, origin: usualOrigin, env: []string{
		childVar + "=1", "HOME=" + root, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + root,
		"PATH=" + filepath.Join(root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
	}}
	t.Cleanup(func() { r.stop(t) })
	return r
}

// follow does one step. What a server answers is asked for again until it is as the
// page says, since a pull takes its moment.
func (r *tutorialReader) follow(t *testing.T, step tutorialStep) {
	t.Helper()
	if args, ok := strings.CutPrefix(step.command, "repoglot serve "); ok {
		r.stop(t)
		r.serve(t, strings.Fields(args), step.printed)
		return
	}
	var got string
	if !until(func() bool {
		got = r.run(t, step.command)
		return printedAs(step.printed, got) || !strings.HasPrefix(step.command, "curl ")
	}) || !printedAs(step.printed, got) {
		t.Fatalf("$ %sprints\n%s\nthe page says\n%s", step.command, got, step.printed)
	}
}

// run returns what a command prints; a cd in it lasts.
func (r *tutorialReader) run(t *testing.T, command string) string {
	t.Helper()
	where := filepath.Join(r.root, "where")
	command = strings.ReplaceAll(command, usualOrigin, r.origin)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command+"\nstatus=$?\npwd > '"+where+"'\nexit $status")
	cmd.Dir, cmd.Env = r.folder, r.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && !strings.Contains(out.String(), "error") {
		t.Fatalf("$ %s%v\n%s", command, err, &out)
	}
	folder, err := os.ReadFile(where)
	must(t, err)
	r.folder = strings.TrimSpace(string(folder))
	return strings.ReplaceAll(out.String(), r.origin, usualOrigin)
}

// serve starts a server and waits until it has pulled.
func (r *tutorialReader) serve(t *testing.T, args []string, printed string) {
	t.Helper()
	c := &child{cmd: exec.Command(filepath.Join(r.root, "bin", "repoglot"), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...), out: &output{}, err: &output{}, ended: make(chan error, 1)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = r.folder, r.env, c.out, c.err
	must(t, c.cmd.Start())
	go func() { c.ended <- c.cmd.Wait() }()
	r.server = c
	var why string
	if !until(func() bool {
		match := servesOn.FindStringSubmatch(c.out.String())
		if match == nil {
			why = "it does not say where it serves"
			return false
		}
		r.origin = match[1]
		why = get(fmt.Sprint(http.StatusOK), r.origin+"/readyz", "", nil)
		return why == ""
	}) {
		t.Fatalf("repoglot serve: %s\n%s%s", why, c.out, c.err)
	}
	if got := strings.ReplaceAll(c.out.String(), r.origin, usualOrigin); !printedAs(printed, got) {
		t.Fatalf("repoglot serve prints\n%s\nthe page says\n%s", got, printed)
	}
}

// stop ends the server, as Ctrl-C does.
func (r *tutorialReader) stop(t *testing.T) {
	t.Helper()
	if r.server == nil {
		return
	}
	c := r.server
	r.server = nil
	must(t, c.cmd.Process.Signal(os.Interrupt))
	if err := <-c.ended; err != nil {
		t.Errorf("repoglot serve: %v\n%s", err, c.err)
	}
}

// printedAs reports whether a text is as the page says: … is anything.
func printedAs(page, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(page)), "…", "(?s:.*)")
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimSpace(got))
}
