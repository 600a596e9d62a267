package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Reader reads tokens and sessions in one transaction.
type Reader struct {
	s   *sqldb.Session
	now func() time.Time
}

// NewReader makes a reader of what a session sees. now is the clock by which tokens end.
func NewReader(s *sqldb.Session, now func() time.Time) *Reader { return &Reader{s, now} }

// Writer creates and ends tokens and sessions.
type Writer struct {
	db    *sqldb.DB
	pool  *sqldb.Pool
	write Write
	now   func() time.Time
}

// Write runs fn in a transaction beside which no other tokens or sessions are written.
type Write func(ctx context.Context, fn func(s *sqldb.Session) error) error

// NewWriter makes a writer. pool is where uses of tokens are stored, if it is free.
func NewWriter(db *sqldb.DB, pool *sqldb.Pool, write Write, now func() time.Time) *Writer {
	return &Writer{db, pool, write, now}
}

// tokenPrefix begins every secret, so that people and secret scanners recognise
// it.
const tokenPrefix = "rgt_"

// maxToken is the length in bytes up to which a secret is looked up.
const maxToken = 128

// maxTokenLists is the length in bytes of the projects and languages of one token: they
// are compared for each object that an answer shows, and told apart in the cache.
const maxTokenLists = 8 << 10

// CreateToken creates an access token with a name, a scope, a time of creation and
// perhaps an end, projects and languages, and returns its secret, which is shown once and not stored: 130 random
// bits, of which a SHA-256 is safe to store. A name that exists is catalog.ErrConflict; an
// empty name, a name longer than 100 bytes, an unknown scope, an end that is past, too
// many projects, or languages without scope write are catalog.ErrInvalid.
func (w *Writer) CreateToken(ctx context.Context, t catalog.Token) (secret string, err error) {
	switch {
	case t.Name == "" || len(t.Name) > 100 || strings.ContainsFunc(t.Name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", sqldb.Invalid("store: create the token: a name has 1 to 100 bytes and no control characters")
	case !t.Scope.Known():
		return "", sqldb.Invalid("store: create the token %s: the scope %q is not known", t.Name, t.Scope)
	case len(t.Projects)+len(t.Languages) > maxTokenLists:
		return "", sqldb.Invalid("store: create the token %s: its projects and languages take more than %d bytes", t.Name, maxTokenLists)
	case t.Languages != "" && t.Scope != catalog.ScopeWrite:
		return "", sqldb.Invalid("store: create the token %s: only a token of scope write is for some languages", t.Name)
	case !t.Expires.IsZero() && !t.Expires.After(t.Created):
		return "", sqldb.Invalid("store: create the token %s: it would end before it begins", t.Name)
	}
	secret = tokenPrefix + rand.Text()
	err = w.report(ctx, "create a token", func(s *sqldb.Session) error {
		var taken, id int64
		found, err := s.First(ctx, `SELECT id FROM tokens WHERE name = $1`, []any{t.Name}, &taken)
		if err != nil {
			return err
		}
		if found {
			return sqldb.Reported(sqldb.Conflict("store: create the token %s: there is one of this name", t.Name))
		}
		account := int64(0)
		if t.Account != nil {
			var n int
			account = t.Account.ID
			if _, err := s.First(ctx, `SELECT COUNT(*) FROM tokens WHERE account_id = $1`, []any{account}, &n); err != nil {
				return err
			}
			if n >= maxPersonal {
				return sqldb.Reported(sqldb.Conflict("store: create the token %s: the account has %d: revoke one", t.Name, n))
			}
		}
		if _, err := s.First(ctx, `UPDATE clock SET newest_token = newest_token + 1 WHERE one = 1 RETURNING newest_token`, nil, &id); err != nil {
			return err
		}
		return cmp.Or(s.Do(ctx, `INSERT INTO tokens (id, name, hash, scope, created_at, expires_at, projects, languages, author_name, author_email, account_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			id, t.Name, tokenHash(secret), string(t.Scope), t.Created.UnixMicro(), microsOrZero(t.Expires), string(t.Projects), string(t.Languages), t.AuthorName, t.AuthorEmail, account),
			noteToken(ctx, s, "created", t.Created, &t))
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func microsOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// RevokeToken deletes a token and its sessions; they are worthless at once. An unknown name is
// catalog.ErrNotFound.
func (w *Writer) RevokeToken(ctx context.Context, name string, at time.Time) error {
	return w.revoke(ctx, at, "the token "+name, `name = $1`, name)
}

// revoke revokes the token that where finds.
func (w *Writer) revoke(ctx context.Context, at time.Time, what, where string, args ...any) error {
	return w.report(ctx, "revoke a token", func(s *sqldb.Session) error {
		n, err := revokeIn(ctx, s, at, where, args...)
		if err == nil && n == 0 {
			err = sqldb.Reported(sqldb.NotFound("store: revoke %s", what))
		}
		return err
	})
}

// revokeIn revokes the tokens that where finds, and returns how many.
func revokeIn(ctx context.Context, s *sqldb.Session, at time.Time, where string, args ...any) (int, error) {
	list, err := tokensWhere(ctx, s, where, args...)
	for i := range list {
		t := &list[i]
		err = cmp.Or(err, s.Do(ctx, `DELETE FROM tokens WHERE id = $1`, t.ID), s.Do(ctx, `DELETE FROM sessions WHERE token_id = $1`, t.ID), noteToken(ctx, s, "revoked", at, t))
	}
	return len(list), err
}

// noteToken writes what was done with a token into its history.
func noteToken(ctx context.Context, s *sqldb.Session, event string, at time.Time, t *catalog.Token) error {
	return s.Do(ctx, `INSERT INTO token_events (id, at, event, name, scope, expires_at, projects, languages) SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, $5, $6, $7 FROM token_events`,
		at.UnixMicro(), event, t.Name, string(t.Scope), microsOrZero(t.Expires), string(t.Projects), string(t.Languages))
}

// TokenEvents lists what was done with tokens, the oldest first.
func (r *Reader) TokenEvents(ctx context.Context) ([]catalog.TokenEvent, error) {
	list, err := sqldb.Rows(ctx, r.s, `SELECT at, event, name, scope, NULLIF(expires_at, 0), projects, languages FROM token_events ORDER BY id`, nil, func(e *catalog.TokenEvent) []any {
		return []any{&e.At, &e.Event, &e.Token.Name, &e.Token.Scope, &e.Token.Expires, &e.Token.Projects, &e.Token.Languages}
	})
	return list, r.s.Fail(ctx, "read the history of tokens", err)
}

const dayMicros = 24 * 3600 * 1_000_000

// UseToken stores that a token is used now, to the day. While another write goes on it
// does nothing: the next use tries again.
func (w *Writer) UseToken(ctx context.Context, t catalog.Token) error {
	today := w.now().UnixMicro() / dayMicros
	if !t.Used.IsZero() && t.Used.UnixMicro()/dayMicros >= today {
		return nil
	}
	err := w.pool.TryTransact(ctx, func(s *sqldb.Session) error {
		return s.Do(ctx, `UPDATE tokens SET used_day = $1 WHERE id = $2 AND used_day < $1`, today, t.ID)
	})
	return w.db.Fail(ctx, "store the use of a token", err)
}

// tokensWhere lists tokens by id; accounts have only their ids.
func tokensWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) (list []catalog.Token, err error) {
	err = s.Query(ctx, `SELECT id, name, scope, created_at, NULLIF(expires_at, 0), NULLIF(used_day, 0) * CAST(86400000000 AS BIGINT), projects, languages, author_name, author_email, account_id
		FROM tokens WHERE `+where+` ORDER BY id`, args, func(scan sqldb.Scan) error {
		var t catalog.Token
		var account int64
		err := scan(&t.ID, &t.Name, &t.Scope, &t.Created, &t.Expires, &t.Used, &t.Projects, &t.Languages, &t.AuthorName, &t.AuthorEmail, &account)
		if account != 0 {
			t.Account = &catalog.Account{ID: account}
		}
		list = append(list, t)
		return err
	})
	return list, err
}

// Tokens lists the access tokens by id, those that ended too.
func (r *Reader) Tokens(ctx context.Context) ([]catalog.Token, error) {
	list, err := tokensWhere(ctx, r.s, `1 = 1`)
	return list, r.s.Fail(ctx, "read the tokens", err)
}

// Token finds the token of a secret, if it has not ended. If found is false, any says
// whether a token was ever created: from then on wrong secrets are refused.
func (r *Reader) Token(ctx context.Context, secret string) (t catalog.Token, found, any bool, err error) {
	if len(secret) <= maxToken {
		t, found, err = r.tokenWhere(ctx, `hash = $1`, tokenHash(secret))
	}
	if found || err != nil {
		return t, found, true, err
	}
	var newest int64
	_, err = r.s.First(ctx, `SELECT newest_token FROM clock WHERE one = 1`, nil, &newest)
	return catalog.Token{}, false, newest > 0, r.s.Fail(ctx, "look for tokens", err)
}

// TokenByID finds a token, if it exists and has not ended.
func (r *Reader) TokenByID(ctx context.Context, id int64) (t catalog.Token, found bool, err error) {
	return r.tokenWhere(ctx, `id = $1`, id)
}

// tokenWhere finds a token that has not ended.
func (r *Reader) tokenWhere(ctx context.Context, where string, key any) (t catalog.Token, found bool, err error) {
	list, err := tokensWhere(ctx, r.s, where, key)
	for _, t = range list {
		found = err == nil && (t.Expires.IsZero() || t.Expires.After(r.now()))
	}
	if found && t.Account != nil {
		found, err = r.accountOf(ctx, &t, t.Account.ID)
	}
	return t, found, r.s.Fail(ctx, "read a token", err)
}

func tokenHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// maxSessions is the number of sessions that one token has; the oldest end first.
const maxSessions = 100

// CreateSession begins a session of a browser, which shows what a token shows for some
// time, and returns its secret: 130 random bits, of which only a SHA-256 is stored.
// Sessions that have expired are deleted. A token that does not exist is
// catalog.ErrNotFound.
func (w *Writer) CreateSession(ctx context.Context, token int64, lifetime time.Duration) (secret string, err error) {
	err = w.report(ctx, "begin a session", func(s *sqldb.Session) error {
		list, err := tokensWhere(ctx, s, `id = $1`, token)
		if err == nil && len(list) == 0 {
			err = sqldb.Reported(sqldb.NotFound("store: token %d", token))
		}
		if err == nil {
			secret, err = beginSession(ctx, s, token, 0, lifetime)
		}
		return err
	})
	return secret, err
}

// EndSession ends a session at once. It is no error if there is none.
func (w *Writer) EndSession(ctx context.Context, secret string) error {
	return w.db.Fail(ctx, "end a session", w.write(ctx, func(s *sqldb.Session) error {
		return s.Do(ctx, `DELETE FROM sessions WHERE hash = $1`, tokenHash(secret))
	}))
}

// SessionToken finds the token of a session, or what stands for one in the session of an
// account. found is false if the session or the token has ended.
func (r *Reader) SessionToken(ctx context.Context, secret string) (t catalog.Token, found bool, err error) {
	if secret == "" || len(secret) > maxToken {
		return t, false, nil
	}
	var id, account, expires int64
	now, err := r.s.Now(ctx)
	if err == nil {
		found, err = r.s.First(ctx, `SELECT token_id, account_id, expires_at FROM sessions WHERE hash = $1`, []any{tokenHash(secret)}, &id, &account, &expires)
	}
	if err != nil || !found || expires <= now {
		return t, false, r.s.Fail(ctx, "read a session", err)
	}
	if account != 0 {
		return r.sessionOf(ctx, account)
	}
	return r.tokenWhere(ctx, `id = $1`, id)
}
