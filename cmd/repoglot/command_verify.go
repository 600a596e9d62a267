package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

func (p *program) verifyCommand() *cobra.Command {
	return p.withData(&cobra.Command{
		Use:   "verify",
		Short: "Recount the whole database, also while a server is running",
		Long: "Compute everything derived again: statistics and lists of changes from the\n" +
			"strings and the entries, and what depends on texts and files from those; compare\n" +
			"it with the stored values. Then read the mirrors, and compare the stored files\n" +
			"with the commits there. The command reads one state of the database and\n" +
			"changes nothing; a server may go on pulling. It prints a line for each number\n" +
			"that differs. The exit status is 0 only if no number differs.",
		Args: arguments(0, "no argument"),
		RunE: p.onStored(p.verify),
	})
}

// verify recounts and prints the differences.
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
