package api

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/wire"
)

// request is what handlers know of the request they answer.
type request struct {
	echo   echo.Context
	params params
	link   wire.Links
	rep    representation
	// generation is that of the snapshot; 0 if nobody wants to know.
	generation int64
	// whole, if above 0, is the page of a list that is sent without paging: page
	// and page_size do not count.
	whole int
}

// segment returns a parameter of the path, unescaped.
func (r *request) segment(name string) string {
	raw := r.echo.Param(name)
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

// id returns the parameter id of the path; what cannot be an id is not found.
func (r *request) id() (int64, error) {
	id, ok := parseID(r.segment("id"))
	if !ok {
		return 0, errNotFound
	}
	return id, nil
}
