package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
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
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// Options are what a Server needs. DB and Languages must be set; the zero value
// of every other field is usable.
type Options struct {
	// DB is the store that answers are read from.
	DB *store.DB
	// Languages is the language table.
	Languages *lang.Table
	Settings
	// Logger gets requests at debug level and failures at error level; nil
	// discards them.
	Logger *slog.Logger
	// Now is the clock that durations are measured with; nil is time.Now.
	Now func() time.Time
	// Progress returns how far a component's first import is; ok is false if
	// none is running. nil: none ever is.
	Progress func(c *store.ComponentRow) (p resource.Progress, ok bool)
	// WithoutGitExport says that repositories cannot be cloned from this server:
	// git_export is "" then.
	WithoutGitExport bool
	// CacheBytes bounds the cached answers; 0 caches none.
	CacheBytes int
	// TempDir is the folder for downloads that are too long for memory, while
	// they are sent; "" is the system's.
	TempDir string
	// Dialect is what is done as newer Weblates do; the zero value is Weblate 4.x.
	Dialect Dialect
	// Edits stores edits; nil: the API is read-only.
	Edits resource.Edits
	// Operations commit, pull and push at once; set with Edits.
	Operations resource.Operations
	// Version is the program's, shown in the OpenAPI document; "" shows none.
	// No header has it: it would be an answer's ninth header, and a map of nine
	// costs net/http 2.5 µs more than one of eight.
	Version string
}

// Dialect is rest.Dialect.
type Dialect = rest.Dialect

// Settings are the options that may change while the server runs; the zero value of each
// is usable.
type Settings struct {
	// BaseURL is the public origin of every link, such as
	// "https://l10n.example.org" (a trailing slash is ignored); "" takes it
	// from each request.
	BaseURL string
	// TrustedProxies are the networks whose X-Forwarded-Proto, X-Forwarded-Host
	// and X-Forwarded-For count; nil trusts none.
	TrustedProxies []netip.Prefix
	// AllowedHosts are the hosts that requests may name besides that of BaseURL, "*" for
	// all; nil: only that one, or all without BaseURL.
	AllowedHosts []string
	// CORSOrigins are the origins whose pages may read the answers, "*" for any;
	// nil allows none.
	CORSOrigins []string
	// AnonymousRate limits the requests of an address without a token,
	// TokenRate those with one token; the zero value is no limit.
	AnonymousRate, TokenRate limit.Rate

	anonymous, tokens *limit.Limiter // nil: no bound
}

// Server answers requests to the API. It is safe for concurrent use. Make it
// with New and give it to an http.Server.
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
	tempDir  string
	// spoolMemory is how many bytes of a download are kept in memory.
	spoolMemory int

	flights singleflight.Group
	// catchingUp has an item for each request in catchUp that asks the database.
	catchingUp chan struct{}
	audit      *audit
	untrusted  sync.Once // a proxy that is not trusted was logged
}

// New makes a Server that answers the paths of the API and of the pages, and 404 for
// any other.
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
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.audit, s.stored = &audit{log: s.logger, now: s.now}, limit.New(storedRate, s.now)
	s.env = resource.Env{
		Languages: opts.Languages, Logger: s.logger, Progress: opts.Progress,
		WithoutGitExport: opts.WithoutGitExport, Version: opts.Version,
	}
	s.env.Now, s.env.Store = s.now, s.db
	if opts.Edits != nil {
		s.writesInTurn(opts.Edits, opts.Operations)
	}
	if s.env.Progress == nil {
		s.env.Progress = func(*store.ComponentRow) (resource.Progress, bool) { return resource.Progress{}, false }
	}
	s.pages = web.New(&s.env, s.now)
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
	return errors.Join(settings.anonymous.Exchange(ctx, send), settings.tokens.Exchange(ctx, send))
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
	return append(s.metrics.collectors(), s.cache.hits, s.cache.misses, s.cache.dropped)
}

// Trusts reports whether a peer is a proxy of trusted_proxies.
func (s *Server) Trusts(peer netip.Addr) bool { return s.settings.Load().trustsAddr(peer) }

// Pools lists what clients share.
func (s *Server) Pools() limit.Pools { return s.shares.pools() }

// metrics are the metrics of one Server. Labels are bounded: routes are
// patterns, and unknown methods are counted as "other".
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	events   prometheus.Counter
	dropped  prometheus.Counter
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
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.seconds, m.streams, m.events, m.dropped}
}

func (m *metrics) observe(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, methodLabel(method), strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
		return method
	}
	return "other"
}
