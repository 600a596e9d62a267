package server

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/testrepos"
)

// canary is in all texts of the private repository of the fuzzed server: strings,
// notes, paths, authors, messages; and in the names of private resources.
const canary = "kanari"

// fuzzed is a whole server with a public and a private repository, a token and its
// log.
type fuzzed struct {
	handler http.Handler
	key     string
	log     *written
}

const fuzzedConfig = `listen: 127.0.0.1:0
data_dir: data
poll_interval: 0
projects:
- slug: open
  components:
  - {slug: app, repo: open.git, filemask: po/*.po, new_base: po/kettle.pot}
  - {slug: closed, name: kanari closed, access: private, repo: kanari.git, filemask: po/*.po, webhook_secret_env: HOOK_SECRET}
- slug: vault
  name: kanari project
  access: private
  components:
  - {slug: box, name: kanari component, repo: kanari.git, filemask: po/*.po, report_source_bugs: kanari@example.org}
`

// newFuzzed is a whole server whose streams end at once.
func newFuzzed(f testing.TB) fuzzed {
	f.Helper()
	z, s := openWhole(f)
	s.api.EndStreams()
	return z
}

// openWhole pulls both repositories and leaves the supervisor running, for
// webhooks.
func openWhole(f testing.TB) (fuzzed, *server) {
	f.Helper()
	dir := f.TempDir()
	_, err := testrepos.Create(filepath.Join(dir, "open.git"), "lifecycle")
	must(f, err)
	repo, err := testrepos.Create(filepath.Join(dir, canary+".git"), "lifecycle")
	must(f, err)
	_, err = repo.Push(testrepos.Change{
		Author: canary + " author <" + canary + "@example.org>", Message: canary + " message",
		Delete: []string{"po"},
		Files: map[string]string{"po/eo.po": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n!=1;\\n\"\n\n" +
			"# " + canary + " note\n#: " + canary + ".c:1\nmsgctxt \"" + canary + " context\"\nmsgid \"" + canary + " source\"\nmsgstr \"" + canary + " target <script>alert(1)</script>\"\n"},
	})
	must(f, err)
	return openConfig(f, dir, fuzzedConfig)
}

// openConfig serves a configuration whose files are below dir, after a first pull of
// everything.
func openConfig(f testing.TB, dir, configuration string) (fuzzed, *server) {
	f.Helper()
	file := filepath.Join(dir, "r.yaml")
	must(f, os.WriteFile(file, []byte(configuration), 0o600))
	c, err := config.Load(file, []string{"HOOK_SECRET=s", "RECEIVER_SECRET=c2VjcmV0IG9mIHRoaXJ0eS10d28gYnl0ZXMgb2YgaXQ="}, true)
	must(f, err)
	said := &written{}
	log := slog.New(slog.NewTextHandler(said, nil))
	ctx, cancel := context.WithCancel(context.Background())
	e, err := Open(ctx, c, Options{Work: WorkServe, Logger: log, Line: func(string, string) {}})
	must(f, err)
	s := &server{Settings: Settings{Config: c}, log: log, engine: e, origin: "http://l10n.example.org"}
	plan := NewPlan(c)
	must(f, e.configureOnce(ctx, plan))
	rt, metrics, end := s.handler()
	rt.metrics = metrics
	s.pulls.flusher = newPusher(e, c, s.base)
	s.pulls.set(plan, c.PollInterval)
	ended := make(chan error, 1)
	go func() { ended <- s.pulls.run(ctx) }()
	<-s.pulls.sched.FirstRound()
	f.Cleanup(func() {
		end()
		cancel()
		<-ended
		if err := e.Close(); err != nil {
			f.Error(err)
		}
	})
	key, err := e.db.Access().CreateToken(ctx, catalog.Token{Name: "t", Scope: catalog.ScopeRead, Created: time.Now()})
	must(f, err)
	return fuzzed{handler: protect(rt, log), key: key, log: said}, s
}

// ask sends one request.
func (z fuzzed) ask(ctx context.Context, method string, u *url.URL, header http.Header, body string) (rec *httptest.ResponseRecorder) {
	r := (&http.Request{
		Method: method, URL: u, Host: "l10n.example.org", RequestURI: u.String(), RemoteAddr: "192.0.2.1:1",
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	rec = httptest.NewRecorder() // also of an answer that is broken off
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // as it is thrown
			panic(p)
		}
	}()
	z.handler.ServeHTTP(rec, r)
	return rec
}

// plain returns the text of an answer: headers and the decoded body.
func plain(rec *httptest.ResponseRecorder) string {
	var out strings.Builder
	fmt.Fprintln(&out, rec.Header())
	body := rec.Body.Bytes()
	switch rec.Header().Get("Content-Encoding") {
	case "gzip":
		if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(z)
		}
	case "zstd":
		if z, err := zstd.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(z)
			z.Close()
		}
	}
	out.Write(body)
	if z, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); err == nil {
		for _, f := range z.File {
			fmt.Fprintln(&out, f.Name)
			if r, err := f.Open(); err == nil {
				_, _ = io.Copy(&out, r)
			}
		}
	}
	return out.String()
}

// paths returns the paths of the OpenAPI description, filled in for a component.
func (z fuzzed) paths(tb testing.TB, project, component, language string) []string {
	tb.Helper()
	u, err := url.Parse("/api/schema/?format=json")
	must(tb, err)
	var doc struct {
		Paths map[string]any `json:"paths"`
	}
	must(tb, json.Unmarshal(z.ask(context.Background(), http.MethodGet, u, http.Header{}, "").Body.Bytes(), &doc))
	param := regexp.MustCompile(`\{[^}]*\}`)
	var list []string
	for path := range doc.Paths {
		list = append(list, param.ReplaceAllStringFunc(path, func(name string) string {
			switch strings.Trim(name, "{}") {
			case "project":
				return project
			case "component":
				return component
			case "language", "code":
				return language
			case "username":
				return canary + "-author"
			case "widget":
				return "svg-badge.svg"
			default:
				return "1"
			}
		}))
	}
	if len(list) < 60 {
		tb.Fatalf("only %d paths are described", len(list))
	}
	return list
}

// seeds calls add with requests for every resource.
func (z fuzzed) seeds(tb testing.TB, add func(method, target, name, value, body string)) {
	accepts := []string{"*/*", "text/html", "application/x-ndjson", "text/csv"}
	for _, of := range [][3]string{{"open", "app", "cs"}, {"open", "closed", "eo"}, {"vault", "box", "eo"}} {
		for i, path := range z.paths(tb, of[0], of[1], of[2]) {
			for _, accept := range accepts {
				add("GET", path, "Accept", accept, "")
			}
			for _, query := range []string{"?format=csv&page_size=1000", "?format=po", "?format=zip", "?format=xlsx", "?format=json", "?q=a&ordering=-id"} {
				add("GET", path+query, "Accept-Encoding", []string{"gzip", "zstd", ""}[i%3], "")
			}
			add([]string{"HEAD", "OPTIONS", "POST", "PUT", "DELETE"}[i%5], path, "Range", "bytes=0-9", "{}")
		}
		name := of[0] + "/" + of[1]
		for _, path := range []string{"/git/" + name + "/info/refs?service=git-upload-pack", "/git/" + name + "/", "/git/" + name + "/info/refs?service=git-receive-pack", "/hooks/update/" + name + "/", "/hooks/update/" + of[0] + "/", "/projects/" + name + "/", "/translate/" + name + "/" + of[2] + "/", "/engage/" + of[0] + "/", "/changes/browse/" + name + "/", "/projects/" + of[0] + "/", "/projects/" + name + "/" + of[2] + "/", "/languages/" + of[2] + "/", "/user/" + canary + "-author/", "/search/?lang=eo&q=%3Cscript%3E" + of[1], "/changes/?user=%3Cscript%3E", "/checks/?sort=%3Cscript%3E"} {
			add("GET", path, "Accept", "text/html", "")
			add("POST", path, "Authorization", "Basic eDp5", "{}")
		}
		add("POST", "/git/"+name+"/git-upload-pack", "Content-Type", "application/x-git-upload-pack-request", "0014command=ls-refs\n0000")
		add("POST", "/git/"+name+"/git-upload-pack", "Content-Type", "application/x-git-upload-pack-request", "0032want "+strings.Repeat("1", 40)+"\n00000009done\n")
	}
	push := `{"ref":"refs/heads/main","repository":{"name":"open","full_name":"a/open","clone_url":"https://example.org/a/open.git","html_url":"https://example.org/a/open"},"project":{"git_http_url":"x"}}`
	for _, service := range []string{"github", "gitlab", "gitea", "forgejo", "bitbucket", "azure", "pagure", "gitee", "nothing"} {
		add("POST", "/hooks/"+service+"/", "Content-Type", "application/json", push)
		add("POST", "/hooks/"+service+"/", "X-GitHub-Event", "push", "payload="+url.QueryEscape(push))
	}
	for _, path := range []string{"/", "/healthz", "/readyz", "/metrics", "/nothing", "/api/docs/", "//", "/api", "/git/", "/hooks/", "*", "/api/./projects/%76ault/", "/api//projects//vault/"} {
		add("GET", path, "Accept", "text/html,*/*;q=0.8", "")
		add("GET", path, "Authorization", "Token x", "")
	}
}

// check sends a request with the token and then without one.
func (z fuzzed) check(t *testing.T, method, target, name, value, body string) {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil || strings.Contains(value, z.key) || method == "" {
		return
	}
	header := func() http.Header {
		h := http.Header{}
		h.Add(name, value)
		return h
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	with := header()
	with.Set("Authorization", "Token "+z.key)
	for _, h := range []http.Header{with, header()} {
		rec := z.ask(ctx, method, u, h, body)
		if rec == nil {
			continue
		}
		if rec.Code >= 500 && (rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "") {
			t.Errorf("%s %s %s: %q: %d %s", method, target, name, value, rec.Code, rec.Body)
		}
		if kind := rec.Header().Get("Content-Type"); rec.Header().Get("X-Content-Type-Options") != "nosniff" || kind != "application/json" && rec.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s %s: %s without its headers: %v", method, target, kind, rec.Header())
		}
		if kind := rec.Header().Get("Content-Type"); strings.HasPrefix(kind, "text/html") && strings.Contains(strings.ToLower(plain(rec)), "<script") {
			t.Errorf("%s %s %s: %q: a text became markup: %.2000s", method, target, name, value, plain(rec))
		}
		sent := strings.ToLower(target + value + body)
		if decoded, err := url.PathUnescape(sent); err == nil {
			sent += decoded
		}
		if h.Get("Authorization") != with.Get("Authorization") && strings.Contains(strings.ToLower(plain(rec)), canary) && !strings.Contains(sent, "kana") {
			t.Errorf("%s %s %s: %q tells everybody of what is private: %d %.2000s", method, target, name, value, rec.Code, plain(rec))
		}
	}
	if said := z.log.String(); strings.Contains(said, "level=ERROR") {
		t.Errorf("%s %s %s: %q: the log says %s", method, target, name, value, said)
	}
}

// FuzzServer sends requests to all resources: there is never a 5xx, except 503 with
// Retry-After, never an error in the log, never a script in a page, and without a token
// never a word of private texts.
func FuzzServer(f *testing.F) {
	z := newFuzzed(f)
	n, fuzzing := 0, flag.Lookup("test.fuzz").Value.String() != ""
	z.seeds(f, func(method, target, name, value, body string) {
		if n++; !fuzzing || n%11 == 0 { // measuring the coverage of 3,000 seeds takes a minute
			f.Add(method, target, name, value, body)
		}
	})
	f.Fuzz(z.check)
}

// TestServerCanaries: with the token, answers have the canaries.
func TestServerCanaries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it starts servers")
	}
	t.Parallel()
	z := newFuzzed(t)
	told := 0
	z.seeds(t, func(method, target, name, value, body string) {
		u, err := url.ParseRequestURI(target)
		must(t, err)
		h := http.Header{name: {value}}
		h.Set("Authorization", "Token "+z.key)
		if rec := z.ask(t.Context(), method, u, h, body); rec != nil && strings.Contains(strings.ToLower(plain(rec)), canary) {
			told++
		}
	})
	if told < 300 {
		t.Errorf("only %d requests with a token are told of what is private", told)
	}
}
