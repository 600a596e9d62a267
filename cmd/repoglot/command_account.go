package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// commandLine is who does with accounts what is done here.
const commandLine = "repoglot account"

func (p *program) accountCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "account", Short: "List, block and bind accounts of people who signed in, also while a server is running", Args: knownCommand,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no command was given: try repoglot account list, account block NAME, account unblock NAME or account rebind NAME")
		},
	}
	p.dataFlags(cmd.PersistentFlags())
	list := p.tokenTable("list", "List the accounts", func(ctx context.Context, snap *store.Snapshot, w io.Writer) error {
		all, err := snap.Access().Accounts(ctx)
		for i := range all {
			a, note := &all[i], ""
			if a.Blocked {
				note = "\tblocked"
			} else if a.Taken() {
				note = "\tanother account had this name first"
			}
			fmt.Fprintf(w, "%s:%s\t#%s\t%s\tseen %s%s\n", a.Provider, a.Name, a.Subject, a.AuthorName, a.Seen.Format(time.DateOnly), note)
		}
		return err
	})
	cmd.AddCommand(
		list, p.accountChange("block", "End an account's sessions and tokens at once; the server rejects its suggestions", "blocked"),
		p.accountChange("unblock", "Let a blocked account sign in again", "unblocked"),
		&cobra.Command{
			Use: "rebind PROVIDER:NAME", Short: "Give a name, and its roles, to the account that has it now", Args: arguments(1, "one PROVIDER:NAME"),
			RunE: work(func(cmd *cobra.Command, args []string) error {
				provider, name, _ := strings.Cut(args[0], ":")
				return p.withTokens(cmd.Context(), func(ctx context.Context, db *store.DB) error {
					to, err := db.Access().Rebind(ctx, provider, name, commandLine)
					if errors.Is(err, catalog.ErrNotFound) {
						return fmt.Errorf("no account has the name %s without its roles: see repoglot account list", args[0])
					}
					if err == nil {
						fmt.Fprintf(p.stdout, "%s is #%s now\n", args[0], to.Subject)
					}
					return err
				})
			}),
		},
	)
	return cmd
}

func (p *program) accountChange(use, short, event string) *cobra.Command {
	return &cobra.Command{
		Use: use + " PROVIDER:NAME", Short: short, Args: arguments(1, "one PROVIDER:NAME or PROVIDER:#SUBJECT"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			return p.withTokens(cmd.Context(), func(ctx context.Context, db *store.DB) error {
				var found []catalog.Account
				err := db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
					all, err := snap.Access().Accounts(ctx)
					for _, a := range all {
						if args[0] == a.Provider+":#"+a.Subject || strings.EqualFold(args[0], a.Provider+":"+a.Name) && a.Name != "" {
							found = append(found, a)
						}
					}
					return err
				})
				switch {
				case err != nil:
					return err
				case len(found) != 1:
					return fmt.Errorf("%d accounts are %q: see repoglot account list, and write PROVIDER:#SUBJECT", len(found), args[0])
				}
				return db.Access().ChangeAccount(ctx, found[0].ID, event, commandLine)
			})
		}),
	}
}
