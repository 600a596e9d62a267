package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxFollows bounds what an account follows.
const maxFollows = 100

// Mails that ask to confirm an address: of an account and to an address, and all.
var (
	askRate    = limit.Rate{Count: 3, Per: 24 * time.Hour}
	askAllRate = limit.Rate{Count: 1000, Per: 24 * time.Hour}
)

const (
	askLifetime = 24 * time.Hour // how long an address can be confirmed
	askWait     = time.Second    // how long a request waits for a server of mails
)

// follow answers the forms of an account about following a language and where its digests go.
func (s *Server) follow(c echo.Context) error {
	return s.answerForm(c, func(r *http.Request, _ http.Header, a rest.Access) (string, error) {
		const own = "/account/"
		switch f := r.PostForm; {
		case a.Token.ID >= 0: // by a token
			return "", web.ErrForeignForm
		case f.Has("end"):
			return own, s.db.Unfollow(r.Context(), f.Get("end"))
		case f.Has("confirm"):
			ok, err := s.db.Access().ConfirmMail(r.Context(), a.Token.Account.ID, f.Get("confirm"))
			if err == nil && !ok {
				err = web.ErrNotConfirmed
			}
			return own, err
		case f.Has("address"):
			return own, s.ask(r, a.Token.Account, strings.TrimSpace(f.Get("address")))
		}
		return s.followLanguage(r, a.Token.Account)
	})
}

// ask notes the address that an account wants, and sends a mail there that asks to confirm it.
func (s *Server) ask(r *http.Request, a *catalog.Account, address string) error {
	if address != "" {
		if s.settings.Load().Mail == nil || !catalog.ValidEmail(address) {
			return web.ErrNoAddress
		}
		name, host, _ := strings.Cut(strings.ToLower(address), "@")
		name, _, _ = strings.Cut(name, "+") // all of one person
		by, _ := s.mailed.Take(strconv.FormatInt(a.ID, 10))
		to, _ := s.mailed.Take(name + "@" + host)
		if all, _ := s.mailedAll.Take(""); !by.Allowed || !to.Allowed || !all.Allowed {
			return web.ErrTooManyAddresses
		}
	}
	secret, err := s.db.Access().WantMail(r.Context(), a.ID, address, askLifetime)
	if err != nil || address == "" {
		return err
	}
	m := s.pages.Confirmation(r, s.BaseURL(), secret)
	ctx, cancel := context.WithTimeout(r.Context(), askWait)
	defer cancel()
	_, err = s.env.Errands.Do(ctx, secret, func(ctx context.Context) (any, error) { return nil, s.mail(ctx, address, "confirm."+rand.Text(), m) })
	if err != nil && ctx.Err() == nil {
		return web.ErrNotSent
	}
	return nil // sent, or on its way
}

// mail sends a mail, and counts and logs what came of it.
func (s *Server) mail(ctx context.Context, to, id string, m *web.Mail) error {
	err, result := errors.New("no smtp is configured"), "failed"
	if send := s.settings.Load().Mail; send != nil {
		err = send(ctx, to, id, m)
	}
	if err == nil {
		result = "ok"
	} else {
		s.logger.Warn("a mail cannot be sent; digests are made anew in an hour", "id", id, "error", err)
	}
	s.metrics.mails.WithLabelValues(result).Inc()
	return err
}

// BaseURL is the public origin of every link as it is configured now; "" takes that of a request.
func (s *Server) BaseURL() string { return s.settings.Load().BaseURL }

func (s *Server) followLanguage(r *http.Request, a *catalog.Account) (string, error) {
	days, err := strconv.ParseInt(r.PostForm.Get("days"), 10, 8)
	f := store.Follow{Account: a.ID, Language: r.PostForm.Get("language"), Project: r.PostForm.Get("project"), Days: days, Reader: s.pages.Reader(r), Due: s.now().AddDate(0, 0, int(days))}
	if err != nil || days != 0 && days != 1 && days != 7 || s.env.Language(f.Language).Code == "" {
		return "", &rest.Problem{Status: http.StatusBadRequest, Detail: "The form cannot be read."}
	}
	list, err := store.Get(r.Context(), s.db, (*store.Snapshot).Follows, f.Account)
	switch {
	case err != nil:
	case days > 0 && a.DigestsTo() == "":
		err = web.ErrNoAddress
	case days > 0 && len(list) >= maxFollows:
		err = &rest.Problem{Status: http.StatusBadRequest, Detail: "The account follows too many languages."}
	default:
		err = s.db.Follow(r.Context(), &f)
	}
	return strings.TrimRight(wire.Path("languages", f.Language, f.Project), "/") + "/", err
}

// unfollow ends a digest for who has its secret: mail programs, by a POST (RFC 8058).
func (s *Server) unfollow(c echo.Context) error {
	if err := s.db.Unfollow(c.Request().Context(), c.Param("secret")); err != nil {
		s.logger.Error("a digest cannot be ended", "error", err)
		return c.NoContent(http.StatusServiceUnavailable)
	}
	page, _ := s.pages.Unfollowed(c.Request()) // it is ended without one, too
	c.Response().Header().Set("Content-Security-Policy", web.Policy)
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.HTMLBlob(http.StatusOK, page)
}

// Digests makes the digests that are due at a time, and sends them, each after it was stored
// that it is: what a crash or another process interrupts is lost and never doubled. One that
// cannot be sent is made anew an hour later.
func (s *Server) Digests(ctx context.Context, now time.Time) error {
	if s.settings.Load().Mail == nil {
		return nil
	}
	due, err := store.Get(ctx, s.db, (*store.Snapshot).FollowsDue, now)
	var sending errgroup.Group
	sending.SetLimit(8) // a server of mails may let one wait
	for i := range due {
		sending.Go(func() error { return s.digest(ctx, now, &due[i]) })
	}
	return cmp.Or(err, sending.Wait())
}

func (s *Server) digest(ctx context.Context, now time.Time, f *store.Follow) error {
	var d *web.Mail
	next, to := *f, ""
	next.Due = now.AddDate(0, 0, int(f.Days))
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		a, err := snap.Access().Account(ctx, f.Account)
		counts := false
		if a != nil {
			a.Roles, counts = s.RolesOf(a)
		}
		if err == nil && counts && a.DigestsTo() != "" {
			to = a.DigestsTo()
			reader := catalog.Token{Account: a}
			d, err = s.pages.Digest(ctx, snap, s.BaseURL(), f, now.AddDate(0, 0, -int(f.Days)), func(c *store.ComponentRow) bool {
				return !c.Settings.Private(&c.Project) || reader.Sees(c.Project.Slug)
			})
		}
		if err == nil {
			next.Told, err = snap.Count(ctx, store.ChangeQuery{})
		}
		return err
	})
	swapped := false
	if err == nil {
		swapped, err = s.db.SwapFollow(ctx, f, &next)
	}
	if err != nil || !swapped || d == nil {
		return err
	}
	if err = s.mail(ctx, to, strconv.FormatInt(f.Account, 10)+"."+f.Language+"."+strconv.FormatInt(next.Told, 10), d); err != nil {
		again := *f
		again.Due = now.Add(time.Hour)
		_, err = s.db.SwapFollow(ctx, &next, &again)
	}
	return err
}
