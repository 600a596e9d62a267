package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// tokenPrefix begins every secret, so that people and secret scanners recognise
// it.
const tokenPrefix = "rgt_"

// maxToken is the length in bytes up to which a secret is looked up.
const maxToken = 128

// CreateToken creates an access token and returns its secret, which is shown once
// and not stored: 130 random bits, of which a SHA-256 is safe to store. A name
// that exists is catalog.ErrConflict; an empty name, a name longer than 100 bytes
// or an unknown scope are catalog.ErrInvalid.
func (db *DB) CreateToken(ctx context.Context, name string, scope catalog.Scope, at time.Time) (secret string, err error) {
	switch {
	case name == "" || len(name) > 100 || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", invalid("store: create the token: a name has 1 to 100 bytes and no control characters")
	case !scope.Known():
		return "", invalid("store: create the token %s: the scope %q is neither read nor admin", name, scope)
	}
	secret = tokenPrefix + rand.Text()
	err = db.write(ctx, func(s *session) error {
		var taken, id int64
		found, err := s.first(ctx, `SELECT id FROM tokens WHERE name = $1`, []any{name}, &taken)
		if err != nil {
			return err
		}
		if found {
			return reported{conflict("store: create the token %s: there is one of this name", name)}
		}
		if _, err := s.first(ctx, `UPDATE clock SET newest_token = newest_token + 1 WHERE one = 1 RETURNING newest_token`, nil, &id); err != nil {
			return err
		}
		_, err = s.exec(ctx, `INSERT INTO tokens (id, name, hash, scope, created_at) VALUES ($1, $2, $3, $4, $5)`,
			id, name, tokenHash(secret), string(scope), at.UnixMicro())
		return err
	})
	if err != nil {
		return "", unwrapReported(db.fail(ctx, "create a token", err))
	}
	return secret, nil
}

// RevokeToken deletes a token; it is worthless at once. An unknown name is
// catalog.ErrNotFound.
func (db *DB) RevokeToken(ctx context.Context, name string) error {
	err := db.write(ctx, func(s *session) error {
		n, err := s.exec(ctx, `DELETE FROM tokens WHERE name = $1`, name)
		if err == nil && n == 0 {
			err = reported{notFound("store: revoke the token %s", name)}
		}
		return err
	})
	return unwrapReported(db.fail(ctx, "revoke a token", err))
}

// Tokens lists the access tokens by id.
func (s *Snapshot) Tokens(ctx context.Context) ([]catalog.Token, error) {
	var list []catalog.Token
	err := s.s.query(ctx, `SELECT id, name, scope, created_at FROM tokens ORDER BY id`, nil, func(scan scan) error {
		var t catalog.Token
		var at int64
		err := scan(&t.ID, &t.Name, &t.Scope, &at)
		t.Created = time.UnixMicro(at).UTC()
		list = append(list, t)
		return err
	})
	return list, s.db.fail(ctx, "read the tokens", err)
}

// Token finds the token of a secret. If found is false, any says whether a token
// was ever created: from then on wrong secrets are refused.
func (s *Snapshot) Token(ctx context.Context, secret string) (t catalog.Token, found, any bool, err error) {
	if len(secret) <= maxToken {
		t, found, err = s.tokenWhere(ctx, `hash = $1`, tokenHash(secret))
	}
	if found || err != nil {
		return t, found, true, err
	}
	var newest int64
	_, err = s.s.first(ctx, `SELECT newest_token FROM clock WHERE one = 1`, nil, &newest)
	return t, false, newest > 0, s.db.fail(ctx, "look for tokens", err)
}

// TokenExists reports whether a token still exists.
func (s *Snapshot) TokenExists(ctx context.Context, id int64) (bool, error) {
	_, found, err := s.tokenWhere(ctx, `id = $1`, id)
	return found, err
}

func (s *Snapshot) tokenWhere(ctx context.Context, where string, key any) (t catalog.Token, found bool, err error) {
	var at int64
	found, err = s.s.first(ctx, `SELECT id, name, scope, created_at FROM tokens WHERE `+where, []any{key}, &t.ID, &t.Name, &t.Scope, &at)
	t.Created = time.UnixMicro(at).UTC()
	return t, found, s.db.fail(ctx, "read a token", err)
}

func tokenHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
