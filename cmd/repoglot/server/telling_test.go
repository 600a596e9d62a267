package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
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
	c, err := config.Load(file, environ, true)
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

// tellingConfig is a server that mails digests and has a receiver that is away.
const tellingConfig = `base_url: http://localhost
data_dir: data
poll_interval: 0
sign_in: [{id: gh, provider: github, client_id: x, client_secret_env: HOOK_SECRET}]
notify: [{url: "http://127.0.0.1:1/", secret_env: RECEIVER_SECRET, allow_private: true}]
smtp: {address: %q, from: l10n@example.org, tls: none}
projects:
- slug: open
  components: [{slug: app, repo: open.git, filemask: po/*.po, push_mode: direct, flush: 10h}]
`

// TestDigestByMail: somebody follows a language, gets what is new in it by a real server of mails, as
// text and as HTML, and ends it with one POST to the address in the mail's header.
func TestDigestByMail(t *testing.T) {
	t.Parallel()
	address, box := mailServer(t)
	dir := t.TempDir()
	repo, err := testrepos.Create(filepath.Join(dir, "open.git"), "empty")
	must(t, err)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n"}})
	z, s := openConfig(t, dir, fmt.Sprintf(tellingConfig, address))
	send := func(method, target, kind, body string, header ...string) *httptest.ResponseRecorder {
		r, rec := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Content-Type", kind)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		z.handler.ServeHTTP(rec, r)
		if rec.Code >= 400 {
			t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
		}
		return rec
	}
	const form = "application/x-www-form-urlencoded"
	a := catalog.Account{Provider: "gh", Subject: "7", Name: "jana", AuthorName: "Jana", AuthorEmail: "jana@example.org"}
	cookie, _, err := s.engine.db.Access().SignIn(t.Context(), &a, time.Hour)
	must(t, err)
	token, err := s.engine.db.Access().CreatePersonal(t.Context(), &a, catalog.Token{Name: "x", Scope: catalog.ScopeSuggest})
	must(t, err)
	send("POST", "/follow/", form, url.Values{"form": {session.FormToken(cookie)}, "language": {"cs"}, "days": {"1"}}.Encode(), "Cookie", "session="+cookie, "Sec-Fetch-Site", "same-origin")
	unit := regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(send("GET", "/api/translations/open/app/cs/units/", "", "").Body.String())[1]
	suggest := func(text string) {
		send("POST", "/api/units/"+unit+"/suggestions/", "application/json", `{"target": ["`+text+`"]}`, "Authorization", "Token "+token)
	}
	suggest("Otevřít")
	must(t, s.api.Digests(t.Context(), time.Now().Add(25*time.Hour)))
	if len(box.mails) != 1 {
		t.Fatalf("%d mails: %s", len(box.mails), z.log)
	}
	m, err := mail.ReadMessage(strings.NewReader((<-box.mails)[1]))
	must(t, err)
	_, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	must(t, err)
	parts, kinds := multipart.NewReader(m.Body, parameters["boundary"]), ""
	for part, err := parts.NextPart(); err == nil; part, err = parts.NextPart() {
		text, err := io.ReadAll(part) // quoted-printable is decoded
		must(t, err)
		kind, _, _ := strings.Cut(part.Header.Get("Content-Type"), ";")
		if kinds += kind + " "; !strings.Contains(string(text), "Open") || !strings.Contains(string(text), "/translate/open/app/cs/?checksum=") {
			t.Errorf("%s: %s", kind, text)
		}
	}
	stop := regexp.MustCompile(`^<http://localhost(/unfollow/\w{26}/)>$`).FindStringSubmatch(m.Header.Get("List-Unsubscribe"))
	if kinds != "text/plain text/html " || stop == nil || m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		t.Fatalf("parts %s, header %v", kinds, m.Header)
	}
	send("POST", stop[1], form, m.Header.Get("List-Unsubscribe-Post"))
	suggest("Otevři")
	must(t, s.api.Digests(t.Context(), time.Now().Add(60*time.Hour)))
	if len(box.mails) > 0 {
		t.Errorf("it was ended: %s", <-box.mails)
	}
}

// TestFailingReceiver: /readyz counts the receivers that took nothing for a day.
func TestFailingReceiver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := testrepos.Create(filepath.Join(dir, "open.git"), "lifecycle")
	must(t, err)
	z, s := openConfig(t, dir, fmt.Sprintf(tellingConfig, "127.0.0.1:1"))
	must(t, s.notify.Set(t.Context(), NewPlan(s.Config).receivers))
	for since, want := range map[time.Duration]string{time.Hour: `"failing":0`, 25 * time.Hour: `"failing":1`} {
		list, err := s.engine.db.Receivers(t.Context())
		must(t, err)
		failing := list[0]
		failing.Failures, failing.Since = 9, time.Now().Add(-since)
		_, err = s.engine.db.SwapReceiver(t.Context(), list[0], failing)
		must(t, err)
		rec := httptest.NewRecorder()
		z.handler.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost/readyz", http.NoBody))
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("failing for %v: %d %s, want %s", since, rec.Code, rec.Body, want)
		}
	}
}
