package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/forge"
)

const pushConfig = `base_url: https://l10n.example.org
sign_in:
  - {id: gh, provider: github, client_id: a, client_secret_env: S}
  - {id: own, provider: github, url: https://git.example.org, client_id: a, client_secret_env: S}
projects:
  - slug: p
    components:
      - {slug: a, repo: "https://github.com/o/r.git", filemask: "*.po", push_mode: direct, forge: github, forge_token_env: T, translators: push}
      - {slug: "d-{component}", repo: "https://github.com/o/r.git", filemask: "{component}/*.po", push_mode: direct, forge: github, forge_token_env: T, translators: push}
      - {slug: other, repo: "https://github.com/o/r.git", filemask: "x/*.po", push_mode: direct, forge: github, forge_token_env: T}
`

// TestPushers: the forge is asked once an hour and once at a time whether an account of its own may
// push; no answer means no, and is asked for again after a minute.
func TestPushers(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f", []byte(pushConfig), []string{"S=s", "T=secret"})
	if err != nil {
		t.Fatal(err)
	}
	p := newPushers(c, slog.New(slog.DiscardHandler))
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return now }
	var asked, at, most atomic.Int64
	var answer error
	p.may = func(_ context.Context, o forge.Options, name, id string) (bool, error) {
		asked.Add(1)
		most.Store(max(most.Load(), at.Add(1)))
		defer at.Add(-1)
		if o.Kind != "github" || o.Repository != "o/r" || o.Token != "secret" {
			t.Errorf("asked for %+v", o)
		}
		return name == "jana" && id == "7", answer
	}
	row := func(slug, discovery string) *store.ComponentRow {
		c := &store.ComponentRow{Component: catalog.Component{Slug: slug}, Project: catalog.Project{Slug: "p"}}
		c.Settings.Discovery.Slug = discovery
		return c
	}
	may := func(provider, name, id, slug, discovery string) bool {
		a, c := &catalog.Account{ID: 1, Provider: provider, Name: name, Subject: id}, row(slug, discovery)
		is, ask := p.pushes(a, c)
		if ask != nil {
			ask(t.Context())
			is, _ = p.pushes(a, c)
		}
		return is
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !may("gh", "jana", "7", "a", "") {
				t.Error("may not push")
			}
		})
	}
	group.Wait()
	if asked.Load() != 1 || most.Load() != 1 {
		t.Errorf("asked %d times, %d at a time", asked.Load(), most.Load())
	}
	for _, no := range [][4]string{{"own", "jana", "7", "a"}, {"gh", "jana", "7", "other"}, {"gh", "jana", "7", "none"}, {"x", "jana", "7", "a"}} {
		if may(no[0], no[1], no[2], no[3], "") {
			t.Errorf("%q may", no)
		}
	}
	if !may("gh", "jana", "7", "d-x", "d-{component}") || asked.Load() != 1 { // the same repository
		t.Errorf("asked %d times", asked.Load())
	}
	once := func(name, id string, asks int64) bool { // also if it is asked again
		first := may("gh", name, id, "a", "")
		return !first && !may("gh", name, id, "a", "") && int64(asked.Load()) == asks
	}
	if !once("eva", "8", 2) {
		t.Errorf("somebody else: asked %d times", asked.Load())
	}
	now, answer = now.Add(time.Hour), errors.New("away")
	if !once("jana", "7", 3) {
		t.Errorf("no answer: asked %d times", asked.Load())
	}
	now, answer = now.Add(time.Minute), nil
	if !may("gh", "jana", "7", "a", "") || asked.Load() != 4 {
		t.Errorf("again: asked %d times", asked.Load())
	}
	for i := range maxPushAnswers + 10 {
		p.answers[[2]string{"x", time.Duration(i).String()}] = pushAnswer{}
	}
	if may("gh", "new", "9", "a", ""); len(p.answers) > 1 {
		t.Errorf("%d answers are kept", len(p.answers))
	}
}

// TestSettingsOfSignIn: providers and roles of the configuration are those of the API.
func TestSettingsOfSignIn(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f", []byte(pushConfig+"admins: [\"gh:boss\"]\n"), []string{"S=s", "T=secret"})
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(c, slog.New(slog.DiscardHandler))
	if len(s.SignIn) != 2 || s.SignIn[0].Name() != "GitHub" || s.SignIn[1].Name() != "git.example.org" || s.SignIn[1].Secret != "s" || s.Pushes == nil {
		t.Errorf("%+v", s.SignIn)
	}
	if roles := s.Roles.Of(&catalog.Account{Provider: "gh", Names: "boss"}); len(roles) != 1 || roles[0].Scope != catalog.ScopeAdmin {
		t.Errorf("roles %v", roles)
	}
}
