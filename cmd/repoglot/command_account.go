package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// commandLine is who does with accounts what is done here.
const commandLine = "repoglot account"

func (p *program) accountCommand() *cobra.Command {
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
	return p.group("account", "List, block and bind accounts of people who signed in, also while a server is running", "account list, account block NAME, account unblock NAME or account rebind NAME",
		list, p.accountChange("block", "End an account's sessions and tokens at once; the server rejects its suggestions", "blocked"),
		p.accountChange("unblock", "Let a blocked account sign in again", "unblocked"),
		p.withOne("rebind PROVIDER:NAME", "Give a name, and its roles, to the account that has it now", "one PROVIDER:NAME", func(ctx context.Context, db *store.DB, named string) error {
			provider, name, _ := strings.Cut(named, ":")
			to, err := db.Access().Rebind(ctx, provider, name, commandLine)
			if errors.Is(err, catalog.ErrNotFound) {
				return fmt.Errorf("no account has the name %s without its roles: see repoglot account list", named)
			}
			if err == nil {
				fmt.Fprintf(p.stdout, "%s is #%s now\n", named, to.Subject)
			}
			return err
		}))
}

func (p *program) accountChange(use, short, event string) *cobra.Command {
	return p.withOne(use+" PROVIDER:NAME", short, "one PROVIDER:NAME or PROVIDER:#SUBJECT", func(ctx context.Context, db *store.DB, named string) error {
		all, err := store.Get(ctx, db, func(snap *store.Snapshot, ctx context.Context, _ string) ([]catalog.Account, error) {
			return snap.Access().Accounts(ctx)
		}, named)
		found := slices.DeleteFunc(all, func(a catalog.Account) bool {
			return named != a.Provider+":#"+a.Subject && (a.Name == "" || !strings.EqualFold(named, a.Provider+":"+a.Name))
		})
		switch {
		case err != nil:
			return err
		case len(found) != 1:
			return fmt.Errorf("%d accounts are %q: see repoglot account list, and write PROVIDER:#SUBJECT", len(found), named)
		}
		return db.Access().ChangeAccount(ctx, found[0].ID, event, commandLine)
	})
}
