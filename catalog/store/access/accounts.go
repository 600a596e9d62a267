package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"
	"unicode"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// accountsWhere lists accounts by id with the names that are bound to them, without roles.
func accountsWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) ([]catalog.Account, error) {
	var list []catalog.Account
	var names []string
	err := s.Query(ctx, `SELECT a.id, a.provider, a.subject, a.name, a.author_name, a.author_email, a.mail, a.mail_wanted, a.created_at, NULLIF(a.seen_day, 0) * CAST(86400000000 AS BIGINT), a.blocked, COALESCE(n.name, '') FROM accounts a
		LEFT JOIN account_names n ON n.provider = a.provider AND n.subject = a.subject WHERE `+where+` ORDER BY a.id, n.name`, args, func(scan sqldb.Scan) error {
		var a catalog.Account
		var name string
		err := scan(&a.ID, &a.Provider, &a.Subject, &a.Name, &a.AuthorName, &a.AuthorEmail, &a.Mail, &a.MailWanted, &a.Created, &a.Seen, &a.Blocked, &name)
		if len(list) == 0 || list[len(list)-1].ID != a.ID {
			list, names = append(list, a), nil
		}
		names = append(names, name)
		list[len(list)-1].Names = catalog.NameList(strings.TrimSpace(strings.Join(names, " ")))
		return err
	})
	return list, err
}

// Accounts lists the accounts by id, blocked ones too.
func (r *Reader) Accounts(ctx context.Context) ([]catalog.Account, error) {
	list, err := accountsWhere(ctx, r.s, `1 = 1`)
	return list, r.s.Fail(ctx, "read the accounts", err)
}

// Account finds an account by its id, without roles. It is nil if it is blocked or gone.
func (r *Reader) Account(ctx context.Context, id int64) (*catalog.Account, error) {
	list, err := accountsWhere(ctx, r.s, `a.id = $1 AND a.blocked = 0`, id)
	if err != nil || len(list) == 0 {
		return nil, r.s.Fail(ctx, "read an account", err)
	}
	return &list[0], nil
}

// accountOf gives a token its account. found is false if that is blocked or gone.
func (r *Reader) accountOf(ctx context.Context, t *catalog.Token, account int64) (found bool, err error) {
	a, err := r.Account(ctx, account)
	if a != nil {
		t.Account, t.AuthorName, t.AuthorEmail = a, a.AuthorName, a.AuthorEmail
	}
	return a != nil, err
}

// sessionOf is what stands for a token in the session of an account.
func (r *Reader) sessionOf(ctx context.Context, account int64) (t catalog.Token, found bool, err error) {
	found, err = r.accountOf(ctx, &t, account)
	if found {
		t.ID, t.Scope = -t.Account.ID, catalog.ScopeAdmin
		t.Name, t.Created = t.Account.Provider+":"+t.Account.Name, t.Account.Created
	}
	return t, found, err
}

// SignIn notes that somebody proved to be the account a of a provider, which may be new, and
// begins a session of a browser. It binds the name to the account if no other has it. The
// error is catalog.ErrConflict if the account is blocked; created says that it is new.
func (w *Writer) SignIn(ctx context.Context, a *catalog.Account, lifetime time.Duration) (secret string, created bool, err error) {
	now := w.now()
	today := now.UnixMicro() / dayMicros
	err = w.report(ctx, "sign in", func(s *sqldb.Session) error {
		list, err := accountsWhere(ctx, s, `a.provider = $1 AND a.subject = $2`, a.Provider, a.Subject)
		switch created = len(list) == 0; {
		case err != nil:
			return err
		case created:
			if _, err := s.First(ctx, `UPDATE clock SET newest_account = newest_account + 1 WHERE one = 1 RETURNING newest_account`, nil, &a.ID); err != nil {
				return err
			}
			err = s.Do(ctx, `INSERT INTO accounts (id, provider, subject, name, author_name, author_email, created_at, seen_day) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
				a.ID, a.Provider, a.Subject, a.Name, a.AuthorName, a.AuthorEmail, now.UnixMicro(), today)
		case list[0].Blocked:
			return sqldb.Reported(sqldb.Conflict("store: sign in %s:%s: the account is blocked", a.Provider, a.Name))
		default:
			a.ID = list[0].ID
			err = s.Do(ctx, `UPDATE accounts SET name = $1, author_name = $2, author_email = $3, seen_day = $4 WHERE id = $5`, a.Name, a.AuthorName, a.AuthorEmail, today, a.ID)
		}
		if err == nil && a.Name != "" && !strings.ContainsFunc(a.Name, unicode.IsSpace) {
			err = s.Do(ctx, `INSERT INTO account_names (provider, name, subject) VALUES ($1, $2, $3) ON CONFLICT (provider, name) DO NOTHING`, a.Provider, catalog.AccountName(a.Name), a.Subject)
		}
		if err != nil {
			return err
		}
		if list, err = accountsWhere(ctx, s, `a.id = $1`, a.ID); err == nil {
			*a = list[0]
			secret, err = beginSession(ctx, s, 0, a.ID, lifetime)
		}
		return err
	})
	return secret, created, err
}

// beginSession begins a session of a token, or of an account; the other is 0.
func beginSession(ctx context.Context, s *sqldb.Session, token, account int64, lifetime time.Duration) (secret string, err error) {
	secret = rand.Text()
	now, err := s.Now(ctx)
	return secret, cmp.Or(err, s.Do(ctx, `DELETE FROM sessions WHERE expires_at <= $1`, now),
		s.Do(ctx, `INSERT INTO sessions (hash, token_id, account_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`, tokenHash(secret), token, account, now, now+lifetime.Microseconds()),
		s.Do(ctx, `DELETE FROM sessions WHERE token_id = $1 AND account_id = $2 AND hash NOT IN (
			SELECT hash FROM sessions WHERE token_id = $1 AND account_id = $2 ORDER BY created_at DESC, hash LIMIT $3)`, token, account, maxSessions))
}
