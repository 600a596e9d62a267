package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// Options are what a Server needs. DB and Languages must be set; other zero values are usable.
type Options struct {
	// DB is the store that answers are read from.
	DB *store.DB
	// Languages is the language table.
	Languages *lang.Table
	Settings
	// Logger gets requests at debug level and failures at error level; nil discards them.
	Logger *slog.Logger
	// Now is the clock that durations are measured with; nil is time.Now.
	Now func() time.Time
	// Progress returns how much of a component's first import is done, from 0 to 100,
	// and whether one is running. nil: none ever is.
	Progress func(c *store.ComponentRow) (percent int, running bool)
	// WithoutGitExport: no repositories can be cloned from this server; git_export is "".
	WithoutGitExport bool
	// CacheBytes bounds the cached answers; 0 caches none.
	CacheBytes int
	// TempDir is the folder for downloads too long for memory; "" is the system's.
	TempDir string
	// Dialect is what is done as newer Weblates do; the zero value is Weblate 4.x.
	Dialect Dialect
	// Edits stores edits; nil: the API is read-only.
	Edits resource.Edits
	// Operations commit, pull and push at once; set with Edits.
	Operations resource.Operations
	// Commits compares commits; nil: there are none.
	Commits resource.Commits
	// Version is the program's, shown in the OpenAPI document, unless "". No header has it:
	// a map of nine costs net/http 2.5 µs more than one of eight.
	Version string
}

// Dialect is rest.Dialect.
type Dialect = rest.Dialect

// Settings are the options that may change while the server runs; zero values are usable.
type Settings struct {
	// BaseURL is the public origin of every link, such as "https://l10n.example.org" (a
	// trailing slash is ignored); "" takes it from each request.
	BaseURL string
	// TrustedProxies are the networks whose X-Forwarded-Proto, X-Forwarded-Host
	// and X-Forwarded-For count; nil trusts none.
	TrustedProxies []netip.Prefix
	// AllowedHosts are the hosts that requests may name besides that of BaseURL, "*" for
	// all; nil: only that one, or all without BaseURL.
	AllowedHosts []string
	// CORSOrigins are those whose pages may read the answers, "*" for any; nil: none.
	CORSOrigins []string
	// AnonymousRate limits the requests of an address without a token,
	// TokenRate those with one token; the zero value is no limit.
	AnonymousRate, TokenRate limit.Rate
	// SignIn are the providers to sign in with, which need BaseURL; Roles are of accounts.
	SignIn []*signin.Provider
	Roles  catalog.RoleBook
	// Pushes reports whether an account may push to the repository of a component that gives such
	// accounts the role of a translator, as rest.Granter has it; nil: none does.
	Pushes func(a *catalog.Account, c *store.ComponentRow) (may bool, ask func(context.Context))
	// Mail sends a mail to an address, with an id that is the same when it is sent again; nil: no
	// mail is sent. It needs BaseURL.
	Mail func(ctx context.Context, to, id string, m *web.Mail) error

	anonymous, tokens *limit.Limiter // nil: no bound
}

// Server answers requests to the API, concurrently. Make it with New, for an http.Server.
type Server struct {
	db       *store.DB
	logger   *slog.Logger
	now      func() time.Time
	env      resource.Env
	pages    *web.Pages
	settings atomic.Pointer[Settings]
	echo     *echo.Echo
	metrics  metrics
	streams  *streams
	cache    *cache
	shares   shares
	dialect  rest.Dialect
	stored   *limit.Limiter // bytes of edits by token
	// attempts counts sign-ins with providers, newcomers their new accounts, by client; mailed counts
	// mails that ask to confirm an address, by account and by address, mailedAll all of them.
	attempts, newcomers, mailed, mailedAll *limit.Limiter
	tempDir                                string
	// spoolMemory is how many bytes of a download are kept in memory.
	spoolMemory int

	flights singleflight.Group
	// catchingUp has an item for each request in catchUp that asks the database.
	catchingUp chan struct{}
	audit      *audit
	untrusted  sync.Once // a proxy that is not trusted was logged
}

// New makes a Server that answers the paths of the API and of the pages, and 404 for any other.
func New(opts Options) *Server {
	s := &Server{
		db:      opts.DB,
		logger:  opts.Logger,
		now:     opts.Now,
		echo:    echo.New(),
		metrics: newMetrics(),
		streams: newStreams(),
		shares:  newShares(opts.DB.Readers()),
		tempDir: opts.TempDir,
		dialect: opts.Dialect,

		spoolMemory: spoolMemory,
		catchingUp:  make(chan struct{}, maxCatchingUp),
	}
	s.logger = cmp.Or(s.logger, slog.New(slog.DiscardHandler))
	if s.now == nil {
		s.now = time.Now
	}
	s.audit, s.stored = &audit{log: s.logger, now: s.now}, limit.New(storedRate, s.now)
	s.attempts, s.newcomers = limit.New(signInRate, s.now), limit.New(newcomerRate, s.now)
	s.mailed, s.mailedAll = limit.New(askRate, s.now), limit.New(askAllRate, s.now)
	s.env = resource.Env{
		Languages: opts.Languages, Logger: s.logger, Progress: opts.Progress,
		WithoutGitExport: opts.WithoutGitExport, Version: opts.Version, Commits: opts.Commits,
		Errands: resource.NewErrands(s.logger), Note: s.audit.note,
	}
	s.env.Now, s.env.Store = s.now, s.db
	if opts.Edits != nil {
		s.writesInTurn(opts.Edits, opts.Operations)
	}
	if s.env.Progress == nil {
		s.env.Progress = func(*store.ComponentRow) (percent int, running bool) { return 0, false }
	}
	s.pages = web.New(&s.env, s.now, s.providers, func() bool { return s.settings.Load().Mail != nil })
	s.cache = newCache(opts.CacheBytes, s.now, s.db.Unchanged)
	s.Update(opts.Settings)
	s.registerRoutes()
	return s
}

// Update replaces the settings for all requests that begin after it. Only one
// call may run at a time. The slices must not be modified afterwards.
func (s *Server) Update(settings Settings) {
	settings.BaseURL = strings.TrimRight(settings.BaseURL, "/")
	settings.anonymous, settings.tokens = limit.New(settings.AnonymousRate, s.now), limit.New(settings.TokenRate, s.now)
	if old := s.settings.Load(); old != nil { // the counts go on if the limits are the same
		if old.AnonymousRate == settings.AnonymousRate {
			settings.anonymous = old.anonymous
		}
		if old.TokenRate == settings.TokenRate {
			settings.tokens = old.tokens
		}
	}
	s.settings.Store(&settings)
}

// ExchangeLimits counts requests with other processes: see [limit.Limiter.Exchange]. It
// is to be called every second or so.
func (s *Server) ExchangeLimits(ctx context.Context, send func(ctx context.Context, limit string, list []limit.Spent) ([]limit.Spent, error)) error {
	settings := s.settings.Load()
	own := func(ctx context.Context, limit string, list []limit.Spent) ([]limit.Spent, error) {
		return send(ctx, "own "+limit, list)
	}
	err := errors.Join(settings.anonymous.Exchange(ctx, send), settings.tokens.Exchange(ctx, send))
	for _, l := range []*limit.Limiter{s.attempts, s.newcomers, s.mailed, s.mailedAll, s.stored} { // no two have one rate
		err = errors.Join(err, l.Exchange(ctx, own))
	}
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = s.withAccess(w, r)
	if !s.serveKept(w, r) {
		s.echo.ServeHTTP(w, withRoutePath(withFormat(r)))
	}
}

// Metrics returns the collectors of the package for the program's registry.
func (s *Server) Metrics() []prometheus.Collector {
	m, c := &s.metrics, s.cache
	return []prometheus.Collector{m.requests, m.seconds, m.streams, m.events, m.dropped, m.mails, c.hits, c.misses, c.dropped}
}

// Trusts reports whether a peer is a proxy of trusted_proxies.
func (s *Server) Trusts(peer netip.Addr) bool { return s.settings.Load().trustsAddr(peer) }

// Pools lists what clients share.
func (s *Server) Pools() limit.Pools {
	p := &s.shares
	return limit.Pools{p.inFlight, p.downloads, p.spooled, p.uploads, p.writes, p.operations, p.streams, p.searches, p.longSearches, p.makers, p.cores}
}

// metrics are the metrics of one Server. Labels are bounded: routes are
// patterns, and unknown methods are counted as "other".
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	events   prometheus.Counter
	dropped  prometheus.Counter
	mails    *prometheus.CounterVec
}

func newMetrics() metrics {
	return metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "repoglot_api_requests_total",
			Help: "Answers of the API by route, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "repoglot_api_request_seconds",
			Help:    "Time to answer a request of the API by route.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 5},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "repoglot_api_streams", Help: "Streams of changes that are open."}),
		events:  prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_api_stream_events_total", Help: "Change entries sent to streams."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_api_streams_dropped_total", Help: "Streams that were cut off because their client did not read."}),
		mails:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "repoglot_mails_total", Help: "Mails, by result."}, []string{"result"}),
	}
}

func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
		return method
	}
	return "other"
}

// registerRoutes registers the table. Every method of a path calls the same function, which
// knows the path's Allow: Echo's own 405 does not. Endpoints return no errors, so Echo's error
// handler gets only unknown paths. (A catch-all route would win over a RouteNotFound below it.)
func (s *Server) registerRoutes() {
	s.echo.HideBanner = true
	s.echo.HidePort = true
	methods := slices.Clip([]string{http.MethodGet, http.MethodHead, http.MethodOptions})
	for _, rt := range append(resource.Routes(&s.env), s.pages.Routes()...) {
		h := s.endpoint(rt)
		s.echo.Match(append(methods, slices.Collect(maps.Keys(rt.Writes))...), rt.Path, h)
		s.echo.RouteNotFound(rt.Path, h)
	}
	s.echo.POST("/login/", s.signIn)
	s.echo.POST("/logout/", s.signOut)
	s.echo.POST("/follow/", s.follow)
	s.echo.POST("/unfollow/:secret/", s.unfollow)
	s.echo.POST("/translate/:project/:component/:language/", s.form("Strings", s.pages.Edit))
	s.echo.POST("/new-lang/:project/:component/", s.form("Begin a language", s.pages.Begin))
	s.echo.POST("/account/", s.form("Own work", s.pages.Account))
	s.echo.POST("/accounts/", s.form("Accounts", s.pages.Accounts))
	s.echo.POST("/projects/:project/-/:language/", s.form("Suggestions", s.pages.Review))
	s.echo.POST("/projects/:project/:component/:language/", s.form("Suggestions", s.pages.Review))
	s.echo.POST("/projects/:project/:component/", s.form("Component", s.pages.Merge))
	unknown := s.endpoint(resource.Route{Path: "unknown", Allow: resource.AllowRead})
	unknownPage := s.endpoint(resource.Route{Path: "unknown", Allow: resource.AllowRead, Kind: resource.KindPage})
	s.echo.GET("/login/:provider/", s.withProvider(unknownPage, s.beginSignIn))
	s.echo.GET("/login/:provider/callback/", s.withProvider(unknownPage, s.finishSignIn))
	s.echo.HTTPErrorHandler = func(_ error, c echo.Context) {
		r := c.Request()
		if strings.Contains(r.Header.Get("Accept"), "text/html") && web.Paths(r.URL.Path) {
			_ = unknownPage(c) // a person's; programs get what the API answers
		} else {
			_ = unknown(c)
		}
	}
}

// withRoutePath returns r with the path for matching routes: every segment in
// one encoding, and a trailing slash (docs/compatibility.md#addresses).
// Parameters are unescaped once, when they are read.
func withRoutePath(r *http.Request) *http.Request {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(plain)
		}
	}
	path := strings.Join(segments, "/")
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := *r.URL
	u.RawPath = path
	routed := r.WithContext(r.Context()) // a copy
	routed.URL = &u
	return routed
}

// withFormat returns r with the suffix of its path as the parameter format
// (docs/compatibility.md#format-parameter): /api/projects.json is /api/projects/?format=json.
// As in Django REST framework, a suffix wins over the parameter. Other paths are not changed.
func withFormat(r *http.Request) *http.Request {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return r
	}
	path, format := cutFormat(r.URL.Path)
	if format == "" {
		return r
	}
	u := *r.URL
	u.Path = path
	if u.RawPath != "" {
		var raw string
		if u.RawPath, raw = cutFormat(u.RawPath); raw != format {
			return r
		}
	}
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&format="+format, "&") // the last one counts
	suffixed := r.WithContext(r.Context())                             // a copy
	suffixed.URL = &u
	return suffixed
}

// cutFormat cuts the suffix off a path, if it is a format of all resources, or
// one of files after "file". Other dots belong to names such as ja.sjis.
func cutFormat(path string) (rest, format string) {
	path = strings.TrimSuffix(path, "/")
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 || path[dot-1] == '/' {
		return path, ""
	}
	rest, format = path[:dot], path[dot+1:]
	switch format {
	case "api", "csv", "json", "ndjson":
		return rest + "/", format
	}
	if strings.HasSuffix(rest, "/file") && resource.IsFileFormat(format) {
		return rest + "/", format
	}
	return path, ""
}
