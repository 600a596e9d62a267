package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/store/transfer"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

func (p *program) backupCommand() *cobra.Command {
	return p.withData(&cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database to a new file, also while a server is running",
		Long: "Copy the database to FILE, which must not exist: all of one generation, and\n" +
			"readable only by you, since it has the hashes of the tokens. A server may go on.\n" +
			"Mirrors are not in it: they are cloned again. repoglot restore brings it back.\n" +
			"A backup of PostgreSQL is what repoglot db export writes.",
		Example: "  repoglot backup --config /etc/repoglot.yaml /var/backups/repoglot-$(date +%F).db",
		Args:    arguments(1, "one file"),
		RunE: p.onStored(func(ctx context.Context, c *config.Config, args []string) error {
			if c.Database.Raw() != "" {
				return p.exportDatabase(ctx, c, args)
			}
			b, err := transfer.WriteBackup(ctx, c.DatabaseAddress(), args[0])
			if err != nil {
				return commandFault(ctx, err)
			}
			_, err = fmt.Fprintf(p.stdout, "%s: generation %d, schema %d, %d bytes\n", args[0], b.Generation, b.Schema, b.Bytes)
			return err
		}),
	})
}

func (p *program) restoreCommand() *cobra.Command {
	return p.withData(&cobra.Command{
		Use:   "restore FILE",
		Short: "Make a backup the database; the old one is kept beside it",
		Long: "Check FILE, which repoglot backup wrote, and make it the database. No server may\n" +
			"be running. The database that was there is kept beside it. The next pulls bring\n" +
			"what was pushed since the backup: with other ids than those that were given out\n" +
			"after it, so clients that follow changes must begin anew. In PostgreSQL the database\n" +
			"must be new or empty: the old one stays where it is.",
		Args: arguments(1, "one file"),
		RunE: p.onStored(func(ctx context.Context, c *config.Config, args []string) error {
			if c.Database.Raw() != "" {
				return p.importDatabase(ctx, c, args)
			}
			return locked(c, func() error {
				dsn := c.DatabaseAddress()
				b, kept, err := transfer.RestoreBackup(ctx, args[0], dsn)
				if err != nil {
					return commandFault(ctx, err)
				}
				if kept != "" {
					fmt.Fprintf(p.stdout, "the database that was there is now %s\n", kept)
				}
				_, err = fmt.Fprintf(p.stdout, "%s: generation %d, schema %d, %d bytes\n", dsn, b.Generation, b.Schema, b.Bytes)
				return err
			})
		}),
	})
}

// commandFault is the error of a command, or that a signal stopped it.
func commandFault(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.New("stopped by a signal; nothing was changed")
	}
	return err
}
