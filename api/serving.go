package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxQuery bounds a query in bytes: page links repeat it.
const maxQuery = 16 << 10

// endpoint makes the function that answers every method of a route.
func (s *Server) endpoint(rt resource.Route) echo.HandlerFunc {
	return func(c echo.Context) error {
		x := s.begin(c.Response(), c.Request())
		x.rt = &rt
		a := s.prepare(x, c.ParamNames(), c.ParamValues())
		took := s.now().Sub(x.started)
		done := a.body.send(x, a.header)
		if _, endless := a.body.(*eventStream); !endless || done.status != http.StatusOK {
			took = s.now().Sub(x.started)
		}
		x.observe(done, took)
		return nil
	}
}

func (x exchange) observe(done outcome, took time.Duration) {
	x.s.metrics.requests.WithLabelValues(x.rt.Path, methodLabel(x.req.Method), strconv.Itoa(done.status)).Inc()
	x.s.metrics.seconds.WithLabelValues(x.rt.Path).Observe(took.Seconds())
	if x.s.logger.Enabled(x.req.Context(), slog.LevelDebug) {
		x.s.logger.Debug("api request", "method", x.req.Method, "path", x.req.URL.Path,
			"status", done.status, "bytes", done.bytes, "took", took)
	}
}

// prepare makes the answer to a request whose path has these parameters, in the
// encoding and under the conditions of the request, and caches it.
func (s *Server) prepare(x exchange, names, values []string) answer {
	render := func() rendering { return s.render(x, rest.NewRequest(x.req, names, values)) }
	if x.req.Method != http.MethodGet && x.req.Method != http.MethodHead || x.rt.Handle == nil || x.rt.Kind == resource.KindEvents {
		return render().answer
	}
	key, ok := s.keyOf(x.req)
	var made rendering
	if ok && x.rt.Kind != resource.KindLive {
		made = s.renderOnce(x, key, render)
	} else {
		made = render()
	}
	if made.variants == nil {
		return made.answer
	}
	return s.choose(made.variants, key, x.req)
}

// rendering is an answer before its encoding is chosen.
type rendering struct {
	answer
	// basis is what it was read from; its generation is 0 if that is unknown.
	basis store.Basis
	// variants are nil without success or without a body in memory: it is for one request.
	variants *variants
}

// render makes the answer to a request. A panic becomes an internal error.
func (s *Server) render(x exchange, r *rest.Request) (made rendering) {
	defer func() {
		if p := recover(); p != nil {
			s.logger.Error("api panic", "route", x.rt.Path, "path", x.req.URL.Path, "panic", p, "stack", string(debug.Stack()))
			made = rendering{answer: newFailure(rest.ErrInternal, 0)}
		}
	}()
	free := func() {} // called when the answer is rendered
	defer func() { free() }()
	value, basis, err := s.dispatch(x.req.Context(), x.rt, r, &free)
	made.basis = basis
	if err == nil {
		made.answer, err = newAnswer(value, r.Representation)
	}
	if err != nil {
		p := rest.AsProblem(err)
		if p == rest.ErrInternal {
			s.logger.Error("api request failed", "route", x.rt.Path, "path", x.req.URL.Path, "error", err)
		}
		made.answer = newFailure(p, r.Representation.Indent)
	}
	if document, ok := value.(*rest.Document); ok && document.Live {
		made.basis = store.Basis{}
	}
	if f, failed := made.body.(failure); failed && x.rt.Kind == resource.KindPage {
		made.answer = s.problemPage(x, made.answer, f)
	}
	if made.contentType == rest.TypeJSON && wantsPage(x.rt, x.req) {
		made.answer = s.asPage(x, made.answer)
	}
	made.at = basis.At
	made.variants = newVariants(made.answer)
	return made
}

// dispatch decides in Django REST framework's order: resource, representation, method, object.
func (s *Server) dispatch(ctx context.Context, rt *resource.Route, r *rest.Request, free *func()) (value any, basis store.Basis, err error) {
	if err := rest.AccessOf(ctx).Refused; throttled(err) {
		return nil, basis, err // whatever was asked for
	}
	if rt.Handle == nil {
		return nil, basis, rest.ErrNotFound
	}
	req := r.HTTP
	if req.Body != nil {
		defer func() { _, _ = io.CopyN(io.Discard, req.Body, maxUnread) }()
	}
	if len(req.URL.RawQuery) > maxQuery {
		return nil, basis, rest.ErrTooLong
	}
	r.Params, r.Now = rest.ParseQuery(req.URL.RawQuery), s.now()
	base, err := s.settings.Load().baseURL(req)
	if err != nil {
		return nil, basis, err
	}
	if r.Representation, err = negotiate(rt, r.Params, strings.Join(req.Header.Values("Accept"), ",")); err != nil {
		return nil, basis, err
	}
	r.Link, r.Dialect = wire.Links{Base: base, Format: r.Representation.Format}, s.dialect
	if _, given := r.Params.Get("format"); r.Dialect.PlainAddresses && !given {
		r.Link.Format = ""
	}
	if err := rest.AccessOf(ctx).Refused; err != nil {
		return nil, basis, refusedToken(ctx, rt, r, err)
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		value, basis, err = s.read(ctx, rt, r, free)
		if access := rest.AccessOf(ctx); access.Asks() {
			(*free)()
			access.Ask(ctx)
			value, basis, err = s.read(ctx, rt, r, free)
		}
		return value, basis, err
	case http.MethodOptions:
		return optionsOf(rt), basis, nil
	case http.MethodPost:
		if rt.Asks != nil {
			return s.question(ctx, rt, r, free)
		}
	}
	switch access := rest.AccessOf(ctx); {
	case rt.Writes[req.Method] == nil:
	case access.Token.ID != 0:
		value, err = s.write(ctx, rt, r)
		if errors.Is(err, rest.ErrScope) {
			return nil, basis, err
		}
		if access.Token.Scope.Permits(catalog.ScopeSuggest) {
			return value, basis, s.refusal(ctx, err)
		}
	case !access.Authenticated():
		if wantsScope(ctx, rt, r) {
			return nil, basis, rest.ErrScopeStranger
		}
	}
	return nil, basis, s.refusal(ctx, refuseWrite(rt, req))
}

// maxUnread bounds how much of a refused body is read all the same: most clients send all of
// it before they read the answer, and see none if the connection ends meanwhile.
const maxUnread = 64 << 20

// wantsScope reports whether a client without a token could write this with one. Writers
// refuse whoever may not write before they read the body.
func wantsScope(ctx context.Context, rt *resource.Route, r *rest.Request) bool {
	write := rt.Writes[r.HTTP.Method]
	if write == nil {
		return false
	}
	_, err := write(ctx, r)
	return errors.Is(err, rest.ErrScope)
}

// newToken is what a client does whose token was refused.
const newToken = " Ask whoever runs the server for a new one: repoglot token create --scope write NAME."

// refusedToken is the answer to a bad token: to a write of what can be written it says
// what to do, and has the keys of both of Weblate's forms.
func refusedToken(ctx context.Context, rt *resource.Route, r *rest.Request, refused error) error {
	if !wantsScope(ctx, rt, r) {
		return refused
	}
	p := *rest.AsProblem(refused)
	p.Detail += newToken
	return &p
}

// notHere is what a refused write says besides Weblate's text on a server that takes edits.
const notHere = " This cannot be changed through the API, with any token: push a commit to the repository, or change the configuration of the server; to have a commit pulled at once, POST /hooks/update/PROJECT/COMPONENT/."

// errNotHereStranger and errNotHere are the answers to a write that the API does not have,
// or that the configuration does not permit, without and with a token, for a client that
// sees that other components take edits.
var (
	errNotHereStranger = &rest.Problem{Status: http.StatusUnauthorized, Detail: rest.ErrUnauthenticated.Detail + notHere, Authenticate: true}
	errNotHere         = &rest.Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action." + notHere}
)

// refusal replaces ErrReadOnly for a client that sees some component that takes edits.
func (s *Server) refusal(ctx context.Context, err error) error {
	instead := errNotHere
	switch of := rest.AsProblem(err); {
	case err == nil, s.env.Edits == nil:
		return err
	case of == rest.ErrReadOnlyStranger:
		instead = errNotHereStranger
	case of != rest.ErrReadOnly:
		return err
	}
	taken, readErr := resource.Read(ctx, &s.env, nil, resource.TakesEdits)
	if taken {
		err = instead
	}
	return cmp.Or(readErr, err)
}

// write answers a method that writes. What is in If-Match must be an ETag of the answer to GET.
func (s *Server) write(ctx context.Context, rt *resource.Route, r *rest.Request) (value any, err error) {
	if match := r.HTTP.Header.Values("If-Match"); strings.Join(match, "") != "" && !slices.Contains(match, "*") {
		if r.Seen, err = s.seen(ctx, rt, r, match); err != nil {
			return nil, err
		}
	}
	var free func()
	r.Hold, free = exchange{s: s, req: r.HTTP}.holdBody()
	defer free()
	return rt.Writes[r.HTTP.Method](ctx, r)
}

// errChanged is the answer if an object is not as the client saw it.
var errChanged = &rest.Problem{Status: http.StatusPreconditionFailed, Detail: "The object has changed since you read it: read it again."}

// seen returns the answer to GET if one of its ETags is in match.
func (s *Server) seen(ctx context.Context, rt *resource.Route, r *rest.Request, match []string) (any, error) {
	value, _, err := s.readOnce(ctx, rt, r)
	if err != nil {
		return nil, err
	}
	a, err := newAnswer(value, r.Representation)
	if err != nil {
		return nil, err
	}
	if v := newVariants(a); v != nil && matchesAny(v.tags, match, "") {
		return value, nil
	}
	return nil, errChanged
}

// read runs the route's handler in one snapshot of the store.
func (s *Server) read(ctx context.Context, rt *resource.Route, r *rest.Request, free *func()) (value any, basis store.Basis, err error) {
	if r.Representation.Lines {
		return (&lines{rt.Handle, r, chooseEncoding(accepted(r.HTTP), minEncoded)}).download(), basis, nil // it reads for itself
	}
	if r.Asked == nil && !searches(rt, r.Params) {
		end, err := exchange{s: s, req: r.HTTP}.pageInTurn(ctx, rt, r.Params)
		if err != nil {
			return nil, basis, err
		}
		*free = end
		return s.readOnce(ctx, rt, r)
	}
	err = s.searchInTurn(ctx, r.HTTP, func(ctx context.Context) error {
		value, basis, err = s.readOnce(ctx, rt, r)
		return err
	})
	return value, basis, err
}

// question answers a POST that asks.
func (s *Server) question(ctx context.Context, rt *resource.Route, r *rest.Request, free *func()) (value any, basis store.Basis, err error) {
	r.Hold, *free = exchange{s: s, req: r.HTTP}.holdBody()
	body, err := r.ReadBody(rest.MaxBody, rt.Asks...)
	if err != nil {
		return nil, basis, err
	}
	r.Asked = &body
	return s.read(ctx, rt, r, free)
}

func (s *Server) readOnce(ctx context.Context, rt *resource.Route, r *rest.Request) (value any, basis store.Basis, err error) {
	read := func(ctx context.Context, snap *store.Snapshot) error {
		at, err := show(ctx, snap)
		if basis = (store.Basis{At: at}); err != nil {
			return err
		}
		if value, err = rt.Handle(ctx, snap, r); err != nil {
			return err
		}
		basis, err = snap.Basis(ctx)
		basis.At = at
		return err
	}
	if err = s.db.Read(ctx, read); errors.Is(err, store.ErrAgain) {
		err = s.db.Read(ctx, read)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return value, basis, err
}

// searches reports whether a request may read many strings to find some.
func searches(rt *resource.Route, params rest.Params) bool {
	q, _ := params.Get("q")
	return strings.TrimSpace(q) != "" || rt.Path == "/api/search/" || rt.Path == "/api/memory/"
}

// refuseWrite answers a method that is not a read (docs/compatibility.md#writes) where nothing
// can be written: a client without a token gets 401, one with a token 403. A method that the
// resource never has is 405 for both.
func refuseWrite(rt *resource.Route, req *http.Request) error {
	switch {
	case !slices.Contains(strings.Split(rt.Allow, ", "), req.Method):
		return rest.MethodNotAllowed(req.Method)
	case rest.AccessOf(req.Context()).Authenticated():
		return rest.ErrReadOnly
	}
	return rest.ErrReadOnlyStranger
}

// optionsOf describes a route. The media types are Weblate's, and do not depend on the object.
func optionsOf(rt *resource.Route) wire.Object {
	return wire.Object{
		"name", rt.Name, "description", rt.About, "renders",
		[]string{"application/json", "text/html"},
		"parses",
		[]string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data"},
	}
}

// renderOnce renders an answer that can be cached, or waits for another request
// that is rendering it: after a pull what it changed is not in the cache, and all
// clients ask for the same pages. The generation is a part of the flight's key, so a request that
// came after a pull waits only for a rendering that began after it. If the other
// request fails or its client goes away, this one renders the answer itself.
//
// It calls Do and not DoChan, whose goroutine would cost a small answer 20 µs of
// processor time on top of 28 µs, since its stack has to grow.
func (s *Server) renderOnce(x exchange, key cacheKey, render func() rendering) rendering {
	mine := false
	keep := func() (any, error) {
		mine = true
		made := render()
		if made.variants != nil && made.basis.Generation > 0 {
			s.cache.put(key, made.basis, x.rt, made.variants)
		}
		return made, nil
	}
	flight := strings.Join([]string{strconv.FormatInt(s.db.Published(), 10), key.base, key.target, key.accept, key.access}, "\x00")
	shared, _, _ := s.flights.Do(flight, keep)
	made := shared.(rendering)
	if !mine && made.variants == nil {
		again, _ := keep()
		made = again.(rendering)
	}
	return made
}
