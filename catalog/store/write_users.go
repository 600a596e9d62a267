package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// User is a git author (docs/compatibility.md#users). The e-mail address is not
// stored, only its hash.
type User struct {
	// ID is assigned once and never reused.
	ID int64
	// Username is the name in URLs, unique.
	Username string
	// FullName is the author's name as first seen.
	FullName string
	// Joined is the time of the author's first commit; zero if unknown.
	Joined time.Time
	// Bot marks a program.
	Bot bool
}

// User returns the id of a git author. Authors are identified by their e-mail
// address in lower case, without one by their name. A new author gets
// catalog.Username of the name, with a suffix -2, -3, … if that is taken. at is
// the time of the commit: the earliest becomes User.Joined.
func (tx *StepTx) User(ctx context.Context, name, email string, at time.Time) (int64, error) {
	key := authorKey(name, email)
	known, ok := tx.users[key]
	if ok && !known.joined.IsZero() && !at.Before(known.joined) {
		return known.id, nil
	}
	id, err := tx.user(ctx, key, name, at)
	if err == nil {
		tx.users[key] = knownUser{id, at}
	}
	return id, tx.fail(ctx, "store an author", err)
}

// knownUser is an author that the step has stored.
type knownUser struct {
	id     int64
	joined time.Time // the earliest commit in this step
}

// authorKey identifies an author: 128 bits of a hash under our own prefix, so that
// it differs from the hashes that other services publish.
func authorKey(name, email string) string {
	text := "repoglot author\x00" + strings.ToLower(strings.TrimSpace(email))
	if strings.TrimSpace(email) == "" {
		text += "\x00" + name
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// user looks again where a process stored the author, or the name, at the same time:
// adding a row then waits for that process to commit.
func (tx *StepTx) user(ctx context.Context, key, name string, at time.Time) (int64, error) {
	for {
		var id int64
		var joined sql.NullInt64
		found, err := tx.s.first(ctx, `SELECT id, joined FROM users WHERE email_hash = $1`, []any{key}, &id, &joined)
		if err != nil {
			return 0, err
		}
		if found {
			if stamp, ok := micros(at).(int64); ok && (!joined.Valid || stamp < joined.Int64) {
				err = tx.s.do(ctx, `UPDATE users SET joined = $1 WHERE id = $2 AND (joined IS NULL OR joined > $1)`, stamp, id)
			}
			return id, err
		}
		if added, err := tx.addUser(ctx, key, name, at, &id); err != nil || added {
			return id, err
		}
	}
}

func (tx *StepTx) addUser(ctx context.Context, key, name string, at time.Time, id *int64) (added bool, err error) {
	username, err := tx.freeName(ctx, catalog.Username(name))
	if err != nil {
		return false, err
	}
	if err := tx.s.willTakeIDs(ctx); err != nil {
		return false, err
	}
	return tx.s.first(ctx, `INSERT INTO users (email_hash, username, full_name, joined, bot)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id`,
		[]any{key, username, name, micros(at), smallint(tx.db.bots.Load().has(key, name))}, id)
}

// freeName returns base with the suffix from firstFree.
func (tx *StepTx) freeName(ctx context.Context, base string) (string, error) {
	n, err := firstFree(func(n int) (bool, error) {
		var one int
		return tx.s.first(ctx, `SELECT 1 FROM users WHERE username = $1`, []any{suffixed(base, n)}, &one)
	})
	return suffixed(base, n), err
}

// firstFree returns the smallest n, from 1, that is not taken; if there are gaps,
// the end of some run. It increases its steps and bisects, so that a hundred
// thousand authors with one name do not take quadratic time.
func firstFree(taken func(n int) (bool, error)) (int, error) {
	lo, hi := 0, 1 // lo is taken or 0; at the end hi is free
	for {
		is, err := taken(hi)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		lo, hi = hi, hi+max(1, hi/8)
	}
	for lo+1 < hi {
		mid := (lo + hi) / 2
		is, err := taken(mid)
		if err != nil {
			return 0, err
		}
		if is {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, nil
}

func suffixed(base string, n int) string {
	if n <= 1 {
		return base
	}
	return fmt.Sprintf("%s-%d", base, n)
}

// User returns an author by username, or ErrNotFound.
func (s *Snapshot) User(ctx context.Context, username string) (User, error) {
	var u User
	found := false
	err := s.s.query(ctx, userQuery+` WHERE username = $1`, []any{username}, func(scan scan) (err error) {
		found = true
		u, err = scanUser(scan)
		return err
	})
	if err == nil && !found {
		err = notFound("no such user")
	}
	return u, s.db.fail(ctx, fmt.Sprintf("read user %q", username), err)
}
