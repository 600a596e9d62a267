package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// heartbeat is how often a stream without entries sends a sign of life, so
	// that neither proxies nor clients close it.
	heartbeat = 15 * time.Second
	// streamTimeout is how long a client may take to accept a write. A slower
	// client is dropped; it comes back with the last id that it saw.
	streamTimeout = 20 * time.Second
	// streamPage is how many entries are read at once, all that a stream holds in memory.
	streamPage = 100
	// streamWrite is the number of bytes that are collected before they are sent.
	streamWrite = 64 << 10
)

var errEnding = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "The server is going down.", RetryAfter: 1}

// streams is what the streams of a Server share.
type streams struct {
	ending chan struct{} // closed when ended is set
	ended  atomic.Bool

	// queries are the queries of the scopes at one generation: visible
	// components are looked up once per change, not once per stream.
	mu         sync.Mutex
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

// EndStreams ends the streams, each after the event that it is writing, and refuses new ones:
// http.Server.Shutdown would wait for them. It may be called more than once.
func (s *Server) EndStreams() {
	if !s.streams.ended.Swap(true) {
		close(s.streams.ending)
	}
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

// eventStream is a change stream that is being sent.
type eventStream struct {
	rest.ChangeStream
	last int64 // every entry up to this id was sent or filtered out
	sent int64 // the last id that the client was told
}

// send sends entries until the client goes away, the server ends or the list is gone.
func (f *eventStream) send(x exchange, h header) outcome {
	if x.req.Method == http.MethodGet {
		free, err := x.take(x.s.shares.streams, 1)
		if err != nil {
			return x.refuse(err, "api request failed")
		}
		defer free()
		if x.s.streams.ended.Load() {
			return x.refuse(errEnding, "api request failed")
		}
	}
	x.setHeader(&h)
	put(x.w.Header(), "Cache-Control", "no-store")
	put(x.w.Header(), "X-Accel-Buffering", "no") // nginx would delay events
	x.w.WriteHeader(h.status)
	if x.req.Method == http.MethodGet {
		x.s.sendEvents(x.req.Context(), x.w, f)
	}
	return outcome{status: h.status}
}

func (s *Server) sendEvents(ctx context.Context, w http.ResponseWriter, f *eventStream) {
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	out := &eventWriter{to: newDeadlineWriter(w, s.streams.timeout)}
	err := s.pump(ctx, f, out)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // first: net/http cancels ctx as well
		s.metrics.dropped.Inc()
		s.logger.Debug("api stream dropped, its client is too slow", "path", f.Path, "error", err)
	case ctx.Err() == nil && !errors.Is(err, errGone) && err != nil && rest.AsProblem(err) == rest.ErrInternal:
		s.logger.Error("api stream failed", "path", f.Path, "error", err)
	}
}

// pump sends the new entries, waits for more or for the heartbeat, and repeats that.
func (s *Server) pump(ctx context.Context, f *eventStream, out *eventWriter) error {
	if err := out.begin(f); err != nil {
		return err
	}
	watch := s.db.Watch()
	defer watch.Close()
	ticks, stop := s.streams.tick(heartbeat)
	defer stop()
	for {
		changed := watch.Changed() // before reading, so that no entry is missed
		if err := s.drain(ctx, f, out); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ticks:
			if err := out.heartbeat(f); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		case <-s.streams.ending:
			return nil
		}
	}
}

// drain sends all new entries, page by page. Between pages it holds nothing of the store.
func (s *Server) drain(ctx context.Context, f *eventStream, out *eventWriter) error {
	for {
		entries, more, err := s.nextEntries(ctx, f)
		if err != nil {
			return err
		}
		if err := out.entries(f, entries); err != nil {
			return err
		}
		s.metrics.events.Add(float64(len(entries)))
		if !more || s.streams.ended.Load() {
			return nil
		}
	}
}

// nextEntries reads the page after f.last and moves f.last.
func (s *Server) nextEntries(ctx context.Context, f *eventStream) (entries []catalog.Change, more bool, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		newest, err := snap.Count(ctx, store.ChangeQuery{})
		if err != nil || newest <= f.last {
			return err
		}
		if err := rest.AccessOf(ctx).Recheck(ctx, snap); err != nil {
			return err
		}
		q, err := s.streamQuery(ctx, snap, f)
		if err != nil {
			return err
		}
		l, err := snap.ChangeList(ctx, q)
		if err != nil {
			return err
		}
		if entries, err = l.Page(ctx, 0, streamPage); err != nil {
			return err
		}
		more = l.Count() > int64(len(entries))
		f.last = newest
		if more {
			f.last = entries[len(entries)-1].ID
		}
		return nil
	})
	return entries, more, err
}

// streamQuery is the query of a stream in a snapshot. The scope is looked up
// again, since components are added, removed and hidden.
func (s *Server) streamQuery(ctx context.Context, snap *store.Snapshot, f *eventStream) (store.ChangeQuery, error) {
	if err := snap.Announce(ctx); err != nil {
		return store.ChangeQuery{}, err
	}
	generation, err := snap.Generation(ctx)
	if err != nil {
		return store.ChangeQuery{}, err
	}
	scope := rest.AccessOf(ctx).Key() + f.Path
	q, ok := s.streams.query(generation, scope)
	if !ok {
		if q, err = f.Scope(ctx, snap); err != nil {
			return q, err
		}
		s.streams.keep(generation, scope, q)
	}
	filtered := f.Query
	filtered.ProjectID, filtered.ComponentID, filtered.TranslationID, filtered.Components = q.ProjectID, q.ComponentID, q.TranslationID, q.Components
	filtered.Newest, filtered.AfterID = false, f.last
	return filtered, nil
}

// errGone wraps every failure to write.
var errGone = errors.New("the client does not accept more")

// eventWriter writes events, each with its own deadline: the server's are for answers that end.
type eventWriter struct {
	to  *deadlineWriter
	buf bytes.Buffer
}

// begin tells the client its position, so that it can come back without a gap before its first
// entry. Clients ignore an event without data, except for its id.
func (e *eventWriter) begin(f *eventStream) error {
	if err := e.to.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	e.buf.WriteString("retry: 2000\n")
	e.id(f, f.last)
	e.buf.WriteByte('\n')
	return e.flush()
}

func (e *eventWriter) id(f *eventStream, id int64) {
	e.buf.WriteString("id: ")
	e.buf.WriteString(strconv.FormatInt(id, 10))
	e.buf.WriteByte('\n')
	f.sent = id
}

// heartbeat sends a comment. If entries were filtered out, it also moves the client's position.
func (e *eventWriter) heartbeat(f *eventStream) error {
	if f.last != f.sent {
		e.id(f, f.last)
	}
	e.buf.WriteString(": heartbeat\n\n")
	return e.flush()
}

// entries sends one event per entry. The JSON is one line, so one line of data is enough.
func (e *eventWriter) entries(f *eventStream, entries []catalog.Change) error {
	for i := range entries {
		data, err := wire.JSON(wire.NewChange(f.Link, &entries[i]), 0)
		if err != nil {
			return err
		}
		e.id(f, entries[i].ID)
		e.buf.WriteString("event: change\ndata: ")
		e.buf.Write(data)
		e.buf.WriteString("\n\n")
		if e.buf.Len() >= streamWrite {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return e.flush()
}

func (e *eventWriter) flush() error {
	if e.buf.Len() == 0 {
		return nil
	}
	defer e.buf.Reset()
	defer e.to.end()
	_, err := e.to.Write(e.buf.Bytes())
	if err == nil {
		err = e.to.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
