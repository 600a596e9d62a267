// Package gitexport serves repositories read-only to git clients, by smart HTTP
// below /git/PROJECT/COMPONENT/ (gitprotocol-http).
//
// Goals: clone, fetch and ls-remote with the address in a component's git_export;
// bounded numbers, times and request sizes. Non-goals: pushing, the dumb
// protocol, browsing, and packing itself, which a [Mirror] does.
//
// The wanted ids of a request are read here first: git gives any object of a mirror to a
// client that knows its id, and a mirror has more than its branch. Git knows no borders
// within a repository: one that a public and a private component share can be read whole.
package gitexport

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// Prefix is what the paths of this package begin with.
const Prefix = "/git/"

// Bounds of the requests, in bytes.
const (
	maxRequest       = 4 << 20  // wants and haves of one round, inflated
	maxRequests      = 64 << 20 // of all rounds together
	maxClientRequest = 16 << 20 // of the rounds of one client: two long ones, which count one and a half times while they are read, and short ones
	smallRequest     = 16 << 10 // from which on a request needs a place
	maxLarge         = 8
	maxClientLarge   = 2
)

// bounds limits what all clients together may claim.
type bounds struct {
	rounds int64         // that are answered at a time; one client gets at most half of them
	queue  time.Duration // that a client waits for its turn
	run    time.Duration // of a round
	stall  time.Duration // in which a client reads nothing
}

// Errors of [Find], besides those of the store and of a mirror.
var (
	// ErrCredentials says that the client must send a token, or another one. It
	// must not depend on whether the component exists.
	ErrCredentials = errors.New("a token is needed")
	// ErrElsewhere says that another process has the repository.
	ErrElsewhere = errors.New("another process has the repository")
)

// Find finds the mirror of a component for the client of r, named by the token that it showed,
// or "". [catalog.ErrNotFound]: the component does not exist, or the client may not see it.
type Find func(r *http.Request, project, component string) (m Mirror, client string, err error)

// Mirror answers rounds of git's protocol: a [gitsource.Mirror].
type Mirror interface {
	UploadPack(ctx context.Context, u gitsource.Upload, w io.Writer) error
}

// Handler answers all paths below Prefix. Make it with [New].
type Handler struct {
	find      Find
	log       *slog.Logger
	client    func(r *http.Request) string
	bounds    bounds
	turns     *limit.Pool
	requests  *limit.Pool // bytes
	large     *limit.Pool // requests above smallRequest
	inflating *limit.Pool // cores
}

// New makes a Handler; a nil logger discards. client names the client of a request without a
// token, whose rounds and requests are counted together.
func New(find Find, client func(r *http.Request) string, log *slog.Logger) *Handler {
	return newHandler(find, client, log, bounds{rounds: 8, queue: 10 * time.Second, run: 30 * time.Minute, stall: time.Minute})
}

func newHandler(find Find, client func(r *http.Request) string, log *slog.Logger, b bounds) *Handler {
	cores := int64(max(runtime.GOMAXPROCS(0)-1, 1))
	return &Handler{
		find: find, client: client, log: cmp.Or(log, slog.New(slog.DiscardHandler)), bounds: b,
		turns: limit.NewPool("git_rounds", b.rounds, (b.rounds+1)/2), requests: limit.NewPool("git_requests", maxRequests, maxClientRequest),
		large: limit.NewPool("git_large_requests", maxLarge, maxClientLarge), inflating: limit.NewPool("git_inflating", cores, cores),
	}
}

// Pools lists what clients share.
func (h *Handler) Pools() limit.Pools { return limit.Pools{h.turns, h.requests, h.large, h.inflating} }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, Prefix), "/", 3)
	if len(parts) < 3 {
		refuse(w, http.StatusNotFound, "Not found.")
		return
	}
	m, client, err := h.find(r, parts[0], parts[1])
	if err != nil {
		h.fail(w, r, err)
		return
	}
	client = cmp.Or(client, h.client(r))
	service := r.URL.Query().Get("service")
	switch rest := parts[2]; {
	case rest == "git-receive-pack" || rest == "info/refs" && service == "git-receive-pack":
		refuse(w, http.StatusForbidden, "This is a read-only copy: push to the repository that it was fetched from.")
	case rest == "info/refs" && service == "git-upload-pack":
		if allowed(w, r, http.MethodGet) {
			h.answer(w, r, m, client, nil)
		}
	case rest == "info/refs":
		refuse(w, http.StatusForbidden, "Only git's smart protocol is spoken here: use git 1.6.6 or newer.")
	case rest == "git-upload-pack":
		if allowed(w, r, http.MethodPost) {
			h.upload(w, r, m, client)
		}
	case rest == "" && allowed(w, r, http.MethodGet):
		refuse(w, http.StatusOK, "A repository, to be read with: git clone URL-OF-THIS-PAGE")
	case rest != "":
		refuse(w, http.StatusNotFound, "Not found.")
	}
}

// upload reads the request of a round, which git compresses when it is long.
func (h *Handler) upload(w http.ResponseWriter, r *http.Request, m Mirror, client string) {
	if r.Header.Get("Content-Type") != "application/x-git-upload-pack-request" {
		refuse(w, http.StatusUnsupportedMediaType, "A request of git is expected.")
		return
	}
	lease := h.requests.Lease(client)
	defer lease.Release()
	body := &longBody{Reader: http.MaxBytesReader(w, r.Body, maxRequest), lease: h.large.Lease(client)}
	defer body.lease.Release()
	request, err := lease.ReadAll(body, maxRequest)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		request, err = h.inflate(r.Context(), client, request, lease, body)
	}
	var tooLong *http.MaxBytesError
	switch {
	case errors.Is(err, limit.ErrShare), errors.Is(err, limit.ErrFull):
		busy(w, err)
	case errors.Is(err, gzip.ErrHeader):
		refuse(w, http.StatusBadRequest, "The request is not what its Content-Encoding says.")
	case errors.As(err, &tooLong), errors.Is(err, limit.ErrTooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The request is longer than %d bytes: clone instead of fetching.", maxRequest))
	case err != nil:
		refuse(w, http.StatusBadRequest, "The request cannot be read.")
	default:
		h.answer(w, r, m, client, request)
	}
}

// inflate inflates a request that has come whole, in turn: one that does not end costs no
// inflating, and many that do leave a core to others.
func (h *Handler) inflate(ctx context.Context, client string, packed []byte, lease *limit.Lease, body *longBody) ([]byte, error) {
	turn, err := h.inflating.Turn(ctx, client, h.bounds.queue)
	if err != nil {
		return nil, err
	}
	defer turn.Release()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, gzip.ErrHeader
	}
	body.Reader, body.n = z, 0
	return lease.ReadAll(body, maxRequest)
}

// longBody is a body that has one of the few places of long requests from smallRequest
// on: inflating many of them only to find that there is no room is work, too.
type longBody struct {
	io.Reader
	lease *limit.Lease
	n     int
	long  bool
}

// Read reads, if there is room.
func (b *longBody) Read(p []byte) (int, error) {
	if b.n >= smallRequest && !b.long {
		if err := b.lease.Take(1); err != nil {
			return 0, err
		}
		b.long = true
	}
	n, err := b.Reader.Read(p)
	b.n += n
	return n, err
}

// answer runs one round; a nil request asks for the advertisement of refs.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, m Mirror, client string, request []byte) {
	turn, err := h.turns.Turn(r.Context(), client, h.bounds.queue)
	if err != nil {
		busy(w, err)
		return
	}
	defer turn.Release()
	ctx, cancel := context.WithTimeout(r.Context(), h.bounds.run)
	defer cancel()
	out := &stream{w: w, control: http.NewResponseController(w), stall: h.bounds.stall}
	out.kind = "application/x-git-upload-pack-result"
	if request == nil {
		out.kind = "application/x-git-upload-pack-advertisement"
	}
	err = m.UploadPack(ctx, gitsource.Upload{Request: request, Version: version(r.Header.Get("Git-Protocol"))}, out)
	switch {
	case err == nil && out.begun:
	case err == nil:
		out.begin()
	case !out.begun:
		h.fail(w, r, err)
	default:
		h.log.Warn("git export: cut off", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler) // or the client would take it for whole
	}
}

// busy answers a client for which there is no room.
func busy(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "10")
	if errors.Is(err, limit.ErrShare) {
		refuse(w, http.StatusTooManyRequests, "This client runs too many clones at a time: try again in a while.")
		return
	}
	refuse(w, http.StatusServiceUnavailable, "Too many clones are running: try again in a while.")
}

// fail answers an error before anything was written.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		refuse(w, http.StatusNotFound, "Not found.")
	case errors.Is(err, ErrCredentials):
		w.Header().Set("WWW-Authenticate", `Basic realm="repoglot", charset="UTF-8"`)
		refuse(w, http.StatusUnauthorized, "Not found, or a token is needed: give it as the password, with any user name.")
	case errors.Is(err, gitsource.ErrBadRequest):
		h.log.Debug("git export: refused", "path", r.URL.Path, "error", err)
		refuse(w, http.StatusBadRequest, "This is no request of git's protocol.")
	case r.Context().Err() != nil:
		h.log.Debug("git export: the client has gone", "path", r.URL.Path, "error", err)
		refuse(w, http.StatusServiceUnavailable, "The request was cancelled.")
	case errors.Is(err, gitsource.ErrNotFetched):
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "The repository has not been fetched yet: try again in a while.")
	case errors.Is(err, ErrElsewhere):
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "This process has not pulled the repository: another process of the cluster has it.")
	case errors.Is(err, store.ErrUnavailable):
		h.log.Debug("git export: no database", "path", r.URL.Path, "error", err)
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "The database is not available: try again.")
	case errors.Is(err, gitsource.ErrNoGit):
		refuse(w, http.StatusServiceUnavailable, "This server cannot be cloned from: it has no git program, or may not use it.")
	case errors.Is(err, context.DeadlineExceeded):
		h.log.Warn("git export: took too long", "path", r.URL.Path, "error", err)
		refuse(w, http.StatusServiceUnavailable, "The answer took too long: try again, or fetch less at a time.")
	default:
		h.log.Error("git export failed", "path", r.URL.Path, "error", err)
		refuse(w, http.StatusInternalServerError, "The repository cannot be read; the server's log says why.")
	}
}

// version is the highest supported protocol version of a Git-Protocol header.
func version(header string) int {
	keys := strings.Split(header, ":")
	for version := 2; version > 0; version-- {
		if slices.Contains(keys, "version="+strconv.Itoa(version)) {
			return version
		}
	}
	return 0
}

// allowed reports whether a request has the method; if not, it answers it.
func allowed(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	refuse(w, http.StatusMethodNotAllowed, "Method not allowed.")
	return false
}

// refuse answers with a line that git shows to its user.
func refuse(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n") // the client has gone
}

// stream writes an answer; its headers are sent with the first byte.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	kind    string
	stall   time.Duration
	begun   bool
}

func (s *stream) begin() {
	s.begun = true
	s.w.Header().Set("Content-Type", s.kind)
	s.w.WriteHeader(http.StatusOK)
}

// Write writes with a new deadline.
func (s *stream) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.stall)) // not every connection has one
	if !s.begun {
		s.begin()
	}
	return s.w.Write(p)
}
