package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/testrepos"
)

// mailServer is an SMTP server of this machine.
func mailServer(t *testing.T) (address string, box *postbox) {
	box = &postbox{mails: make(chan [2]string, 10)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := smtp.NewServer(box)
	server.Domain = "localhost"
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String(), box
}

// TestTells: a whole server sends changes to its receivers, signed, and mails to whom asks for
// them; a saved smtp and base_url count from then on, for links, mails and commits; who has
// another address is another receiver.
func TestTells(t *testing.T) {
	t.Parallel()
	const secret = "c2VjcmV0IG9mIHRoaXJ0eS10d28gYnl0ZXMgb2YgaXQ="
	events := make(chan string, 20)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		hook, _ := webhook.NewWebhook(secret)
		if err != nil || hook.Verify(body, r.Header) != nil {
			t.Errorf("not signed: %v %s", r.Header, body)
		}
		events <- r.URL.Path + " " + string(body)
	}))
	t.Cleanup(receiver.Close)
	first, firstBox := mailServer(t)
	second, secondBox := mailServer(t)
	repo, dir := testrepos.Empty(t), t.TempDir()
	po := func(text string) map[string]string {
		return map[string]string{"po/cs.po": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \"" + text + "\"\n"}
	}
	repo.Commit(t, testrepos.Change{Files: po("")})
	file := filepath.Join(dir, "r.yaml")
	save := func(base, hook, smtp string) {
		text := fmt.Sprintf(`base_url: %s
data_dir: data
sign_in: [{id: gh, provider: github, client_id: x, client_secret_env: SECRET}]
translators: {cs: ["gh:jana"]}
notify: [{url: %q, secret_env: HOOK, allow_private: true, events: ["2", "5"]}]
smtp: {address: %q, from: l10n@example.org, tls: none}
projects:
- slug: p
  components: [{slug: app, repo: %q, filemask: po/*.po, push_mode: direct, flush: 1s, commit_message: "See {{ url }}"}]
`, base, receiver.URL+hook, smtp, repo.Path())
		must(t, os.WriteFile(file+".new", []byte(text), 0o600))
		must(t, os.Rename(file+".new", file))
	}
	save("http://localhost", "/first", first)
	environ := []string{"SECRET=s", "HOOK=" + secret}
	c, err := config.Load(file, environ)
	must(t, err)
	c.Listen = "127.0.0.1:0"
	log := &written{}
	ctx, cancel := context.WithCancel(t.Context())
	e, err := Open(ctx, c, Options{Work: WorkServe, Logger: slog.New(slog.NewTextHandler(log, nil)), Line: func(string, string) {}})
	must(t, err)
	at, err := e.Listen(ctx, c)
	must(t, err)
	served := make(chan error)
	go func() {
		served <- e.Serve(ctx, at, Settings{Config: c, Environ: environ, Override: func(*config.Config) error { return nil }, Warn: func(*config.Config) {}, Stdout: io.Discard})
	}()
	t.Cleanup(func() {
		cancel()
		must(t, <-served)
		must(t, e.Close())
		if t.Failed() {
			t.Log(log)
		}
	})
	here := "http://" + at.main.Addr().String()
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not seen: %s", what)
			}
		}
	}
	get := func(target string) string {
		r, err := http.Get(here + target)
		if err != nil {
			return ""
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		return string(body)
	}
	until("the first import", func() bool { return strings.Contains(get("/readyz"), `"ready":true`) })
	a := catalog.Account{Provider: "gh", Subject: "7", Name: "jana", AuthorName: "Jana", AuthorEmail: "7+jana@users.noreply.github.com"}
	cookie, _, err := e.db.Access().SignIn(ctx, &a, time.Hour)
	must(t, err)
	token, err := e.db.Access().CreatePersonal(ctx, &a, catalog.Token{Name: "x", Scope: catalog.ScopeWrite})
	must(t, err)
	asks := func(name, address string) {
		t.Helper()
		form := url.Values{"form": {session.FormToken(cookie)}, "address": {address}}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, here+"/follow/", strings.NewReader(form.Encode()))
		must(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.AddCookie(&http.Cookie{Name: name, Value: cookie})
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusSeeOther {
			t.Fatalf("asking for mails: %d", answer.StatusCode)
		}
	}
	edits := func(text string) {
		t.Helper()
		unit := regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(get("/api/translations/p/app/cs/units/"))[1]
		r, err := http.NewRequestWithContext(ctx, http.MethodPatch, here+"/api/units/"+unit+"/", strings.NewReader(`{"target": ["`+text+`"], "state": 20}`))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Token "+token)
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("editing: %d", answer.StatusCode)
		}
	}
	told := func(path, base, text string) {
		t.Helper()
		if event := <-events; !strings.HasPrefix(event, path+" {") || !strings.Contains(event, `"`+base+"/") || !strings.Contains(event, `"target":["`+text+`"]`) {
			t.Errorf("%s is told %s", path, event)
		}
	}
	committed := func(base, host string) {
		t.Helper()
		want, got := "See "+base+"/projects/p/app/cs/|noreply@"+host, ""
		until(want, func() bool {
			out, err := exec.CommandContext(ctx, "git", "--git-dir="+repo.Path(), "log", "-1", "--format=%s|%ce").Output()
			must(t, err)
			got = strings.TrimSpace(string(out))
			return got == want
		})
	}
	asks("session", "jana@example.org")
	if mail := (<-firstBox.mails)[1]; !strings.Contains(mail, "@localhost>") || !strings.Contains(mail, "http://localhost/account/") {
		t.Error(mail)
	}
	edits("Otevřít")
	told("/first", "http://localhost", "Otevřít")
	committed("http://localhost", "localhost")
	if m := get("/metrics"); !strings.Contains(m, `repoglot_mails_total{result="ok"} 1`) || !strings.Contains(m, `repoglot_notify_deliveries_total{result="ok"} 1`) {
		t.Error(m)
	}
	save("https://l10n.example.org", "/second", second)
	until("the new configuration", func() bool { return strings.Contains(log.String(), "configuration loaded") })
	asks("__Host-session", "jana@example.net")
	if mail := (<-secondBox.mails)[1]; !strings.Contains(mail, "@l10n.example.org>") || !strings.Contains(mail, "https://l10n.example.org/account/") {
		t.Error(mail)
	}
	edits("Otevři")
	told("/second", "https://l10n.example.org", "Otevři")
	committed("https://l10n.example.org", "l10n.example.org")
	if len(events)+len(firstBox.mails) > 0 {
		t.Errorf("more: %d %d", len(events), len(firstBox.mails))
	}
}
