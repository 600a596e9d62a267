package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// problem is an error with its answer: a status and a body that may be shown.
type problem struct {
	status int
	// detail is the text of {"detail": …}.
	detail string
	// field, if set, makes the body {field: [detail]} (decision 7).
	field string
	// bare makes that {field: detail}, as it was recorded of some.
	bare bool
	// fields, if set, makes the body {field: [text], …}.
	fields map[string]string
	// retryAfter in seconds, if above 0, becomes the header Retry-After.
	retryAfter int
	// authenticate adds WWW-Authenticate: Token.
	authenticate bool
}

// Error returns the text that clients see.
func (p *problem) Error() string { return p.detail }

// The texts are those of the recorded service (facts §8).
var (
	errNotFound        = &problem{status: http.StatusNotFound, detail: "Not found."}
	errInvalidPage     = &problem{status: http.StatusNotFound, detail: "Invalid page."}
	errInvalidHost     = &problem{status: http.StatusBadRequest, detail: "Invalid Host header."}
	errInvalidRequest  = &problem{status: http.StatusBadRequest, detail: "Invalid request."}
	errTooLong         = &problem{status: http.StatusRequestURITooLong, detail: "The query is too long."}
	errRange           = &problem{status: http.StatusRequestedRangeNotSatisfiable, detail: "The file has no such part."}
	errNotAcceptable   = &problem{status: http.StatusNotAcceptable, detail: "Could not satisfy the request Accept header."}
	errUnauthenticated = &problem{status: http.StatusUnauthorized, detail: "Authentication credentials were not provided.", authenticate: true}
	errForbidden       = &problem{status: http.StatusForbidden, detail: "You do not have permission to perform this action."}
	errInternal        = &problem{status: http.StatusInternalServerError, detail: "Internal server error."}
	errCancelled       = &problem{status: http.StatusServiceUnavailable, detail: "The request was cancelled before it was answered.", retryAfter: 1}
)

func errMethod(method string) *problem {
	return &problem{status: http.StatusMethodNotAllowed, detail: "Method \"" + method + "\" not allowed."}
}

func errParameter(name, text string) *problem {
	return &problem{status: http.StatusBadRequest, field: name, detail: text}
}

// asProblem turns an error into its answer: the one place where errors become
// statuses. What it does not know is an internal error, whose text clients do
// not see (decision 7).
func asProblem(err error) *problem {
	var p *problem
	var he *echo.HTTPError
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, catalog.ErrNotFound):
		return errNotFound
	case errors.Is(err, catalog.ErrInvalid):
		return errInvalidRequest
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errCancelled
	case errors.As(err, &he) && he.Code < http.StatusInternalServerError:
		return &problem{status: he.Code, detail: http.StatusText(he.Code) + "."}
	}
	return errInternal
}

// body returns what is rendered.
func (p *problem) body() any {
	if len(p.fields) > 0 {
		body := make(map[string][]string, len(p.fields))
		for field, text := range p.fields {
			body[field] = []string{text}
		}
		return body
	}
	if p.bare {
		return map[string]string{p.field: p.detail}
	}
	if p.field != "" {
		return map[string][]string{p.field: {p.detail}}
	}
	return wire.Detail{Detail: p.detail}
}

// headers sets the headers that belong to the answer.
func (p *problem) headers(h http.Header) {
	if p.authenticate {
		h.Set("WWW-Authenticate", "Token")
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
}
