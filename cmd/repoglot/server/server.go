// Package server is the running program: api, catalog and gitsource wired together.
//
// [Open] makes an [Engine], which locks the data directory and pulls; sync uses it alone.
// [Engine.Serve] answers and pulls until its context is done. A [Plan] is a configuration
// in the terms of the other packages; a supervisor decides when its branches are pulled and
// pushed, alone or as one process of a cluster.
//
// Goals: all wiring is here, on few screens; an error is one line with its remedy.
// Non-goals: this package holds no rule of the API, of git or of PO, and reads no flags.
//
// Garbage is collected when it is three quarters of the live heap, or both are 60 % of the
// memory that there is, unless GOGC and GOMEMLIMIT are set. There is a mirror, a watch, a job
// and a pull for each repository and branch, never for a component; metrics have a label for one
// on metrics_listen only. When a branch is flushed again after a failure is in the database, and
// asked in one place (push.Pusher.Ready), by every process.
package server

import (
	"cmp"
	"context"
	_ "embed" // of greeting.txt
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"text/template"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/hooks"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/notify"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

type server struct {
	Settings
	log       *slog.Logger
	engine    *Engine
	pullsOnly bool
	origin    string // where it listens, as an address
	pulls     *supervisor
	notify    *notify.Sender
	api       *api.Server

	connections, monitors *connections
	shared                limit.Pools // all that clients share
	metrics               *prometheus.Registry
}

// Settings say how Serve serves.
type Settings struct {
	Config *config.Config
	// Environ is the environment for a new configuration, Override what wins over it, and
	// Warn says what may be wrong in it.
	Environ  []string
	Override func(*config.Config) error
	Warn     func(*config.Config)
	Stdout   io.Writer // of the greeting
}

// Listeners are the addresses of a server.
type Listeners struct {
	main, metrics net.Listener // metrics is nil without metrics_listen
}

// Listen opens the addresses of a configuration.
func (e *Engine) Listen(ctx context.Context, c *config.Config) (at Listeners, err error) {
	if at.main, err = listen(ctx, "listen", c.Listen); err != nil || c.MetricsListen == "" {
		return at, err
	}
	if at.metrics, err = listen(ctx, "metrics_listen", c.MetricsListen); err != nil {
		at.Close()
		return at, err
	}
	e.log.Info("metrics and profiler", "address", Origin(at.metrics.Addr().String())+"/metrics")
	return at, nil
}

// Close closes the addresses, also those that a server has closed.
func (at Listeners) Close() {
	_ = at.main.Close() // it may be closed already
	if at.metrics != nil {
		_ = at.metrics.Close()
	}
}

// Serve answers and pulls until ctx is done.
func (e *Engine) Serve(ctx context.Context, at Listeners, settings Settings) error {
	e.log.Info("git", "client", GitOptions(settings.Config, e.log).Remote.Client())
	s := &server{Settings: settings, log: e.log, engine: e, pullsOnly: e.options.Work == WorkPull}
	main, second, plan := at.main, at.metrics, NewPlan(s.Config)
	if err := s.engine.Configure(ctx, plan); err != nil {
		return err
	}
	if s.Config.Database.Raw() != "" { // other processes may write, too
		defer s.engine.db.Watch().Close()
	}
	s.origin = Origin(main.Addr().String())
	rt, metrics, closeHooks := s.handler()
	defer closeHooks()
	defer s.api.EndOperations()
	if second == nil {
		rt.metrics = metrics
	}
	group, ctx := errgroup.WithContext(ctx)
	if file := s.Config; file.File() != "" {
		group.Go(func() error {
			file.Watch(ctx, s.Environ, func(c *config.Config) { s.reload(ctx, c) }, s.broken)
			return nil
		})
	}
	if err := again(ctx, s.log, store.ErrWriting, func() error { return s.notify.Set(ctx, plan.receivers) }); err != nil {
		return err
	}
	s.pulls.flusher = newPusher(s.engine, s.Config, s.base)
	s.pulls.set(plan, s.Config.PollInterval)
	if err := s.greet(s.origin, s.base(), plan); err != nil {
		return fmt.Errorf("writing to the standard output: %w", err)
	}
	group.Go(func() error { return s.pulls.run(ctx) })
	group.Go(func() error { return s.notify.Run(ctx) })
	group.Go(func() error { return s.sendDigests(ctx) })
	if s.engine.cluster != nil {
		group.Go(func() error { return s.engine.cluster.run(ctx) })
		group.Go(func() error { return s.engine.cluster.shareLimits(ctx, s.api) })
	}
	server := newHTTPServer(rt, s.log)
	server.RegisterOnShutdown(s.api.EndStreams) // they would never end by themselves
	group.Go(func() error { return serveUntil(ctx, server, countedListener{main, s.connections}) })
	if second != nil {
		group.Go(func() error {
			return serveUntil(ctx, newHTTPServer(profiled(metrics, s.api.NamesMachine, s.mayProfile), s.log), countedListener{second, s.monitors})
		})
	}
	group.Go(func() error { return s.invite(ctx, s.base()) })
	return group.Wait()
}

// handler makes the handlers of addresses and metrics. end waits for answers to webhooks.
func (s *server) handler() (rt *routes, metrics http.Handler, end func()) {
	s.pulls = newSupervisor(s.engine, Workers(s.Config))
	s.notify = newSender(s.engine, func(c *catalog.Change) string { return wire.Links{Base: s.base()}.ChangePage(c) })
	s.pulls.notify = s.notify
	s.api = api.New(api.Options{
		DB: s.engine.db, Languages: s.engine.languages, Logger: s.log, Version: s.engine.options.Version,
		Settings: settingsOf(s.Config, s.log), Progress: s.engine.progress.component, CacheBytes: int(s.Config.ResponseCache),
		Dialect: api.Dialect{
			PageSize: s.Config.Compatibility.PageSize, PlainAddresses: s.Config.Compatibility.AddressFormat == "none",
			NewestFirst: s.Config.Compatibility.ChangesOrder == "newest",
		},
		WithoutGitExport: !s.Config.GitExport, Commits: commits{s.engine.syncer, s.engine}, TempDir: string(s.Config.DataDir), Edits: s.engine.editor, Operations: operations{s.pulls},
	})
	calls := hooks.New(hooks.Options{Pulls: hookPulls{s.pulls}, Client: s.api.Client, Logger: s.log, Claim: s.engine.cluster.claim()})
	s.connections, s.monitors = newConnections(openFiles(), s.api.Trusts), &connections{pools: limit.Pools{limit.NewPool("metrics_connections", maxMonitors, clientMonitors)}}
	clones := gitexport.New(exports{s.engine, s.api.Clonable}.find, s.api.Client, s.log)
	s.shared = slices.Concat(s.connections.pools, s.monitors.pools, s.api.Pools(), calls.Pools(), clones.Pools())
	own := []prometheus.Collector{pullMetrics{s.pulls, s.Config.MetricsListen != ""}, s.shared}
	if s.engine.cluster != nil {
		own = append(own, s.engine.cluster)
	}
	s.metrics = newMetrics(s.engine.db.Metrics(), s.engine.syncer.Metrics(), s.pulls.sched.Metrics(), s.api.Metrics(), calls.Metrics(), s.notify.Metrics(), own)
	metrics = promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{})
	rt = &routes{
		api: s.api, home: home(s.api, s.engine.options.Version), allows: s.api.AllowsHost,
		hooks:  calls,
		health: http.HandlerFunc(healthz), ready: http.HandlerFunc(s.pulls.readyz),
	}
	if s.Config.GitExport {
		if _, ok := GitOptions(s.Config, s.log).Remote.Git(); !ok {
			s.log.Info("git clone of this server is answered with 503: there is no git program, or git: builtin forbids it; git_export: false says so in the API")
		}
		rt.export = clones
	}
	if s.pullsOnly {
		rt.pullsOnly()
	}
	return rt, metrics, calls.Close
}

// base is the public origin of links as it is configured now, else where the server listens.
func (s *server) base() string { return cmp.Or(s.api.BaseURL(), s.origin) }

func settingsOf(c *config.Config, log *slog.Logger) api.Settings {
	o := api.Settings{
		BaseURL: c.BaseURL, AllowedHosts: c.AllowedHosts, TrustedProxies: c.TrustedProxies, CORSOrigins: c.CORSOrigins,
		AnonymousRate: limit.Rate(c.RateLimit.Anonymous), TokenRate: limit.Rate(c.RateLimit.Token),
		SignIn: providersOf(c), Roles: c.Roles(), Pushes: newPushers(c, log).pushes,
	}
	if c.SMTP.Address != "" {
		o.Mail = func(ctx context.Context, to, id string, m *web.Mail) error {
			return sendMail(ctx, &c.SMTP, c.BaseURL, to, id, m)
		}
	}
	return o
}

// newSender makes what tells receivers of changes, unless a newer process or one that pulls does.
func newSender(e *Engine, page func(*catalog.Change) string) *notify.Sender {
	o := notify.Options{
		DB: e.db, Page: page, Agent: "repoglot/" + e.options.Version, Logger: e.log,
	}
	if e.cluster != nil {
		o.Process = e.cluster.process.ID
		o.Stopped = func() bool { return e.answersOnly() || e.cluster.older() }
	}
	return notify.New(o)
}

// mayProfile reports whether a client may see the profiler, which shows paths, addresses
// and parts of the memory: one on this machine, or one with a token of scope admin.
func (s *server) mayProfile(r *http.Request) bool {
	if api.IsLocal(r) {
		return true
	}
	v, err := s.api.Visitor(r, true)
	return err == nil && v.Admin()
}

// invite prints addresses to try after the first round of pulls.
func (s *server) invite(ctx context.Context, base string) error {
	if s.pullsOnly {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.pulls.sched.FirstRound():
	}
	list, err := s.pulls.visible(ctx)
	if err != nil || len(list) == 0 {
		return nil // the log has the reason
	}
	imported := slices.DeleteFunc(slices.Clone(list), func(l link) bool { return !l.Imported })
	return greetings.ExecuteTemplate(s.Stdout, "imported", map[string]any{
		"Base": base, "Shown": imported[:min(len(imported), maxLinks)], "More": len(list) - len(imported), "All": len(list),
	})
}

// broken logs the errors of a new configuration.
func (s *server) broken(err error) {
	for line := range strings.Lines(err.Error()) {
		s.log.Error("the configuration is broken, the old one stays", "error", strings.TrimRight(line, "\n"))
	}
}

func (s *server) reload(ctx context.Context, c *config.Config) {
	if err := s.Override(c); err != nil {
		s.broken(err)
		return
	}
	plan, now := NewPlan(c), settingsOf(s.Config, s.log)
	now.Roles, now.Pushes = c.Roles(), nil // who lost one must not write while a large step is stored
	s.api.Update(now)
	err := again(ctx, s.log, store.ErrUnavailable, func() error { return s.engine.configureOnce(ctx, plan) })
	if err != nil { // the old one goes on meanwhile
		if ctx.Err() == nil {
			s.broken(err)
		}
		return
	}
	s.Warn(c)
	if keys := s.Config.RestartKeys(c); len(keys) > 0 {
		s.log.Warn("configuration: a change takes effect after a restart", "keys", strings.Join(keys, ", "))
	}
	if err := s.notify.Set(ctx, plan.receivers); err != nil {
		s.log.Warn("notify: receivers change with the next change of the configuration", "error", err)
	}
	s.Config = c
	s.api.Update(settingsOf(c, s.log))
	s.pulls.set(plan, c.PollInterval)
	stale, err := s.engine.unchecked(ctx, plan)
	if err != nil {
		s.log.Warn("strings are checked again only with the next pulls", "error", err)
	}
	for _, key := range stale {
		s.pulls.sched.Trigger(key)
	}
	s.log.Info("configuration loaded", "file", c.File(), "branches", len(plan.branches))
}

// maxLinks bounds the addresses that serve prints.
const maxLinks = 12

// link names a component and a translation of it, if possible not into the source language.
type link struct {
	Project, Slug, Code string
	Imported            bool
}

func (s *supervisor) visible(ctx context.Context) ([]link, error) {
	var list []link
	err := s.engine.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Components(ctx, "")
		for _, c := range rows {
			if c.Settings.Private(&c.Project) || err != nil {
				continue
			}
			l := link{Project: c.Project.Slug, Slug: c.Slug, Code: c.Settings.SourceLanguage, Imported: c.Imported}
			if c.Imported && len(list) < maxLinks {
				var all []catalog.Translation
				all, err = snap.Translations(ctx, c.ID)
				if at := slices.IndexFunc(all, func(t catalog.Translation) bool { return !t.IsSource }); at >= 0 {
					l.Code = all[at].Language
				}
			}
			list = append(list, l)
		}
		return err
	})
	return list, err
}

// Origin is the address for clients on this machine of a server that listens on HOST:PORT.
func Origin(listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

//go:embed greeting.txt
var greetingText string

// greetings are what is printed at the start, and after the first round of pulls.
var greetings = template.Must(template.New("").Funcs(template.FuncMap{
	"discovers": func(slug string) bool { return strings.Contains(slug, "{component}") },
}).Parse(greetingText))

// greet prints the address of the server on this machine, the folder of its data, and what it
// will serve below its public address.
func (s *server) greet(local, base string, p *Plan) error {
	list, what := p.public(), "serves"
	if s.pullsOnly {
		what = "pulls"
	}
	shown := min(len(list), maxLinks)
	return greetings.ExecuteTemplate(s.Stdout, what, map[string]any{
		"Local": local, "Base": base, "Dir": string(s.Config.DataDir), "Shown": list[:shown], "More": len(list) - shown,
	})
}
