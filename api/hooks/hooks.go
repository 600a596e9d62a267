// Package hooks hears of pushes: it answers the webhooks that code hosting
// services call (POST /hooks/github/ and the like) and the plain calls
// /hooks/update/<project>/[<component>/], as weblate-facts §12 says, and has
// what they are about pulled.
//
// Goals: a hook set up for Weblate works unchanged; a component with a secret
// is pulled only for those who know it, one without at most once a minute; a
// push is never forgotten: what comes too soon is done at the end of the wait;
// no answer tells a stranger that a private component exists; hostile payloads
// cost neither memory nor time worth naming, and nothing that a stranger sends
// gets into a change list.
//
// Non-goals: it knows neither git nor the store nor the schedule, which stand
// behind [Pulls]; it does not look at what was pushed, since the pull does; it
// does not refuse a replayed call, which can cause no more than another pull.
//
// Echo has no part in it: there are two routes, and every one of their methods
// means the same.
package hooks

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Prefix begins the path of every hook.
const Prefix = "/hooks/"

// Pauses between two pulls of a branch that calls can cause.
const (
	openPause   = time.Minute // calls that nobody signed (decision 21 has the same minute)
	signedPause = time.Second // replayed calls shall not keep a remote busy
)

const (
	// answerTime is how long an answer waits for its entries to be stored;
	// services hang up after ten seconds.
	answerTime = 5 * time.Second
	// recordTime is how long that may take at all.
	recordTime = time.Minute
)

// Options are what a Server needs. Pulls must be set; the zero value of
// everything else is usable.
type Options struct {
	// Pulls is what the calls are about.
	Pulls Pulls
	// Logger gets accepted and refused calls; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// AfterFunc calls f in its own goroutine once d has passed on the clock
	// Now, unless stop comes first; nil: time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
}

// Server answers hooks. It is safe for concurrent use. Make it with [New], end
// it with [Server.Close].
type Server struct {
	pulls   Pulls
	log     *slog.Logger
	now     func() time.Time
	open    *pace // calls without a signature
	signed  *pace
	bodies  bodies
	metrics metrics
	work    sync.WaitGroup
}

// New makes a Server.
func New(o Options) *Server {
	s := &Server{pulls: o.Pulls, log: o.Logger, now: o.Now, metrics: newMetrics()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	after := o.AfterFunc
	if after == nil {
		after = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	s.open = newPace(openPause, s.now, after)
	s.signed = newPace(signedPause, s.now, after)
	return s
}

// Close drops the pulls that wait for the end of a pause and waits until the
// entries of answered calls are stored. No call may come after it.
func (s *Server) Close() {
	s.open.close()
	s.signed.close()
	s.work.Wait()
}

// Metrics returns the collectors of the package for the program's registry.
func (s *Server) Metrics() []prometheus.Collector { return s.metrics.collectors() }

// ServeHTTP answers one call, whose path begins with [Prefix].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, a := s.route(r)
	s.metrics.calls.WithLabelValues(name, a.result()).Inc()
	a.write(w, r)
}

// route answers a call and names its service for the metrics.
func (s *Server) route(r *http.Request) (name string, a answer) {
	path := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, Prefix), "/"), "/")
	switch {
	case path[0] == "update" && (len(path) == 2 || len(path) == 3) && path[1] != "":
		return "update", s.update(r, path[1], strings.Join(path[2:], ""))
	case len(path) != 1:
		return "unknown", failure(http.StatusNotFound, "Not found.")
	case r.Method != http.MethodPost:
		return "unknown", failure(http.StatusMethodNotAllowed, "Method not allowed.").allow(http.MethodPost)
	}
	for i := range services {
		if services[i].name == path[0] {
			return path[0], s.notice(r, &services[i])
		}
	}
	return "unknown", failure(http.StatusNotFound, "Not found.")
}

// notice answers the call of a service.
func (s *Server) notice(r *http.Request, from *service) answer {
	body, release, err := s.bodies.read(r)
	if err != nil {
		return unreadable(err)
	}
	defer release()
	payload, err := payloadOf(r, body)
	if err != nil {
		return broken("Could not parse JSON payload!")
	}
	n, err := from.read(r.Header, payload)
	switch {
	case err != nil, isEmpty(payload):
		return broken("Invalid data in json payload!")
	case n == nil:
		return success(http.StatusCreated, "Hook working")
	}
	n.tidy()
	found, err := s.find(r.Context(), n)
	if err != nil {
		s.log.Error("hook: reading the components", "service", from.name, "error", err)
		return failure(http.StatusServiceUnavailable, "The components cannot be read.").retry()
	}
	k := &call{header: r.Header, body: body, now: s.now(), service: from}
	return s.decide(r, k, n, found)
}

// decide answers a call that is about these components.
func (s *Server) decide(r *http.Request, k *call, n *notification, found []match) answer {
	granted, refused := k.sort(found)
	s.refused(r, k.service.name, refused)
	if len(granted) == 0 && slices.ContainsFunc(refused, func(m match) bool { return !m.Private }) {
		return failure(http.StatusForbidden, wrongSecret)
	}
	var status matchStatus
	var pull []match
	var names []string
	for _, m := range granted {
		m.beside = m.suggestedBy(n.branches, n.fallback)
		follows := m.beside || m.follows(n.branches, n.fallback)
		if follows && m.Enabled {
			pull = append(pull, m)
		}
		if !m.told() {
			continue
		}
		status.count(follows, m.Enabled)
		if follows && m.Enabled {
			names = append(names, m.name())
		}
	}
	s.log.Info("hook", "service", k.service.name, "repository", n.repoURL, "branch", strings.Join(n.branches, " "),
		"matching", len(granted), "pulled", len(pull))
	s.start(r.Context(), pull)
	if len(names) == 0 {
		return failure(http.StatusAccepted, "No matching repositories found!").match(status, nil)
	}
	return success(http.StatusOK, "Update triggered: "+strings.Join(names, ", ")).match(status, names)
}

// refused tells the operator of calls whose caller may not be told.
func (s *Server) refused(r *http.Request, service string, list []match) {
	if len(list) > 0 {
		s.log.Warn("hook refused: its secret is wrong or missing; compare it with webhook_secret_env",
			"service", service, "from", r.RemoteAddr, "component", list[0].name(), "components", len(list))
	}
}

// start has the branches of components pulled. It waits until the entries are
// stored if the caller is told of any of them: nobody shall measure the others.
func (s *Server) start(ctx context.Context, list []match) {
	if len(list) == 0 {
		return
	}
	byBranch := map[string][]match{}
	for _, m := range list {
		byBranch[m.key] = append(byBranch[m.key], m)
	}
	keys := slices.Sorted(maps.Keys(byBranch))
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	s.work.Go(func() {
		defer close(done)
		defer cancel()
		for _, key := range keys {
			s.pull(ctx, key, byBranch[key])
		}
	})
	if !slices.ContainsFunc(list, match.told) {
		return
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// pull has one branch pulled, now or at the end of its pause, and records why:
// in a pause the minute has its entry already. The caller was allowed to.
func (s *Server) pull(ctx context.Context, key string, list []match) {
	pause := s.open
	if slices.ContainsFunc(list, func(m match) bool { return m.Secured }) {
		pause = s.signed
	}
	if !pause.begin(key, func() { s.pulls.Pull(key) }) {
		return
	}
	var ids []int64
	for _, m := range list {
		if m.ID != 0 && !m.beside {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) > 0 {
		if err := s.pulls.Record(ctx, key, ids, list[0].event); err != nil {
			s.log.Error("hook: storing its entries", "branch", key, "error", err)
		}
	}
	s.pulls.Pull(key)
}
