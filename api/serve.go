package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxQuery bounds a query in bytes: page links repeat it.
const maxQuery = 16 << 10

// answer is a rendered answer.
type answer struct {
	status      int
	contentType string
	filename    string // for Content-Disposition, or ""
	body        []byte
	problem     *rest.Problem
	location    string         // where a redirect leads, else ""
	feed        *eventStream   // instead of a body
	long        longAnswer     // instead of a body
	download    *rest.Download // instead of a body
	content     io.ReadSeeker  // in place of a body that is not in memory
	bareName    bool           // filename is sent without quotes where it can be
	exact       bool           // only the very time of modified means that it is unchanged
	modified    time.Time      // for Last-Modified; zero: none
	maxAge      int            // seconds; 0: to be asked about
	ranges      bool           // parts of the body may be asked for
	generation  int64          // of the snapshot that it shows; 0: unknown
	encoding    string         // Content-Encoding; "": none
	etag        string         // "": none
}

// endpoint makes the function that answers every method of a route.
func (s *Server) endpoint(rt resource.Route) echo.HandlerFunc {
	return func(c echo.Context) error {
		started := s.now()
		a := s.answerCoded(&rt, c)
		if a.feed != nil && c.Request().Method == http.MethodGet {
			if err := s.streams.begin(); err == nil {
				defer s.streams.end()
			} else {
				a = renderProblem(rest.AsProblem(err), 0)
			}
		}
		if a.download != nil {
			s.sendDownload(&rt, c, a)
			return nil
		}
		if a.long != nil {
			a = s.sendLong(&rt, c, a)
			s.observe(&rt, c.Request(), a, s.now().Sub(started))
			return nil
		}
		took := s.now().Sub(started) // of a stream: until it begins
		a.status = s.write(&rt, c.Response(), c.Request(), a)
		if a.feed == nil {
			took = s.now().Sub(started)
		}
		s.observe(&rt, c.Request(), a, took)
		return nil
	}
}

// observe counts and logs an answer.
func (s *Server) observe(rt *resource.Route, req *http.Request, a answer, took time.Duration) {
	s.metrics.observe(rt.Path, req.Method, a.status, took)
	if s.logger.Enabled(req.Context(), slog.LevelDebug) {
		s.logger.Debug("api request", "method", req.Method, "path", req.URL.Path,
			"status", a.status, "bytes", len(a.body), "took", took)
	}
}

// answer makes the answer to a request. A panic becomes an internal error.
func (s *Server) answer(rt *resource.Route, c echo.Context) (a answer) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		s.logger.Error("api panic", "route", rt.Path, "path", c.Request().URL.Path, "panic", p, "stack", string(debug.Stack()))
		a = renderProblem(rest.ErrInternal, 0)
	}()
	r := rest.NewRequest(c.Request(), c.ParamNames(), c.ParamValues())
	value, generation, err := s.dispatch(c.Request().Context(), rt, r)
	if err == nil {
		a, err = render(value, r.Representation)
		a.generation = generation
	}
	if err != nil {
		p := rest.AsProblem(err)
		if p == rest.ErrInternal {
			s.logger.Error("api request failed", "route", rt.Path, "path", c.Request().URL.Path, "error", err)
		}
		a = renderProblem(p, r.Representation.Indent)
	}
	if a.contentType == rest.TypeJSON && wantsPage(rt, c.Request()) {
		return s.asPage(rt, r, a)
	}
	return a
}

// dispatch decides in the order of Django REST framework: the resource, the
// representation, the method, the object.
func (s *Server) dispatch(ctx context.Context, rt *resource.Route, r *rest.Request) (value any, generation int64, err error) {
	if err := rest.AccessOf(ctx).Refused; throttled(err) {
		return nil, 0, err // whatever was asked for, it was one too many
	}
	if rt.Handle == nil {
		return nil, 0, rest.ErrNotFound
	}
	req := r.HTTP
	if len(req.URL.RawQuery) > maxQuery {
		return nil, 0, rest.ErrTooLong
	}
	r.Params = rest.ParseQuery(req.URL.RawQuery)
	base, err := s.settings.Load().baseURL(req)
	if err != nil {
		return nil, 0, err
	}
	if r.Representation, err = negotiate(rt, r.Params, strings.Join(req.Header.Values("Accept"), ",")); err != nil {
		return nil, 0, err
	}
	r.Link = wire.Links{Base: base, Format: r.Representation.Format}
	if err := rest.AccessOf(ctx).Refused; err != nil {
		return nil, 0, err
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		return s.read(ctx, rt, r)
	case http.MethodOptions:
		return optionsOf(rt), 0, nil
	}
	return nil, 0, refuseWrite(rt, req)
}

// read runs the route's handler in one snapshot of the store.
func (s *Server) read(ctx context.Context, rt *resource.Route, r *rest.Request) (value any, generation int64, err error) {
	if r.Representation.Lines {
		return &lines{s, rt.Handle, r}, 0, nil // which reads for itself
	}
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		if s.cache.budget > 0 && rt.Kind != resource.KindEvents {
			if generation, err = snap.Generation(ctx); err != nil {
				return err
			}
		}
		value, err = rt.Handle(ctx, snap, r)
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return value, generation, err
}

// refuseWrite answers a method that is not a read (decision 8): nobody may
// write, so a client without a token is asked for one and a client with one is
// refused. A method that the resource has in no version is 405 for both.
func refuseWrite(rt *resource.Route, req *http.Request) error {
	for method := range strings.SplitSeq(rt.Allow, ", ") {
		if method == req.Method {
			if rest.AccessOf(req.Context()).Authenticated() {
				return rest.ErrForbidden
			}
			return rest.ErrUnauthenticated
		}
	}
	return rest.MethodNotAllowed(req.Method)
}

// write sends an answer with the headers of every answer (specification, rule
// 6; facts §6), and returns its status, which may be that of a part. HEAD gets the
// same headers and no body.
func (s *Server) write(rt *resource.Route, w http.ResponseWriter, req *http.Request, a answer) int {
	h := w.Header()
	if a.status == http.StatusNotModified { // what the client has stays as it is (RFC 9110 §15.4.5)
		delete(h, "X-Content-Type-Options")
		delete(h, "Content-Security-Policy")
	} else {
		h["X-Content-Type-Options"] = s.fixed.nosniff // first: it may be there, and a map that is full grows before it looks
		put(h, "Content-Type", a.contentType)
		put(h, "Allow", rt.Allow)
	}
	if a.filename != "" {
		put(h, "Content-Disposition", attachment(a.filename, a.bareName))
	}
	h["Vary"] = s.fixed.varyAccept
	if a.etag != "" {
		put(h, "Etag", a.etag)
		put(h, "Cache-Control", cacheControl(rest.AccessOf(req.Context())))
		if a.maxAge > 0 && !rest.AccessOf(req.Context()).Authenticated() {
			put(h, "Cache-Control", "max-age="+strconv.Itoa(a.maxAge))
		}
		h["Vary"] = s.fixed.varyBoth
	}
	if a.location != "" {
		put(h, "Location", a.location)
	}
	if a.contentType == rest.TypeHTML {
		put(h, "Content-Security-Policy", page.Policy)
		put(h, "Referrer-Policy", "same-origin")
	}
	if a.encoding != "" {
		put(h, "Content-Encoding", a.encoding)
	}
	if !a.modified.IsZero() {
		put(h, "Last-Modified", a.modified.UTC().Format(http.TimeFormat))
	}
	switch {
	case a.long != nil && a.etag == "":
		h["Vary"] = s.fixed.varyBoth
		put(h, "Cache-Control", "no-store")
	case a.status == http.StatusNotModified, a.long != nil, a.download != nil:
	case a.content != nil: // http.ServeContent knows
	case a.feed == nil:
		put(h, "Content-Length", strconv.Itoa(len(a.body)))
	default:
		put(h, "Cache-Control", "no-store")
		put(h, "X-Accel-Buffering", "no") // nginx would hold events back
	}
	s.settings.Load().cors(req, h)
	if a.problem != nil {
		h.Set("Cache-Control", "no-store") // caches may keep a 404 that does not forbid it, and a token may find more
		a.problem.SetHeaders(h)
	}
	if a.ranges && a.status == http.StatusOK {
		h.Set("Accept-Ranges", "bytes")
		if req.Method == http.MethodGet && a.download == nil {
			return serveParts(w, req, a)
		}
	}
	w.WriteHeader(a.status)
	if a.long != nil || a.download != nil || req.Method == http.MethodHead || a.status == http.StatusNotModified {
		return a.status
	}
	if a.feed != nil {
		s.stream(req.Context(), w, a.feed)
		return a.status
	}
	if _, err := w.Write(a.body); err != nil {
		s.logger.Debug("api client went away", "path", req.URL.Path, "error", err)
	}
	return a.status
}

// fixed are the values of headers that are always the same. A header that is
// added to gets a slice of its own, for these have no room.
type fixed struct{ varyAccept, varyBoth, nosniff []string }

func newFixed() fixed {
	return fixed{[]string{"Accept"}, []string{"Accept", "Accept-Encoding"}, []string{"nosniff"}}
}

// put is h.Set for a name in its canonical form, which is not looked for again.
func put(h http.Header, name, value string) { h[name] = []string{value} }

// cacheControl lets an answer be kept if it is asked about before it is used;
// one to somebody with a token by that client alone.
func cacheControl(a rest.Access) string {
	if a.SeesPrivate() {
		return "private, no-cache"
	}
	return "no-cache"
}

// attachment is the header that offers an answer as a file (RFC 6266): the name
// in ASCII, and for others as it is in RFC 8187's form. bare leaves the quotes away
// where the name needs none.
func attachment(name string, bare bool) string {
	if bare && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return "attachment; filename=" + name
	}
	plain := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '/' {
			return '_'
		}
		return c
	}, name)
	if plain == name {
		return `attachment; filename="` + plain + `"`
	}
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}
