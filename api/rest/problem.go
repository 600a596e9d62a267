package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// Problem is an error with its answer: a status and a body that clients may see.
type Problem struct {
	Status int
	// Detail is the text of {"detail": …}.
	Detail string
	// Fields, if set, makes the body {field: [text], …} (docs/compatibility.md#errors).
	Fields map[string]string
	// Bare makes that {field: text}, as Weblate answers for some parameters.
	Bare bool
	// RetryAfter in seconds, if above 0, becomes the header Retry-After.
	RetryAfter int
	// Location, if set, is where the resource is.
	Location string
	// Authenticate adds WWW-Authenticate: Token.
	Authenticate bool
	// Code is the code of the error, if that of its status does not fit.
	Code string
}

// RetrySeconds is when a client should try again while the server has too much to do.
const RetrySeconds = 5

// Error returns the text that clients see.
func (p *Problem) Error() string { return p.Detail }

// The texts are Weblate's where it has such an error.
var (
	ErrNotFound        = &Problem{Status: http.StatusNotFound, Detail: "Not found."}
	errInvalidPage     = &Problem{Status: http.StatusNotFound, Detail: "Invalid page."}
	ErrInvalidHost     = &Problem{Status: http.StatusBadRequest, Detail: "Invalid Host header."}
	errInvalidRequest  = &Problem{Status: http.StatusBadRequest, Detail: "Invalid request."}
	ErrTooLong         = &Problem{Status: http.StatusRequestURITooLong, Detail: "The query is too long."}
	ErrRange           = &Problem{Status: http.StatusRequestedRangeNotSatisfiable, Detail: "The file has no such part."}
	ErrNotAcceptable   = &Problem{Status: http.StatusNotAcceptable, Detail: "Could not satisfy the request Accept header."}
	ErrUnauthenticated = &Problem{Status: http.StatusUnauthorized, Detail: "Authentication credentials were not provided.", Authenticate: true}
	ErrToken           = &Problem{Status: http.StatusUnauthorized, Detail: "Invalid token.", Code: "authentication_failed", Authenticate: true}
	// ErrReadOnlyStranger and ErrReadOnly refuse writes, without and with a token.
	ErrReadOnlyStranger = &Problem{Status: http.StatusUnauthorized, Detail: ErrUnauthenticated.Detail + readOnly, Authenticate: true}
	ErrReadOnly         = &Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action." + readOnly}
	// ErrScopeStranger and ErrScope refuse whoever shows no token, or one that may not
	// write, where others may.
	ErrScopeStranger = &Problem{Status: http.StatusUnauthorized, Detail: ErrUnauthenticated.Detail + " To edit this, send a token of scope write: Authorization: Token KEY.", Authenticate: true}
	ErrScope         = &Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action: it needs a token of scope write."}
	ErrInternal      = &Problem{Status: http.StatusInternalServerError, Detail: "Internal server error."}
	// ErrUnavailable is the answer while the database is away.
	ErrUnavailable = &Problem{Status: http.StatusServiceUnavailable, Detail: "The database is not available.", RetryAfter: 1}
	errCancelled   = &Problem{Status: http.StatusServiceUnavailable, Detail: "The request was cancelled before it was answered.", RetryAfter: 1}
)

// MethodNotAllowed is the answer to a method that a resource does not have.
func MethodNotAllowed(method string) *Problem {
	return &Problem{Status: http.StatusMethodNotAllowed, Detail: "Method \"" + method + "\" not allowed."}
}

// BadParameter is the answer to an invalid parameter: 400 with the text.
func BadParameter(name, text string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Fields: map[string]string{name: text}, Detail: text}
}

// BareParameter is BadParameter without a list around the text.
func BareParameter(name, text string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Fields: map[string]string{name: text}, Detail: text, Bare: true}
}

// AsProblem turns an error into its answer. It is the only place where errors become statuses.
// An unknown error is an internal one, whose text clients do not see.
func AsProblem(err error) *Problem {
	var p *Problem
	var he *echo.HTTPError
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, catalog.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, catalog.ErrInvalid):
		return errInvalidRequest
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errCancelled
	case errors.Is(err, store.ErrUnavailable):
		return ErrUnavailable
	case errors.As(err, &he) && he.Code < http.StatusInternalServerError:
		return &Problem{Status: he.Code, Detail: http.StatusText(he.Code) + "."}
	}
	return ErrInternal
}

var codes = map[int]string{
	http.StatusBadRequest: "parse_error", http.StatusUnauthorized: "not_authenticated", http.StatusForbidden: "permission_denied", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "method_not_allowed", http.StatusNotAcceptable: "not_acceptable",
	http.StatusPreconditionFailed: "precondition_failed", http.StatusTooManyRequests: "throttled", http.StatusRequestEntityTooLarge: "too_large", http.StatusUnsupportedMediaType: "unsupported_media_type",
}

// required is Weblate's text for a field that is missing.
const required = "This field is required."

// Required is the answer to a body without a field.
func Required(field string) *Problem { return BadParameter(field, required) }

// oneError is an error in the form of 5.10.
type oneError struct {
	Code   string  `json:"code"`
	Detail string  `json:"detail"`
	Attr   *string `json:"attr"`
}

// Body returns the value that is sent as JSON: the keys of Weblate up to 5.9, and those
// from 5.10 (docs/compatibility.md#errors).
func (p *Problem) Body() any {
	var o wire.Object
	if len(p.Fields) == 0 {
		o = wire.Object{"detail", p.Detail}
	}
	for _, field := range slices.Sorted(maps.Keys(p.Fields)) {
		if text := p.Fields[field]; p.Bare {
			o = append(o, field, text)
		} else {
			o = append(o, field, []string{text})
		}
	}
	return append(o, "errors", p.each(), "type", p.kind())
}

func (p *Problem) each() []oneError {
	if len(p.Fields) == 0 {
		return []oneError{{cmp.Or(p.Code, codes[p.Status], "error"), p.Detail, nil}}
	}
	var all []oneError
	for _, field := range slices.Sorted(maps.Keys(p.Fields)) {
		code := "invalid"
		if p.Fields[field] == required {
			code = "required"
		}
		all = append(all, oneError{code, p.Fields[field], &field})
	}
	return all
}

func (p *Problem) kind() string {
	switch {
	case p.Status >= http.StatusInternalServerError:
		return "server_error"
	case len(p.Fields) > 0:
		return "validation_error"
	}
	return "client_error"
}

// SetHeaders sets the headers of the answer.
func (p *Problem) SetHeaders(h http.Header) {
	if p.Authenticate {
		h.Set("WWW-Authenticate", "Token")
	}
	if p.Location != "" {
		h.Set("Location", p.Location)
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
}

// FieldErrors collects the first error of each parameter.
type FieldErrors map[string]string

// Add records an error of a parameter, unless it has one already.
func (e FieldErrors) Add(field, text string) {
	if _, ok := e[field]; !ok {
		e[field] = text
	}
}

// Err returns a Problem with all errors, or nil.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	p := &Problem{Status: http.StatusBadRequest, Fields: e}
	for _, field := range slices.Sorted(maps.Keys(e)) {
		p.Detail += field + ": " + e[field] + " "
	}
	return p
}

// readOnly says why writes are refused, whatever the token, and what to do instead.
const readOnly = " This server is read-only, with any token: to change a string, push a commit to its repository; to have it pulled at once, POST /hooks/update/PROJECT/COMPONENT/."

// Access is what a request may see. It is decided once, before the request is
// answered. The zero value is an anonymous client's.
type Access struct {
	// Claimed says that the client showed a token while the server has none. It
	// only means that the client is not anonymous.
	Claimed bool
	// Token is the good token that was shown; its ID is 0 if there was none.
	Token catalog.Token
	// Granter says which roles the token's account has; nil without a token.
	Granter Granter
	// Open are questions to forges, which can take long: they are noted in snapshots of the store,
	// and asked outside of them; nil without an account.
	Open *[]func(context.Context)
	// Session is the secret of the session that has Token; "" if that was shown.
	Session string
	// Refused is the answer to a bad token or to one request too many, otherwise nil.
	Refused error
}

// Granter knows the roles of accounts, and whether one may push to the repository of a
// component that lets such accounts edit: ask, if it is not nil, asks the forge so that it is known.
type Granter interface {
	RolesOf(a *catalog.Account) (roles []catalog.Role, counts bool)
	Pushes(a *catalog.Account, c *store.ComponentRow) (may bool, ask func(context.Context))
}

// Pushes reports whether a component lets the token's account edit, as far as that is known.
func (a Access) Pushes(c *store.ComponentRow) bool {
	may, ask := a.Granter.Pushes(a.Token.Account, c)
	if ask != nil {
		*a.Open = append(*a.Open, ask)
	}
	return may
}

// Asks reports whether there are open questions.
func (a Access) Asks() bool { return a.Open != nil && len(*a.Open) > 0 }

// Ask asks the open questions.
func (a Access) Ask(ctx context.Context) {
	for _, ask := range *a.Open {
		ask(ctx)
	}
	*a.Open = nil
}

// Authenticated reports whether the client showed a token that counts.
func (a Access) Authenticated() bool { return a.Claimed || a.Token.ID != 0 }

// Sees reports whether what is private in a project is shown; all scopes of tokens allow it.
func (a Access) Sees(project *catalog.Project) bool { return a.Token.Sees(project.Slug) }

// SeesAll reports whether nothing is hidden.
func (a Access) SeesAll() bool { return a.Token.SeesAll() }

// Failure is what is shown of why a component of a project could not be pulled or pushed:
// the words to those who may write there, everyone else the kind, and since when.
func (a Access) Failure(project *catalog.Project, f *catalog.Failure) string {
	if a.Told(project) && f.Words != "" {
		return f.Words
	}
	return f.Public()
}

// Told reports whether the words of remotes about a project are shown: to those who may write
// in its private parts.
func (a Access) Told(project *catalog.Project) bool {
	return a.Token.May(catalog.ScopeWrite, project.Slug, true, "")
}

// Key tells apart kinds of access whose answers differ; it is "" for anonymous clients.
func (a Access) Key() string {
	switch {
	case a.Token.ID == 0:
		return ""
	case a.Token.Account != nil:
		return fmt.Sprintf("account:%q:", a.Token.Account.Roles)
	}
	return strconv.FormatBool(a.Token.Writes()) + ":" + string(a.Token.Projects) + ":" // Failure
}

// Cacheable reports whether answers may be kept for other clients with the same key, unlike
// those to accounts and sessions: roles change, and pages have forms for that session alone.
func (a Access) Cacheable() bool {
	return !a.Claimed && a.Refused == nil && a.Session == "" && a.Token.Account == nil
}

// Recheck returns an error if the token was revoked, the session ended, or roles changed meanwhile. It is for
// answers that take long.
func (a Access) Recheck(ctx context.Context, snap *store.Snapshot) error {
	if a.Token.ID == 0 {
		return nil
	}
	now, alive, err := catalog.Token{}, false, error(nil)
	if a.Session != "" {
		now, alive, err = snap.Access().SessionToken(ctx, a.Session)
	} else {
		now, alive, err = snap.Access().TokenByID(ctx, a.Token.ID)
	}
	if alive && now.Account != nil {
		now.Account.Roles, alive = a.Granter.RolesOf(now.Account)
		alive = alive && slices.Equal(now.Account.Roles, a.Token.Account.Roles)
	}
	if err == nil && !alive {
		err = ErrToken
	}
	return err
}

type accessKey struct{}

// AccessOf returns what the request of ctx may see. Code that shows something
// of the store asks this, or a function that does.
func AccessOf(ctx context.Context) Access {
	a, _ := ctx.Value(accessKey{}).(Access)
	return a
}

// WithAccess returns a context of a request that may see a.
func WithAccess(ctx context.Context, a Access) context.Context {
	return context.WithValue(ctx, accessKey{}, a)
}
