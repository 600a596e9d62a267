package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxFollows bounds what an account follows.
const maxFollows = 100

// follow answers the form with which an account follows a language, or stops to.
func (s *Server) follow(c echo.Context) error {
	return s.answerForm(c, func(r *http.Request, _ http.Header, a rest.Access) (string, error) {
		days, err := strconv.ParseInt(r.PostForm.Get("days"), 10, 8)
		f := store.Follow{Language: r.PostForm.Get("language"), Project: r.PostForm.Get("project"), Days: days, Reader: s.pages.Reader(r), Due: s.now().AddDate(0, 0, int(days))}
		switch {
		case a.Token.Account == nil || !web.Reachable(a.Token.Account):
			return "", web.ErrForeignForm
		case err != nil || days != 0 && days != 1 && days != 7 || s.env.Language(f.Language).Code == "":
			return "", &rest.Problem{Status: http.StatusBadRequest, Detail: "The form cannot be read."}
		}
		f.Account = a.Token.Account.ID
		list, err := store.Get(r.Context(), s.db, (*store.Snapshot).Follows, f.Account)
		if err == nil && days > 0 && len(list) >= maxFollows {
			err = &rest.Problem{Status: http.StatusBadRequest, Detail: "The account follows too many languages."}
		}
		if err == nil {
			err = s.db.Follow(r.Context(), &f)
		}
		return strings.TrimRight(wire.Path("languages", f.Language, f.Project), "/") + "/", err
	})
}

// unfollow ends a digest, for whoever has its secret: mail programs do so with one POST (RFC
// 8058).
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

// Digests makes the digests that are due at a time, and has them sent, each after it was stored
// that it is: what a crash or another process interrupts is lost and never doubled. One that
// cannot be sent is made anew an hour later.
func (s *Server) Digests(ctx context.Context, now time.Time, base string, send func(to, id string, d *web.Digest) error) error {
	due, err := store.Get(ctx, s.db, (*store.Snapshot).FollowsDue, now)
	for i := range due {
		if err == nil {
			err = s.digest(ctx, now, base, &due[i], send)
		}
	}
	return err
}

func (s *Server) digest(ctx context.Context, now time.Time, base string, f *store.Follow, send func(to, id string, d *web.Digest) error) error {
	var d *web.Digest
	next, to := *f, ""
	next.Due = now.AddDate(0, 0, int(f.Days))
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		a, err := snap.Access().Account(ctx, f.Account)
		if err == nil && a != nil && web.Reachable(a) {
			to, a.Roles = a.AuthorEmail, s.RolesOf(a)
			reader := catalog.Token{Account: a}
			d, err = s.pages.Digest(ctx, snap, base, f, now.AddDate(0, 0, -int(f.Days)), func(c *store.ComponentRow) bool {
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
	if err = send(to, strconv.FormatInt(f.Account, 10)+"."+f.Language+"."+strconv.FormatInt(next.Told, 10), d); err != nil {
		s.logger.Warn("a digest cannot be sent; it is made anew in an hour", "error", err)
		again := *f
		again.Due = now.Add(time.Hour)
		_, err = s.db.SwapFollow(ctx, &next, &again)
	}
	return err
}
