package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
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
	page, err = sqldb.Rows(ctx, s.s, userQuery+where+` ORDER BY id LIMIT $3 OFFSET $4`, []any{q.Prefix, end, q.Limit, q.Offset}, (*User).fields)
	return page, count, err
}

// usersAmong reads all authors and selects.
func (s *Snapshot) usersAmong(ctx context.Context, q *UserQuery) (page []User, count int, err error) {
	var authors []int64 // of entries in the components
	if err := s.s.IDsIn(ctx, `SELECT DISTINCT author_id FROM deltas d WHERE component_id IN $ids AND author_id IS NOT NULL`, nil, q.Components, &authors); err != nil {
		return nil, 0, err
	}
	slices.Sort(authors)
	needle := strings.ToLower(q.Contains)
	err = s.s.Query(ctx, userQuery+` ORDER BY id`, nil, func(scan sqldb.Scan) error {
		var u User
		err := scan(u.fields()...)
		_, wrote := slices.BinarySearch(authors, u.ID)
		if err != nil || !strings.HasPrefix(u.Username, q.Prefix) || q.Components != nil && !wrote ||
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
		if err == nil {
			_, err = s.RestrictUser(ctx, &page[i], q.Components)
		}
	}
	return page, count, err
}

// RestrictUser reports whether an author has an entry in one of the components;
// nil means all. If the author has entries elsewhere, too, u.Joined becomes the
// time of the commit of the first entry in these components, so that it reveals
// nothing of others. Its cost grows with the author's deltas.
func (s *Snapshot) RestrictUser(ctx context.Context, u *User, components []int64) (known bool, err error) {
	if components == nil {
		return true, nil
	}
	elsewhere := false
	var first time.Time
	// The inner query reads only the index of authors; then one row per component
	// is read.
	err = s.s.Query(ctx, `SELECT d.component_id, d.commit_time FROM deltas d
		JOIN (SELECT MIN(first_change) AS first FROM deltas WHERE author_id = $1 GROUP BY component_id) f ON d.first_change = f.first`, []any{u.ID}, sqldb.Cols2(func(component int64, at time.Time) {
		here := slices.Contains(components, component)
		known, elsewhere = known || here, elsewhere || !here
		if here && !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}))
	if elsewhere && known {
		u.Joined = first
	}
	return known, s.s.Fail(ctx, fmt.Sprintf("look for entries of author %d", u.ID), err)
}

// WroteIn reports whether an author has an entry in one of the components; nil
// means all.
func (s *Snapshot) WroteIn(ctx context.Context, userID int64, components []int64) (bool, error) {
	if components == nil {
		return true, nil
	}
	var in []int64
	err := s.s.IDsIn(ctx, `SELECT component_id FROM deltas WHERE component_id IN $ids AND author_id = $1 LIMIT 1`, []any{userID}, components, &in)
	return len(in) > 0, s.s.Fail(ctx, "look for entries of an author", err)
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
func (s *Snapshot) ContributedTranslations(ctx context.Context, userID int64, components []int64) (ids []int64, err error) {
	defer s.s.About(components...).End()
	err = s.s.IDsIn(ctx, `SELECT DISTINCT d.translation_id FROM deltas d JOIN translations t ON t.id = d.translation_id
		WHERE d.component_id IN $ids AND d.author_id = $1 AND t.removed = 0`, []any{userID}, components, &ids)
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
	parts, err := sqldb.RowsIn(ctx, s.s, `SELECT t.language, SUM(d.added), SUM(`+updatedStrings+`), SUM(d.removed), SUM(`+suggestedTexts+`) FROM deltas d JOIN translations t ON t.id = d.translation_id
		WHERE d.component_id IN $ids AND d.author_id = $1 AND t.removed = 0 AND t.is_source = 0 GROUP BY t.language ORDER BY t.language`, []any{userID}, components, func(c *Contribution) []any {
		return []any{&c.Language, &c.Added, &c.Updated, &c.Removed, &c.Suggested}
	})
	out := []Contribution{}
	for _, c := range parts {
		at := slices.IndexFunc(out, func(sum Contribution) bool { return sum.Language == c.Language })
		if at < 0 {
			out = append(out, c)
			continue
		}
		sum := &out[at]
		sum.Added, sum.Updated, sum.Removed, sum.Suggested = sum.Added+c.Added, sum.Updated+c.Updated, sum.Removed+c.Removed, sum.Suggested+c.Suggested
	}
	return out, s.s.Fail(ctx, fmt.Sprintf("count entries of author %d", userID), err)
}

const userQuery = `SELECT id, username, full_name, joined, bot FROM users`

func (u *User) fields() []any { return []any{&u.ID, &u.Username, &u.FullName, &u.Joined, &u.Bot} }

// ActivityQuery selects entries to count.
type ActivityQuery struct {
	// Components are the components of the entries.
	Components []int64
	// TranslationID, if not 0, selects the entries of this translation, which belongs
	// to one of Components.
	TranslationID int64
	// ByTranslation counts each translation by itself.
	ByTranslation bool
	// From and To bound the time of the entries; the zero time is no bound.
	From, To time.Time
}

// Contributor counts the entries of one author.
type Contributor struct {
	// Username and FullName are the author's.
	Username, FullName string
	// TranslationID is 0 unless the query asked for each translation by itself.
	TranslationID int64
	// Added and Removed count entries 31 and 63, Updated those of updates: 59, and of
	// edits here.
	Added, Updated, Removed int64
	// First and Last are the times of the oldest and the newest entry counted.
	First, Last time.Time

	id int64
}

// Activity is what happened in a time.
type Activity struct {
	// Contributors are ordered by the number of their updates, the greatest first.
	Contributors []Contributor
	// Weeks has the number of updated strings of each week that has any, ascending.
	Weeks []WeekCount
}

// WeekCount is a number of entries in the week that begins on First, a Monday.
type WeekCount struct {
	First   time.Time
	Entries int64
}

// activityKey tells counts apart.
type activityKey struct{ author, translation int64 }

// Activity counts entries by author and by week. Times of a component never decrease,
// so it reads from the newest entry back to From: its cost grows with the length of
// time, not with the history before.
func (s *Snapshot) Activity(ctx context.Context, q ActivityQuery) (a Activity, err error) {
	defer s.s.About(q.Components...).End()
	found, weeks := map[activityKey]*Contributor{}, map[int64]int64{}
	for _, component := range q.Components {
		if err == nil {
			err = s.countActivity(ctx, component, &q, found, weeks)
		}
	}
	if err == nil {
		a.Contributors, err = s.named(ctx, slices.Collect(maps.Values(found)))
	}
	a.Weeks = inOrder(weeks)
	return a, s.s.Fail(ctx, "count entries by author", err)
}

func (s *Snapshot) countActivity(ctx context.Context, component int64, q *ActivityQuery, found map[activityKey]*Contributor, weeks map[int64]int64) error {
	from, hasFrom := sqldb.Micros(q.From).(int64)
	to, hasTo := sqldb.Micros(q.To).(int64)
	column, first, id, translation := "component_id", "first_in_component", component, "0"
	if q.TranslationID != 0 {
		column, first, id = "translation_id", "first_in_translation", q.TranslationID
	}
	if q.ByTranslation {
		translation = "COALESCE(d.translation_id, 0)"
	}
	query := `SELECT COALESCE(d.author_id, 0), ` + translation + `, d.at, d.added, ` + updatedStrings + `, d.removed FROM deltas d WHERE d.` + column + ` = $1 ORDER BY d.` + first + ` DESC`
	return s.s.Query(ctx, query, []any{id}, func(scan sqldb.Scan) error {
		var key activityKey
		var at, added, updated, removed int64
		if err := scan(&key.author, &key.translation, &at, &added, &updated, &removed); err != nil {
			return err
		}
		switch {
		case hasFrom && at < from:
			return sqldb.ErrEnough
		case hasTo && at > to, added+updated+removed == 0:
			return nil
		}
		c := found[key]
		if c == nil {
			c = &Contributor{id: key.author, TranslationID: key.translation, Last: time.UnixMicro(at).UTC()}
			found[key] = c
		}
		c.Added, c.Updated, c.Removed = c.Added+added, c.Updated+updated, c.Removed+removed
		when := time.UnixMicro(at).UTC()
		if c.First.IsZero() || when.Before(c.First) {
			c.First = when
		}
		if when.After(c.Last) {
			c.Last = when
		}
		if updated > 0 {
			weeks[catalog.IntervalWeek.First(when).Unix()] += updated
		}
		return nil
	})
}

// named fills in the names of authors and sorts. Entries without an author are left
// out.
func (s *Snapshot) named(ctx context.Context, all []*Contributor) ([]Contributor, error) {
	ids := catalog.Each(all, func(c **Contributor) int64 { return (*c).id })
	slices.Sort(ids)
	authors, err := sqldb.RowsIn(ctx, s.s, userQuery+` WHERE id IN $ids`, nil, slices.Compact(ids), (*User).fields)
	users := catalog.ByKey(authors, func(u *User) int64 { return u.ID })
	out := make([]Contributor, 0, len(all))
	for _, c := range all {
		if u := users[c.id]; u != nil {
			c.Username, c.FullName = u.Username, u.FullName
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b Contributor) int {
		return cmp.Or(cmp.Compare(b.Updated+b.Added, a.Updated+a.Added), cmp.Compare(a.Username, b.Username), cmp.Compare(a.TranslationID, b.TranslationID))
	})
	return out, err
}

// updatedStrings is the number of updated strings of a delta d: by commits, and by edits
// here. Only of these a row of another table is read.
var updatedStrings = `CASE WHEN d.translation_id IS NULL THEN 0 WHEN d.n = d.added + d.updated + d.removed THEN d.updated WHEN ` + rows.OfSuggestions + ` THEN 0 ELSE d.n END`

// WeeksOfAuthor counts the updated strings of an author in components since a time, by
// week, ascending; nil means all components. An index has all that it reads.
func (s *Snapshot) WeeksOfAuthor(ctx context.Context, userID int64, components []int64, since time.Time) ([]WeekCount, error) {
	weeks := map[int64]int64{}
	err := s.s.Query(ctx, `SELECT d.at, `+updatedStrings+`, d.component_id FROM deltas d WHERE d.author_id = $1 AND d.at >= $2`, []any{userID, sqldb.Micros(since)}, sqldb.Cols3(func(at, updated, component int64) {
		if updated > 0 && (components == nil || slices.Contains(components, component)) {
			weeks[catalog.IntervalWeek.First(time.UnixMicro(at)).Unix()] += updated
		}
	}))
	return inOrder(weeks), s.s.Fail(ctx, fmt.Sprintf("count entries of author %d by week", userID), err)
}

// inOrder returns counts by the first second of their week, ascending.
func inOrder(weeks map[int64]int64) (out []WeekCount) {
	for _, first := range sqldb.SortedKeys(weeks) {
		out = append(out, WeekCount{time.Unix(first, 0).UTC(), weeks[first]})
	}
	return out
}
