package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// tokenBusyTimeout bounds the wait for a server that is storing a long step.
const tokenBusyTimeout = time.Minute

func (p *program) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke access tokens, also while a server is running",
		Args:  knownCommand,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no command was given: try repoglot token create NAME, token list or token revoke NAME")
		},
	}
	p.dataFlags(cmd.PersistentFlags())
	cmd.AddCommand(p.tokenCreateCommand(), p.tokenListCommand(), p.tokenRevokeCommand())
	return cmd
}

func (p *program) tokenCreateCommand() *cobra.Command {
	scope := string(catalog.ScopeRead)
	cmd := &cobra.Command{
		Use:   "create [--scope read|admin] NAME",
		Short: "Make a token and print it; it is shown only once",
		Args:  arguments(1, "one name"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			if !catalog.Scope(scope).Known() {
				return usageError{fmt.Errorf("--scope %s: write read or admin", scope)}
			}
			return p.withTokens(cmd.Context(), func(ctx context.Context, db *store.DB) error {
				secret, err := db.CreateToken(ctx, args[0], catalog.Scope(scope), time.Now())
				switch {
				case errors.Is(err, catalog.ErrConflict):
					return fmt.Errorf("there is a token %q: choose another name, or revoke it first", args[0])
				case errors.Is(err, catalog.ErrInvalid):
					return usageError{fmt.Errorf("the name %q cannot be taken: write 1 to 100 bytes without control characters", args[0])}
				case err != nil:
					return err
				}
				_, err = fmt.Fprintln(p.stdout, secret)
				return err
			})
		}),
	}
	cmd.Flags().StringVar(&scope, "scope", scope, "what the token allows, `read` or admin")
	return cmd
}

func (p *program) tokenListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Args:  arguments(0, "no argument"),
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			return p.withTokens(cmd.Context(), func(ctx context.Context, db *store.DB) error {
				return db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
					list, err := snap.Tokens(ctx)
					if err != nil {
						return err
					}
					w := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
					for _, t := range list {
						fmt.Fprintf(w, "%s\t%s\t%s\n", t.Created.Format(time.RFC3339), t.Scope, t.Name)
					}
					return w.Flush()
				})
			})
		}),
	}
}

func (p *program) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token at once",
		Args:  arguments(1, "one name"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			return p.withTokens(cmd.Context(), func(ctx context.Context, db *store.DB) error {
				err := db.RevokeToken(ctx, args[0])
				if errors.Is(err, catalog.ErrNotFound) {
					return fmt.Errorf("there is no token %q: see repoglot token list", args[0])
				}
				return err
			})
		}),
	}
}

// withTokens opens the database for a function. A server may hold the lock of the
// data directory, which keeps two processes from pulling: a token is one short
// transaction, which SQLite lets a second process make. Only without a server it
// migrates the schema.
func (p *program) withTokens(ctx context.Context, fn func(context.Context, *store.DB) error) (err error) {
	c, err := p.tokenSettings()
	if err != nil {
		return err
	}
	dsn := databasePath(c)
	opts := store.Options{BusyTimeout: tokenBusyTimeout}
	unlock, err := store.Lock(string(c.DataDir))
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, unlock()) }()
	case errors.Is(err, store.ErrLocked):
		opts.Shared = true
	default:
		return err
	}
	db, err := store.Open(ctx, dsn, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(ctx, db)
}

// databasePath is the address of the database of a configuration.
func databasePath(c *config.Config) string {
	if dsn := c.Database.Raw(); dsn != "" {
		return dsn
	}
	return filepath.Join(string(c.DataDir), "repoglot.db")
}

// tokenSettings returns the settings of the configuration. With --data-dir it needs
// none, since serve REPO has none.
func (p *program) tokenSettings() (*config.Config, error) {
	if p.flags.config == "" && p.flags.dataDir != "" {
		dir, err := filepath.Abs(p.flags.dataDir)
		return &config.Config{DataDir: config.Path(dir)}, err
	}
	return p.load("name a configuration with --config FILE, or a data directory with --data-dir FOLDER")
}
