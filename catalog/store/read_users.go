package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// UserQuery selects authors.
type UserQuery struct {
	// Prefix selects authors whose username begins with it.
	Prefix string
	// Contains selects authors with this text in username or full name, in any
	// case.
	Contains string
	// Components selects authors with an entry in one of these components,
	// restricted like RestrictUser; nil selects all. It is for servers with hidden
	// components.
	Components []int64
	// Offset and Limit select a page, by id.
	Offset, Limit int
}

// Users returns a page of authors by id, and their number without Offset and
// Limit. With Contains or Components its cost grows with the number of authors.
func (s *Snapshot) Users(ctx context.Context, q UserQuery) (page []User, count int, err error) {
	if q.Contains == "" && q.Components == nil {
		page, count, err = s.usersFrom(ctx, &q)
	} else {
		page, count, err = s.usersAmong(ctx, &q)
	}
	return page, count, s.s.Fail(ctx, "read authors", err)
}

// usersFrom reads a page; the index of usernames selects by prefix.
func (s *Snapshot) usersFrom(ctx context.Context, q *UserQuery) (page []User, count int, err error) {
	const where = ` WHERE username >= $1 AND username < $2`
	end := q.Prefix + string(utf8.MaxRune) // usernames do not have this character
	if _, err := s.s.First(ctx, `SELECT COUNT(*) FROM users`+where, []any{q.Prefix, end}, &count); err != nil || q.Limit <= 0 {
		return nil, count, err
	}
	err = s.s.Query(ctx, userQuery+where+` ORDER BY id LIMIT $3 OFFSET $4`, []any{q.Prefix, end, q.Limit, q.Offset}, func(scan sqldb.Scan) error {
		u, err := scanUser(scan)
		page = append(page, u)
		return err
	})
	return page, count, err
}

// usersAmong reads all authors and selects.
func (s *Snapshot) usersAmong(ctx context.Context, q *UserQuery) (page []User, count int, err error) {
	shown, err := s.authorsOf(ctx, q.Components)
	if err != nil {
		return nil, 0, err
	}
	needle := strings.ToLower(q.Contains)
	err = s.s.Query(ctx, userQuery+` ORDER BY id`, nil, func(scan sqldb.Scan) error {
		u, err := scanUser(scan)
		if err != nil || !strings.HasPrefix(u.Username, q.Prefix) || shown != nil && !shown[u.ID] ||
			!strings.Contains(strings.ToLower(u.Username), needle) && !strings.Contains(strings.ToLower(u.FullName), needle) {
			return err
		}
		if count >= q.Offset && len(page) < q.Limit {
			page = append(page, u)
		}
		count++
		return nil
	})
	for i := range page {
		if err == nil && shown != nil {
			_, err = s.known(ctx, &page[i], q.Components)
		}
	}
	return page, count, err
}

// RestrictUser reports whether an author has an entry in one of the components;
// nil means all. If the author has entries elsewhere, too, u.Joined becomes the
// time of the commit of the first entry in these components, so that it reveals
// nothing of others. Its cost grows with the author's deltas.
func (s *Snapshot) RestrictUser(ctx context.Context, u *User, components []int64) (bool, error) {
	known, err := s.known(ctx, u, components)
	return known, s.s.Fail(ctx, fmt.Sprintf("look for entries of author %d", u.ID), err)
}

func (s *Snapshot) known(ctx context.Context, u *User, components []int64) (known bool, err error) {
	if components == nil {
		return true, nil
	}
	elsewhere := false
	var first sql.NullInt64
	// The inner query reads only the index of authors; then one row per component
	// is read.
	err = s.s.Query(ctx, `SELECT d.component_id, d.commit_time FROM deltas d
		JOIN (SELECT MIN(first_change) AS first FROM deltas WHERE author_id = $1 GROUP BY component_id) f ON d.first_change = f.first`, []any{u.ID}, func(scan sqldb.Scan) error {
		var component int64
		var at sql.NullInt64
		err := scan(&component, &at)
		if !slices.Contains(components, component) {
			elsewhere = true
			return err
		}
		known = true
		if at.Valid && (!first.Valid || at.Int64 < first.Int64) {
			first = at
		}
		return err
	})
	if elsewhere && known {
		u.Joined = sqldb.FromMicros(first)
	}
	return known, err
}

// WroteIn reports whether an author has an entry in one of the components; nil
// means all.
func (s *Snapshot) WroteIn(ctx context.Context, userID int64, components []int64) (bool, error) {
	if components == nil {
		return true, nil
	}
	wrote := false
	err := sqldb.Chunks(components, func(chunk []any) error {
		if wrote {
			return nil
		}
		var id int64
		n := len(chunk)
		found, err := s.s.First(ctx, `SELECT component_id FROM deltas WHERE component_id IN `+sqldb.List(1, n)+fmt.Sprintf(` AND author_id = $%d LIMIT 1`, n+1), append(chunk, userID), &id)
		wrote = found
		return err
	})
	return wrote, s.s.Fail(ctx, "look for entries of an author", err)
}

// authorsOf returns the ids of the authors of entries in components; nil for nil.
func (s *Snapshot) authorsOf(ctx context.Context, components []int64) (map[int64]bool, error) {
	if components == nil {
		return nil, nil
	}
	shown := map[int64]bool{}
	err := sqldb.Chunks(components, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT DISTINCT author_id FROM deltas d WHERE component_id IN `+sqldb.List(1, len(chunk))+` AND author_id IS NOT NULL`, chunk, func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			shown[id] = true
			return err
		})
	})
	return shown, err
}

// Contribution counts the entries of an author in a language.
type Contribution struct {
	// Language is the code in URLs.
	Language string
	// Added and Removed count entries 31 and 63, Updated those of updates: 59, and of
	// edits here. Suggested counts suggestions.
	Added, Updated, Removed, Suggested int64
}

// ContributedTranslations returns the ids of the live translations of components in
// which an author has entries, ascending. Its cost grows with the author's deltas.
func (s *Snapshot) ContributedTranslations(ctx context.Context, userID int64, components []int64) ([]int64, error) {
	defer s.s.About(components...).End()
	var ids []int64
	err := sqldb.Chunks(components, func(chunk []any) error {
		query := `SELECT DISTINCT d.translation_id FROM deltas d JOIN translations t ON t.id = d.translation_id
			WHERE d.component_id IN ` + sqldb.List(1, len(chunk)) + fmt.Sprintf(` AND d.author_id = $%d AND t.removed = 0`, len(chunk)+1)
		return s.s.Query(ctx, query, append(chunk, userID), func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	})
	slices.Sort(ids)
	return ids, s.s.Fail(ctx, fmt.Sprintf("list translations of author %d", userID), err)
}

// suggestedTexts is the number of suggestions of a delta d.
var suggestedTexts = fmt.Sprintf(`CASE WHEN d.n = d.added + d.updated + d.removed THEN 0 ELSE (SELECT COUNT(*) FROM changes c WHERE c.delta_id = d.id AND c.action = %d) END`, catalog.ActionSuggestion)

// Contributions counts the entries of an author in the live translations of
// components, except source-language translations, by language. It adds up the
// counts of deltas, and reads entries of edits only; its cost grows with the author's
// deltas.
func (s *Snapshot) Contributions(ctx context.Context, userID int64, components []int64) ([]Contribution, error) {
	total := map[string]*Contribution{}
	var order []string
	err := sqldb.Chunks(components, func(chunk []any) error {
		n := len(chunk)
		query := `SELECT t.language, SUM(d.added), SUM(` + updatedStrings + `), SUM(d.removed), SUM(` + suggestedTexts + `) FROM deltas d JOIN translations t ON t.id = d.translation_id
			WHERE d.component_id IN ` + sqldb.List(1, n) + fmt.Sprintf(` AND d.author_id = $%d AND t.removed = 0 AND t.is_source = 0 GROUP BY t.language ORDER BY t.language`, n+1)
		return s.s.Query(ctx, query, append(chunk, userID), func(scan sqldb.Scan) error {
			var c Contribution
			err := scan(&c.Language, &c.Added, &c.Updated, &c.Removed, &c.Suggested)
			if total[c.Language] == nil {
				total[c.Language] = &Contribution{Language: c.Language}
				order = append(order, c.Language)
			}
			sum := total[c.Language]
			sum.Added, sum.Updated, sum.Removed, sum.Suggested = sum.Added+c.Added, sum.Updated+c.Updated, sum.Removed+c.Removed, sum.Suggested+c.Suggested
			return err
		})
	})
	out := make([]Contribution, len(order))
	for i, code := range order {
		out[i] = *total[code]
	}
	return out, s.s.Fail(ctx, fmt.Sprintf("count entries of author %d", userID), err)
}

const userQuery = `SELECT id, username, full_name, joined, bot FROM users`

func scanUser(scan sqldb.Scan) (User, error) {
	var u User
	var joined sql.NullInt64
	err := scan(&u.ID, &u.Username, &u.FullName, &joined, &u.Bot)
	u.Joined = sqldb.FromMicros(joined)
	return u, err
}
