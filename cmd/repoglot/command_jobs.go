package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
)

func (p *program) jobsCommand() *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "jobs [--format text|json]",
		Short: "Show what the processes that use one PostgreSQL database pull",
		Long: "Show the processes that use the database, what they pull since when, what waits,\n" +
			"and what failed with its reason. Branches that are up to date are counted, and\n" +
			"listed as JSON. Only for PostgreSQL: with SQLite one process pulls, and its\n" +
			"/readyz says what it does.",
		Args: arguments(0, "no argument"),
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return usageError{fmt.Errorf("--format %s: write text or json", format)}
			}
			return p.jobs(cmd.Context(), format)
		}),
	}
	p.dataFlags(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", format, "`FORMAT` of the list: text or json")
	return cmd
}

func (p *program) jobs(ctx context.Context, format string) error {
	c, err := p.load(config.LoadWithoutSecrets, "name a configuration with --config FILE")
	if err != nil {
		return err
	}
	if c.Database.Raw() == "" {
		return usageError{errors.New("the database is SQLite, which one process uses: its /readyz says what it pulls")}
	}
	return withDatabase(ctx, c, store.Options{Shared: true}, func(db *store.DB) error {
		state, err := db.Cluster().State(ctx)
		if err != nil {
			return err
		}
		return server.WriteJobs(p.stdout, state, format == "json")
	})
}
