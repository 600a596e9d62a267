package api

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// answer is what a request is answered with.
type answer struct {
	header
	body body
}

// header is what is sent before a body.
type header struct {
	status      int
	contentType string
	disposition string // Content-Disposition; "": none
	location    string // the address that a redirect leads to; "": none
	encoding    string // Content-Encoding; "": none
	etag        string // "": none
	modified    time.Time
	// maxAge is for how many seconds caches may keep the answer; 0: they have to ask.
	maxAge int
	keep   rest.Keep
	// varies says that the answer depends on Accept-Encoding, although it has no ETag.
	varies bool
	// ranges says that clients may ask for parts of the body (RFC 9110 §14).
	ranges bool
	// at is the state that the answer shows; without a History it is not known.
	at store.Position
}

// body is what follows a header. Each kind sends itself.
type body interface {
	// send sends a header and the body.
	send(x exchange, h header) outcome
}

// outcome describes an answer for metrics and the log.
type outcome struct {
	status int
	bytes  int // of a body that was in memory, 0 otherwise
}

// exchange is a request that is being answered.
type exchange struct {
	s       *Server
	rt      *resource.Route
	w       http.ResponseWriter
	req     *http.Request
	started time.Time
	at      store.Position // before anything was looked up
}

// setHeader sets the headers that do not depend on the kind of body.
func (x exchange) setHeader(h *header) {
	to := x.w.Header()
	if h.status == http.StatusNotModified { // the client keeps the headers of its copy (RFC 9110 §15.4.5)
		delete(to, "X-Content-Type-Options")
		delete(to, "Content-Security-Policy")
	} else {
		if h.contentType == rest.TypeJSON { // of data; and net/http takes longer for nine headers than for eight
			delete(to, "Content-Security-Policy")
		}
		to["X-Content-Type-Options"] = nosniff // first: a map that is full grows before it looks whether the key is there
		put(to, "Content-Type", h.contentType)
		put(to, "Allow", x.rt.Allow)
	}
	if h.disposition != "" {
		put(to, "Content-Disposition", h.disposition)
	}
	put(to, generationHeader, x.position(h))
	to["Vary"] = varyAccept
	if h.etag != "" || h.varies {
		to["Vary"] = varyBoth
	}
	if h.etag != "" {
		put(to, "Etag", h.etag)
		put(to, "Cache-Control", cacheControl(h, rest.AccessOf(x.req.Context())))
	}
	if h.location != "" {
		put(to, "Location", h.location)
	}
	if h.contentType == rest.TypeHTML {
		if h.status != http.StatusNotModified { // a 304 would replace the policy of the copy
			put(to, "Content-Security-Policy", page.Policy)
			put(to, "Referrer-Policy", "same-origin")
		}
		to["Vary"] = varyPage
	}
	if x.rt.Kind == resource.KindPage {
		x.setPageHeader(h)
	}
	if rest.AccessOf(x.req.Context()).Session != "" {
		put(to, "Cache-Control", "private, no-store")
	}
	if h.encoding != "" {
		put(to, "Content-Encoding", h.encoding)
	}
	if !h.modified.IsZero() {
		put(to, "Last-Modified", h.modified.UTC().Format(http.TimeFormat))
	}
	x.s.settings.Load().cors(x.req, to)
}

func (x exchange) setPageHeader(h *header) {
	to := x.w.Header()
	to["Vary"] = varyPage
	if h.contentType == rest.TypeHTML && h.status != http.StatusNotModified {
		put(to, "Content-Security-Policy", web.PolicyOf(x.req.URL.Path, rest.AccessOf(x.req.Context()).Session != ""))
	}
	if cookie := x.s.pages.ChosenCookie(x.req.URL.RawQuery); cookie != "" {
		put(to, "Set-Cookie", cookie)
	}
}

// put is h.Set for a name in canonical form.
func put(h http.Header, name, value string) { h[name] = []string{value} }

// cacheControl lets caches keep an answer if they ask before they use it; an
// answer to a token is for that client's cache only.
func cacheControl(h *header, a rest.Access) string {
	switch {
	case h.keep == rest.KeepNever:
		return "private, no-store"
	case h.keep == rest.KeepForever && a.Authenticated():
		return "private, " + forever
	case h.keep == rest.KeepForever:
		return "public, " + forever
	case h.maxAge > 0 && !a.Authenticated():
		return "max-age=" + strconv.Itoa(h.maxAge)
	case a.Token.ID != 0:
		return "private, no-cache"
	}
	return "no-cache"
}

// forever is a day: what is public may become private, and the program may change.
const forever = "max-age=86400, immutable"

// Values of headers that never change, without spare capacity: appending to them copies.
var (
	nosniff    = []string{"nosniff"}
	varyAccept = []string{"Accept"}
	varyBoth   = []string{"Accept", "Accept-Encoding"}
	varyPage   = []string{"Accept", "Accept-Encoding", "Accept-Language", "Cookie"}
)

// plainName has the characters of the names of hosts, and of files that need no quotes.
const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// attachment is the header Content-Disposition that offers an answer as a file (RFC 6266), with
// names that are not ASCII in the form of RFC 8187 as well. bare leaves the quotes out where
// the name needs none. It is "" without a name.
func attachment(name string, bare bool) string {
	if name == "" {
		return ""
	}
	if bare && strings.Trim(name, plainName) == "" {
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

// cors adds the headers that let pages of other origins read the answer. A preflight request is
// an ordinary OPTIONS with them. Nothing depends on cookies, so credentials are not allowed.
func (s *Settings) cors(r *http.Request, h http.Header) {
	if len(s.CORSOrigins) == 0 {
		return
	}
	origin := r.Header.Get("Origin")
	if slices.Contains(s.CORSOrigins, "*") {
		origin = "*"
	} else {
		h.Add("Vary", "Origin")
		if origin == "" || !slices.Contains(s.CORSOrigins, origin) {
			return
		}
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "+generationHeader+", "+unknownHeader)
	if preflight(r) {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Last-Event-ID, Range, "+generationHeader)
		h.Set("Access-Control-Max-Age", "86400")
	}
}

// preflight reports whether a browser asks if it may send a request, which shows no token.
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// newAnswer makes the answer from what a handler returned.
func newAnswer(value any, rep rest.Representation) (answer, error) {
	h := header{status: http.StatusOK}
	switch v := value.(type) {
	case *rest.Document:
		h.contentType, h.disposition, h.modified, h.maxAge = v.ContentType, attachment(v.Filename, v.BareName), v.Modified, v.MaxAge
		h.keep, h.ranges = v.Keep, v.Ranges
		return answer{h, content(v.Body)}, nil
	case rest.Redirect:
		h.status, h.contentType, h.location = http.StatusFound, "text/plain; charset=utf-8", string(v)
		return answer{h, content(nil)}, nil
	case *rest.ChangeStream:
		h.contentType = rest.TypeEvents
		return answer{h, &eventStream{ChangeStream: *v, last: v.After}}, nil
	case *rest.Download:
		h.contentType, h.disposition = v.ContentType, attachment(v.Filename, v.BareName)
		return answer{h, download{Download: v}}, nil
	case download:
		h.contentType, h.varies = v.ContentType, true
		return answer{h, v}, nil
	case rest.Answer:
		h.status, h.keep, value = cmp.Or(v.Status, h.status), v.Keep, v.Value
		if v.Status == http.StatusNoContent {
			return answer{h, content(nil)}, nil
		}
	}
	body, contentType, err := renderValue(value, rep)
	h.contentType = contentType
	return answer{h, content(body)}, err
}

// renderValue writes a list, an array or an object as CSV or JSON.
func renderValue(value any, rep rest.Representation) (body []byte, contentType string, err error) {
	var entries any
	switch v := value.(type) {
	case *wire.List:
		if results, ok := v.Results.(wire.ListWriter); ok && !rep.CSV && rep.Indent == 0 {
			return renderList(v, results), rest.TypeJSON, nil
		}
		entries = v.Results
	case *rest.Array:
		value, entries = v.Items, v.Items
	}
	if rep.CSV && entries != nil {
		body, err = renderCSV(entries)
		return body, rest.TypeCSV, err
	}
	body, err = wire.JSON(value, rep.Indent)
	return body, rest.TypeJSON, err
}

// renderList is wire.JSON for a page that writes its own JSON.
func renderList(l *wire.List, results wire.ListWriter) []byte {
	kept := buffers.Get().(*[]byte)
	defer buffers.Put(kept)
	return exactly(kept, wire.AppendList((*kept)[:0], l, results))
}
