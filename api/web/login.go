package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

type login struct {
	Token    *catalog.Token // of the session; nil without one
	Form     string         // the session's form token
	Next     string         // where to go after signing in
	Wrong    string
	About    string // the name of the provider that Wrong is about
	Others   []Provider
	Listened bool // whether others may read what is sent
}

func (p *Pages) login(ctx context.Context, _ *store.Snapshot, r *rest.Request, v *view) error {
	a := rest.AccessOf(ctx)
	o := login{Next: LocalPath(v.param("next")), Listened: listened(r.Link.Base), Others: p.others()}
	v.Live = len(o.Others) > 0 // they change without the store
	v.named(v.L.T("Sign in"), "repoglot")
	if a.Session != "" {
		v.named(v.L.T("Signed in"), "repoglot")
		o.Token, o.Form = &a.Token, session.FormToken(a.Session)
	}
	v.Body = o
	return nil
}

// Refusals to sign in.
var (
	ErrNoToken          = &rest.Problem{Status: http.StatusBadRequest, Detail: intl.Text("Enter a token.")}
	ErrNoTokens         = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("This server has no tokens yet. Its administrator makes one with: repoglot token create NAME")}
	ErrUnknownToken     = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("This token is not known, or it has ended.")}
	ErrBusy             = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: intl.Text("A pull is being stored. Try again in a minute."), RetryAfter: 30}
	ErrBegunElsewhere   = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("This sign-in was begun in another browser, or too long ago. Begin again.")}
	ErrProviderAway     = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: intl.Text("The provider cannot be reached, or does not answer as it should. Try again in some minutes. Those who are signed in stay so."), RetryAfter: 60}
	ErrProviderRefused  = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: intl.Text("The provider refused this server. Its administrator finds the reason in the log.")}
	ErrNotPermitted     = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("You did not permit it at the provider.")}
	ErrNoMember         = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("Only members of some organisations may sign in here, and your account is in none of them.")}
	ErrBlocked          = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("Your account is blocked here.")}
	ErrTooManySignIns   = &rest.Problem{Status: http.StatusTooManyRequests, Detail: intl.Text("Too many have signed in from your address. Try again later."), RetryAfter: 3600}
	ErrNoAddress        = &rest.Problem{Status: http.StatusBadRequest, Detail: intl.Text("This is no address to which mail can be sent. Write another one on your own page.")}
	ErrTooManyAddresses = &rest.Problem{Status: http.StatusTooManyRequests, Detail: intl.Text("Too many mails were asked for. Try again tomorrow."), RetryAfter: 24 * 3600}
	ErrNotSent          = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: intl.Text("The mail cannot be sent now. Try again later."), RetryAfter: 3600}
	ErrNotConfirmed     = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("This address was asked for by another account, or more than a day ago. Ask again.")}
	ErrForeignForm      = &rest.Problem{Status: http.StatusForbidden, Detail: intl.Text("The form was not sent by this page, or the session has ended. Try again.")}
)

// Login is the page to sign in after a sign-in that was refused, perhaps about a provider.
func (p *Pages) Login(r *http.Request, about string, refused *rest.Problem) ([]byte, error) {
	v := p.newView(r, nil)
	v.named(v.L.T("Sign in"), "repoglot")
	v.Path, v.API = path("login"), "/api/"
	v.Body = login{Next: LocalPath(r.PostForm.Get("next")), Wrong: v.L.T(refused.Detail), About: about, Others: p.others()}
	return p.execute("login", v)
}

// LocalPath is a path of this server with its query, as somebody gave it; "/" if it is
// none, or leads to another host.
func LocalPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.ContainsFunc(next, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f }) {
		return "/"
	}
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil || strings.HasPrefix(u.Path, "//") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).RequestURI()
}

// listened reports whether what is sent to an origin may be read on the way.
func listened(base string) bool {
	u, err := url.Parse(base)
	return err == nil && !catalog.Encrypted(u)
}
