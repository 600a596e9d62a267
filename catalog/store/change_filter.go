package store

import (
	"context"
	"math"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// changeFilter is what a ChangeQuery leaves of its list, in the terms of deltas.
type changeFilter struct {
	all                     bool             // every action
	actions                 []catalog.Action // else these, ascending
	added, updated, removed bool             // the actions of strings among them
	events                  bool             // any other among them
	from, to                int64            // microseconds, inclusive
	components              map[int64]struct{}
	author                  int64 // 0: anybody
}

// filtered reports whether the query leaves out entries for more than their id.
func (q *ChangeQuery) filtered() bool {
	return len(q.Actions) > 0 || q.User != "" || !q.From.IsZero() || !q.To.IsZero() || q.Components != nil
}

// filter translates the query. possible is false if no entry can match.
func (s *Snapshot) filter(ctx context.Context, q *ChangeQuery) (f changeFilter, possible bool, err error) {
	f = changeFilter{all: len(q.Actions) == 0, from: math.MinInt64, to: math.MaxInt64}
	f.actions = slices.Compact(slices.Sorted(slices.Values(q.Actions)))
	if stamp, ok := micros(q.From).(int64); ok {
		f.from = stamp
	}
	if stamp, ok := micros(q.To).(int64); ok {
		f.to = stamp
	}
	if q.Components != nil {
		f.components = make(map[int64]struct{}, len(q.Components))
		for _, id := range q.Components {
			f.components[id] = struct{}{}
		}
	}
	if q.User != "" {
		found, err := s.s.first(ctx, `SELECT id FROM users WHERE username = $1`, []any{q.User}, &f.author)
		if err != nil || !found {
			return f, false, err
		}
		f.credited()
	}
	f.kinds()
	possible = (f.all || len(f.actions) > 0) && f.from <= f.to && (f.components == nil || len(f.components) > 0)
	return f, possible, nil
}

// credited leaves the actions that name their author as user: an entry whose
// user is null is nobody's (decision 16).
func (f *changeFilter) credited() {
	if f.all {
		f.all, f.actions = false, []catalog.Action{catalog.ActionNewUnit, catalog.ActionStringRemove}
		return
	}
	f.actions = slices.DeleteFunc(f.actions, func(a catalog.Action) bool { return !a.Credited() })
}

// kinds says which columns of a delta count. What no delta can hold is dropped.
func (f *changeFilter) kinds() {
	f.actions = slices.DeleteFunc(f.actions, func(a catalog.Action) bool { return !a.Recorded() })
	f.added = f.all || slices.Contains(f.actions, catalog.ActionNewUnit)
	f.updated = f.all || slices.Contains(f.actions, catalog.ActionStringRepoUpdate)
	f.removed = f.all || slices.Contains(f.actions, catalog.ActionStringRemove)
	f.events = f.all || slices.ContainsFunc(f.actions, func(a catalog.Action) bool { return !inTranslationList(a) })
}

// tallied counts entries by action: those of strings by column, those of events
// one by one, since a component has few of them.
type actionCounts struct {
	n, added, updated, removed int32
	events                     map[catalog.Action]int32
}

// matches is how many of the counted entries have an action of the filter.
func (f *changeFilter) matches(t *actionCounts) int64 {
	if f.all {
		return int64(t.n)
	}
	var n int64
	if f.added {
		n += int64(t.added)
	}
	if f.updated {
		n += int64(t.updated)
	}
	if f.removed {
		n += int64(t.removed)
	}
	if f.events && len(t.events) > 0 {
		for _, a := range f.actions {
			n += int64(t.events[a])
		}
	}
	return n
}

// inTime reports whether a time is within the filter's.
func (f *changeFilter) inTime(at int64) bool { return f.from <= at && at <= f.to }

// ofComponent reports whether a component's entries are within the filter.
func (f *changeFilter) ofComponent(id int64) bool {
	if f.components == nil {
		return true
	}
	_, ok := f.components[id]
	return ok
}

// actionSlots is the number of placeholders for a filter's actions; more than
// there are recorded actions.
const actionSlots = 16

// actionArgs are the arguments of a condition on actions, padded by repetition.
func (f *changeFilter) actionArgs() []any {
	args := make([]any, actionSlots)
	for i := range args {
		args[i] = int64(-1)
		if len(f.actions) > 0 {
			args[i] = int64(f.actions[min(i, len(f.actions)-1)])
		}
	}
	return args
}
