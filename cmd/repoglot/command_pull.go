package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
)

func (p *program) pullCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pull [--config FILE]",
		Short: "Pull beside other processes that use one PostgreSQL database",
		Long: "Pull the branches of a configuration until stopped, beside other processes that\n" +
			"use the same PostgreSQL database: each branch is pulled by one of them at a time.\n" +
			"It answers /healthz, /readyz and /metrics only; serve --no-pull answers the rest.\n" +
			"See docs/cluster.md.",
		Args: arguments(0, "no argument"),
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			defer p.memory().Limit(server.ServeMemory)()
			return p.serve(cmd.Context(), "", server.WorkPull)
		}),
	}
	p.listenFlags(cmd)
	return cmd
}

// listenFlags adds the flags of commands that listen.
func (p *program) listenFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.flags.listen, "listen", "", "`HOST:PORT` to listen on (default "+config.DefaultListen+"); wins over listen of the configuration")
	p.dataFlags(cmd.Flags())
	p.logFlags(cmd.Flags(), slog.LevelInfo)
}
