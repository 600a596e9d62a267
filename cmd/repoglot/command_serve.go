package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
)

func (p *program) serveCommand() *cobra.Command {
	noPull := false
	cmd := action("serve [--no-pull] [--config FILE | REPO]", "Serve the projects of a configuration, or one repository without one", nil, func(ctx context.Context, args []string) error {
		switch {
		case len(args) > 1:
			return usageError{fmt.Errorf("repoglot serve takes one repository, not %d: write a configuration for several", len(args))}
		case len(args) == 1 && p.flags.config != "":
			return usageError{errors.New("--config and a repository exclude each other: give one of them")}
		}
		p.memory().Limit()
		if noPull {
			return p.serve(ctx, strings.Join(args, ""), server.WorkAnswer)
		}
		return p.serve(ctx, strings.Join(args, ""), server.WorkServe)
	})
	cmd.Flags().BoolVar(&noPull, "no-pull", false, "only answer: other processes that use the same PostgreSQL database pull (docs/cluster.md)")
	p.listenFlags(cmd)
	return cmd
}

// serve serves until ctx is done, with work as in server. repo is "" for a configuration.
func (p *program) serve(ctx context.Context, repo, work string) (err error) {
	log, err := p.logger(slog.LevelInfo)
	if err != nil {
		return err
	}
	var c *config.Config
	if repo == "" {
		c, err = p.load(true, "name a configuration with --config FILE, or a repository with repoglot serve REPO")
	} else {
		c, err = p.repoSettings(repo)
	}
	if err != nil {
		return err
	}
	e, err := server.Open(ctx, c, p.serverOptions(work, log, func(branch, done string) { log.Info("importing", "branch", branch, "done", done) }))
	if errors.Is(err, server.ErrNeedsPostgres) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	at, err := e.Listen(ctx, c)
	if err != nil {
		return err
	}
	defer at.Close()
	if repo != "" {
		if err := addDiscovered(ctx, e, c, repo); err != nil {
			return err
		}
	}
	warn(log, c)
	err = e.Serve(ctx, at, server.Settings{
		Config: c, Environ: p.environ, Override: p.override, Warn: func(c *config.Config) { warn(log, c) }, Stdout: p.stdout,
	})
	if err == nil && ctx.Err() != nil {
		log.Info("stopped by a signal; nothing was lost")
	}
	return err
}

func (p *program) memory() server.Memory {
	return server.AvailableMemory(config.Environ(p.environ)["GOMEMLIMIT"] != "")
}

func (p *program) serverOptions(work string, log *slog.Logger, line func(branch, done string)) server.Options {
	return server.Options{Work: work, Version: programVersion(), Memory: p.memory(), Logger: log, LeaseLength: p.leaseLength, Line: line}
}

func (p *program) pullCommand() *cobra.Command {
	cmd := action("pull [--config FILE]", "Pull beside other processes that use one PostgreSQL database", arguments(0, "no argument"), func(ctx context.Context, _ []string) error {
		p.memory().Limit()
		return p.serve(ctx, "", server.WorkPull)
	})
	p.listenFlags(cmd)
	return cmd
}

func (p *program) listenFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.flags.listen, "listen", "", "`HOST:PORT` to listen on (default "+config.DefaultListen+"); wins over listen of the configuration")
	p.dataFlags(cmd.Flags())
	p.logFlags(cmd.Flags(), slog.LevelInfo)
}

const healthTime = 5 * time.Second

func (p *program) healthCommand() *cobra.Command {
	var listen string
	cmd := action("health", "Ask the server on this machine whether it lives", arguments(0, "no argument"), func(ctx context.Context, _ []string) error {
		return healthy(ctx, cmp.Or(listen, config.Environ(p.environ)[config.EnvName("listen")], config.DefaultListen))
	})
	cmd.Flags().StringVar(&listen, "listen", "", "`HOST:PORT` that the server listens on")
	return cmd
}

func healthy(ctx context.Context, listen string) error {
	if err := config.CheckListen(listen); err != nil {
		return usageError{fmt.Errorf("--listen %w", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.Origin(listen)+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	res, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", listen, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", listen, res.Status)
	}
	return nil
}
