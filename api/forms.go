package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxForm bounds the body of a form to sign in, in bytes.
const maxForm = 8 << 10

// signInWait is how long a session waits for a pull that is being stored.
const signInWait = 10 * time.Second

// sessionAccess is what the session of a browser may see. It counts for reading pages and
// the API, for the form that edits a string, and for nothing else.
func (s *Server) sessionAccess(r *http.Request) (a rest.Access) {
	switch {
	case r.Method == http.MethodPost && web.Edits(r.URL.Path):
	case r.Method != http.MethodGet && r.Method != http.MethodHead || !web.Paths(r.URL.Path) && !strings.HasPrefix(r.URL.Path, "/api/"):
		return a
	}
	_, https := s.origin(r)
	return s.accessOfSession(r.Context(), session.Secret(r, https))
}

// accessOfSession is the access of a session's token; nobody's if it has ended.
func (s *Server) accessOfSession(ctx context.Context, secret string) (a rest.Access) {
	if secret == "" {
		return a
	}
	found := false
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		a.Token, found, err = snap.Access().SessionToken(ctx, secret)
		return err
	})
	switch {
	case err != nil:
		return rest.Access{Refused: err}
	case !found || !s.grant(&a):
		return rest.Access{}
	}
	if a.Token.ID > 0 {
		s.useToken(ctx, &a)
	}
	a.Session = secret
	return a
}

// origin is the host as browsers see it, and whether they speak https with it.
func (s *Server) origin(r *http.Request) (host string, https bool) {
	base, err := s.settings.Load().baseURL(r)
	if err != nil {
		return "", false
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", false
	}
	return u.Host, u.Scheme == "https"
}

// posted parses the form of a page, of at most so many bytes, and decides who sent it: the session's access, or an
// error if it was not sent by a page of this server for this session. Without a session
// the access is nobody's.
func (s *Server) posted(w http.ResponseWriter, r *http.Request, most int64) (rest.Access, error) {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		return rest.Access{}, &rest.Problem{Status: http.StatusBadRequest, Detail: "The form cannot be read."}
	}
	host, https := s.origin(r)
	a := s.accessOfSession(r.Context(), session.Secret(r, https))
	if a.Refused != nil {
		return a, a.Refused
	}
	if err := session.Check(r, host, https, a.Session); err != nil {
		return rest.Access{}, web.ErrForeignForm
	}
	return a, nil
}

// signIn exchanges a token for a session.
func (s *Server) signIn(c echo.Context) error {
	return s.answerForm(c, func(r *http.Request, h http.Header, _ rest.Access) (string, error) {
		secret := strings.TrimSpace(r.PostForm.Get("token"))
		next := web.LocalPath(r.PostForm.Get("next"))
		a := s.access(r.Context(), "Token "+secret)
		s.noteRefused(r, a)
		switch {
		case secret == "":
			return "", web.ErrNoToken
		case a.Claimed:
			return "", web.ErrNoTokens
		case a.Refused != nil && rest.AsProblem(a.Refused).Status == http.StatusUnauthorized:
			return "", web.ErrUnknownToken
		case a.Refused != nil:
			return "", a.Refused
		}
		ctx, cancel := context.WithTimeout(r.Context(), signInWait)
		defer cancel()
		made, err := s.createSession(ctx, a.Token.ID)
		if errors.Is(err, context.DeadlineExceeded) {
			return "", web.ErrBusy
		}
		if err == nil {
			s.logger.Info("signed in", "token", a.Token.Name, "from", s.Client(r))
			_, https := s.origin(r)
			h.Set("Set-Cookie", session.Cookie(made, https).String())
		}
		return next, err
	})
}

func (s *Server) signOut(c echo.Context) error {
	return s.answerForm(c, func(r *http.Request, h http.Header, a rest.Access) (string, error) {
		if a.Session == "" {
			return "/login/", nil
		}
		if err := s.db.Access().EndSession(r.Context(), a.Session); err != nil {
			return "", err
		}
		s.logger.Info("signed out", "token", a.Token.Name, "from", s.Client(r))
		_, https := s.origin(r)
		h.Set("Set-Cookie", session.Cookie("", https).String())
		return "/login/", nil
	})
}

// answerForm answers a form with a redirect to where handle says, or a page of what is wrong.
func (s *Server) answerForm(c echo.Context, handle func(r *http.Request, h http.Header, a rest.Access) (string, error)) error {
	x := exchange{s: s, rt: &resource.Route{Path: c.Path(), Allow: "POST", Name: "Sign in", Kind: resource.KindPage}, w: c.Response(), req: c.Request(), started: s.now()}
	next, err := "", rest.AccessOf(x.req.Context()).Refused
	if !throttled(err) {
		var a rest.Access
		if a, err = s.posted(x.w, x.req, maxForm); err == nil {
			next, err = handle(x.req, x.w.Header(), a)
		}
	}
	x.answerLogin(next, "", err)
	return nil
}

// answerLogin sends a browser on, or the page to sign in with what is wrong, about a provider.
func (x exchange) answerLogin(next, about string, err error) {
	made := answer{header{status: http.StatusSeeOther, location: next}, noContent{}}
	if err != nil {
		var p *rest.Problem
		made, p = x.formFailure(err)
		if body, perr := x.s.pages.Login(x.req, about, p); perr == nil {
			made.contentType, made.body = rest.TypeHTML, failure{p, body}
		}
	}
	x.sendForm(made)
}

// formFailure is the answer to a form that failed, and why. An internal error is logged.
func (x exchange) formFailure(err error) (answer, *rest.Problem) {
	p := rest.AsProblem(err)
	if p == rest.ErrInternal {
		x.s.logger.Error("form failed", "path", x.req.URL.Path, "error", err)
	}
	return newFailure(p, 0), p
}

// sendForm sends the answer to a form, which nobody keeps.
func (x exchange) sendForm(made answer) {
	put(x.w.Header(), "Cache-Control", "no-store")
	done := made.body.send(x, made.header)
	x.observe(done, x.s.now().Sub(x.started))
}

// maxEditForm bounds the form of a string: its texts, each byte as %XX, and the rest.
const maxEditForm = 3*edit.MaxText + maxForm

// form answers the form of a page that writes. It counts for a session alone, whose token may
// write, and only if a page of this server sent it.
func (s *Server) form(name string, answer func(context.Context, *rest.Request) (*web.Edited, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		x := s.begin(c.Response(), c.Request())
		x.rt = &resource.Route{Path: c.Path(), Allow: web.AllowEdit, Name: name, Kind: resource.KindPage}
		made, err := s.edited(x, c.ParamNames(), c.ParamValues(), answer)
		if err != nil {
			made, _ = x.formFailure(err)
			made = s.problemPage(x, made, made.body.(failure))
		}
		x.sendForm(made)
		return nil
	}
}

func (s *Server) edited(x exchange, names, values []string, by func(context.Context, *rest.Request) (*web.Edited, error)) (answer, error) {
	a := rest.AccessOf(x.req.Context())
	switch {
	case a.Refused != nil:
		return answer{}, a.Refused
	case len(x.req.URL.RawQuery) > maxQuery:
		return answer{}, rest.ErrTooLong
	case a.Session == "": // it was never one, or has ended
		return answer{header{status: http.StatusSeeOther, location: "/login/?next=" + url.QueryEscape(x.req.URL.RequestURI())}, noContent{}}, nil
	}
	if _, err := s.posted(x.w, x.req, maxEditForm); err != nil {
		return answer{}, err
	}
	base, err := s.settings.Load().baseURL(x.req)
	if err != nil {
		return answer{}, err
	}
	r := rest.NewRequest(x.req, names, values)
	r.Params, r.Link = rest.ParseQuery(x.req.URL.RawQuery), wire.Links{Base: base}
	done, err := by(x.req.Context(), r)
	switch {
	case err != nil:
		return answer{}, err
	case done.Next != "":
		return answer{header{status: done.Status, location: done.Next}, noContent{}}, nil
	}
	return answer{header{status: done.Status, contentType: rest.TypeHTML}, content(done.Page)}, nil
}
