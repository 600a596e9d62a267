package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/transfer"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

func (p *program) dbCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "db",
		Short: "Move the database between SQLite and PostgreSQL",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		p.stored("export FILE", "Write the database to a new file, also while servers are running", arguments(1, "one file"), p.exportDatabase),
		p.stored("import FILE", "Read what db export wrote into the database, which must be empty", arguments(1, "one file"), p.importDatabase),
	)
	return cmd
}

func (p *program) exportDatabase(ctx context.Context, c *config.Config, args []string) error {
	e, err := transfer.ExportFile(ctx, c.DatabaseAddress(), args[0])
	if err != nil {
		return commandFault(ctx, err)
	}
	_, err = fmt.Fprintf(p.stdout, "%s: generation %d, schema %d, %d rows\n", args[0], e.Generation, e.Schema, e.Rows)
	return err
}

func (p *program) importDatabase(ctx context.Context, c *config.Config, args []string) error {
	if err := os.MkdirAll(string(c.DataDir), 0o700); err != nil {
		return fmt.Errorf("the data directory cannot be made: %w", err)
	}
	return locked(c, func() error {
		e, err := transfer.ImportFile(ctx, args[0], c.DatabaseAddress(), store.Options{})
		if err != nil {
			return commandFault(ctx, err)
		}
		differ := 0
		err = withDatabase(ctx, c, store.Options{}, func(db *store.DB) error {
			return db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
				_, err := snap.Verify(ctx, func(m store.Mismatch) {
					differ++
					fmt.Fprintln(p.stdout, m)
				})
				return err
			})
		})
		if err != nil {
			return err
		}
		if differ > 0 {
			return fmt.Errorf("the database is filled, but %d numbers differ, in the export, too, if verify says so of where it was made: please report it", differ)
		}
		_, err = fmt.Fprintf(p.stdout, "%s: generation %d, schema %d, %d rows; nothing differs\n", filepath.Base(args[0]), e.Generation, e.Schema, e.Rows)
		return err
	})
}

// databaseCommands are the other commands on a database.
func (p *program) databaseCommands() []*cobra.Command {
	return []*cobra.Command{
		p.stored("verify", "Recount the whole database, also while a server is running", arguments(0, "no argument"), p.verify),
		p.stored("backup FILE", "Copy the database to a new file, also while a server is running", arguments(1, "one file"), p.backup),
		p.stored("restore FILE", "Make a backup the database; the old one is kept beside it", arguments(1, "one file"), p.restore),
		p.dbCommand(),
		p.stored("migrate", "Bring the schema of the database up to date", arguments(0, "no argument"), p.migrate),
	}
}

func (p *program) migrate(ctx context.Context, c *config.Config, _ []string) error {
	migrate := func() error {
		return withDatabase(ctx, c, store.Options{}, func(db *store.DB) error {
			_, err := fmt.Fprintf(p.stdout, "schema %d\n", db.Schema())
			return err
		})
	}
	if c.Database.Raw() != "" { // PostgreSQL has locks of its own
		return commandFault(ctx, migrate())
	}
	return commandFault(ctx, locked(c, migrate))
}

func (p *program) backup(ctx context.Context, c *config.Config, args []string) error {
	if c.Database.Raw() != "" {
		return p.exportDatabase(ctx, c, args)
	}
	b, err := transfer.WriteBackup(ctx, c.DatabaseAddress(), args[0])
	if err != nil {
		return commandFault(ctx, err)
	}
	_, err = fmt.Fprintf(p.stdout, "%s: generation %d, schema %d, %d bytes\n", args[0], b.Generation, b.Schema, b.Bytes)
	return err
}

func (p *program) restore(ctx context.Context, c *config.Config, args []string) error {
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
}

// commandFault is the error of a command, or that a signal stopped it.
func commandFault(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.New("stopped by a signal; nothing was changed")
	}
	return err
}

func (p *program) verify(ctx context.Context, c *config.Config, _ []string) error {
	dsn := c.DatabaseAddress()
	if _, err := os.Stat(dsn); c.Database.Raw() == "" && err != nil {
		return fmt.Errorf("there is no database %s: name the data directory with --data-dir, or a configuration with --config", dsn)
	}
	return withDatabase(ctx, c, store.Options{Shared: true}, func(db *store.DB) error {
		return db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
			return p.verifySnapshot(ctx, snap, filepath.Join(string(c.DataDir), "mirrors"))
		})
	})
}

func (p *program) verifySnapshot(ctx context.Context, snap *store.Snapshot, mirrors string) error {
	differ, damaged := 0, 0
	seen, err := snap.Verify(ctx, func(m store.Mismatch) {
		differ++
		fmt.Fprintln(p.stdout, m)
	})
	if err != nil {
		return err
	}
	mirrored, err := ingest.VerifyMirrors(ctx, snap, mirrors, func(line string) {
		damaged++
		fmt.Fprintln(p.stdout, line)
	})
	if err != nil {
		return err
	}
	if differ > 0 {
		return fmt.Errorf("%d numbers differ: please report it; move the database away and import again to correct them", differ)
	}
	if damaged > 0 {
		return fmt.Errorf("%d differences from the mirrors: each line says what to do", damaged)
	}
	_, err = fmt.Fprintf(p.stdout, "%d units of %d translations of %d components, %d changes, %d files in %d mirrors: nothing differs\n",
		seen.Units, seen.Translations, seen.Components, seen.Changes, mirrored.Files, mirrored.Mirrors)
	return err
}
