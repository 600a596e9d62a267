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

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
