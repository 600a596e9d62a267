package store

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Follow is a language of which an account gets digests.
type Follow struct {
	// Account is the account's id; Project is a slug, or "" for all.
	Account           int64
	Language, Project string
	// Days are the days from one digest to the next; 0: none is sent.
	Days int64
	// Reader is the tag of the language of the digest, Secret what ends it.
	Reader, Secret string
	// Told is the newest change of the last digest; the next one is sent at Due.
	Told int64
	Due  time.Time
}

func (f *Follow) fields() []any {
	return []any{&f.Account, &f.Language, &f.Project, &f.Days, &f.Reader, &f.Secret, &f.Told, &f.Due}
}

func follows(ctx context.Context, s *sqldb.Session, where string, args ...any) ([]Follow, error) {
	return sqldb.Rows(ctx, s, `SELECT account_id, language, project, days, reader, secret, told, due FROM follows WHERE `+where+` ORDER BY due, account_id, language, project`, args, (*Follow).fields)
}

// Follows returns what an account follows.
func (s *Snapshot) Follows(ctx context.Context, account int64) ([]Follow, error) {
	list, err := follows(ctx, s.s, `account_id = $1`, account)
	return list, s.s.Fail(ctx, "read what an account follows", err)
}

// FollowsDue returns what digests are due of, those that wait the longest first.
func (s *Snapshot) FollowsDue(ctx context.Context, now time.Time) ([]Follow, error) {
	list, err := follows(ctx, s.s, `due <= $1 OR due > $1 + (days + 1) * CAST(86400000000 AS BIGINT)`, now.UnixMicro()) // or of a clock that was set back
	return list, s.s.Fail(ctx, "read the digests that are due", err)
}

// Follow stores that an account follows a language from the newest change on, or with zero Days
// that it does not.
func (db *DB) Follow(ctx context.Context, f *Follow) error {
	return db.fail(ctx, "follow a language", db.writeTokens(ctx, func(s *sqldb.Session) error {
		if err := s.Do(ctx, `DELETE FROM follows WHERE account_id = $1 AND language = $2 AND project = $3`, f.Account, f.Language, f.Project); err != nil || f.Days == 0 {
			return err
		}
		if _, err := s.First(ctx, `SELECT last_change FROM clock WHERE one = 1`, nil, &f.Told); err != nil {
			return err
		}
		f.Secret = rand.Text()
		return s.Do(ctx, `INSERT INTO follows (account_id, language, project, days, reader, secret, told, due) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			f.Account, f.Language, f.Project, f.Days, f.Reader, f.Secret, f.Told, f.Due.UnixMicro())
	}))
}

// Unfollow ends the digest of a secret.
func (db *DB) Unfollow(ctx context.Context, secret string) error {
	return db.fail(ctx, "end a digest", db.writeTokens(ctx, func(s *sqldb.Session) error {
		return s.Do(ctx, `DELETE FROM follows WHERE secret = $1`, secret)
	}))
}

// SwapFollow stores Told and Due of now in place of was; false if another process did so.
func (db *DB) SwapFollow(ctx context.Context, was, now *Follow) (swapped bool, err error) {
	return db.swap(ctx, "store a digest", `UPDATE follows SET told = $1, due = $2 WHERE secret = $3 AND told = $4 AND due = $5`, now.Told, now.Due.UnixMicro(), was.Secret, was.Told, was.Due.UnixMicro())
}
