package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

const (
	forgeToken = "forge-token-4711-of-the-bot"
	forgeFile  = `msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"PO-Revision-Date: 2020-01-01 00:00+0000\n"
"Last-Translator: Nobody\n"

msgid "One"
msgstr ""

msgid "Two"
msgstr "Dvě"
`
)

// forgeWorld is a whole server whose components have their repositories and requests on
// a forge, which it reaches by https, with a token.
type forgeWorld struct {
	t        *testing.T
	host     *forgeHost
	dir      string
	address  string // of the forge
	url      string // of the server
	server   *child
	tokens   map[string]string
	env      []string
	projects []*forgeProject
	text     string // the configuration, if it is not made of the projects
}

// forgeProject is a project with one component.
type forgeProject struct {
	*forgeWorld
	slug     string
	repo     *testrepos.Repo
	fake     *testrepos.Forge
	settings map[string]any
	units    map[string]string // addresses by source
}

func newForgeWorld(t *testing.T) *forgeWorld {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true, but there is no git program")
		}
		t.Skip("skipped: there is no git program on this machine")
	}
	w := &forgeWorld{t: t, dir: t.TempDir(), tokens: map[string]string{}}
	w.host = &forgeHost{Root: filepath.Join(w.dir, "forge")}
	server := httptest.NewTLSServer(w.host)
	t.Cleanup(server.Close)
	t.Cleanup(w.end)
	w.address = server.URL
	ca := filepath.Join(w.dir, "ca", "ca.pem") // alone in its folder: git reads all of it for each call
	must(t, os.Mkdir(filepath.Dir(ca), 0o700))
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	w.env = []string{childVar + "=1", "HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "SSL_CERT_FILE=" + ca, "SSL_CERT_DIR=" + filepath.Dir(ca), "BOT_TOKEN=" + forgeToken}
	return w
}

// add adds a project whose repository is on a forge; settings are those of its component.
func (w *forgeWorld) add(kind string, files map[string]string, settings map[string]any) *forgeProject {
	w.t.Helper()
	p := &forgeProject{forgeWorld: w, slug: fmt.Sprintf("p%d", len(w.projects)), units: map[string]string{}}
	p.fake = &testrepos.Forge{Kind: kind, Repository: "own/" + p.slug, Token: forgeToken}
	if kind == "gitlab" {
		p.fake.Repository = "own/group/" + p.slug
	}
	var err error
	p.repo, err = testrepos.Create(filepath.Join(w.host.Root, filepath.FromSlash(p.fake.Repository)+".git"), "empty")
	must(w.t, err)
	p.repo.Commit(w.t, testrepos.Change{Files: files})
	p.settings = map[string]any{
		"slug": "app", "repo": w.address + "/" + p.fake.Repository + ".git", "filemask": "po/*.po", "push_mode": "request", "flush": "10h",
		"forge": kind, "forge_url": w.address, "forge_token_env": "BOT_TOKEN",
	}
	maps.Copy(p.settings, settings)
	w.host.Forges = append(w.host.Forges, p.fake)
	w.projects = append(w.projects, p)
	return p
}

// configure writes the configuration.
func (w *forgeWorld) configure() {
	w.t.Helper()
	var projects []any
	for _, p := range w.projects {
		projects = append(projects, map[string]any{"slug": p.slug, "components": []any{p.settings}})
	}
	text, err := json.MarshalIndent(map[string]any{
		"listen": "127.0.0.1:0", "base_url": "https://l10n.example.org:8443", "data_dir": "data", "committer": "L10n Bot <l10n-bot@example.org>", "poll_interval": "10h", "projects": projects,
		"credentials": []any{map[string]string{"host": strings.TrimPrefix(w.address, "https://"), "username": "l10n-bot", "password_env": "BOT_TOKEN"}},
	}, "", " ") // one line would be too long
	must(w.t, err)
	if w.text != "" {
		text = []byte(w.text)
	}
	must(w.t, os.WriteFile(filepath.Join(w.dir, "r.yaml"), text, 0o600))
}

// command is a command of the program.
func (w *forgeWorld) command(args ...string) *exec.Cmd {
	exe, err := os.Executable()
	must(w.t, err)
	cmd := exec.Command(exe, append(args, "--config", "r.yaml")...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// start makes tokens and starts the server.
func (w *forgeWorld) start() {
	w.t.Helper()
	w.configure()
	for name, args := range map[string][]string{
		"jana": {"--scope", "write", "--author", "Jana Nováková", "--email", "jana@example.org"},
		"petr": {"--scope", "write", "--author", "Petr", "--email", "petr@example.org"},
		"ops":  {"--scope", "admin"},
	} {
		cmd := w.command(append(append([]string{"token", "create"}, args...), name)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		must(w.t, err)
		w.tokens[name] = strings.TrimSpace(string(out))
	}
	w.serve()
}

// serve starts the server and waits until all was imported.
func (w *forgeWorld) serve() {
	w.t.Helper()
	c := &child{cmd: w.command("serve"), out: &output{}, err: &output{}, ended: make(chan error, 1)}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.err
	must(w.t, c.cmd.Start())
	go func() { c.ended <- c.cmd.Wait() }()
	w.server = c
	if !until(func() bool { w.url = listening.FindString(c.out.String()); return w.url != "" }) {
		w.t.Fatal("the server does not listen")
	}
	if !until(func() bool {
		status, _ := w.try(http.MethodGet, "/readyz", "", nil)
		return status == http.StatusOK
	}) {
		w.t.Fatal("the server does not get ready")
	}
}

// stop stops the server.
func (w *forgeWorld) stop() {
	w.t.Helper()
	_ = w.server.cmd.Process.Signal(os.Interrupt)
	select {
	case err := <-w.server.ended:
		if err != nil {
			w.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(patience):
		_ = w.server.cmd.Process.Kill()
		w.t.Error("the server does not stop")
	}
}

// end ends the test. Nothing that the server wrote has the forge's token, and nothing that
// the forge was sent was wrong.
func (w *forgeWorld) end() {
	if w.server == nil {
		return
	}
	w.stop()
	w.sweep()
	if w.t.Failed() {
		w.t.Logf("the server:\n%s%s", w.server.out, w.server.err)
	}
}

// sweep looks for the forge's token in what the server wrote.
func (w *forgeWorld) sweep() {
	w.t.Helper()
	if log := w.server.err.String(); strings.Contains(log, forgeToken) {
		w.t.Errorf("the log has the forge's token:\n%s", log)
	}
	must(w.t, filepath.WalkDir(filepath.Join(w.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(forgeToken)) {
			w.t.Errorf("%s has the forge's token", path)
		}
		return err
	}))
	for _, p := range w.projects {
		if problems := p.fake.Problems(); len(problems) > 0 {
			w.t.Errorf("%s was sent: %q", p.fake.Kind, problems)
		}
	}
}

// try sends a request with the token of somebody, and returns the status and the body.
func (w *forgeWorld) try(method, path, who string, body any) (int, []byte) {
	w.t.Helper()
	data, err := json.Marshal(body)
	must(w.t, err)
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, bytes.NewReader(data))
	must(w.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		req.Header.Set("Authorization", "Token "+w.tokens[who])
	}
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer res.Body.Close()
	data, err = io.ReadAll(res.Body)
	must(w.t, err)
	return res.StatusCode, data
}

// call is try that wants a status below 300 and reads the body into a value.
func (w *forgeWorld) call(method, path, who string, body, into any) {
	w.t.Helper()
	status, data := w.try(method, path, who, body)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, status, data)
	}
	if into != nil {
		must(w.t, json.Unmarshal(data, into))
	}
}

// edit gives a string another text, in the name of somebody.
func (p *forgeProject) edit(who, source, target string) {
	p.t.Helper()
	if len(p.units) == 0 {
		for _, u := range p.strings() {
			p.units[u.Source[0]] = fmt.Sprintf("/api/units/%d/", u.ID)
		}
	}
	p.call(http.MethodPatch, p.units[source], who, map[string]any{"target": []string{target}, "state": 20}, nil)
}

// operate runs an operation on the repository, and returns why it failed.
func (p *forgeProject) operate(operation string) string {
	p.t.Helper()
	var done struct {
		Result bool
		Detail string
	}
	p.call(http.MethodPost, "/api/components/"+p.slug+"/app/repository/", "ops", map[string]string{"operation": operation}, &done)
	if done.Result != (done.Detail == "") {
		p.t.Errorf("%s: %+v", operation, done)
	}
	return done.Detail
}

// push pushes what is pending, which must not fail.
func (p *forgeProject) push() {
	p.t.Helper()
	if why := p.operate("push"); why != "" {
		p.t.Errorf("%s: push: %s", p.slug, why)
	}
}

// forgeUnit is a string as the API has it.
type forgeUnit struct {
	ID             int64
	Source, Target []string
	Pending        bool
	HasSuggestion  bool `json:"has_suggestion"`
}

func (p *forgeProject) strings() []forgeUnit {
	p.t.Helper()
	var list struct{ Results []forgeUnit }
	p.call(http.MethodGet, "/api/translations/"+p.slug+"/app/cs/units/", "", nil, &list)
	return list.Results
}

// forgeEdit is an edit as the API has it.
type forgeEdit struct {
	ID             int64
	Status, Reason string
	Target         []string
	Authors        []string
}

func (p *forgeProject) edits() []forgeEdit {
	p.t.Helper()
	var list struct{ Results []forgeEdit }
	p.call(http.MethodGet, "/api/components/"+p.slug+"/app/edits/", "", nil, &list)
	return list.Results
}

// state is what is served: each text, with * if it is pending and ? if it has a
// suggestion; then what became of the edits.
func (p *forgeProject) state() string {
	p.t.Helper()
	var served, journal []string
	for _, u := range p.strings() {
		text := strings.Join(u.Target, "/")
		if u.Pending {
			text += "*"
		}
		if u.HasSuggestion {
			text += "?"
		}
		served = append(served, text)
	}
	for _, e := range p.edits() {
		journal = append(journal, strings.TrimSpace(strings.Join(e.Target, "/")+" "+e.Status+" "+e.Reason))
	}
	return strings.Join(served, " ") + " | " + strings.Join(journal, ", ")
}

// entries are the actions of the entries about strings after one, and the last one's id.
func (p *forgeProject) entries(after int64) (actions []string, last int64) {
	p.t.Helper()
	var list struct {
		Results []struct {
			ID     int64
			Action int
			Unit   string
		}
	}
	p.call(http.MethodGet, "/api/translations/"+p.slug+"/app/cs/changes/?page_size=1000", "", nil, &list)
	for _, c := range list.Results {
		last = max(last, c.ID)
		if c.Unit != "" && c.ID > after {
			actions = append(actions, fmt.Sprint(c.Action))
		}
	}
	slices.Sort(actions)
	return actions, last
}

// branch is the branch of the server's own.
func (p *forgeProject) branch() string {
	if p.settings["request_per"] == "language" {
		return "l10n/cs"
	}
	return "repoglot/" + p.slug + "/app"
}

// ours is the file on it.
func (p *forgeProject) ours() string {
	p.t.Helper()
	return string(p.repo.File(p.t, p.branch(), "po/cs.po"))
}

// theirs has somebody push a file with two texts to the main branch.
func (p *forgeProject) theirs(one, two string) {
	p.t.Helper()
	p.repo.Commit(p.t, testrepos.Change{Files: map[string]string{"po/cs.po": forgeTexts(one, two)}, Author: "Maintainer <m@example.org>"})
}

// forgeTexts is the file with two texts.
func forgeTexts(one, two string) string {
	return strings.NewReplacer(`"One"`+"\n"+`msgstr ""`, `"One"`+"\n"+`msgstr "`+one+`"`, "Dvě", two).Replace(forgeFile)
}
