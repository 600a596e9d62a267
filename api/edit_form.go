package api

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/edit"
)

// maxEditForm bounds the form of a string: its texts, each byte as %XX, and the rest.
const maxEditForm = 3*edit.MaxText + maxForm

// editString answers the form that edits a string. It counts for a session alone, whose
// token may edit, and only if a page of this server sent it.
func (s *Server) editString(c echo.Context) error {
	x := s.begin(c.Response(), c.Request())
	x.rt = &resource.Route{Path: c.Path(), Allow: web.AllowEdit, Name: "Strings", Kind: resource.KindPage}
	made, err := s.edited(x, c.ParamNames(), c.ParamValues())
	if err != nil {
		made, _ = x.formFailure(err)
		made = s.problemPage(x, made, made.body.(failure))
	}
	x.sendForm(made)
	return nil
}

func (s *Server) edited(x exchange, names, values []string) (answer, error) {
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
	done, err := s.pages.Edit(x.req.Context(), r)
	switch {
	case err != nil:
		return answer{}, err
	case done.Next != "":
		return answer{header{status: done.Status, location: done.Next}, noContent{}}, nil
	}
	return answer{header{status: done.Status, contentType: rest.TypeHTML}, content(done.Page)}, nil
}
