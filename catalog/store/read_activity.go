package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

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
	// Bot says that the author is not a person.
	Bot bool
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
	for _, first := range slices.Sorted(maps.Keys(weeks)) {
		a.Weeks = append(a.Weeks, WeekCount{time.Unix(first, 0).UTC(), weeks[first]})
	}
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
	err := s.s.Query(ctx, query, []any{id}, func(scan sqldb.Scan) error {
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
	if errors.Is(err, sqldb.ErrEnough) {
		err = nil
	}
	return err
}

// named fills in the names of authors and sorts. Entries without an author are left
// out.
func (s *Snapshot) named(ctx context.Context, all []*Contributor) ([]Contributor, error) {
	ids := make([]int64, 0, len(all))
	for _, c := range all {
		ids = append(ids, c.id)
	}
	slices.Sort(ids)
	authors, err := sqldb.RowsIn(ctx, s.s, userQuery+` WHERE id IN $ids`, nil, slices.Compact(ids), (*User).fields)
	users := map[int64]User{}
	for _, u := range authors {
		users[u.ID] = u
	}
	out := make([]Contributor, 0, len(all))
	for _, c := range all {
		if u, ok := users[c.id]; ok {
			c.Username, c.FullName, c.Bot = u.Username, u.FullName, u.Bot
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
	err := s.s.Query(ctx, `SELECT d.at, `+updatedStrings+`, d.component_id FROM deltas d WHERE d.author_id = $1 AND d.at >= $2`, []any{userID, sqldb.Micros(since)}, func(scan sqldb.Scan) error {
		var at, updated, component int64
		err := scan(&at, &updated, &component)
		if updated > 0 && (components == nil || slices.Contains(components, component)) {
			weeks[catalog.IntervalWeek.First(time.UnixMicro(at)).Unix()] += updated
		}
		return err
	})
	var out []WeekCount
	for _, first := range slices.Sorted(maps.Keys(weeks)) {
		out = append(out, WeekCount{time.Unix(first, 0).UTC(), weeks[first]})
	}
	return out, s.s.Fail(ctx, fmt.Sprintf("count entries of author %d by week", userID), err)
}
