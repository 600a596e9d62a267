package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
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
	// exact says that modified may become older, so that a copy is fresh only if it
	// has the very same time.
	exact bool
	// maxAge is how many seconds others may keep the answer unasked; 0: they ask.
	maxAge int
	// varies says that Accept-Encoding was looked at, although there is no ETag.
	varies bool
}

// body is what an answer carries. Each kind sends itself.
type body interface {
	// send sends a header and the body.
	send(x exchange, h header) sent
}

// sent is what metrics and the log are told of an answer.
type sent struct {
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
}

// setHeader sets the headers that do not depend on the kind of body.
func (x exchange) setHeader(h *header) {
	to := x.w.Header()
	if h.status == http.StatusNotModified { // what the client has stays as it is (RFC 9110 §15.4.5)
		delete(to, "X-Content-Type-Options")
		delete(to, "Content-Security-Policy")
	} else {
		to["X-Content-Type-Options"] = x.s.fixed.nosniff // first: it may be there, and a map that is full grows before it looks
		put(to, "Content-Type", h.contentType)
		put(to, "Allow", x.rt.Allow)
	}
	if h.disposition != "" {
		put(to, "Content-Disposition", h.disposition)
	}
	to["Vary"] = x.s.fixed.varyAccept
	if h.etag != "" || h.varies {
		to["Vary"] = x.s.fixed.varyBoth
	}
	if h.etag != "" {
		put(to, "Etag", h.etag)
		put(to, "Cache-Control", cacheControl(h, rest.AccessOf(x.req.Context())))
	}
	if h.location != "" {
		put(to, "Location", h.location)
	}
	if h.contentType == rest.TypeHTML {
		put(to, "Content-Security-Policy", page.Policy)
		put(to, "Referrer-Policy", "same-origin")
	}
	if h.encoding != "" {
		put(to, "Content-Encoding", h.encoding)
	}
	if !h.modified.IsZero() {
		put(to, "Last-Modified", h.modified.UTC().Format(http.TimeFormat))
	}
	x.s.settings.Load().cors(x.req, to)
}

// put is h.Set for a name in its canonical form, which is not looked for again.
func put(h http.Header, name, value string) { h[name] = []string{value} }

// cacheControl lets an answer be kept if it is asked about before it is used;
// one to a client with a token by that client alone.
func cacheControl(h *header, a rest.Access) string {
	switch {
	case h.maxAge > 0 && !a.Authenticated():
		return "max-age=" + strconv.Itoa(h.maxAge)
	case a.SeesPrivate():
		return "private, no-cache"
	}
	return "no-cache"
}

// fixed are the values of headers that are always the same. A header that is
// added to gets a slice of its own, for these have no room.
type fixed struct{ varyAccept, varyBoth, nosniff []string }

func newFixed() fixed {
	return fixed{[]string{"Accept"}, []string{"Accept", "Accept-Encoding"}, []string{"nosniff"}}
}

// attachment is the header that offers an answer as a file (RFC 6266): the name
// in ASCII, and for others as it is in RFC 8187's form. bare leaves the quotes away
// where the name needs none. No name is no header.
func attachment(name string, bare bool) string {
	if name == "" {
		return ""
	}
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
