package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/hooks"
	"github.com/repoglot/repoglot/api/limit"
)

const (
	// graceTimeout bounds the answers in progress when the server stops.
	graceTimeout   = 15 * time.Second
	maxHeaderBytes = 64 << 10
)

func listen(ctx context.Context, key, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: %s is in use by another program: stop that, or choose another port", key, address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: this user may not use the port of %s: choose one above 1023", key, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: %s is no address of this machine: write an address that it has, or none, like :8080", key, address)
	case err != nil:
		return nil, fmt.Errorf("%s: %s cannot be listened on: %w: choose another address", key, address, err)
	}
	return l, nil
}

// newHTTPServer returns a server that drops clients slower than the slowest honest
// connection. An answer is rendered before it is written, so the time of writing depends on
// the client; an endless stream of changes sets a deadline for each write.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           protect(h, log),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// serveUntil answers requests until ctx is done, then finishes the answers in progress.
func serveUntil(ctx context.Context, server *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = errors.Join(fmt.Errorf("answers took longer than %s and were cut off: %w", graceTimeout, err), server.Close())
	}
	<-failed
	return err
}

// routes are the handlers of the main address. A ServeMux would redirect paths
// that are not clean, which the API answers itself.
type routes struct {
	api, home, health, ready http.Handler
	hooks                    http.Handler // any method
	export                   http.Handler // any method; nil: switched off
	metrics                  http.Handler // nil: on metrics_listen
	// allows reports whether a request names this server; nil: every one does.
	allows func(*http.Request) bool
}

// ServeHTTP answers one request.
func (rt *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	own := rt.own(r.URL.Path)
	probe := own != nil && r.URL.Path != "/" // asked by address
	switch {
	case !probe && rt.allows != nil && !rt.allows(r):
		writeJSON(w, http.StatusBadRequest, map[string]any{"detail": "Invalid Host header: this server has another name (base_url, allowed_hosts)."})
	case strings.HasPrefix(r.URL.Path, hooks.Prefix):
		rt.hooks.ServeHTTP(w, r)
	case rt.export != nil && strings.HasPrefix(r.URL.Path, gitexport.Prefix):
		rt.export.ServeHTTP(w, r)
	case own == nil:
		rt.api.ServeHTTP(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		writeJSON(w, http.StatusMethodNotAllowed, map[string]any{"detail": `Method "` + strings.ToUpper(r.Method) + `" not allowed.`})
	default:
		own.ServeHTTP(w, r)
	}
}

// own returns the handler of a path that is not the API's, else nil.
func (rt *routes) own(path string) http.Handler {
	switch path {
	case "/":
		return rt.home
	case "/healthz", "/healthz/":
		return rt.health
	case "/readyz", "/readyz/":
		return rt.ready
	case "/metrics":
		return rt.metrics
	default:
		return nil
	}
}

// pullsOnly leaves the routes of a process that only pulls.
func (rt *routes) pullsOnly() {
	elsewhere := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "This process only pulls: it answers /healthz, /readyz and /metrics."})
	})
	rt.api, rt.home, rt.hooks, rt.export, rt.allows = elsewhere, elsewhere, elsewhere, nil, nil
}

func newMetrics(lists ...[]prometheus.Collector) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, list := range lists {
		registry.MustRegister(list...)
	}
	return registry
}

// profiled serves metrics, and to clients that may see it the profiler, for metrics_listen. It
// refuses requests whose host named says is another one.
func profiled(metrics http.Handler, named, may func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics)
	for path, h := range map[string]http.HandlerFunc{
		"/debug/pprof/": pprof.Index, "/debug/pprof/cmdline": pprof.Cmdline, "/debug/pprof/profile": pprof.Profile,
		"/debug/pprof/symbol": pprof.Symbol, "/debug/pprof/trace": pprof.Trace,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !may(r) {
				w.Header().Set("WWW-Authenticate", `Basic realm="repoglot"`)
				writeJSON(w, http.StatusUnauthorized, map[string]any{"detail": "The profiler needs a token of scope admin, or a client on this machine."})
				return
			}
			h(w, r)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !named(r) {
			writeJSON(w, http.StatusBadRequest, map[string]any{"detail": "Invalid Host header: use the address of this server, or list the name in allowed_hosts."})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// policy is the Content-Security-Policy of answers without one of their own, but for JSON: in a
// browser they load nothing, run nothing and are in no frame.
const policy = "default-src 'none'; frame-ancestors 'none'"

// Values of headers without spare capacity: appending to them copies.
var (
	nosniff  = []string{"nosniff"}
	policies = []string{policy}
)

// protect sets the headers that keep browsers from guessing the type of an answer and from
// running it, and logs a panic of any handler. It cuts the connection, so that no client takes
// half an answer for a whole one. The API handles its own panics.
func protect(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := w.Header()
		to["X-Content-Type-Options"], to["Content-Security-Policy"] = nosniff, policies
		defer func() {
			if p := recover(); p != nil {
				if p != http.ErrAbortHandler {
					log.Error("panic while answering", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				}
				panic(http.ErrAbortHandler)
			}
		}()
		h.ServeHTTP(w, r)
	})
}

// home answers / with links for programs; a browser gets the page of pages.
func home(pages http.Handler, version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			pages.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Accept")
		writeJSON(w, http.StatusOK, map[string]any{"name": "repoglot", "version": version, "api": "/api/", "readyz": "/readyz"})
	})
}

// The bounds of connections, of all clients together and of one client. The last
// quarter is left to clients that have few.
const (
	maxConnections, clientConnections = 8192, 1024
	// clientReserved is what one client may have of the last quarter.
	clientReserved = 16
	// maxMonitors bounds those to metrics_listen.
	maxMonitors, clientMonitors = 64, 32
)

// connections are the bounds of the connections to one address.
type connections struct {
	pools limit.Pools // the first that has room counts
	// trusts reports whether a peer is a proxy, whose connections are those of many
	// clients: only the total bounds them. nil: none is.
	trusts func(netip.Addr) bool
}

// newConnections bounds the connections of the main address: to half of the files that
// the process may have open, if that is less.
func newConnections(files int64, trusts func(netip.Addr) bool) *connections {
	total := int64(maxConnections)
	if files > 0 {
		total = max(min(total, files/2), 16)
	}
	return &connections{
		pools: limit.Pools{
			limit.NewPool("connections", total*3/4, min(clientConnections, total/4)),
			limit.NewPool("connections_reserved", total/4, clientReserved),
		},
		trusts: trusts,
	}
}

// countedListener counts what a listener accepts.
type countedListener struct {
	net.Listener
	bounds *connections
}

// Accept returns the next connection within the bounds.
func (l countedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		release, err := l.bounds.take(c.RemoteAddr())
		if err != nil {
			refuseConnection(c, err)
			continue
		}
		return countedConn{c.(*net.TCPConn), sync.OnceFunc(release)}, nil
	}
}

func (c *connections) take(from net.Addr) (release func(), err error) {
	peer, err := netip.ParseAddrPort(from.String())
	if err != nil {
		peer = netip.AddrPort{} // all such are one client
	}
	client := limit.Address(peer.Addr())
	if c.trusts != nil && c.trusts(peer.Addr().Unmap()) {
		client = "proxy " + strconv.Itoa(int(peer.Port())) // each has its own share
	}
	var lease *limit.Lease
	for _, pool := range c.pools {
		lease = pool.Lease(client)
		if err = lease.Take(1); !errors.Is(err, limit.ErrFull) {
			break
		}
	}
	return lease.Release, err
}

// refuseConnection answers whatever will be asked, in the buffer of a new connection.
func refuseConnection(c net.Conn, err error) {
	defer c.Close()
	status, detail, code, kind := "503 Service Unavailable", "Too many connections are open.", "error", "server_error"
	if errors.Is(err, limit.ErrShare) {
		status, detail, code, kind = "429 Too Many Requests", "This client has too many connections open.", "throttled", "client_error"
	}
	// Both forms of errors: docs/compatibility.md#errors.
	body := fmt.Sprintf(`{"detail":%q,"errors":[{"code":%q,"detail":%[1]q,"attr":null}],"type":%[3]q}`, detail, code, kind)
	_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // it is closed either way
	_, _ = c.Write([]byte("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body))
}

// countedConn is a connection that is counted until it is closed. It keeps the ways in
// which files are sent without copying.
type countedConn struct {
	*net.TCPConn
	release func()
}

// Close closes the connection.
func (c countedConn) Close() error {
	c.release()
	return c.TCPConn.Close()
}

// pullMetrics tells when branches were last known to be up to date.
type pullMetrics struct {
	pulls *supervisor
	named bool // by component, also private ones: for an address of its own
}

var (
	buildInfo  = prometheus.NewDesc("repoglot_build_info", "1, with the version of the program.", []string{"version", "goversion"}, nil)
	oldestPull = prometheus.NewDesc("repoglot_oldest_pull_timestamp_seconds",
		"When the branch that was pulled the longest time ago was last known to be up to date; 0 if one was never pulled.", nil, nil)
	lastPull = prometheus.NewDesc("repoglot_last_pull_timestamp_seconds",
		"When a component was last known to be up to date; 0 if it was never pulled. On metrics_listen only.", []string{"project", "component"}, nil)
)

// Describe implements prometheus.Collector.
func (m pullMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- buildInfo
	ch <- oldestPull
	if m.named {
		ch <- lastPull
	}
}

// Collect implements prometheus.Collector. A branch is known to be up to date since the end
// of its last good pull, or now if that was the last one and its repository is watched.
func (m pullMetrics) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(buildInfo, prometheus.GaugeValue, 1, m.pulls.engine.options.Version, runtime.Version())
	plan, states := m.pulls.snapshot()
	m.pulls.mu.Lock()
	watched := maps.Clone(m.pulls.watched)
	m.pulls.mu.Unlock()
	now := time.Now()
	oldest := now
	for i := range plan.branches {
		b := &plan.branches[i]
		at := states[b.Key].LastGood
		if !at.IsZero() && watched[b.Key] && states[b.Key].Err == nil {
			at = now
		}
		if at.Before(oldest) {
			oldest = at
		}
		if !m.named {
			continue
		}
		for _, c := range b.Components {
			ch <- prometheus.MustNewConstMetric(lastPull, prometheus.GaugeValue, seconds(at), c.Spec.Project, c.Spec.Slug)
		}
	}
	ch <- prometheus.MustNewConstMetric(oldestPull, prometheus.GaugeValue, seconds(oldest))
}

// seconds is a time as Prometheus has it; 0 for the zero time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
