package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
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

// maxSignIns is the number of sign-ins on their way, of all people; the oldest end first.
const maxSignIns = 10_000

// BeginSignIn stores a sign-in, which ends after some time.
func (w *Writer) BeginSignIn(ctx context.Context, f *catalog.SignIn, lifetime time.Duration) error {
	return w.db.Fail(ctx, "begin to sign in", w.write(ctx, func(s *sqldb.Session) error {
		now, err := s.Now(ctx)
		return cmp.Or(err, s.Do(ctx, `DELETE FROM sign_ins WHERE expires_at <= $1`, now),
			s.Do(ctx, `DELETE FROM sign_ins WHERE hash IN (SELECT hash FROM sign_ins ORDER BY expires_at DESC, hash LIMIT 1000 OFFSET $1)`, maxSignIns-1),
			s.Do(ctx, `INSERT INTO sign_ins (hash, browser, provider, verifier, nonce, next, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				tokenHash(f.State), tokenHash(f.Browser), f.Provider, f.Verifier, f.Nonce, f.Next, now+lifetime.Microseconds()))
	}))
}

// TakeSignIn finds the sign-in of a state that a browser began, and ends it: it is found once.
func (w *Writer) TakeSignIn(ctx context.Context, state, browser string) (f catalog.SignIn, found bool, err error) {
	err = w.write(ctx, func(s *sqldb.Session) error {
		f = catalog.SignIn{State: state, Browser: browser}
		var expires int64
		now, err := s.Now(ctx)
		if err == nil {
			found, err = s.First(ctx, `DELETE FROM sign_ins WHERE hash = $1 AND browser = $2 RETURNING provider, verifier, nonce, next, expires_at`,
				[]any{tokenHash(state), tokenHash(browser)}, &f.Provider, &f.Verifier, &f.Nonce, &f.Next, &expires)
		}
		found = found && expires > now
		return err
	})
	return f, found, w.db.Fail(ctx, "sign in", err)
}

// Known reports whether somebody signed in with an account of a provider before.
func (r *Reader) Known(ctx context.Context, provider, subject string) (bool, error) {
	var id int64
	found, err := r.s.First(ctx, `SELECT id FROM accounts WHERE provider = $1 AND subject = $2`, []any{provider, subject}, &id)
	return found, r.s.Fail(ctx, "look for an account", err)
}

// sessionsOf are the sessions of an account, also by its personal tokens, or of a token.
func sessionsOf(t *catalog.Token) (where string, id int64) {
	if t.Account != nil {
		return `(account_id = $1 OR token_id IN (SELECT id FROM tokens WHERE account_id = $1))`, t.Account.ID
	}
	return `token_id = $1`, t.ID
}

// Sessions lists the open sessions of a token's owner, the newest first.
func (r *Reader) Sessions(ctx context.Context, t *catalog.Token) ([]catalog.Session, error) {
	where, id := sessionsOf(t)
	var list []catalog.Session
	now, err := r.s.Now(ctx)
	err = cmp.Or(err, r.s.Query(ctx, `SELECT hash, created_at, expires_at FROM sessions WHERE `+where+` AND expires_at > $2 ORDER BY created_at DESC, hash`, []any{id, now}, sqldb.Cols3(func(hash []byte, created, expires time.Time) {
		list = append(list, catalog.Session{ID: hex.EncodeToString(hash), Created: created, Expires: expires})
	})))
	return list, r.s.Fail(ctx, "read the sessions", err)
}

// SessionID names the session of a secret in Sessions.
func (*Reader) SessionID(secret string) string { return hex.EncodeToString(tokenHash(secret)) }

// EndSessions ends a session of a token's owner, all with "".
func (w *Writer) EndSessions(ctx context.Context, t *catalog.Token, session string) error {
	where, id := sessionsOf(t)
	hash, err := hex.DecodeString(session)
	if err != nil {
		return sqldb.NotFound("store: end a session")
	}
	return w.db.Fail(ctx, "end sessions", w.write(ctx, func(s *sqldb.Session) error {
		if session == "" {
			return s.Do(ctx, `DELETE FROM sessions WHERE `+where, id)
		}
		return s.Do(ctx, `DELETE FROM sessions WHERE `+where+` AND hash = $2`, id, hash)
	}))
}

// RevokePersonal revokes a personal token of an account. One that is not its is
// catalog.ErrNotFound.
func (w *Writer) RevokePersonal(ctx context.Context, account, token int64) error {
	return w.revoke(ctx, w.now(), fmt.Sprintf("token %d of account %d", token, account), ofAccount+` AND id = $2`, account, token)
}

// ofAccount are the tokens of an account.
const ofAccount = `account_id = $1 AND account_id <> 0`

// Personal lists the personal tokens of an account by id, those that ended too.
func (r *Reader) Personal(ctx context.Context, account int64) ([]catalog.Token, error) {
	list, err := tokensWhere(ctx, r.s, ofAccount, account)
	return list, r.s.Fail(ctx, "read the tokens of an account", err)
}

func (w *Writer) report(ctx context.Context, what string, fn func(s *sqldb.Session) error) error {
	return sqldb.UnwrapReported(w.db.Fail(ctx, what, w.write(ctx, fn)))
}

// ChangeAccount does with an account what event says: "blocked" ends its sessions and revokes
// its tokens, "unblocked" lets it sign in again, "deleted" removes it, and only the names that
// are bound to it stay. who does it. An unknown account is catalog.ErrNotFound.
func (w *Writer) ChangeAccount(ctx context.Context, id int64, event, who string) error {
	return w.report(ctx, "change an account", func(s *sqldb.Session) error {
		list, err := accountsWhere(ctx, s, `a.id = $1`, id)
		if err == nil && len(list) == 0 {
			err = sqldb.Reported(sqldb.NotFound("store: account %d", id))
		}
		if err != nil {
			return err
		}
		if event != "unblocked" {
			_, err = revokeIn(ctx, s, w.now(), ofAccount, id)
			err = cmp.Or(err, s.Do(ctx, `DELETE FROM sessions WHERE account_id = $1`, id))
		}
		name := list[0].Provider + ":" + list[0].Name
		if event == "deleted" { // nobody's name is kept
			name, err = "", cmp.Or(err, s.Do(ctx, `DELETE FROM accounts WHERE id = $1`, id), s.Do(ctx, `DELETE FROM follows WHERE account_id = $1`, id), s.Do(ctx, `UPDATE account_events SET name = '' WHERE account = $1`, id))
		} else {
			err = cmp.Or(err, s.Do(ctx, `UPDATE accounts SET blocked = $1 WHERE id = $2`, sqldb.Smallint(event != "unblocked"), id))
		}
		return cmp.Or(err, noteAccount(ctx, s, w.now(), event, id, name, who))
	})
}

// WantMail stores the address to which an account wants digests, until lifetime is over or the
// account confirms it with secret. An empty one takes back the address of its commits.
func (w *Writer) WantMail(ctx context.Context, account int64, address string, lifetime time.Duration) (secret string, err error) {
	secret = rand.Text()
	return secret, w.db.Fail(ctx, "store an address", w.write(ctx, func(s *sqldb.Session) error {
		now, err := s.Now(ctx)
		return cmp.Or(err, s.Do(ctx, `UPDATE accounts SET mail = CASE WHEN CAST($1 AS TEXT) = '' THEN '' ELSE mail END, mail_wanted = $1, mail_secret = $2, mail_until = $3 WHERE id = $4`,
			address, tokenHash(secret), now+lifetime.Microseconds(), account))
	}))
}

// ConfirmMail confirms the address that an account wants with its secret, which counts once. ok is
// false if it is another's, or has ended.
func (w *Writer) ConfirmMail(ctx context.Context, account int64, secret string) (ok bool, err error) {
	err = w.write(ctx, func(s *sqldb.Session) error {
		now, err := s.Now(ctx)
		if err == nil {
			ok, err = s.First(ctx, `UPDATE accounts SET mail = mail_wanted, mail_wanted = '', mail_until = 0 WHERE id = $1 AND mail_secret = $2 AND mail_until > $3 RETURNING id`, []any{account, tokenHash(secret), now}, &account)
		}
		return err
	})
	return ok, w.db.Fail(ctx, "confirm an address", err)
}

// Rebind binds a name to the account that has it now and signed in last, instead of to the one
// that had it first. Without such an account the error is catalog.ErrNotFound.
func (w *Writer) Rebind(ctx context.Context, provider, name, who string) (to catalog.Account, err error) {
	name = catalog.AccountName(name)
	return to, w.report(ctx, "bind the name of an account", func(s *sqldb.Session) error {
		list, err := accountsWhere(ctx, s, `a.provider = $1`, provider)
		list = slices.DeleteFunc(list, func(a catalog.Account) bool { return catalog.AccountName(a.Name) != name || !a.Taken() })
		if err == nil && len(list) == 0 {
			err = sqldb.Reported(sqldb.NotFound("store: no account has the name %s:%s without its being bound to it", provider, name))
		}
		if err != nil {
			return err
		}
		to = slices.MaxFunc(list, func(a, b catalog.Account) int { return a.Seen.Compare(b.Seen) })
		return cmp.Or(s.Do(ctx, `UPDATE account_names SET subject = $1 WHERE provider = $2 AND name = $3`, to.Subject, provider, name), noteAccount(ctx, s, w.now(), "rebound", to.ID, provider+":"+name, who))
	})
}

func noteAccount(ctx context.Context, s *sqldb.Session, at time.Time, event string, account int64, name, who string) error {
	return s.Do(ctx, `INSERT INTO account_events (id, at, event, account, name, who) SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, $5 FROM account_events`,
		at.UnixMicro(), event, account, name, who)
}

// AccountEvents lists what was done with accounts, the newest of a number first.
func (r *Reader) AccountEvents(ctx context.Context, most int) ([]catalog.AccountEvent, error) {
	list, err := sqldb.Rows(ctx, r.s, `SELECT at, event, account, name, who FROM account_events ORDER BY id DESC LIMIT $1`, []any{most}, func(e *catalog.AccountEvent) []any {
		return []any{&e.At, &e.Event, &e.Account, &e.Name, &e.Who}
	})
	return list, r.s.Fail(ctx, "read the history of accounts", err)
}

// maxPersonal bounds the personal tokens of an account.
const maxPersonal = 20

// CreatePersonal is CreateToken for an account: its name is after the account's.
func (w *Writer) CreatePersonal(ctx context.Context, a *catalog.Account, t catalog.Token) (secret string, err error) {
	if t.Name = strings.TrimSpace(t.Name); t.Name == "" {
		return "", sqldb.Invalid("store: create a personal token: it has no name")
	}
	t.Account, t.Name, t.Created = a, fmt.Sprintf("account %d: %s", a.ID, t.Name), w.now()
	return w.CreateToken(ctx, t)
}
