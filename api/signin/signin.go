// Package signin asks providers who somebody is: forges by OAuth 2.0, others by OpenID Connect.
//
// Goals: the authorization code flow with PKCE, by kept libraries; an identity that nobody else
// can have (the provider's subject, never a name); answers of providers are bounded in size and
// time, followed nowhere else, and their words are in no page. Non-goals: what an account may,
// sessions, and keeping the provider's token, which is dropped once it said who it is.
package signin

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/repoglot/repoglot/catalog"
)

// Why nobody was signed in. Errors wrap one of these.
var (
	// ErrAway: the provider does not answer, or not as its manual says.
	ErrAway = errors.New("the provider does not answer")
	// ErrRefused: it refuses this server, or the code.
	ErrRefused = errors.New("the provider refused this server")
	// ErrForged: the answer is not one to the question that was asked.
	ErrForged = errors.New("the answer is of another sign-in or provider")
	// ErrNoMember: the account is not among those that may sign in.
	ErrNoMember = errors.New("the account is no member")
)

const (
	timeout   = 10 * time.Second
	maxAnswer = 512 << 10
	// discovered is how long what an issuer says of itself is kept.
	discovered = time.Hour
	pause      = 5 * time.Second
)

// Options are a provider as it is configured.
type Options struct {
	// ID names it in addresses and roles, Kind is github, gitlab, gitea, forgejo or oidc.
	ID, Kind string
	// URL is its address; "" stands for github.com or gitlab.com.
	URL string
	// ClientID and Secret are what it knows this server by.
	ClientID, Secret string
	// Members are the organisations and teams that may sign in; nil: anyone.
	Members []string
}

// Provider is a provider. It is safe for concurrent use.
type Provider struct {
	Options
	client *http.Client

	mu     sync.Mutex
	issuer *oidc.Provider // nil: not known
	away   error          // why it is not known
	asked  time.Time
}

// New makes a provider. It does not use the network.
func New(o Options) *Provider {
	return &Provider{Options: o, client: &http.Client{
		Timeout: timeout, Transport: bounded{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // secrets go nowhere else
	}}
}

// bounded sends requests where nobody listens, and reads bounded answers.
type bounded struct{}

func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !catalog.Encrypted(r.URL) {
		return nil, errors.New("the address is not https")
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}

// Name is what people call the provider.
func (p *Provider) Name() string {
	if f, ok := forges[p.Kind]; ok && (p.URL == "" || p.URL == f.public) {
		return f.name
	}
	if u, err := url.Parse(p.URL); err == nil {
		return u.Host
	}
	return p.ID
}

// Begin returns the address at the provider that a browser is sent to, which sends it back to
// redirect. It fills in what the provider must know later.
func (p *Provider) Begin(ctx context.Context, redirect string, f *catalog.SignIn) (string, error) {
	c, err := p.config(ctx, redirect)
	if err != nil {
		return "", err
	}
	f.Provider, f.Verifier = p.ID, oauth2.GenerateVerifier()
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(f.Verifier)}
	if p.Kind == "oidc" {
		f.Nonce = oauth2.GenerateVerifier()
		options = append(options, oidc.Nonce(f.Nonce))
	}
	return c.AuthCodeURL(f.State, options...), nil
}

func (p *Provider) config(ctx context.Context, redirect string) (*oauth2.Config, error) {
	c := &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.Secret, RedirectURL: redirect}
	if f, ok := forges[p.Kind]; ok {
		c.Scopes, c.Endpoint = f.scopes, oauth2.Endpoint{AuthURL: p.base() + f.authorize, TokenURL: p.base() + f.token, AuthStyle: oauth2.AuthStyleInParams}
		if len(p.Members) > 0 {
			c.Scopes = append(slices.Clip(f.scopes), f.members)
		}
		return c, nil
	}
	issuer, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	c.Scopes, c.Endpoint = []string{oidc.ScopeOpenID, "profile", "email"}, issuer.Endpoint()
	return c, nil
}

// discover asks an issuer for its addresses, once an hour, or soon again if it is away.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch age := time.Since(p.asked); {
	case p.issuer != nil && age < discovered:
		return p.issuer, nil
	case p.away != nil && age < pause:
		return nil, p.away
	}
	issuer, err := oidc.NewProvider(p.with(context.WithoutCancel(ctx)), p.URL)
	p.issuer, p.away, p.asked = issuer, nil, time.Now()
	if err != nil {
		p.away = failed(err)
	}
	return p.issuer, p.away
}

func (p *Provider) with(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client) // oauth2 reads the same key
}

// failed keeps secrets of answers out of an error: their bodies.
func failed(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if e.Response != nil && e.Response.StatusCode >= http.StatusInternalServerError {
			return fmt.Errorf("%w: status %d", ErrAway, e.Response.StatusCode)
		}
		return fmt.Errorf("%w: %s", ErrRefused, Word(e.ErrorCode))
	}
	return fmt.Errorf("%w: %s", ErrAway, catalog.Clip(strings.Map(printed, err.Error()), 300))
}

// Word is a code that a provider sent, fit for a log.
func Word(code string) string { return catalog.Clip(strings.Map(printed, code), 60) }

func printed(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// Finish returns the account of who was sent back with a code. issuer is what the provider says
// of itself beside it (RFC 9207), "" if it says nothing.
func (p *Provider) Finish(ctx context.Context, redirect string, f *catalog.SignIn, code, issuer string) (*catalog.Account, error) {
	if f.Provider != p.ID || issuer != "" && !p.is(issuer) {
		return nil, fmt.Errorf("%w: it began with %s", ErrForged, f.Provider)
	}
	c, err := p.config(ctx, redirect)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(p.with(ctx), 2*timeout)
	defer cancel()
	token, err := c.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, failed(err)
	}
	a := &catalog.Account{Provider: p.ID}
	if forge, ok := forges[p.Kind]; ok {
		err = p.ask(ctx, &forge, token, a)
	} else {
		err = p.verify(ctx, token, f.Nonce, a)
	}
	if err != nil {
		return nil, err
	}
	return a, clean(a)
}

// is reports whether an issuer is this provider; of forges the host says so.
func (p *Provider) is(issuer string) bool {
	if p.Kind == "oidc" {
		return issuer == p.URL
	}
	u, err := url.Parse(issuer)
	own, ownErr := url.Parse(p.base())
	return err == nil && ownErr == nil && strings.EqualFold(u.Host, own.Host)
}

// clean refuses an account without a subject, and drops what commits cannot have.
func clean(a *catalog.Account) error {
	if a.Subject == "" || len(a.Subject) > 255 || len(a.Name) > 255 || strings.ContainsFunc(a.Subject+a.Name, unicode.IsControl) {
		return fmt.Errorf("%w: the account has no subject that can be one", ErrAway)
	}
	if !catalog.ValidEmail(a.AuthorEmail) {
		a.AuthorEmail = ""
	}
	a.AuthorName = catalog.PersonName(catalog.Clip(strings.Map(printed, a.AuthorName), 200))
	return nil
}

// claims are what an issuer says of an account.
type claims struct {
	Name      string `json:"name"`
	Preferred string `json:"preferred_username"`
	Email     string `json:"email"`
	Verified  any    `json:"email_verified"` // true; some write "true"
}

// verify checks the ID token of an answer: signature, issuer, audience, time and nonce.
func (p *Provider) verify(ctx context.Context, token *oauth2.Token, nonce string, a *catalog.Account) error {
	issuer, err := p.discover(ctx)
	if err != nil {
		return err
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := issuer.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrForged, catalog.Clip(strings.Map(printed, err.Error()), 300))
	}
	if nonce == "" || subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return fmt.Errorf("%w: the nonce is another one", ErrForged)
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return failed(err)
	}
	if c.Email == "" && issuer.UserInfoEndpoint() != "" { // many say no more in the token than who it is
		info, err := issuer.UserInfo(ctx, oauth2.StaticTokenSource(token))
		switch {
		case err != nil:
			return failed(err)
		case info.Subject != id.Subject:
			return fmt.Errorf("%w: the user is another one", ErrForged)
		}
		if err := info.Claims(&c); err != nil {
			return failed(err)
		}
	}
	a.Subject = id.Subject
	if (c.Verified == true || c.Verified == "true") && catalog.ValidEmail(c.Email) {
		a.Name, a.AuthorEmail = c.Email, c.Email
	}
	a.AuthorName = cmp.Or(strings.TrimSpace(c.Name), strings.TrimSpace(c.Preferred), strings.TrimSpace(a.Subject))
	return nil
}
