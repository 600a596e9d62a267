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
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// heartbeat is how often a stream without entries says that it lives, so that
	// neither proxies nor clients give it up.
	heartbeat = 15 * time.Second
	// streamTimeout is how long a client may take to accept what is written. Who
	// is slower is dropped; it comes back with the id that it saw last.
	streamTimeout = 20 * time.Second
	// streamPage is the number of entries that are read at once: all that a stream
	// holds in memory.
	streamPage = 100
	// streamWrite is the number of bytes that are collected before they are sent.
	streamWrite = 64 << 10
	// maxStreams bounds the streams of a server.
	maxStreams = 4096
)

var (
	errEnding  = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "The server is going down.", RetryAfter: 1}
	errStreams = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too many streams are open.", RetryAfter: rest.RetrySeconds}
)

// eventStream is a stream being sent.
type eventStream struct {
	rest.ChangeStream
	last int64 // every entry up to this id was sent or filtered out
	sent int64 // the last id that the client was told
}

// streams is what the streams of a Server share.
type streams struct {
	mu     sync.Mutex
	open   int
	max    int
	ending chan struct{}
	ended  bool

	// queries are those of the scopes at one generation: a wake-up looks once
	// which components are visible, not once per stream.
	generation int64
	queries    map[string]store.ChangeQuery

	timeout time.Duration
	tick    func(time.Duration) (ticks <-chan time.Time, stop func())
}

func newStreams(tick func(time.Duration) (<-chan time.Time, func())) *streams {
	if tick == nil {
		tick = func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(d)
			return t.C, t.Stop
		}
	}
	return &streams{max: maxStreams, ending: make(chan struct{}), timeout: streamTimeout, tick: tick}
}

// EndStreams ends the streams, each after the event that it is writing, and
// refuses new ones: without it http.Server.Shutdown would wait for them. It may
// be called more than once.
func (s *Server) EndStreams() {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	if !s.streams.ended {
		s.streams.ended = true
		close(s.streams.ending)
	}
}

// begin takes a place among the streams; end gives it back.
func (st *streams) begin() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.ended:
		return errEnding
	case st.open >= st.max:
		return errStreams
	}
	st.open++
	return nil
}

func (st *streams) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.open--
}

// stream writes a feed until the client, the server or the list is gone.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, f *eventStream) {
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	out := &eventWriter{w: w, control: http.NewResponseController(w), timeout: s.streams.timeout}
	err := s.pump(ctx, f, out)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // first: net/http cancels ctx, too
		s.metrics.dropped.Inc()
		s.logger.Debug("api stream dropped, its client is too slow", "path", f.Path, "error", err)
	case ctx.Err() == nil && !errors.Is(err, errGone) && err != nil && rest.AsProblem(err) == rest.ErrInternal:
		s.logger.Error("api stream failed", "path", f.Path, "error", err)
	}
}

// pump sends what there is, waits for more or for the heartbeat, and so on.
func (s *Server) pump(ctx context.Context, f *eventStream, out *eventWriter) error {
	if err := out.begin(f); err != nil {
		return err
	}
	watch := s.db.Watch()
	defer watch.Close()
	ticks, stop := s.streams.tick(heartbeat)
	defer stop()
	for {
		changed := watch.Changed() // before reading: nothing is missed
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

// drain sends all that there is, page by page; between pages it holds nothing
// of the store.
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
		if !more {
			return nil
		}
		select {
		case <-s.streams.ending:
			return nil
		default:
		}
	}
}

// nextEntries reads the next page behind f.last and moves f.last.
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

// streamQuery is the query of a feed in a snapshot: its scope looked at anew,
// since components come, go and are hidden.
func (s *Server) streamQuery(ctx context.Context, snap *store.Snapshot, f *eventStream) (store.ChangeQuery, error) {
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
	q.Actions, q.User, q.From, q.To, q.AfterID = f.Query.Actions, f.Query.User, f.Query.From, f.Query.To, f.last
	return q, nil
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
		return // a snapshot from before the others'
	}
	if generation > st.generation || st.queries == nil {
		st.generation, st.queries = generation, map[string]store.ChangeQuery{}
	}
	st.queries[path] = q
}

// errGone wraps every failure to write.
var errGone = errors.New("the client does not accept more")

// eventWriter writes events and gives each write a time of its own: the
// server's limits are for answers that end.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buf     bytes.Buffer
}

// begin tells the client where it stands, so that it can come back without a
// gap before its first entry. An event without data is none to a client, but
// its id counts.
func (e *eventWriter) begin(f *eventStream) error {
	if err := e.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
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

// heartbeat is a comment; where entries were filtered out it also moves the
// place that the client comes back to.
func (e *eventWriter) heartbeat(f *eventStream) error {
	if f.last != f.sent {
		e.id(f, f.last)
	}
	e.buf.WriteString(": heartbeat\n\n")
	return e.flush()
}

// entries writes an event per entry. JSON of one line needs no more than one
// line of data.
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

// flush sends the buffer. The deadline is the kernel's, so its clock is real.
func (e *eventWriter) flush() error {
	if e.buf.Len() == 0 {
		return nil
	}
	defer e.buf.Reset()
	if err := e.control.SetWriteDeadline(time.Now().Add(e.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if _, err := e.w.Write(e.buf.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := e.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := e.control.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
