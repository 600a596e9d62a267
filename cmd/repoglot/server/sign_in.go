package server

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/forge"
)

func providersOf(c *config.Config) []*signin.Provider {
	var list []*signin.Provider
	for _, s := range c.SignIn {
		list = append(list, signin.New(signin.Options{ID: s.ID, Kind: s.Provider, URL: s.URL, ClientID: s.ClientID, Secret: string(s.ClientSecret), Members: s.Allow.Members}))
	}
	return list
}

const (
	pushHeld, pushFailed = time.Hour, time.Minute // how long an answer holds, or none
	maxPushAnswers       = 10_000
	pushQuestions        = 8 // at a time; of an account one
	pushWait             = 10 * time.Second
)

// pushers asks forges who may push to repositories of components with `translators: push`.
type pushers struct {
	log   *slog.Logger
	now   func() time.Time
	may   func(ctx context.Context, o forge.Options, name, id string) (bool, error)
	asks  map[[2]string]question // by project and slug, of a discovery its pattern
	turns *limit.Pool

	mu      sync.Mutex
	answers map[[2]string]pushAnswer // by forge with repository, and account
}

// question is the repository to ask for, and the ids of providers with accounts of its forge.
type question struct {
	options forge.Options
	of      map[string]bool
}

type pushAnswer struct {
	may   bool
	until time.Time
}

func newPushers(c *config.Config, log *slog.Logger) *pushers {
	p := &pushers{log: log, now: time.Now, may: forge.MayPush, asks: map[[2]string]question{}, turns: limit.NewPool("forge_questions", pushQuestions, 1), answers: map[[2]string]pushAnswer{}}
	for project, component := range c.Components() {
		if component.Translators == "" {
			continue
		}
		q := question{component.ForgeOptions(string(component.ForgeToken)), map[string]bool{}}
		for _, s := range c.SignIn {
			q.of[s.ID] = s.Forge() == component.ForgeHost()
		}
		p.asks[[2]string{project.Slug, component.Slug}] = q
	}
	return p
}

// pushes reports whether a component lets an account edit. ask asks the forge, if that is not
// known; one that does not answer says no.
func (p *pushers) pushes(a *catalog.Account, c *store.ComponentRow) (may bool, ask func(context.Context)) {
	q, ok := p.asks[[2]string{c.Project.Slug, cmp.Or(c.Settings.Discovery.Slug, c.Slug)}]
	if !ok || !q.of[a.Provider] {
		return false, nil
	}
	key := [2]string{q.options.Kind + " " + q.options.URL + " " + q.options.Repository, a.Provider + ":" + a.Subject}
	if known := p.known(key); known != nil {
		return known.may, nil
	}
	return false, func(ctx context.Context) { p.ask(ctx, a, q.options, key) }
}

func (p *pushers) ask(ctx context.Context, a *catalog.Account, o forge.Options, key [2]string) {
	within, cancel := context.WithTimeout(ctx, pushWait)
	defer cancel()
	turn, err := p.turns.Turn(within, strconv.FormatInt(a.ID, 10), pushWait)
	if err != nil {
		return
	}
	defer turn.Release()
	if p.known(key) != nil { // asked by the turn before
		return
	}
	may, err := p.may(within, o, a.Name, a.Subject)
	held := pushHeld
	if err != nil {
		held = pushFailed
		p.log.Warn("the forge does not say whether an account may push, so it may not edit", "account", a.Provider+":"+a.Name, "repository", o.Repository, "error", err)
	}
	if ctx.Err() != nil { // the client is gone, not the forge
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) >= maxPushAnswers {
		clear(p.answers)
	}
	p.answers[key] = pushAnswer{may && err == nil, p.now().Add(held)}
}

func (p *pushers) known(key [2]string) *pushAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok := p.answers[key]; ok && p.now().Before(a.until) {
		return &a
	}
	return nil
}
