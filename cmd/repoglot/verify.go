package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/store"
)

func (p *program) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Recount the whole database, also beside a running server",
		Long: "Count all statistics and the lists of changes anew, from the strings and the\n" +
			"entries, and what was made of texts and files from those, and compare it with what\n" +
			"is served. It reads one state of the database and changes nothing; a server may go\n" +
			"on pulling. A line is printed for each number that differs. The exit status is 0\n" +
			"only if none does.",
		Args: cobra.NoArgs,
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			return p.verify(cmd.Context())
		}),
	}
}

// verify recounts and prints what differs.
func (p *program) verify(ctx context.Context) (err error) {
	c, err := p.tokenSettings()
	if err != nil {
		return err
	}
	dsn := databasePath(c)
	if _, err := os.Stat(dsn); err != nil {
		return fmt.Errorf("there is no database %s: name the data directory with --data-dir, or a configuration with --config", dsn)
	}
	db, err := store.Open(ctx, dsn, store.Options{Shared: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	differ := 0
	return db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		seen, err := snap.Verify(ctx, func(m store.Mismatch) {
			differ++
			fmt.Fprintln(p.stdout, m)
		})
		if err != nil {
			return err
		}
		if differ > 0 {
			return fmt.Errorf("%d numbers differ: please report it; move the database away and import anew to mend them", differ)
		}
		_, err = fmt.Fprintf(p.stdout, "%d units of %d translations of %d components, %d changes: nothing differs\n",
			seen.Units, seen.Translations, seen.Components, seen.Changes)
		return err
	})
}
