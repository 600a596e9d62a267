package api

import (
	"net/http"
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// heartbeat is how often a stream without entries sends a sign of life, so
	// that neither proxies nor clients close it.
	heartbeat = 15 * time.Second
	// streamTimeout is how long a client may take to accept a write. A slower
	// client is dropped; it comes back with the last id that it saw.
	streamTimeout = 20 * time.Second
	// streamPage is the number of entries that are read at once, and all that a
	// stream holds in memory.
	streamPage = 100
	// streamWrite is the number of bytes that are collected before they are
	// sent.
	streamWrite = 64 << 10
)

var errEnding = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "The server is going down.", RetryAfter: 1}

// streams is what the streams of a Server share.
type streams struct {
	mu     sync.Mutex
	ending chan struct{}
	ended  bool

	// queries are the queries of the scopes at one generation: visible
	// components are looked up once per change, not once per stream.
	generation int64
	queries    map[string]store.ChangeQuery

	timeout time.Duration
	tick    func(time.Duration) (ticks <-chan time.Time, stop func())
}

func newStreams() *streams {
	return &streams{
		ending: make(chan struct{}), timeout: streamTimeout,
		tick: func(every time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(every)
			return t.C, t.Stop
		},
	}
}

// EndStreams ends the streams, each after the event that it is writing, and
// refuses new ones: http.Server.Shutdown would wait for them. It may be called
// more than once.
func (s *Server) EndStreams() {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	if !s.streams.ended {
		s.streams.ended = true
		close(s.streams.ending)
	}
}

// begin returns an error if no stream may begin any more.
func (st *streams) begin() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended {
		return errEnding
	}
	return nil
}

func (st *streams) query(generation int64, path string) (store.ChangeQuery, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.generation != generation {
		return store.ChangeQuery{}, false
	}
	q, ok := st.queries[path]
	return q, ok
}

func (st *streams) keep(generation int64, path string, q store.ChangeQuery) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if generation < st.generation {
		return // the snapshot is older than another stream's
	}
	if generation > st.generation || st.queries == nil {
		st.generation, st.queries = generation, map[string]store.ChangeQuery{}
	}
	st.queries[path] = q
}
