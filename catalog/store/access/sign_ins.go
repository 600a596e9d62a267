package access

import (
	"cmp"
	"context"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
