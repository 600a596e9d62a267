// Package hooks answers the webhooks of code hosting services (POST /hooks/github/ and the
// like) and plain calls of /hooks/update/<project>/[<component>/], and pulls the components
// that they name (docs/compatibility.md#webhooks).
//
// Goals: a hook set up for Weblate works unchanged; a component with a secret is pulled only
// for callers who know it, one without a secret at most once a minute; no push is lost: a call
// that comes too soon is acted on at the end of the pause; no answer reveals a private
// component to a caller without its secret; hostile payloads cost little memory and time, and
// their texts never get into a change list.
//
// Non-goals: it knows neither git nor the store nor the schedule, which [Pulls]
// hides; it does not look at what was pushed, since the pull does; it does not
// refuse a replayed call, which can cause no more than another pull.
//
// It does not use Echo: it has two routes, which treat all methods alike.
//
// An unsigned call begins a pause of a minute for its branch, a signed one of a second; a call
// during the pause is done at its end. Components that share repository and branch share
// pulls, so an unsigned call for one without a secret pulls its neighbours that have one.
package hooks

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/api/limit"
)

// Prefix begins the path of every hook.
const Prefix = "/hooks/"

// Pauses between two pulls of a branch by calls.
const (
	openPause   = time.Minute // for unsigned calls; change entries have the same pause
	signedPause = time.Second // so that replayed calls do not keep a remote busy
)

const (
	// answerTime bounds the wait for stored entries; services hang up after ten seconds.
	answerTime = 5 * time.Second
	// recordTime bounds the storing itself.
	recordTime = time.Minute
)

// Options are those of a Server. Pulls must be set; other zero values are usable.
type Options struct {
	// Pulls finds and pulls components.
	Pulls Pulls
	// Logger logs accepted and refused calls; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Client names the client of a request, who shares a bound; nil: all are one client.
	Client func(r *http.Request) string
	// AfterFunc calls f in its own goroutine after d on the clock Now, unless stop
	// is called first; nil: time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
	// Claim begins a pause for all processes of a cluster, or returns the rest of the one
	// that another process began; kind tells the pauses of a branch apart. After an error
	// only the pauses of this process count. nil: there is one process.
	Claim func(ctx context.Context, kind, key string, pause time.Duration) (left time.Duration, err error)
}

// Server answers hooks, concurrently. Make it with [New] and end it with [Server.Close].
type Server struct {
	Options
	open   *throttle // for calls without a signature
	signed *throttle
	bodies *limit.Pool // bytes
	// provenBodies are those of callers whose headers prove a secret.
	provenBodies *limit.Pool
	volume       *limit.Limiter         // bytes of bodies of others
	calls        *prometheus.CounterVec // by service, which are known names, and result
	work         sync.WaitGroup
}

// New makes a Server.
func New(o Options) *Server {
	if o.Client == nil {
		o.Client = func(*http.Request) string { return "" }
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AfterFunc == nil {
		o.AfterFunc = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	return &Server{
		Options: o, open: newThrottle("open", openPause, &o), signed: newThrottle("signed", signedPause, &o),
		bodies:       limit.NewPool("hooks", maxBodies, maxClientBodies),
		provenBodies: limit.NewPool("hooks_proven", maxClientBodies, maxClientBodies),
		volume:       limit.New(limit.Rate{Count: maxVolume, Per: volumeSpan}, o.Now),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "repoglot_hooks_total",
			Help: "Calls of webhooks by service and result.",
		}, []string{"service", "result"}),
	}
}

// Close drops the pulls that wait for the end of a pause and waits until the
// entries of answered calls are stored. ServeHTTP must not be called after it.
func (s *Server) Close() {
	s.open.close()
	s.signed.close()
	s.work.Wait()
}

// Metrics returns the collectors of the package for the program's registry.
func (s *Server) Metrics() []prometheus.Collector { return []prometheus.Collector{s.calls} }

// Pools lists what callers share.
func (s *Server) Pools() limit.Pools { return limit.Pools{s.bodies, s.provenBodies} }

// ServeHTTP answers one call, whose path begins with [Prefix].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, a := s.route(r)
	s.calls.WithLabelValues(name, cmp.Or(results[a.status], "invalid")).Inc()
	a.write(w, r)
	if len(a.after) > 0 {
		_ = http.NewResponseController(w).Flush() // else the server sends it when this returns
		s.work.Go(func() {
			for _, do := range a.after {
				do()
			}
		})
	}
}

// route answers a call and returns the name of its service for the metrics.
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
	if from := serviceNamed(path[0]); from != nil {
		return from.name, s.notice(r, from)
	}
	return "unknown", failure(http.StatusNotFound, "Not found.")
}

// notice answers the call of a service. Where every component has a secret, a call
// that can prove none is refused before its body is read.
func (s *Server) notice(r *http.Request, from *service) answer {
	k := &call{header: r.Header, now: s.Now(), service: from, proven: map[string]bool{}}
	branches := s.Pulls.Branches()
	proven := k.provenByHeader(branches)
	open := slices.ContainsFunc(branches, func(b Branch) bool { return b.Open })
	if !proven && !open && !k.signsBody() {
		return failure(http.StatusForbidden, wrongSecret)
	}
	free, err := s.readBody(r, k, proven)
	defer free()
	if err != nil {
		return bodyProblem(err)
	}
	payload, err := payloadOf(r, k.body)
	if err != nil {
		return badPayload("Could not parse JSON payload!")
	}
	if from.signsPayload {
		k.body = payload
	}
	n, err := from.notification(r.Header, payload)
	switch {
	case err != nil, isEmpty(payload):
		return badPayload("Invalid data in json payload!")
	case n == nil:
		return success(http.StatusCreated, "Hook working")
	}
	found, err := s.find(r.Context(), n, branches)
	if err != nil {
		s.Logger.Error("hook: reading the components", "service", from.name, "error", err)
		return failure(http.StatusServiceUnavailable, "The components cannot be read.").retry(10)
	}
	granted, refused := k.authorize(found, branches)
	return s.decide(r, k, n, granted, refused).then(s.refused(r, from.name, refused))
}

func (s *Server) decide(r *http.Request, k *call, n *notification, granted, refused []match) answer {
	if len(granted) == 0 && slices.ContainsFunc(refused, func(m match) bool { return !m.Private }) {
		return failure(http.StatusForbidden, wrongSecret)
	}
	var status matchStatus
	var pull []match
	var names []string
	for _, m := range granted {
		follows := m.follows(n.branches, n.defaultBranch)
		suggested := !follows && m.Suggests != nil && slices.ContainsFunc(n.branches, m.Suggests)
		follows = follows || suggested
		m.quiet = suggested || n.ofRequest
		if follows && m.Enabled {
			pull = append(pull, m)
		}
		if !m.mayTell() {
			continue
		}
		status.Repository++
		if follows {
			status.Branch++
		}
		if follows && m.Enabled {
			status.Enabled++
			names = append(names, m.name())
		}
	}
	rest := s.start(r.Context(), pull)
	a := success(http.StatusOK, "Update triggered: "+strings.Join(names, ", "))
	if len(names) == 0 {
		a = failure(http.StatusAccepted, "No matching repositories found!")
	}
	a.Match, a.Updated = &status, names
	return a.then(rest).then(func() {
		s.Logger.Info("hook", "service", k.service.name, "repository", cut(n.repoURL), "branch", cut(strings.Join(n.branches, " ")),
			"matching", len(granted), "pulled", len(pull))
	})
}

// maxLogged bounds the texts of a payload in a line of the log.
const maxLogged = 200

func cut(text string) string {
	if len(text) > maxLogged {
		text = strings.ToValidUTF8(text[:maxLogged], "") + "…"
	}
	return text
}

// refused returns what logs refused calls, since their callers are not told the reason.
func (s *Server) refused(r *http.Request, service string, list []match) func() {
	if len(list) == 0 {
		return nil
	}
	from := r.RemoteAddr
	return func() {
		s.Logger.Warn("hook refused: its secret is wrong or missing; compare it with webhook_secret_env",
			"service", service, "from", from, "component", list[0].name(), "components", len(list))
	}
}

// start pulls the branches of components: those with one that the caller may learn of at
// once, and it waits until their entries are stored. rest, to be called after the answer,
// pulls the others, whose existence the time of the answer would reveal.
func (s *Server) start(ctx context.Context, list []match) (rest func()) {
	told := map[string]bool{}
	for _, m := range list {
		told[m.key] = told[m.key] || m.mayTell()
	}
	s.startNow(ctx, slices.DeleteFunc(slices.Clone(list), func(m match) bool { return !told[m.key] }))
	others := slices.DeleteFunc(slices.Clone(list), func(m match) bool { return told[m.key] })
	if len(others) == 0 {
		return nil
	}
	return func() { s.startNow(ctx, others) }
}

func (s *Server) startNow(ctx context.Context, list []match) {
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
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// pull pulls one branch, now or at the end of its pause, and stores the entries:
// not in a pause, since that minute has its entry already.
func (s *Server) pull(ctx context.Context, key string, list []match) {
	pause := s.open
	if slices.ContainsFunc(list, func(m match) bool { return m.Secured }) {
		pause = s.signed
	}
	if !pause.begin(ctx, key, s.Pulls.Pull) {
		return
	}
	var ids []int64
	for _, m := range list {
		if m.ID != 0 && !m.quiet {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) > 0 {
		if err := s.Pulls.Record(ctx, key, ids, list[0].event); err != nil {
			s.Logger.Error("hook: storing its entries", "branch", key, "error", err)
		}
	}
	s.Pulls.Pull(key)
}

// updates is how plain calls prove a secret.
var updates = service{name: "update", signed: hubSignature, signatures: []string{hubHeader}}

// update answers /hooks/update/<project>/[<component>/] for any method: it pulls
// every branch of the project or component. A body is read only if it is signed.
func (s *Server) update(r *http.Request, project, component string) answer {
	k := &call{header: r.Header, now: s.Now(), service: &updates, proven: map[string]bool{}}
	if k.signsBody() {
		free, err := s.readBody(r, k, false)
		defer free()
		if err != nil {
			return bodyProblem(err)
		}
	}
	branches := s.Pulls.Branches()
	found, err := s.named(r, project, component, branches)
	if err != nil {
		s.Logger.Error("hook: reading the components", "service", "update", "error", err)
		return failure(http.StatusServiceUnavailable, "The components cannot be read.").retry(10)
	}
	granted, refused := k.authorize(found, branches)
	enabled := slices.ContainsFunc(found, func(m match) bool { return m.Enabled }) // a setting of the project
	a := updated(granted, refused, enabled).then(s.refused(r, "update", refused))
	if !enabled {
		return a
	}
	return a.then(s.start(r.Context(), granted)).then(func() {
		s.Logger.Info("hook", "service", "update", "project", project, "component", component, "pulled", len(granted))
	})
}

func updated(granted, refused []match, enabled bool) answer {
	switch {
	case !slices.ContainsFunc(granted, match.mayTell) && !slices.ContainsFunc(refused, func(m match) bool { return !m.Private }):
		return failure(http.StatusNotFound, "Not found.")
	case !enabled:
		return failure(http.StatusMethodNotAllowed, "Hooks are disabled for this project (enable_hooks).").allow("")
	case !slices.ContainsFunc(granted, match.mayTell):
		return failure(http.StatusForbidden, wrongSecret)
	}
	return success(http.StatusOK, "Update triggered")
}

// named lists the components of a project, or one of them.
func (s *Server) named(r *http.Request, project, component string, branches []Branch) ([]match, error) {
	var list []match
	named := func(b *Branch) bool { return slices.Contains(b.Projects, project) }
	names := func(b *Branch) []string { return b.Projects }
	err := s.read(r.Context(), branches, named, names, func(b *Branch, c Component) {
		if c.Project == project && (component == "" || c.Slug == component) {
			event := map[string]string{"service_long_name": "Update", "repo_url": b.Repo, "full_name": "", "branch": "", "repos": ""}
			list = append(list, match{Component: c, key: b.Key, event: event})
		}
	})
	return list, err
}
