package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Receiver is how far somebody is told of changes, and who tells.
type Receiver struct {
	// Name names the receiver.
	Name string
	// Told is the last change that it was told, or does not want; Upto the last one of a
	// delivery that was begun and may have arrived, 0 without one.
	Told, Upto int64
	// Skipped counts the entries that were too old since the last delivery.
	Skipped int64
	// Failures counts the deliveries in a row that failed, since Since; the next one is not
	// before Due.
	Failures   int64
	Since, Due time.Time
	// Holder is the process that delivers, until Expires; "" if none does.
	Holder  string
	Expires time.Time
	// History names the list of changes whose ids these are.
	History string
}

func (r *Receiver) fields() []any {
	return []any{&r.Name, &r.Told, &r.Upto, &r.Skipped, &r.Failures, &r.Since, &r.Due, &r.Holder, &r.Expires, &r.History}
}

// Receivers lists the receivers, by name.
func (db *DB) Receivers(ctx context.Context) ([]Receiver, error) {
	return ask(ctx, db, "read receivers", func(s *sqldb.Session) ([]Receiver, error) {
		return sqldb.Rows(ctx, s, `SELECT name, told, upto, skipped, failures, since, due, holder, expires, (SELECT history FROM clock) FROM receivers ORDER BY name`, nil, (*Receiver).fields)
	})
}

// SetReceivers makes receivers of names, from the newest change on, and forgets all others.
// Those that are there stay as they are.
func (db *DB) SetReceivers(ctx context.Context, names []string) error {
	list, err := db.Receivers(ctx)
	known := catalog.Each(list, func(r *Receiver) string { return r.Name })
	if slices.Sort(names); err != nil || slices.Equal(known, names) {
		return err
	}
	return db.fail(ctx, "store receivers", db.writeTokens(ctx, func(s *sqldb.Session) error {
		gone := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return slices.Contains(names, name) })
		return cmp.Or(catalog.Try(names, func(name *string) error {
			return s.Do(ctx, `INSERT INTO receivers (name, told) SELECT CAST($1 AS TEXT), last_change FROM clock WHERE one = 1 ON CONFLICT (name) DO NOTHING`, *name)
		}), catalog.Try(gone, func(name *string) error { return s.Do(ctx, `DELETE FROM receivers WHERE name = $1`, *name) }))
	}))
}

// SwapReceiver stores now in place of was, unless somebody else did so before: swapped is
// false then. It waits for no step.
func (db *DB) SwapReceiver(ctx context.Context, was, now Receiver) (swapped bool, err error) {
	return db.swap(ctx, "store how far a receiver is told", `UPDATE receivers SET told = $1, upto = $2, skipped = $3, failures = $4, since = $5, due = $6, holder = $7, expires = $8
		WHERE name = $9 AND told = $10 AND upto = $11 AND skipped = $12 AND failures = $13 AND holder = $14`,
		now.Told, now.Upto, now.Skipped, now.Failures, sqldb.Micros(now.Since), sqldb.Micros(now.Due), now.Holder, sqldb.Micros(now.Expires),
		was.Name, was.Told, was.Upto, was.Skipped, was.Failures, was.Holder)
}

func (db *DB) swap(ctx context.Context, what, query string, args ...any) (swapped bool, err error) {
	err = db.writeTokens(ctx, func(s *sqldb.Session) error {
		n, err := s.Exec(ctx, query, args...)
		swapped = n == 1
		return err
	})
	return swapped && err == nil, db.fail(ctx, what, err)
}

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
