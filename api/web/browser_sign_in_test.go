package web_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
)

// TestBrowserSignsInWithAccount: a person signs in with the account of a real provider of OpenID
// Connect, sees what the account's role shows, and signs out.
func TestBrowserSignsInWithAccount(t *testing.T) {
	b := openBrowser(t)
	rules := readAxe(t)
	server, issuer := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String()
	_, port, _ := strings.Cut(issuer.Listener.Addr().String(), ":")
	at := "http://localhost:" + port + "/" // another site than 127.0.0.1
	storage.RegisterClients(storage.WebClient("repoglot", "secret", base+"/login/sso/callback"))
	issuer.Config.Handler = exampleop.SetupServer(at, storage.NewStorage(storage.NewUserStore(at)), nil, false)
	issuer.Start()
	defer issuer.Close()
	w := newTranslating(t, api.Options{Settings: api.Settings{
		BaseURL: base, SignIn: []*signin.Provider{signin.New(signin.Options{ID: "sso", Kind: "oidc", URL: at, ClientID: "repoglot", Secret: "secret"})},
		Roles: catalog.RoleBook{Admins: []string{"sso:test-user@zitadel.ch"}},
	}})
	server.Config.Handler = w.s
	server.Start()
	defer server.Close()

	b.inspect(base, "/login/?next=/projects/", "ar", rules, 390, true)
	b.load(base+"/login/?next=/projects/", 1280, false)
	b.leave(func() { b.ask(`document.querySelector(".providers a").click()`) })
	if got := b.ask(`location.origin + " " + document.title`); got != strings.TrimSuffix(at, "/")+" Login" {
		t.Fatalf("at the provider: %s", got)
	}
	b.ask(`document.getElementById("username").value = "test-user@localhost"; document.getElementById("password").value = "verysecure"`)
	b.leave(func() { b.ask(`document.forms[0].requestSubmit()`) })
	if got := b.ask(`location.href + " " + document.querySelector("a[href='/account/']").textContent`); got != base+"/projects/ Test User" {
		t.Errorf("signed in: %s", got)
	}
	if got := b.ask(`document.cookie`); got != "" {
		t.Errorf("a script sees %s", got)
	}
	u, err := url.Parse(b.ask(`location.href`))
	if err != nil || u.RawQuery != "" {
		t.Errorf("the code is still in the address: %v", u)
	}
	b.inspect(base, w.address("app", "ar", "Open", ""), "en", rules, 1280, false)
	if got := b.ask(`document.querySelectorAll("textarea:not([readonly])").length`); got == "0" {
		t.Error("the account's role edits nothing")
	}
	b.inspect(base, "/login/", "en", rules, 1280, false)
	b.push(`form[action='/logout/'] button`)
	if got := b.ask(`location.pathname + document.querySelectorAll(".providers a").length`); got != "/login/1" {
		t.Errorf("signed out: %s", got)
	}
	if len(b.errors) > 0 {
		t.Errorf("the console: %q", b.errors)
	}
}
