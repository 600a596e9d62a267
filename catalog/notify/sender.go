package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// maxEntries bounds the entries of a delivery, and those that a receiver has in memory.
	maxEntries = 100
	// maxPages bounds the pages of entries that a receiver does not want in one look.
	maxPages = 20
	// moveAfter is how many unwanted entries are passed before that is stored.
	moveAfter = 1000
	// leaseTime is how long a process that died keeps others from a receiver.
	leaseTime = 2 * deliveryTime
	// KeepTime is how long an entry waits for a receiver that is away.
	KeepTime = 30 * 24 * time.Hour
	// ProblemTime is how long deliveries fail before that is a problem.
	ProblemTime = 24 * time.Hour
	// errorPause is the time after an error of the database.
	errorPause = 10 * time.Second
	// maxPause is the longest time between two tries.
	maxPause = time.Hour
	// idle is the pause of a receiver that waits for a change.
	idle = time.Duration(math.MaxInt64)
)

// Options are what a Sender needs.
type Options struct {
	DB *store.DB
	// Now is the clock that all processes share; nil: the database's.
	Now func(context.Context) (time.Time, error)
	// Process names this process; the others have other names.
	Process string
	// Page is the address of the page of a change.
	Page func(*catalog.Change) string
	// Stopped, if set, reports whether this process sends nothing for now.
	Stopped func() bool
	// Agent names the program to receivers.
	Agent  string
	Logger *slog.Logger
	// Resolver looks up names; nil: as the system does.
	Resolver *net.Resolver
}

// Sender tells receivers of changes. It is safe for concurrent use.
type Sender struct {
	Options
	mu        sync.Mutex
	followers []*follower
	changed   chan struct{} // closed when followers is replaced

	deliveries *prometheus.CounterVec
	skipped    prometheus.Counter
	failing    prometheus.Gauge
}

// follower is a receiver that is followed by one goroutine.
type follower struct {
	Receiver
	client *http.Client
	// ahead is the id up to which entries were looked at and are not wanted, in the list of a
	// history: one that was put back has other entries.
	ahead   int64
	history string
}

// New makes a Sender without receivers.
func New(o Options) *Sender {
	if o.Now == nil {
		o.Now = o.DB.Clock
	}
	s := &Sender{
		Options: o, changed: make(chan struct{}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "repoglot_notify_deliveries_total", Help: "Deliveries to receivers of webhooks, by result."}, []string{"result"}),
		skipped:    prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_notify_skipped_total", Help: "Changes that were not delivered since they were too old."}),
		failing:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "repoglot_notify_failing", Help: "Receivers of webhooks that took nothing for a day."}),
	}
	for _, result := range []string{"ok", "failed"} {
		s.deliveries.WithLabelValues(result)
	}
	return s
}

// Metrics returns the collectors.
func (s *Sender) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.deliveries, s.skipped, s.failing}
}

// Set replaces the receivers. New ones are told from the newest change on.
func (s *Sender) Set(ctx context.Context, list []Receiver) error {
	names, followers := make([]string, len(list)), make([]*follower, len(list))
	for i := range list {
		names[i], followers[i] = list[i].Name(), &follower{Receiver: list[i], client: list[i].newClient(s.Resolver)}
	}
	if s.Stopped == nil || !s.Stopped() {
		if err := s.DB.SetReceivers(ctx, names); err != nil {
			return fmt.Errorf("notify: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followers = followers
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Run delivers until ctx is done.
func (s *Sender) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		followers, changed := s.followers, s.changed
		s.mu.Unlock()
		var running sync.WaitGroup
		within, stop := context.WithCancel(ctx)
		for _, f := range followers {
			running.Go(func() { s.follow(within, f) })
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
		stop()
		running.Wait()
		for _, f := range followers {
			f.client.CloseIdleConnections()
		}
	}
	return nil
}

// follow delivers to a receiver until ctx is done.
func (s *Sender) follow(ctx context.Context, f *follower) {
	watch := s.DB.Watch()
	defer watch.Close()
	for ctx.Err() == nil {
		changed := watch.Changed() // before reading, so that nothing is missed
		wait, err := s.round(ctx, f)
		if err != nil {
			if ctx.Err() == nil {
				s.Logger.Warn("a receiver cannot be told", "receiver", f.host(), "error", err)
			}
			wait = errorPause
		}
		if wait != idle {
			changed = nil
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// round makes at most one delivery, and returns how long to wait for the next one.
func (s *Sender) round(ctx context.Context, f *follower) (wait time.Duration, err error) {
	if s.Stopped != nil && s.Stopped() {
		return errorPause, nil
	}
	now, list, _, err := s.rows(ctx)
	if err != nil {
		return 0, err
	}
	found := catalog.Find(list, func(r *store.Receiver) bool { return r.Name == f.Name() })
	if found == nil {
		return errorPause, nil // another process has a newer configuration
	}
	row := *found
	switch {
	case row.Holder != "" && row.Holder != s.Process && ahead(now, row.Expires, leaseTime):
		return row.Expires.Sub(now), nil
	case ahead(now, row.Due, maxPause):
		return row.Due.Sub(now), nil
	}
	n, err := s.look(ctx, f, &row, now)
	if err != nil {
		return 0, err
	}
	switch full := len(n.list) == maxEntries || row.Upto > 0; {
	case n.skipped > 0, len(n.list) == 0 && (n.last-row.Told >= moveAfter || row.Upto > 0):
		moved := row
		moved.Told, moved.Upto, moved.Skipped = n.last, 0, row.Skipped+n.skipped
		s.skipped.Add(float64(n.skipped))
		_, err := s.DB.SwapReceiver(ctx, row, moved)
		return 0, err
	case len(n.list) == 0 && n.more:
		return 0, nil
	case len(n.list) == 0:
		return idle, nil
	case f.Batch > 0 && !full && n.list[0].Timestamp.Add(f.Batch).After(now):
		return min(f.Batch, n.list[0].Timestamp.Add(f.Batch).Sub(now)), nil
	}
	return s.send(ctx, f, row, n.list, now)
}

// ahead reports whether a time is still to come. One beyond a span is of a clock that was set back.
func ahead(now, at time.Time, most time.Duration) bool { return at.After(now) && at.Sub(now) <= most }

// rows reads the time and how far all receivers are told, and how they are.
func (s *Sender) rows(ctx context.Context) (now time.Time, list []store.Receiver, state State, err error) {
	if now, err = s.Now(ctx); err == nil {
		list, err = s.DB.Receivers(ctx)
	}
	for i := range list {
		if r := &list[i]; r.Failures > 0 && now.Sub(r.Since) >= ProblemTime {
			state.Failing++
		}
		state.Skipped += list[i].Skipped
	}
	if err == nil {
		s.failing.Set(float64(state.Failing))
	}
	return now, list, state, err
}

// news is what a look at the list of changes found.
type news struct {
	list    []catalog.Change // wanted, by id
	skipped int64            // wanted, but too old
	last    int64            // all up to this one were looked at
	more    bool
}

// look reads the changes after what the receiver was told. It ends before what is too old, and
// what is not; with the entries of the last delivery, if that may have arrived: it has the same
// entries again.
func (s *Sender) look(ctx context.Context, f *follower, row *store.Receiver, now time.Time) (n news, err error) {
	if f.history != row.History {
		f.ahead, f.history = 0, row.History
	}
	if n.last = row.Told; row.Upto == 0 {
		n.last = max(row.Told, f.ahead)
	}
	most := maxEntries
	if f.Batch == 0 {
		most = 1
	}
	for page := 0; page < maxPages; page++ {
		changes, components, err := s.read(ctx, n.last)
		if err != nil {
			return n, err
		}
		for i := range changes {
			c := &changes[i]
			of := components[[2]string{c.Project, c.Component}]
			old := now.Sub(c.Timestamp) > KeepTime && c.Action != catalog.ActionCreateComponent // its time is in the past
			wanted := of != nil && f.wants(c, of)
			switch {
			case f.Batch > 0 && row.Upto > 0 && c.ID > row.Upto, wanted && !old && n.skipped > 0:
				return n, nil
			case wanted && old && len(n.list) == 0:
				n.skipped++
			case wanted:
				n.list = append(n.list, *c)
			}
			if n.last = c.ID; len(n.list) == most {
				return n, nil
			}
			if len(n.list) == 0 && n.skipped == 0 {
				f.ahead = max(f.ahead, c.ID)
			}
		}
		if len(changes) < maxEntries {
			return n, nil
		}
	}
	n.more = true
	return n, nil
}

// read reads a page of changes after an id, and their components by slugs.
func (s *Sender) read(ctx context.Context, after int64) (changes []catalog.Change, components map[[2]string]*store.ComponentRow, err error) {
	components = map[[2]string]*store.ComponentRow{}
	err = s.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		if changes, err = snap.Changes(ctx, store.ChangeQuery{AfterID: after, Limit: maxEntries}); err != nil {
			return err
		}
		for i := range changes {
			key := [2]string{changes[i].Project, changes[i].Component}
			if _, known := components[key]; known {
				continue
			}
			row, err := snap.Component(ctx, key[0], key[1])
			if components[key] = &row; errors.Is(err, catalog.ErrNotFound) {
				components[key] = nil
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return changes, components, err
}

// send delivers entries, if no other process does, and stores what came of it. It logs the first
// of several failures, those of more than a day, and their end.
func (s *Sender) send(ctx context.Context, f *follower, row store.Receiver, list []catalog.Change, now time.Time) (wait time.Duration, err error) {
	held := row
	held.Holder, held.Expires, held.Upto = s.Process, now.Add(leaseTime), list[len(list)-1].ID
	if swapped, err := s.DB.SwapReceiver(ctx, row, held); err != nil || !swapped {
		return time.Second, err
	}
	d := &delivery{id: fmt.Sprintf("msg_%s_%d", row.History, held.Upto), skipped: row.Skipped, at: now}
	if f.Batch > 0 {
		d.id += fmt.Sprintf("_%d", len(list))
	}
	if d.body, err = f.body(list, s.Page); err != nil {
		return 0, err
	}
	failed := f.deliver(ctx, d, s.Agent)
	done := held
	done.Holder, done.Expires = "", time.Time{}
	switch {
	case failed == nil:
		done.Told, done.Upto, done.Skipped, done.Failures, done.Since, done.Due = held.Upto, 0, 0, 0, time.Time{}, time.Time{}
		s.deliveries.WithLabelValues("ok").Inc()
		if row.Failures > 0 {
			s.Logger.Info("a receiver is told again", "receiver", f.host(), "failures", row.Failures)
		}
	case ctx.Err() == nil:
		done.Failures, done.Due = held.Failures+1, now.Add(min(5*time.Second<<min(held.Failures, 20), maxPause)) // twice as long each time
		if done.Since.IsZero() {
			done.Since = now
			s.Logger.Warn("a receiver cannot be told; it is tried again with growing pauses", "receiver", f.host(), "error", failed)
		} else if now.Sub(done.Since) >= ProblemTime {
			s.Logger.Error("a receiver has not been told for a day", "receiver", f.host(), "since", done.Since, "error", failed)
		}
		s.deliveries.WithLabelValues("failed").Inc()
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), errorPause)
	defer cancel()
	if _, err := s.DB.SwapReceiver(after, held, done); err != nil {
		return 0, err
	}
	return max(done.Due.Sub(now), 0), nil
}

// State is how receivers are, for people who may know no names.
type State struct {
	// Receivers is their number; Failing counts those that failed for ProblemTime.
	Receivers int `json:"receivers"`
	Failing   int `json:"failing"`
	// Skipped counts entries that were too old, of which the next deliveries tell.
	Skipped int64 `json:"skipped"`
}

// State returns how the receivers are; zero without any, or a nil Sender.
func (s *Sender) State(ctx context.Context) (state State, err error) {
	if s == nil {
		return state, nil
	}
	s.mu.Lock()
	receivers := len(s.followers)
	s.mu.Unlock()
	if receivers > 0 {
		_, _, state, err = s.rows(ctx)
	}
	state.Receivers = receivers
	return state, err
}
