package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// tokenBusyTimeout bounds the wait for a server that is storing a long step.
const tokenBusyTimeout = time.Minute

func (p *program) tokenCommand() *cobra.Command {
	return p.group("token", "Make, list and revoke access tokens, also while a server is running", "token create NAME, token list, token revoke NAME or token log",
		p.tokenCreateCommand(), p.tokenListCommand(), p.tokenLogCommand(),
		p.withOne("revoke NAME", "Revoke a token at once", "one name", func(ctx context.Context, db *store.DB, name string) error {
			err := db.Access().RevokeToken(ctx, name, time.Now())
			if errors.Is(err, catalog.ErrNotFound) {
				return fmt.Errorf("there is no token %q: see repoglot token list", name)
			}
			return err
		}))
}

// group is a command of others, which use the database; try names some of them.
func (p *program) group(use, short, try string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: knownCommand, RunE: func(*cobra.Command, []string) error {
		return errors.New("no command was given: try repoglot " + try)
	}}
	p.dataFlags(cmd.PersistentFlags())
	cmd.AddCommand(commands...)
	return cmd
}

// withOne is a command that does something with the database and its one argument.
func (p *program) withOne(use, short, what string, fn func(ctx context.Context, db *store.DB, arg string) error) *cobra.Command {
	return action(use, short, arguments(1, what), func(ctx context.Context, args []string) error {
		return p.withTokens(ctx, func(ctx context.Context, db *store.DB) error { return fn(ctx, db, args[0]) })
	})
}

func (p *program) tokenCreateCommand() *cobra.Command {
	scope, expires := string(catalog.ScopeRead), ""
	var author, email string
	var projects, languages []string
	use := "create [--scope read|suggest|write|admin] [--author NAME] [--email ADDRESS] [--project SLUG]… [--language CODE]… [--expires 90d|DATE] NAME"
	cmd := action(use, "Make a token and print it; it is shown only once", arguments(1, "one name"), func(ctx context.Context, args []string) error {
		if !catalog.Scope(scope).Known() {
			return usageError{fmt.Errorf("--scope %s: write read, suggest, write or admin", scope)}
		}
		if len(languages) > 0 && catalog.Scope(scope) != catalog.ScopeWrite {
			return usageError{errors.New("--language is for tokens with --scope write")}
		}
		if strings.ContainsAny(author+email, "<>\n\r\x00") {
			return usageError{errors.New("--author and --email have no < and >, and are one line")}
		}
		for _, slug := range projects {
			if !config.Slug(slug) {
				return usageError{fmt.Errorf("--project %q: write the slug of one project", slug)}
			}
		}
		now := time.Now()
		ends, err := endOf(expires, now)
		if err != nil {
			return err
		}
		if email != "" && !catalog.ValidEmail(email) {
			return usageError{fmt.Errorf("--email %s: write an address like jana@example.org", email)}
		}
		t := catalog.Token{
			Name: args[0], Scope: catalog.Scope(scope), Created: now, Expires: ends, Projects: catalog.Names(projects...),
			Languages: catalog.Names(languages...), AuthorName: author, AuthorEmail: email,
		}
		return p.withTokens(ctx, func(ctx context.Context, db *store.DB) error { return p.createToken(ctx, db, t) })
	})
	cmd.Flags().StringArrayVar(&projects, "project", nil, "the `slug` of a project whose private parts the token shows; repeatable; without it, all projects")
	cmd.Flags().StringVar(&scope, "scope", scope, "what the token allows, `read`, suggest (texts that others accept), write (edits) or admin")
	cmd.Flags().StringArrayVar(&languages, "language", nil, "the `code` of a language that the token may edit; repeatable; without it, all languages")
	cmd.Flags().StringVar(&author, "author", "", "the `name` of the author of the token's edits; without it, the token's name")
	cmd.Flags().StringVar(&email, "email", "", "the author's `address`, for commits only")
	cmd.Flags().StringVar(&expires, "expires", "", "when the token ends, `90d` or a date like 2027-01-31; without it, never")
	return cmd
}

// createToken makes a token and prints its secret, and names projects that do not exist yet.
func (p *program) createToken(ctx context.Context, db *store.DB, t catalog.Token) error {
	err := db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		for _, slug := range t.Projects.All() {
			_, err := snap.Project(ctx, slug)
			if errors.Is(err, catalog.ErrNotFound) {
				fmt.Fprintf(p.stderr, "repoglot: there is no project %s yet\n", slug)
				err = nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	table, err := lang.New()
	if err != nil {
		return err
	}
	for _, code := range t.Languages.All() {
		if _, ok := table.ByCode(code); !ok {
			fmt.Fprintf(p.stderr, "repoglot: there is no language %s, unless a file is called so\n", code)
		}
	}
	secret, err := db.Access().CreateToken(ctx, t)
	switch {
	case errors.Is(err, catalog.ErrConflict):
		return fmt.Errorf("there is a token %q: choose another name, or revoke it first", t.Name)
	case errors.Is(err, catalog.ErrInvalid):
		return usageError{fmt.Errorf("the name %q cannot be taken: write 1 to 100 bytes without control characters, and up to 8 KiB of projects", t.Name)}
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(p.stdout, secret)
	return err
}

// endOf reads the end of a token: days from now, or a day of UTC, to its end; zero for "".
func endOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	var at time.Time
	if digits, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil {
			at = now.AddDate(0, 0, int(n))
		}
	} else if day, err := time.Parse(time.DateOnly, text); err == nil {
		at = day.AddDate(0, 0, 1)
	}
	if !at.After(now) {
		return at, usageError{fmt.Errorf("--expires %s: write a number of days like 90d, or a day to come like 2027-01-31", text)}
	}
	return at, nil
}

func (p *program) tokenListCommand() *cobra.Command {
	return p.tokenTable("list", "List the tokens, without their secrets", func(ctx context.Context, snap *store.Snapshot, w io.Writer) error {
		list, err := snap.Access().Tokens(ctx)
		now := time.Now()
		for _, t := range list {
			fmt.Fprintf(w, "%s\t%s\t%s%s\t%s\t%s\t%s%s\n", t.Created.Format(time.RFC3339), t.Scope, projectsOf(t),
				languagesOf(t), ending(t.Expires, now), used(t.Used), t.Name, authorOf(t))
		}
		return err
	})
}

func projectsOf(t catalog.Token) string {
	return cmp.Or(strings.Join(t.Projects.All(), ","), "all projects")
}

// languagesOf says which languages a token may edit, if not all.
func languagesOf(t catalog.Token) string {
	if t.Languages == "" {
		return ""
	}
	return " in " + strings.Join(t.Languages.All(), ",")
}

// authorOf is a column with the author of what a token edits, if it has one.
func authorOf(t catalog.Token) string {
	author := strings.TrimSpace(t.AuthorName)
	if t.AuthorEmail != "" {
		author = strings.TrimSpace(author + " <" + t.AuthorEmail + ">")
	}
	if author == "" {
		return ""
	}
	return "\tby " + author
}

func ending(at, now time.Time) string {
	switch {
	case at.IsZero():
		return "no end"
	case !at.After(now):
		return "ended " + at.Format(time.DateOnly)
	}
	return "ends " + at.Format(time.DateOnly)
}

func used(day time.Time) string {
	if day.IsZero() {
		return "never used"
	}
	return "used " + day.Format(time.DateOnly)
}

func (p *program) tokenLogCommand() *cobra.Command {
	return p.tokenTable("log", "List when tokens were made and revoked, the oldest first", func(ctx context.Context, snap *store.Snapshot, w io.Writer) error {
		list, err := snap.Access().TokenEvents(ctx)
		for _, e := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.At.Format(time.RFC3339), e.Event, e.Token.Scope,
				projectsOf(e.Token), ending(e.Token.Expires, e.At), e.Token.Name)
		}
		return err
	})
}

// withTokens opens the database for a function. A server may hold the lock of the data
// directory, which keeps two processes from pulling: a token is one short transaction, which
// SQLite lets a second process make. Only without a server it migrates the schema.
func (p *program) withTokens(ctx context.Context, fn func(context.Context, *store.DB) error) error {
	c, err := p.storedSettings()
	if err != nil {
		return err
	}
	o := store.Options{BusyTimeout: tokenBusyTimeout}
	open := func() error {
		return withDatabase(ctx, c, o, func(db *store.DB) error { return fn(ctx, db) })
	}
	if err = locked(c, open); errors.Is(err, store.ErrLocked) {
		o.Shared = true
		return open()
	}
	return err
}

// tokenTable is a command that writes what a function reads as a table.
func (p *program) tokenTable(use, short string, fn func(ctx context.Context, snap *store.Snapshot, w io.Writer) error) *cobra.Command {
	return action(use, short, arguments(0, "no argument"), func(ctx context.Context, _ []string) error {
		return p.withTokens(ctx, func(ctx context.Context, db *store.DB) error {
			return db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
				w := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
				if err := fn(ctx, snap, w); err != nil {
					return err
				}
				return w.Flush()
			})
		})
	})
}
