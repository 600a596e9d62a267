package access

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// maxSessions is the number of sessions that one token has; the oldest end first.
const maxSessions = 100

// CreateSession begins a session of a browser, which shows what a token shows for some
// time, and returns its secret: 130 random bits, of which only a SHA-256 is stored.
// Sessions that have expired are deleted. A token that does not exist is
// catalog.ErrNotFound.
func (w *Writer) CreateSession(ctx context.Context, token int64, lifetime time.Duration) (secret string, err error) {
	secret = rand.Text()
	now := w.now()
	err = w.write(ctx, func(s *sqldb.Session) error {
		if _, found, err := tokenIn(ctx, s, `id = $1`, token); err != nil || !found {
			if err == nil {
				err = sqldb.Reported(sqldb.NotFound("store: token %d", token))
			}
			return err
		}
		if err := s.Do(ctx, `DELETE FROM sessions WHERE expires_at <= $1`, now.UnixMicro()); err != nil {
			return err
		}
		if err := s.Do(ctx, `INSERT INTO sessions (hash, token_id, created_at, expires_at) VALUES ($1, $2, $3, $4)`, tokenHash(secret), token, now.UnixMicro(), now.Add(lifetime).UnixMicro()); err != nil {
			return err
		}
		return s.Do(ctx, `DELETE FROM sessions WHERE token_id = $1 AND hash NOT IN (
			SELECT hash FROM sessions WHERE token_id = $2 ORDER BY created_at DESC, hash LIMIT $3)`, token, token, maxSessions)
	})
	if err != nil {
		return "", sqldb.UnwrapReported(w.db.Fail(ctx, "begin a session", err))
	}
	return secret, nil
}

// EndSession ends a session at once. It is no error if there is none.
func (w *Writer) EndSession(ctx context.Context, secret string) error {
	return w.db.Fail(ctx, "end a session", w.write(ctx, func(s *sqldb.Session) error {
		_, err := s.Exec(ctx, `DELETE FROM sessions WHERE hash = $1`, tokenHash(secret))
		return err
	}))
}

// SessionToken finds the token of a session. found is false if the session or the token
// has ended.
func (r *Reader) SessionToken(ctx context.Context, secret string) (t catalog.Token, found bool, err error) {
	if secret == "" || len(secret) > maxToken {
		return t, false, nil
	}
	var id, expires int64
	if found, err = r.s.First(ctx, `SELECT token_id, expires_at FROM sessions WHERE hash = $1`, []any{tokenHash(secret)}, &id, &expires); err != nil || !found || expires <= r.now().UnixMicro() {
		return t, false, r.s.Fail(ctx, "read a session", err)
	}
	return r.tokenWhere(ctx, `id = $1`, id)
}
