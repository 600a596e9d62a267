package history

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// filter says which entries a Query selects. All that depends on its fields is
// in this file: filter sets them, deltas selects rows of deltas by them, matches counts
// entries, selects tells of one entry.
type filter struct {
	all                     bool             // all actions
	actions                 []catalog.Action // otherwise these, ascending
	added, updated, removed bool             // which actions of strings are among them
	events                  bool             // whether any other action is: events, edits
	from, to                int64            // microseconds, inclusive
	components              map[int64]struct{}
	author                  int64 // 0: any
}

// filtered reports whether the query has filters: whatever else than a list, a place in it
// and an order.
func (q *Query) filtered() bool {
	rest := *q
	rest.TranslationID, rest.ComponentID, rest.ProjectID, rest.UnitID = 0, 0, 0, 0
	rest.AfterID, rest.Offset, rest.Limit, rest.Newest, rest.Authored = 0, 0, 0, false, false // of User
	return !reflect.ValueOf(rest).IsZero()
}

// filter translates the query. possible is false if no entry can match.
func (s *Reader) filter(ctx context.Context, q *Query) (f filter, possible bool, err error) {
	f = filter{all: len(q.Actions) == 0, from: math.MinInt64, to: math.MaxInt64}
	f.actions = slices.Compact(slices.Sorted(slices.Values(q.Actions)))
	if stamp, ok := sqldb.Micros(q.From).(int64); ok {
		f.from = stamp
	}
	if stamp, ok := sqldb.Micros(q.To).(int64); ok {
		f.to = stamp
	}
	if q.Components != nil {
		f.components = make(map[int64]struct{}, len(q.Components))
		for _, id := range q.Components {
			f.components[id] = struct{}{}
		}
	}
	if q.User != "" {
		found, err := s.s.First(ctx, `SELECT id FROM users WHERE username = $1`, []any{q.User}, &f.author)
		if err != nil || !found {
			return f, false, err
		}
		if !q.Authored {
			f.credited()
		}
	}
	f.kinds()
	possible = (f.all || len(f.actions) > 0) && f.from <= f.to && (f.components == nil || len(f.components) > 0)
	return f, possible, nil
}

// credited keeps only the actions that name their author as user
// (docs/compatibility.md#change-entries).
func (f *filter) credited() {
	if f.all {
		f.all, f.actions = false, []catalog.Action{
			catalog.ActionChange, catalog.ActionSuggestion, catalog.ActionNew, catalog.ActionAccept, catalog.ActionLock, catalog.ActionUnlock,
			catalog.ActionRemoveTranslation, catalog.ActionSuggestionDelete, catalog.ActionNewUnit, catalog.ActionMarkedEdit, catalog.ActionAddedLanguage, catalog.ActionStringRemove,
		}
		return
	}
	f.actions = slices.DeleteFunc(f.actions, func(a catalog.Action) bool { return !a.Credited() })
}

// kinds sets which columns of a delta count, and drops actions that are never
// recorded.
func (f *filter) kinds() {
	f.actions = slices.DeleteFunc(f.actions, func(a catalog.Action) bool { return !a.Recorded() })
	f.added = f.all || slices.Contains(f.actions, catalog.ActionNewUnit)
	f.updated = f.all || slices.Contains(f.actions, catalog.ActionStringRepoUpdate)
	f.removed = f.all || slices.Contains(f.actions, catalog.ActionStringRemove)
	f.events = f.all || slices.ContainsFunc(f.actions, func(a catalog.Action) bool { return a.Edits() || a.Suggests() || !a.OfString() })
}

// actionCounts counts entries by action: entries of strings in fields; events in a
// map, since a component has few.
type actionCounts struct {
	n, added, updated, removed int32
	events                     map[catalog.Action]int32
}

// matches is the number of counted entries with an action of the filter.
func (f *filter) matches(t *actionCounts) int64 {
	if f.all {
		return int64(t.n)
	}
	n := int64(t.added)*sqldb.Smallint(f.added) + int64(t.updated)*sqldb.Smallint(f.updated) + int64(t.removed)*sqldb.Smallint(f.removed)
	if len(t.events) > 0 {
		for _, a := range f.actions {
			n += int64(t.events[a])
		}
	}
	return n
}

// deltas is a condition on a delta d: it may have selected entries. The components are not
// part of it. Its arguments begin with $first.
func (f *filter) deltas(first int) (condition string, args []any) {
	return fmt.Sprintf(`d.at >= $%d AND d.at <= $%d AND d.added * $%d + d.updated * $%d + d.removed * $%d + (d.n - d.added - d.updated - d.removed) * $%d > 0`,
			first, first+1, first+2, first+3, first+4, first+5),
		[]any{f.from, f.to, sqldb.Smallint(f.added), sqldb.Smallint(f.updated), sqldb.Smallint(f.removed), sqldb.Smallint(f.events)}
}

// selects reports whether the filter selects an entry, of a component and an author.
func (f *filter) selects(c *catalog.Change, component, author int64) bool {
	at, _ := sqldb.Micros(c.Timestamp).(int64)
	return (f.all || slices.Contains(f.actions, c.Action)) && f.inTime(at) && f.ofComponent(component) && (f.author == 0 || author == f.author)
}

// inTime reports whether the filter includes a time.
func (f *filter) inTime(at int64) bool { return f.from <= at && at <= f.to }

// ofComponent reports whether the filter includes a component.
func (f *filter) ofComponent(id int64) bool {
	_, ok := f.components[id]
	return ok || f.components == nil
}

// actionSlots is the number of placeholders for a filter's actions. There are
// fewer recorded actions.
const actionSlots = 24

// actionArgs are the arguments for actionSlots placeholders; the last action is
// repeated.
func (f *filter) actionArgs() []any {
	args := make([]any, actionSlots)
	for i := range args {
		args[i] = int64(-1)
		if len(f.actions) > 0 {
			args[i] = int64(f.actions[min(i, len(f.actions)-1)])
		}
	}
	return args
}
