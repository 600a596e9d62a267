package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// What one client may do, of IPv6 one network of 64 bits.
var (
	signInRate   = limit.Rate{Count: 200, Per: time.Hour}
	newcomerRate = limit.Rate{Count: 20, Per: 24 * time.Hour}
)

// provider is the provider that a path names; nil if there is none.
func (s *Settings) provider(id string) *signin.Provider {
	if i := slices.IndexFunc(s.SignIn, func(p *signin.Provider) bool { return p.ID == id }); i >= 0 {
		return s.SignIn[i]
	}
	return nil
}

// providers are the ways to sign in that pages offer.
func (s *Server) providers() (list []web.Provider) {
	for _, p := range s.settings.Load().SignIn {
		list = append(list, web.Provider{ID: p.ID, Name: p.Name()})
	}
	return list
}

// withProvider answers a request of a sign-in: with a redirect to where handle says, or with the
// page to sign in and what is wrong.
func (s *Server) withProvider(unknown echo.HandlerFunc, handle func(p *signin.Provider, redirect string, r *http.Request, h http.Header) (string, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		settings := s.settings.Load()
		p := settings.provider(c.Param("provider"))
		if p == nil {
			return unknown(c)
		}
		x := s.begin(c.Response(), c.Request())
		x.rt = &resource.Route{Path: c.Path(), Allow: resource.AllowRead, Name: "Sign in", Kind: resource.KindPage}
		next, err := "", rest.AccessOf(x.req.Context()).Refused
		if got, counted := s.attempts.Take(s.Client(x.req)); counted && !got.Allowed {
			err = web.ErrTooManySignIns
		}
		if !throttled(err) {
			next, err = handle(p, settings.BaseURL+"/login/"+p.ID+"/callback", x.req, x.w.Header())
		}
		if err != nil {
			s.audit.note("sign-in refused", "provider", p.ID, "client", s.Client(x.req), "error", err)
		}
		x.answerLogin(next, p.Name(), err)
		return nil
	}
}

// flowLifetime is how long a sign-in may take at the provider.
const flowLifetime = 10 * time.Minute

// beginSignIn sends a browser to a provider.
func (s *Server) beginSignIn(p *signin.Provider, redirect string, r *http.Request, h http.Header) (string, error) {
	_, https := s.origin(r)
	f := catalog.SignIn{State: rand.Text(), Browser: cmp.Or(session.FlowSecret(r, https), rand.Text()), Next: web.LocalPath(r.URL.Query().Get("next"))}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" { // a person has to want it
		return "/login/?next=" + url.QueryEscape(f.Next), nil
	}
	to, err := p.Begin(r.Context(), redirect, &f)
	if err != nil {
		return "", signInProblem(err)
	}
	err = s.storeSignIn(r, func(ctx context.Context) error { return s.db.Access().BeginSignIn(ctx, &f, flowLifetime) })
	if err == nil {
		h.Add("Set-Cookie", session.FlowCookie(f.Browser, https).String())
	}
	return to, err
}

// finishSignIn signs in whom a provider sent back.
func (s *Server) finishSignIn(p *signin.Provider, redirect string, r *http.Request, h http.Header) (string, error) {
	q := r.URL.Query()
	_, https := s.origin(r)
	state, browser := q.Get("state"), session.FlowSecret(r, https)
	var f catalog.SignIn
	found := false
	err := s.storeSignIn(r, func(ctx context.Context) (err error) {
		if state != "" && browser != "" {
			f, found, err = s.db.Access().TakeSignIn(ctx, state, browser)
		}
		return err
	})
	switch said := q.Get("error"); {
	case err != nil:
		return "", err
	case !found:
		return "", web.ErrBegunElsewhere
	case said == "access_denied":
		return "", web.ErrNotPermitted
	case said != "":
		s.audit.note("a provider refuses a sign-in", "provider", p.ID, "error", signin.Word(said))
		return "", web.ErrProviderRefused
	}
	a, err := p.Finish(r.Context(), redirect, &f, q.Get("code"), q.Get("iss"))
	if err == nil {
		err = s.admit(r, a)
	}
	if err != nil {
		return "", signInProblem(err)
	}
	var secret string
	var created bool
	err = s.storeSignIn(r, func(ctx context.Context) (err error) {
		if old := session.Secret(r, https); old != "" { // whoever knows it, it is not this account's
			err = s.db.Access().EndSession(ctx, old)
		}
		if err == nil {
			secret, created, err = s.db.Access().SignIn(ctx, a, session.Lifetime)
		}
		return err
	})
	account := a.Provider + ":" + a.Name
	switch {
	case errors.Is(err, catalog.ErrConflict):
		s.audit.note("a blocked account wants to sign in", "account", account, "subject", a.Subject)
		return "", web.ErrBlocked
	case err != nil:
		return "", err
	case a.Taken():
		s.logger.Warn("the name of an account is bound to another that had it first, so it has no role by that name: see repoglot account rebind", "account", account, "subject", a.Subject)
	}
	s.logger.Info("signed in", "account", account, "subject", a.Subject, "new", created, "from", s.Client(r))
	h.Add("Set-Cookie", session.Cookie(secret, https).String())
	return f.Next, nil
}

// admit counts accounts that are new.
func (s *Server) admit(r *http.Request, a *catalog.Account) error {
	known := false
	err := s.db.Read(r.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		known, err = snap.Access().Known(ctx, a.Provider, a.Subject)
		return err
	})
	if err != nil || known {
		return err
	}
	if got, counted := s.newcomers.Take(s.Client(r)); counted && !got.Allowed {
		return web.ErrTooManySignIns
	}
	return nil
}

// storeSignIn writes in turn, and waits for a pull that is being stored for some time only.
func (s *Server) storeSignIn(r *http.Request, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(r.Context(), signInWait)
	defer cancel()
	turn, err := s.shares.writes.Turn(ctx, s.Client(r), signInWait)
	if err != nil {
		return web.ErrBusy
	}
	defer turn.Release()
	if err = fn(ctx); errors.Is(err, context.DeadlineExceeded) {
		err = web.ErrBusy
	}
	return err
}

// signInProblem is what the page says of an error; the log has its words.
func signInProblem(err error) error {
	for _, t := range []struct{ is, problem error }{
		{signin.ErrAway, web.ErrProviderAway},
		{signin.ErrRefused, web.ErrProviderRefused},
		{signin.ErrForged, web.ErrBegunElsewhere},
		{signin.ErrNoMember, web.ErrNoMember},
	} {
		if errors.Is(err, t.is) {
			return fmt.Errorf("%w: %w", t.problem, err)
		}
	}
	return err
}
