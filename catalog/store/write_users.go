package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// User is a git author (docs/compatibility.md#users). The e-mail address is not
// stored, only its hash.
type User struct {
	// ID is assigned once and never reused.
	ID int64
	// Username is the name in URLs, unique.
	Username string
	// FullName is the author's name as first seen, without an e-mail address.
	FullName string
	// Joined is the time of the author's first commit; zero if unknown.
	Joined time.Time
	// Bot marks a program.
	Bot bool
}

// User returns what names a git author in Delta.AuthorID: the id, or for a new author a
// negative number that only this step knows. Authors are identified by their e-mail
// address in lower case, without one by their name. A new author gets catalog.Username
// of the name, with a suffix -2, -3, … if that is taken. at is the time of the commit:
// the earliest becomes User.Joined. Authors are stored at the end of the step, in the
// order in which it met them.
func (tx *StepTx) User(ctx context.Context, name, email string, at time.Time) (int64, error) {
	key := authorKey(name, email)
	n, met := tx.authorOf[key]
	if !met {
		a := stepAuthor{key: key, name: name}
		if _, err := tx.s.First(ctx, `SELECT id, joined FROM users WHERE email_hash = $1`, []any{key}, &a.id, &a.joined); err != nil {
			return 0, tx.fail(ctx, "look for an author", err)
		}
		n = len(tx.authors)
		tx.authors, tx.authorOf[key] = append(tx.authors, a), n
	}
	a := &tx.authors[n]
	if !at.IsZero() && (a.joined.IsZero() || at.Before(a.joined)) {
		a.joined, a.earlier = at, true
	}
	if a.id != 0 {
		return a.id, nil
	}
	return -1 - int64(n), nil
}

// stepAuthor is an author that the step has met.
type stepAuthor struct {
	key, name string
	id        int64     // 0 for a new one
	joined    time.Time // the earliest commit
	earlier   bool      // than the one that is stored
}

// storeAuthors stores new authors, and earlier commits of others. It is called under the
// lock on the clock: the steps of several processes, which meet authors in any order,
// would wait for each other otherwise.
func (tx *StepTx) storeAuthors(ctx context.Context) error {
	for i := range tx.authors {
		a := &tx.authors[i]
		if a.id != 0 && !a.earlier {
			continue
		}
		var err error
		if a.id, err = tx.user(ctx, a.key, a.name, a.joined); err != nil {
			return tx.fail(ctx, "store an author", err)
		}
	}
	for i := range tx.deltas {
		if d := &tx.deltas[i]; d.author < 0 {
			d.author = tx.authors[-1-d.author].id
		}
	}
	return nil
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

// user looks again where something else than a step stored the author, or the name, at
// the same time.
func (tx *StepTx) user(ctx context.Context, key, name string, at time.Time) (int64, error) {
	for {
		var id int64
		var joined sql.NullInt64
		found, err := tx.s.First(ctx, `SELECT id, joined FROM users WHERE email_hash = $1`, []any{key}, &id, &joined)
		if err != nil {
			return 0, err
		}
		if found {
			if stamp, ok := sqldb.Micros(at).(int64); ok && (!joined.Valid || stamp < joined.Int64) {
				err = tx.s.Do(ctx, `UPDATE users SET joined = $1 WHERE id = $2 AND (joined IS NULL OR joined > $1)`, stamp, id)
			}
			return id, err
		}
		if added, err := tx.addUser(ctx, key, name, at, &id); err != nil || added {
			return id, err
		}
	}
}

func (tx *StepTx) addUser(ctx context.Context, key, name string, at time.Time, id *int64) (added bool, err error) {
	shown := catalog.PersonName(name)
	username, err := tx.freeName(ctx, catalog.Username(shown))
	if err != nil {
		return false, err
	}
	if err := tx.s.WillTakeIDs(ctx); err != nil {
		return false, err
	}
	return tx.s.First(ctx, `INSERT INTO users (email_hash, username, full_name, joined, bot)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id`,
		[]any{key, username, shown, sqldb.Micros(at), sqldb.Smallint(tx.db.bots.Load().has(key, name))}, id)
}

// freeName returns base with the suffix from firstFree.
func (tx *StepTx) freeName(ctx context.Context, base string) (string, error) {
	name := func(n int) string {
		if n == 1 {
			return base
		}
		return fmt.Sprintf("%s-%d", base, n)
	}
	n, err := firstFree(func(n int) (bool, error) {
		var one int
		return tx.s.First(ctx, `SELECT 1 FROM users WHERE username = $1`, []any{name(n)}, &one)
	})
	return name(n), err
}

// firstFree returns the smallest n, from 1, that is not taken; if there are gaps,
// the end of some run. It doubles n and bisects, so that a hundred thousand authors with
// one name do not take quadratic time.
func firstFree(taken func(n int) (bool, error)) (int, error) {
	var failed error
	free := func(n int) bool {
		is, err := taken(n)
		failed = cmp.Or(failed, err)
		return !is || failed != nil
	}
	hi := 1
	for !free(hi) {
		hi *= 2
	}
	return hi/2 + 1 + sort.Search(hi-hi/2-1, func(i int) bool { return free(hi/2 + 1 + i) }), failed
}

// User returns an author by username, or ErrNotFound.
func (s *Snapshot) User(ctx context.Context, username string) (u User, err error) {
	found, err := s.s.First(ctx, userQuery+` WHERE username = $1`, []any{username}, u.fields()...)
	if err == nil && !found {
		err = sqldb.NotFound("no such user")
	}
	return u, s.s.Fail(ctx, fmt.Sprintf("read user %q", username), err)
}
