//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
	"github.com/repoglot/repoglot/testrepos"
)

// leaseVar makes the test binary act as repoglot with shorter leases.
const leaseVar = "REPOGLOT_TEST_LEASE"

// testLease is the length of a lease in the short form of TestCluster.
const testLease = 1500 * time.Millisecond

// runLeased is main with leases of a length.
func runLeased(length string) int {
	d, err := time.ParseDuration(length)
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &program{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr, leaseLength: d}
	return p.run(ctx, os.Args[1:], os.Stdin)
}

// member is a process of a tested cluster.
type member struct {
	name, work string
	child      *child
	proxy      *proxy
	url        string
	args       []string
}

// testedCluster is a cluster of real processes, with local repositories.
type testedCluster struct {
	t      *testing.T
	dsn    string
	dir    string
	file   string
	lease  time.Duration
	random *rand.Rand
	repos  []*testrepos.Repo
	pushed [][]string // what was pushed to each
	large  int        // strings of the first beside those: each push to it changes all
	starts int
	floor  string // min_free_space of processes that are started
}

func newTestedCluster(t *testing.T, repos, large int, lease time.Duration) *testedCluster {
	t.Helper()
	c := &testedCluster{t: t, dsn: pgtest.DSN(t, t.Name()), dir: t.TempDir(), large: large, lease: lease, random: rand.New(rand.NewPCG(1, 2))}
	c.file = filepath.Join(c.dir, "r.yaml")
	var b strings.Builder
	b.WriteString("listen: 127.0.0.1:0\npoll_interval: 1h\nprojects:\n")
	for i := range repos {
		repo := testrepos.Empty(t)
		c.repos, c.pushed = append(c.repos, repo), append(c.pushed, nil)
		c.push(i)
		fmt.Fprintf(&b, "- slug: p%d\n  components:\n  - {slug: app, repo: %q, filemask: 'po/*.po'}\n", i, repo.Path())
	}
	must(t, os.WriteFile(c.file, []byte(b.String()), 0o600))
	return c
}

// push pushes a new string to a repository.
func (c *testedCluster) push(i int) {
	c.t.Helper()
	c.pushed[i] = append(c.pushed[i], fmt.Sprintf("String %d of %d", len(c.pushed[i]), i))
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for _, s := range c.pushed[i] {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr \"Text: %s\"\n", s, s)
	}
	if i == 0 {
		for n := range c.large {
			fmt.Fprintf(&b, "\nmsgid \"Large %d\"\nmsgstr \"%d of round %d\"\n", n, n, len(c.pushed[0]))
		}
	}
	c.repos[i].Commit(c.t, testrepos.Change{Branch: "main", Files: map[string]string{"po/cs.po": b.String()}})
}

// total is the number of strings that were pushed to a repository.
func (c *testedCluster) total(i int) int {
	if i == 0 {
		return len(c.pushed[0]) + c.large
	}
	return len(c.pushed[i])
}

var listening = regexp.MustCompile(`http://[0-9.:]+`)

// start starts a process that reaches the database through a proxy of its own.
func (c *testedCluster) start(work string) *member {
	c.t.Helper()
	m := c.begin(work)
	c.listens(m)
	return m
}

// begin is start without waiting for it.
func (c *testedCluster) begin(work string) *member {
	c.t.Helper()
	c.starts++
	m := &member{name: fmt.Sprintf("%s %d", work, c.starts), work: work, proxy: newProxy(c.t, c.dsn)}
	exe, err := os.Executable()
	must(c.t, err)
	m.args = append(strings.Fields(work), "--config", c.file, "--data-dir", filepath.Join(c.dir, fmt.Sprint(c.starts)))
	c.run(m, exe)
	return m
}

// run runs the program of a process.
func (c *testedCluster) run(m *member, exe string) {
	c.t.Helper()
	cmd := exec.Command(exe, m.args...)
	cmd.Env = append(os.Environ(), leaseVar+"="+c.lease.String(), "REPOGLOT_DATABASE="+m.proxy.dsn)
	if c.floor != "" {
		cmd.Env = append(cmd.Env, "REPOGLOT_MIN_FREE_SPACE="+c.floor)
	}
	m.child = &child{cmd: cmd, out: &output{}, err: &output{}, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = m.child.out, m.child.err
	must(c.t, cmd.Start())
	go func() { m.child.ended <- cmd.Wait() }()
	c.t.Cleanup(func() {
		if c.t.Failed() {
			text := m.child.err.String()
			c.t.Logf("%s:\n%s", m.name, text[max(0, len(text)-4000):])
		}
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
	})
}

// again starts a process that was killed.
func (c *testedCluster) again(m *member) {
	c.t.Helper()
	c.run(m, m.child.cmd.Path)
	c.listens(m)
}

// listens waits until a process listens.
func (c *testedCluster) listens(m *member) {
	c.t.Helper()
	if !until(func() bool { m.url = listening.FindString(m.child.out.String()); return m.url != "" }) {
		c.t.Fatalf("%s does not listen", m.name)
	}
}

func (m *member) signal(s syscall.Signal) { _ = m.child.cmd.Process.Signal(s) }

// kill ends a process without a word.
func (m *member) kill() {
	m.signal(syscall.SIGKILL)
	<-m.child.ended
}

// get reads a resource, and reports whether it was answered.
func (m *member) get(path string, into any) bool {
	client := http.Client{Timeout: patience}
	res, err := client.Get(m.url + path)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return err == nil && res.StatusCode == http.StatusOK && json.Unmarshal(body, into) == nil
}

// strings is the number of strings of a repository that a reader shows.
func (m *member) strings(i int) int {
	var stats struct{ Total int }
	if !m.get(fmt.Sprintf("/api/translations/p%d/app/cs/statistics/", i), &stats) {
		return -1
	}
	return stats.Total
}

// visible waits until readers show everything that was pushed, and returns how long
// that took.
func (c *testedCluster) visible(after string, readers ...*member) time.Duration {
	c.t.Helper()
	began := time.Now()
	for _, m := range readers {
		for i := range c.repos {
			shown := func() bool { return m.strings(i) == c.total(i) }
			for n := 0; n < 3 && !until(shown); n++ { // a lost connection is noticed after 10 s, the lease of its pull ends after 15
			}
			if !shown() {
				c.t.Logf("%s", c.jobs("text"))
				c.t.Fatalf("after %s, %s shows %d strings of p%d, %d were pushed", after, m.name, m.strings(i), i, c.total(i))
			}
		}
	}
	return time.Since(began)
}

// jobs is what repoglot jobs says of the cluster.
func (c *testedCluster) jobs(format string) []byte {
	c.t.Helper()
	return c.tool("jobs", "--format", format)
}

// tool is what a command of repoglot says.
func (c *testedCluster) tool(args ...string) []byte {
	c.t.Helper()
	exe, err := os.Executable()
	must(c.t, err)
	cmd := exec.Command(exe, append(args, "--config", c.file)...)
	cmd.Env = append(os.Environ(), childVar+"=1", "REPOGLOT_DATABASE="+c.dsn)
	text, err := cmd.Output()
	must(c.t, err)
	return text
}

// checkJobs looks at what repoglot jobs says.
func (f *faults) checkJobs() {
	f.t.Helper()
	var list server.Jobs
	if !until(func() bool {
		list = server.Jobs{}
		must(f.t, json.Unmarshal(f.jobs("json"), &list))
		alive := 0
		for i := range list.Processes {
			if p := &list.Processes[i]; !p.Silent && p.Work == server.WorkAnswer {
				alive++
			}
		}
		return alive == len(f.readers) && len(list.Branches) == len(f.repos)
	}) {
		f.t.Errorf("jobs:\n%s", f.jobs("text"))
	}
	for i := range list.Branches {
		if b := &list.Branches[i]; b.LastGood == nil {
			f.t.Errorf("never pulled: %+v", b)
		}
	}
}

// readiness is what /readyz says of a cluster.
type clusterReadiness struct {
	Ready         bool
	Process       struct{ Work, Configuration, Problem string }
	Configuration struct {
		Newest    string
		Revision  int
		OlderCopy bool `json:"older_copy"`
	}
	Components []struct{ Error string }
	Cluster    struct {
		Stuck     int
		Processes int
		Others    int `json:"other_configurations"`
	}
}

// TestClusterConfiguration: the newest copy of the configuration counts. A process with
// an older one says so, and undoes nothing, also when it is started again. A process
// that only pulls answers for no other, and one that did not pull has no mirror.
func TestClusterConfiguration(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts seven processes")
	}
	c := newTestedCluster(t, 2, 0, testLease)
	both, err := os.ReadFile(c.file)
	must(t, err)
	one, _, _ := strings.Cut(string(both), "- slug: p1")
	file := func(name, text string) string {
		path := filepath.Join(c.dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	c.file = file("old.yaml", one)
	old := c.start(server.WorkServe)
	c.file = file("new.yaml", string(both)+"revision: 2\n")
	newer := c.start(server.WorkPull)
	c.visible("the newer copy", old)
	c.file = filepath.Join(c.dir, "old.yaml")
	if !until(func() bool {
		return strings.Contains(old.child.err.String(), "this copy of the configuration is older")
	}) {
		t.Errorf("the older copy is not reported:\n%s", old.child.err)
	}
	for range 2 {
		var ready clusterReadiness
		if !until(func() bool {
			return old.get("/readyz", &ready) && ready.Configuration.OlderCopy && ready.Cluster.Others > 0 && ready.Cluster.Processes > 1
		}) {
			t.Errorf("/readyz of the older copy: %+v", ready)
		}
		if ready.Configuration.Revision != 2 || ready.Configuration.Newest == ready.Process.Configuration || !ready.Ready {
			t.Errorf("/readyz of the older copy: %+v", ready)
		}
		if n := old.strings(1); n != len(c.pushed[1]) {
			t.Errorf("what only the newer copy names has %d strings", n)
		}
		old.kill()
		c.again(old)
	}
	c.push(1)
	c.visible("a push", old)
	for path, want := range map[string]int{"/api/": 404, "/": 404, "/hooks/github/": 404, "/healthz": 200, "/readyz": 200, "/metrics": 200} {
		res, err := http.Get(newer.url + path)
		must(t, err)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s of a process that pulls: %s", path, res.Status)
		}
	}
	res, err := http.Get(old.url + "/git/p1/app/info/refs?service=git-upload-pack")
	must(t, err)
	body, err := io.ReadAll(res.Body)
	must(t, errors.Join(err, res.Body.Close()))
	if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "another process") {
		t.Errorf("git clone of a process without the mirror: %s %s", res.Status, body)
	}
}

// TestClusterNowhere: a reader says of a local repository that no process has which
// pulls, also if it was pulled before, and that is over when one has it.
func TestClusterNowhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts two processes")
	}
	c := newTestedCluster(t, 1, 0, testLease)
	reader, puller := c.start(server.WorkAnswer), c.start(server.WorkPull)
	c.visible("the start", reader)
	path := c.repos[0].Path()
	must(t, os.Rename(path, path+".away"))
	pgtest.Run(t, c.dsn, `UPDATE mirrors SET due = due - 2 * 3600::BIGINT * 1000000`)
	for _, away := range []bool{true, false} {
		var ready clusterReadiness
		if !until(func() bool {
			ready = clusterReadiness{}
			return reader.get("/readyz", &ready) && len(ready.Components) == 1 && (ready.Components[0].Error == string(catalog.FailureNoProcess)) == away && ready.Cluster.Stuck > 0 == away
		}) {
			t.Fatalf("away %v: %+v", away, ready)
		}
		if away {
			if jobs := string(c.jobs("text")); !strings.Contains(jobs, cluster.Nowhere) {
				t.Errorf("jobs:\n%s", jobs)
			}
			if !until(func() bool { return strings.Contains(puller.child.err.String(), "no process can pull these branches") }) {
				t.Errorf("the log does not say it:\n%s", puller.child.err.String())
			}
			must(t, os.Rename(path+".away", path))
			c.push(0)
		}
	}
	c.visible("the repository is back", reader)
}

// TestClusterTemplate: a template of another repository is seen after each push to it, whichever
// process fetched that repository, and whichever pulls the component.
func TestClusterTemplate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts two processes")
	}
	c := newTestedCluster(t, 1, 0, testLease)
	code := testrepos.Empty(t)
	text, err := os.ReadFile(c.file)
	must(t, err)
	must(t, os.WriteFile(c.file, []byte(strings.Replace(string(text), "filemask:", fmt.Sprintf("new_base: app.pot, template_repo: %q, filemask:", code.Path()), 1)), 0o600))
	var b strings.Builder
	push := func() {
		fmt.Fprintf(&b, "\nmsgid \"Of the code %d\"\nmsgstr \"\"\n", b.Len())
		code.Commit(t, testrepos.Change{Branch: "main", Files: map[string]string{"app.pot": b.String()}})
	}
	push()
	members := []*member{c.start(server.WorkServe), c.start(server.WorkServe)}
	for n := range 12 {
		if n > 0 {
			push()
		}
		if n == 6 { // as after a crash, its mirrors are old
			members[1].kill()
			push()
			c.again(members[1])
		}
		want := strings.Count(b.String(), "msgid")
		var got struct{ Missing int }
		if !until(func() bool { return members[n%2].get("/api/translations/p0/app/cs/", &got) && got.Missing == want }) {
			t.Fatalf("push %d: the file lacks %d strings, want %d\n%s", n, got.Missing, want, c.jobs("text"))
		}
	}
	if jobs := string(c.jobs("text")); !strings.Contains(jobs, " 2 up to date") {
		t.Errorf("jobs:\n%s", jobs)
	}
}

// TestClusterLimits: what a client asks one process counts in the other, too, and so does
// the pause between two webhooks.
func TestClusterLimits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts two processes")
	}
	c := newTestedCluster(t, 1, 0, testLease)
	text, err := os.ReadFile(c.file)
	must(t, err)
	must(t, os.WriteFile(c.file, append(text, "rate_limit: {anonymous: 640/h}\n"...), 0o600))
	one, two := c.start(server.WorkServe), c.start(server.WorkAnswer)
	status := func(method, address string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		must(t, err)
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		must(t, res.Body.Close())
		return res.StatusCode
	}
	for range 640 {
		if got := status(http.MethodGet, one.url+"/api/projects/"); got != http.StatusOK {
			t.Fatalf("status %d within the limit", got)
		}
	}
	passed := 0
	if !until(func() bool {
		passed++
		return status(http.MethodGet, two.url+"/api/projects/") == http.StatusTooManyRequests
	}) || passed > 600 {
		t.Errorf("%d requests passed in the other process", passed)
	}
	for _, m := range []*member{one, two} {
		if got := status(http.MethodPost, m.url+"/hooks/update/p0/app/"); got != http.StatusOK {
			t.Errorf("a webhook: status %d", got)
		}
	}
	pgtest.Run(t, c.dsn, `DO $$ BEGIN ASSERT (SELECT COUNT(*) = 1 FROM spent WHERE used = 2); END $$`)
}

// TestClusterPush: operation push, asked of a process that answers, has the one that pulls
// push edits which are not due, also after a push was refused and that process has died;
// and so is a language added.
func TestClusterPush(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts two processes")
	}
	c := newTestedCluster(t, 1, 0, testLease)
	text, err := os.ReadFile(c.file)
	must(t, err)
	text = bytes.Replace(text, []byte("filemask: 'po/*.po'"), []byte("filemask: 'po/*.po', new_base: po/app.pot, push_mode: direct, flush: 10h"), 1)
	must(t, os.WriteFile(c.file, text, 0o600))
	c.repos[0].Commit(t, testrepos.Change{Branch: "main", Files: map[string]string{"po/app.pot": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"String 0 of 0\"\nmsgstr \"\"\n"}})
	answers := c.start(server.WorkAnswer)
	puller := c.start(server.WorkPull)
	c.visible("the start", answers)
	token := strings.TrimSpace(string(c.tool("token", "create", "--scope", "admin", "ops")))
	var units struct{ Results []struct{ ID int64 } }
	answers.get("/api/translations/p0/app/cs/units/", &units)
	call := func(method, path, body string, want int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, answers.url+path, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", "Token "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		got, err := io.ReadAll(res.Body)
		if must(t, errors.Join(err, res.Body.Close())); res.StatusCode != want {
			t.Fatalf("%s %s: %s %s", method, path, res.Status, got)
		}
	}
	call(http.MethodPatch, fmt.Sprintf("/api/units/%d/", units.Results[0].ID), `{"target": ["Edited"], "state": 20}`, http.StatusOK)
	hook := filepath.Join(c.repos[0].Path(), "hooks", "pre-receive")
	must(t, os.MkdirAll(filepath.Dir(hook), 0o700))
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	call(http.MethodPost, "/api/translations/p0/app/cs/repository/", `{"operation": "push"}`, http.StatusOK)
	if !until(func() bool {
		return strings.Contains(puller.child.err.String(), "edits cannot be pushed and stay pending")
	}) {
		t.Fatal("the hook did not refuse the push")
	}
	puller.kill()
	must(t, os.Remove(hook))
	c.start(server.WorkPull)
	c.push(0) // so that it pulls: the wish is still there
	if !until(func() bool { return strings.Contains(string(c.repos[0].File(t, "main", "po/cs.po")), "Edited") }) {
		t.Fatal("what was not due was not pushed")
	}
	cloned := func() string {
		names, err := filepath.Glob(filepath.Join(filepath.Dir(c.file), "*", "mirrors", "*", "CURRENT"))
		must(t, err)
		text := ""
		for _, name := range names {
			data, err := os.ReadFile(name)
			must(t, err)
			text += string(data)
		}
		return text
	}
	before := cloned()
	call(http.MethodPost, "/api/components/p0/app/repository/", `{"operation": "cleanup"}`, http.StatusOK)
	if !until(func() bool { return cloned() != before }) {
		t.Errorf("no mirror was cloned anew: %q", before)
	}
	call(http.MethodPost, "/api/components/p0/app/translations/", `{"language_code": "de"}`, http.StatusAccepted)
	if !until(func() bool { return answers.get("/api/translations/p0/app/de/", &struct{}{}) }) {
		t.Error("the language was not added")
	}
	// The file is served before the journal says so: that is a step of its own.
	var edits struct{ Results []struct{ Status string } }
	if !until(func() bool {
		return answers.get("/api/components/p0/app/edits/?kind=add-file", &edits) && len(edits.Results) == 1 && edits.Results[0].Status == "flushed"
	}) {
		t.Errorf("the journal has %+v, want the added language flushed", edits.Results)
	}
}

// TestTogether: ten processes that start together migrate once, and sync pulls beside
// them.
func TestTogether(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts ten processes")
	}
	c := newTestedCluster(t, 1, 0, testLease)
	var members []*member
	for range 9 {
		members = append(members, c.begin(server.WorkAnswer))
	}
	members = append(members, c.begin(server.WorkPull))
	for _, m := range members {
		c.listens(m)
	}
	pgtest.Run(t, c.dsn, `DO $$ BEGIN ASSERT (SELECT COUNT(*) = COUNT(DISTINCT version_id) AND COUNT(*) > 0 FROM goose_db_version); END $$`)
	c.visible("the start", members[:9]...)
	c.push(0)
	sync := c.begin(server.WorkSync)
	if err := <-sync.child.ended; err != nil || !strings.Contains(sync.child.out.String(), "p0/app: ") {
		t.Errorf("sync: %v\n%s", err, sync.child.out)
	}
	c.visible("sync", members[0])
}
