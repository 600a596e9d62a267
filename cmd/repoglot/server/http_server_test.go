package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// TestServeUntilFinishes: a server that stops finishes its answers.
func TestServeUntilFinishes(t *testing.T) {
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := listen(context.Background(), "listen", "127.0.0.1:0")
	must(t, err)
	began, release := make(chan struct{}), make(chan struct{})
	server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-release
		if r.Context().Err() != nil {
			t.Error("the answer was cancelled")
		}
		_, _ = io.WriteString(w, "whole")
	}), slog.New(slog.DiscardHandler))
	closing := make(chan struct{})
	server.RegisterOnShutdown(func() { close(closing) })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, server, l) }()
	answer := make(chan string, 1)
	go func() {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get(Origin(l.Addr().String()))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-began
	cancel()
	<-closing
	close(release)
	if got := <-answer; got != "whole" {
		t.Errorf("answer %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("serveUntil: %v", err)
	}
}

// TestServeUntilUnderLoad: a server that stops while many clients ask again and again
// finishes every answer that began, with or without Content-Length.
func TestServeUntilUnderLoad(t *testing.T) {
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := listen(t.Context(), "listen", "127.0.0.1:0")
	must(t, err)
	piece := strings.Repeat("x", 64<<10)
	server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			w.Header().Set("Content-Length", strconv.Itoa(8*len(piece)))
		}
		for range 8 {
			_, _ = io.WriteString(w, piece)
		}
	}), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, server, l) }()
	var answers atomic.Int64
	var clients sync.WaitGroup
	for i := range 16 {
		clients.Go(func() {
			transport := &http.Transport{DisableKeepAlives: i%4 == 0}
			defer transport.CloseIdleConnections()
			client := http.Client{Transport: transport}
			for {
				resp, err := client.Get(Origin(l.Addr().String()) + "/" + []string{"", "?chunked"}[i%2])
				if err != nil { // the server has stopped
					return
				}
				n, err := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil || n != int64(8*len(piece)) {
					t.Errorf("an answer was cut after %d bytes: %v", n, err)
					return
				}
				if answers.Add(1) == 200 {
					cancel()
				}
			}
		})
	}
	clients.Wait()
	if err := <-ended; err != nil {
		t.Errorf("serveUntil: %v", err)
	}
}

// TestRoutes: our own paths have their handlers, and all other paths reach the API
// unchanged.
func TestRoutes(t *testing.T) {
	t.Parallel()
	answer := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, name+" "+r.URL.Path) })
	}
	rt := &routes{hooks: answer("hooks"), api: answer("api"), home: answer("front"), health: answer("health"), ready: answer("ready"), metrics: answer("metrics")}
	for _, tt := range []struct {
		method, path, want string
		status             int
	}{
		{"GET", "/", "front /", 200},
		{"HEAD", "/", "front /", 200},
		{"GET", "/healthz", "health /healthz", 200},
		{"GET", "/readyz", "ready /readyz", 200},
		{"GET", "/metrics", "metrics /metrics", 200},
		{"GET", "/api//../x", "api /api//../x", 200},
		{"DELETE", "/api/x/", "api /api/x/", 200},
		{"POST", "/healthz", `{"detail":"Method \"POST\" not allowed."}`, 405},
		{"POST", "/hooks/github/", "hooks /hooks/github/", 200},
		{"PUT", "/hooks/update/p", "hooks /hooks/update/p", 200},
		{"POST", "/hooks", "api /hooks", 200},
		{"GET", "/nothing", "api /nothing", 200},
	} {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest(tt.method, "http://h"+tt.path, nil))
		if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || got != tt.want {
			t.Errorf("%s %s: %d %q, want %d %q", tt.method, tt.path, w.Code, got, tt.status, tt.want)
		}
	}
	rt.allows = func(*http.Request) bool { return false }
	for path, want := range map[string]int{"/": 400, "/api/": 400, "/hooks/github/": 400, "/healthz": 200, "/readyz": 200, "/metrics": 200} {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest("GET", "http://evil"+path, nil))
		if w.Code != want || want == 400 && !strings.Contains(w.Body.String(), "allowed_hosts") {
			t.Errorf("%s of another host: %d %s", path, w.Code, w.Body)
		}
	}
	rt.allows = nil
	rt.metrics = nil
	w := httptest.NewRecorder()
	rt.ServeHTTP(w, httptest.NewRequest("GET", "http://h/metrics", nil))
	if got := w.Body.String(); got != "api /metrics" {
		t.Errorf("/metrics without metrics here: %q", got)
	}
}

// TestProfiler: only clients that may see it get the profiler; all get the metrics.
func TestProfiler(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") })
	for _, may := range []bool{false, true} {
		h := profiled(metrics, func(r *http.Request) bool { return r.Host == "h" }, func(*http.Request) bool { return may })
		for path, want := range map[string]int{"/metrics": 200, "/debug/pprof/": 401, "/debug/pprof/goroutine?debug=1": 401, "/debug/pprof/cmdline": 401} {
			if may {
				want = 200
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "http://h"+path, nil))
			if w.Code != want {
				t.Errorf("may %v, %s: %d, want %d", may, path, w.Code, want)
			}
			w = httptest.NewRecorder()
			if h.ServeHTTP(w, httptest.NewRequest("GET", "http://evil.example"+path, nil)); w.Code != http.StatusBadRequest {
				t.Errorf("may %v, %s of another host: %d", may, path, w.Code)
			}
		}
	}
}

// TestPanic: a panic of a handler ends only its own answer.
func TestPanic(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	h := protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, "half")
		}
		panic("at " + r.URL.Path)
	}), slog.New(slog.NewTextHandler(&said, nil)))
	rec := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // as it is thrown
				t.Errorf("thrown: %v", p)
			}
		}()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/early", http.NoBody))
	}()
	if rec.Header().Get("X-Content-Type-Options") != "nosniff" || rec.Header().Get("Content-Security-Policy") != policy {
		t.Errorf("%v", rec.Header())
	}
	if !strings.Contains(said.String(), `level=ERROR msg="panic while answering" method=GET path=/early panic="at /early"`) {
		t.Errorf("the log says %s", &said)
	}
	address := serveTest(t, h, timeouts{})
	for _, path := range []string{"/early", "/late", "/late"} { // the server lives on
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
		must(t, err)
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		if err == nil || isTimeout(err) {
			t.Errorf("%s: half an answer looks whole: %v", path, err)
		}
	}
}
