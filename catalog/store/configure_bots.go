package store

import (
	"context"
	"strings"
)

// bots are the authors that are programs: names and authorKeys.
type bots struct {
	names map[string]bool // in lower case
	keys  map[string]bool // as in users.email_hash
}

// has reports whether an author is a bot; a nil list is empty.
func (b *bots) has(key, name string) bool {
	return b != nil && (b.keys[key] || b.names[strings.ToLower(name)])
}

// SetBots sets which authors are programs: names or e-mail addresses, in any case.
// It updates the stored authors; authors stored later are compared with the list.
func (db *DB) SetBots(ctx context.Context, authors []string) error {
	b := &bots{names: map[string]bool{}, keys: map[string]bool{}}
	for _, who := range authors {
		if who = strings.TrimSpace(who); strings.Contains(who, "@") {
			b.keys[authorKey("", who)] = true
		} else if who != "" {
			b.names[strings.ToLower(who)] = true
		}
	}
	err := db.write(ctx, func(s *session) error {
		db.bots.Store(b) // no step is running now
		marked := map[int64][]int64{}
		err := s.query(ctx, `SELECT id, email_hash, full_name, bot FROM users`, nil, func(scan scan) error {
			var id, bot int64
			var key, name string
			err := scan(&id, &key, &name, &bot)
			if now := smallint(b.has(key, name)); now != bot {
				marked[now] = append(marked[now], id)
			}
			return err
		})
		if err == nil && len(marked) > 0 {
			_, err = nextGeneration(ctx, s)
		}
		for bot, ids := range marked {
			if err != nil {
				return err
			}
			err = chunks(ids, func(chunk []any) error {
				_, err := s.exec(ctx, `UPDATE users SET bot = $1 WHERE id IN `+list(2, len(chunk)), append([]any{bot}, chunk...)...)
				return err
			})
		}
		return err
	})
	return db.fail(ctx, "mark programs among the authors", err)
}
