package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/hooks"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

func (p *program) serveCommand() *cobra.Command {
	noPull := false
	cmd := &cobra.Command{
		Use:   "serve [--no-pull] [--config FILE | REPO]",
		Short: "Serve the projects of a configuration, or one repository without one",
		Long: "Serve the projects of a configuration, ./" + defaultConfig + " unless --config names\n" +
			"another, or one repository: its PO files are found as discover does, and its\n" +
			"history is replayed in the background. The data of serve REPO is kept in\n" +
			"repoglot/NAME-HASH in the user's cache folder, unless --data-dir names another.\n\n" +
			"Flags win over environment variables (REPOGLOT_LISTEN, REPOGLOT_BASE_URL,\n" +
			"REPOGLOT_DATA_DIR and so on, one for each single value of the configuration),\n" +
			"which win over the configuration. docs/configuration.md lists all keys.",
		Example: "  repoglot serve ~/src/app\n" +
			"  repoglot serve https://example.org/app.git --listen :9000\n" +
			"  repoglot serve --config /etc/repoglot.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("repoglot serve takes one repository, not %d: write a configuration for several", len(args))
			}
			return nil
		},
		RunE: work(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && p.flags.config != "" {
				return usageError{errors.New("--config and a repository exclude each other: give one of them")}
			}
			defer limitMemory(p.memory(), serveMemory)()
			if noPull {
				return p.serve(cmd.Context(), strings.Join(args, ""), workAnswer)
			}
			return p.serve(cmd.Context(), strings.Join(args, ""), workServe)
		}),
	}
	cmd.Flags().BoolVar(&noPull, "no-pull", false, "only answer: other processes that use the same PostgreSQL database pull (docs/cluster.md)")
	p.listenFlags(cmd)
	return cmd
}

// server is a running serve.
type server struct {
	program   *program
	log       *slog.Logger
	config    *config.Config
	engine    *engine
	pullsOnly bool
	pulls     *supervisor
	api       *api.Server

	connections, monitors *connections
	shared                limit.Pools // all that clients share
}

// serve serves until ctx is done. repo is "" for a configuration; work says whether it
// answers and pulls.
func (p *program) serve(ctx context.Context, repo, work string) (err error) {
	b := newProgressBar(p.stderr)
	p.stdout, p.stderr = b.above(p.stdout), b.above(p.stderr)
	log, err := p.logger(slog.LevelInfo)
	if err != nil {
		return err
	}
	c, err := p.settings(repo)
	if err != nil {
		return err
	}
	if work != workServe && c.Database.Raw() == "" {
		return usageError{errNeedsPostgres}
	}
	pr := newProgress(b, time.Now, func(key string, d done) { log.Info("importing", "branch", key, "done", d.String()) })
	e, err := openEngine(ctx, c, work, p.memory(), log, pr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if e.cluster != nil {
		e.cluster.length = p.leaseLength
	}
	main, err := listen(ctx, "listen", c.Listen)
	if err != nil {
		return err
	}
	defer main.Close()
	var second net.Listener
	if c.MetricsListen != "" {
		if second, err = listen(ctx, "metrics_listen", c.MetricsListen); err != nil {
			return err
		}
		defer second.Close()
		log.Info("metrics and profiler", "address", origin(second)+"/metrics")
	}
	if repo != "" {
		if err := e.discover(ctx, c, repo); err != nil {
			return err
		}
	}
	warn(log, c)
	log.Info("git", "client", gitOptions(c, log).Remote.Client())
	s := &server{program: p, log: log, config: c, engine: e, pullsOnly: work == workPull}
	err = s.run(ctx, main, second)
	if err == nil && ctx.Err() != nil {
		log.Info("stopped by a signal; nothing was lost")
	}
	return err
}

// settings returns the settings of the configuration file, or for a repository
// those of flags and environment.
func (p *program) settings(repo string) (*config.Config, error) {
	if repo == "" {
		return p.load("name a configuration with --config FILE, or a repository with repoglot serve REPO")
	}
	return p.repoSettings(repo)
}

// run wires the parts together and waits until ctx is done.
func (s *server) run(ctx context.Context, main, second net.Listener) error {
	plan := newPlan(s.config)
	if err := s.engine.configure(ctx, plan, store.ErrWriting); err != nil {
		return err
	}
	if s.config.Database.Raw() != "" { // other processes may write, too
		defer s.engine.db.Watch().Close()
	}
	rt, metrics, closeHooks := s.handler()
	defer closeHooks()
	if second == nil {
		rt.metrics = metrics
	}
	base := s.config.BaseURL
	if base == "" {
		base = origin(main)
	}
	group, ctx := errgroup.WithContext(ctx)
	if err := s.watchConfig(ctx, group); err != nil {
		s.log.Warn("the configuration is not watched; restart after a change", "error", err)
	}
	s.pulls.flusher = &flusher{newPusher(s.engine, s.config, base)}
	s.pulls.set(plan, s.config.PollInterval)
	if _, err := fmt.Fprint(s.program.stdout, s.greeting(origin(main), base, plan)); err != nil {
		return fmt.Errorf("writing to the standard output: %w", err)
	}
	group.Go(func() error { return s.pulls.run(ctx) })
	if s.engine.cluster != nil {
		group.Go(func() error { return s.engine.cluster.run(ctx) })
		group.Go(func() error { return s.engine.cluster.shareLimits(ctx, s.api) })
	}
	server := newHTTPServer(rt, defaultTimeouts(), s.log)
	server.RegisterOnShutdown(s.api.EndStreams) // they would never end by themselves
	group.Go(func() error { return serveUntil(ctx, server, s.connections.listen(main)) })
	if second != nil {
		group.Go(func() error {
			return serveUntil(ctx, newHTTPServer(profiled(metrics, s.api.NamesMachine, s.mayProfile), defaultTimeouts(), s.log), s.monitors.listen(second))
		})
	}
	group.Go(func() error { return s.invite(ctx, base) })
	return group.Wait()
}

// handler makes the handlers of all addresses and of the metrics. end waits for
// webhooks that are being answered.
func (s *server) handler() (rt *routes, metrics http.Handler, end func()) {
	s.pulls = newSupervisor(s.engine, s.config.Workers)
	s.api = api.New(api.Options{
		DB: s.engine.db, Languages: s.engine.languages, Logger: s.log, Version: programVersion(),
		BaseURL: s.config.BaseURL, AllowedHosts: s.config.AllowedHosts, TrustedProxies: s.config.Prefixes(), CORSOrigins: s.config.CORSOrigins,
		AnonymousRate: limit.Rate(s.config.RateLimit.Anonymous), TokenRate: limit.Rate(s.config.RateLimit.Token),
		Progress: s.engine.progress.component, CacheBytes: int(s.config.ResponseCache),
		Dialect: api.Dialect{
			PageSize: s.config.Compatibility.PageSize, PlainAddresses: s.config.Compatibility.AddressFormat == "none",
			NewestFirst: s.config.Compatibility.ChangesOrder == "newest",
		},
		WithoutGitExport: !s.config.GitExport, TempDir: string(s.config.DataDir), Edits: s.engine.syncer, Files: s.engine.syncer, Operations: operations{s.pulls},
	})
	calls := hooks.New(hooks.Options{Pulls: hookPulls{s.pulls}, Client: s.api.Client, Logger: s.log, Claim: s.engine.cluster.claim()})
	s.connections, s.monitors = newConnections(openFiles(), s.api.Trusts), newMonitors()
	clones := gitexport.New(exports{s.engine, s.api.Visitor}, gitexport.Limits{Client: s.api.Client}, s.log)
	s.shared = slices.Concat(s.connections.pools, s.monitors.pools, s.api.Pools(), calls.Pools(), clones.Pools())
	metrics = newMetrics(s.engine.db.Metrics(), s.engine.syncer.Metrics(), s.pulls.sched.Metrics(), s.api.Metrics(), calls.Metrics(),
		s.ownMetrics())
	rt = &routes{
		api: s.api, home: home(s.api), allows: s.api.AllowsHost,
		hooks:  calls,
		health: http.HandlerFunc(healthz), ready: http.HandlerFunc(s.pulls.readyz),
	}
	if s.config.GitExport {
		if _, ok := gitOptions(s.config, s.log).Remote.Git(); !ok {
			s.log.Info("git clone of this server is answered with 503: there is no git program, or git: builtin forbids it; git_export: false says so in the API")
		}
		rt.export = clones
	}
	if s.pullsOnly {
		rt.pullsOnly()
	}
	return rt, metrics, calls.Close
}

// ownMetrics are the collectors of this package.
func (s *server) ownMetrics() []prometheus.Collector {
	list := []prometheus.Collector{newPullMetrics(s.pulls, s.config.MetricsListen != ""), s.shared}
	if s.engine.cluster != nil {
		list = append(list, s.engine.cluster)
	}
	return list
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

// greeting is what is printed at the start.
func (s *server) greeting(listen, base string, p *plan) string {
	if s.pullsOnly {
		return "repoglot pulls; " + listen + "/readyz says what\n"
	}
	return greeting(listen, base, string(s.config.DataDir), p)
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
	_, err = fmt.Fprint(s.program.stdout, invitation(base, list))
	return err
}

// watchConfig applies changes of the configuration file until ctx is done.
func (s *server) watchConfig(ctx context.Context, group *errgroup.Group) error {
	if s.config.File() == "" {
		return nil
	}
	w, err := config.NewWatcher(s.config, s.program.environ)
	if err != nil {
		return err
	}
	group.Go(func() error {
		return w.Run(ctx, func(c *config.Config) { s.reload(ctx, c) }, s.broken)
	})
	return nil
}

// broken logs the errors of a new configuration.
func (s *server) broken(err error) {
	for line := range strings.Lines(err.Error()) {
		s.log.Error("the configuration is broken, the old one stays", "error", strings.TrimRight(line, "\n"))
	}
}

// reload applies a new configuration.
func (s *server) reload(ctx context.Context, c *config.Config) {
	if err := s.program.override(c); err != nil {
		s.broken(err)
		return
	}
	plan := newPlan(c)
	if err := s.engine.configure(ctx, plan, store.ErrUnavailable); err != nil { // the old one goes on meanwhile
		if ctx.Err() == nil {
			s.broken(err)
		}
		return
	}
	warn(s.log, c)
	if keys := s.config.RestartKeys(c); len(keys) > 0 {
		s.log.Warn("configuration: a change takes effect after a restart", "keys", strings.Join(keys, ", "))
	}
	s.config = c
	s.api.Update(api.Settings{
		BaseURL: c.BaseURL, AllowedHosts: c.AllowedHosts, TrustedProxies: c.Prefixes(), CORSOrigins: c.CORSOrigins,
		AnonymousRate: limit.Rate(c.RateLimit.Anonymous), TokenRate: limit.Rate(c.RateLimit.Token),
	})
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

// env returns the environment by name.
func (p *program) env() map[string]string {
	m := map[string]string{}
	for _, kv := range p.environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			m[name] = value
		}
	}
	return m
}
