package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
)

// Pollers that ask for entries after the last id they saw see every entry once and
// in order, while several branches are written.
func TestPollers(t *testing.T) {
	const writers, steps, pollers = 4, 25, 3
	db := open(t)
	var specs []ComponentSpec
	for w := range writers {
		s := spec("demo", fmt.Sprintf("c%d", w))
		s.Branch = fmt.Sprintf("b%d", w)
		specs = append(specs, s)
	}
	if err := db.Configure(context.Background(), projectsNamed("demo"), specs, nil); err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var write, poll sync.WaitGroup
	for w := range writers {
		write.Go(func() { writeSteps(t, db, w, steps) })
	}
	seen := make([]int, pollers)
	for p := range pollers {
		poll.Go(func() {
			last := int64(0)
			for finished := false; ; {
				n, next := pollOnce(t, db, last)
				seen[p] += n
				if n == 0 && finished || t.Failed() {
					return
				}
				last, finished = next, done.Load()
			}
		})
	}
	write.Wait()
	done.Store(true)
	poll.Wait()
	want := 0
	for s := range steps {
		want += writers * entriesOf(s)
	}
	for p, n := range seen {
		if n != want {
			t.Errorf("poller %d saw %d of %d entries", p, n, want)
		}
	}
}

// Pollers of filtered lists see every matching entry once and in order, while
// several readers with snapshots of any age extend the sums; each count fits its
// snapshot.
func TestFilteredPollers(t *testing.T) {
	const writers, steps = 3, 40
	db := open(t)
	db.spans = history.NewSpans(4, 60) // so that ledgers are evicted
	var specs []ComponentSpec
	for w := range writers {
		s := spec("demo", fmt.Sprintf("c%d", w))
		s.Branch = fmt.Sprintf("b%d", w)
		specs = append(specs, s)
	}
	if err := db.Configure(context.Background(), projectsNamed("demo"), specs, nil); err != nil {
		t.Fatal(err)
	}
	var write, poll sync.WaitGroup
	for w := range writers {
		write.Go(func() { writeSteps(t, db, w, steps) })
	}
	hooks := []catalog.Action{catalog.ActionHook, catalog.ActionParseError}
	perWriter := 0
	for s := range steps {
		perWriter += entriesOf(s)
	}
	for _, tc := range []struct {
		q    ChangeQuery
		want int
	}{
		{ChangeQuery{Actions: hooks}, writers * perWriter},
		{ChangeQuery{ProjectID: 1, Components: []int64{1, 3}}, 2 * perWriter},
		{ChangeQuery{ProjectID: 1, Actions: hooks, From: day(2)}, writers * perWriter},
		{ChangeQuery{ComponentID: 2, Actions: hooks, To: day(2)}, perWriter},
		{ChangeQuery{Components: []int64{2}, Actions: hooks}, perWriter},
	} {
		poll.Go(func() {
			for seen := []int64{0}; len(seen)-1 < tc.want && !t.Failed(); {
				err := db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
					whole, err := s.ChangeList(ctx, tc.q)
					if err != nil {
						return err
					}
					q := tc.q
					q.AfterID = seen[len(seen)-1]
					rest, err := s.ChangeList(ctx, q)
					if err != nil {
						return err
					}
					page, err := rest.Page(ctx, 0, 5)
					if whole.Count() != rest.Count()+int64(len(seen)-1) {
						t.Errorf("%+v: %d entries seen, %d to come, %d in all", tc.q, len(seen)-1, rest.Count(), whole.Count())
					}
					for _, c := range page {
						if c.ID <= seen[len(seen)-1] {
							t.Errorf("%+v: entry %d after %d", tc.q, c.ID, seen[len(seen)-1])
						}
						seen = append(seen, c.ID)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	write.Wait()
	poll.Wait()
}

func entriesOf(step int) int { return 1 + step%5 }

func writeSteps(t *testing.T, db *DB, w, steps int) {
	for s := range steps {
		i := info(s, s+1, int64(w+1))
		i.Branch = fmt.Sprintf("b%d", w)
		res, err := db.Step(context.Background(), i, func(ctx context.Context, tx *StepTx) error {
			var errs []error
			for e := range entriesOf(s) {
				errs = append(errs, tx.AddDelta(ctx, Delta{ComponentID: int64(w + 1), Entries: []Entry{{
					Action: catalog.ActionHook, Event: map[string]string{"w": fmt.Sprint(w), "s": fmt.Sprint(s), "e": fmt.Sprint(e)},
				}}}))
			}
			return errors.Join(errs...)
		})
		if err != nil || int(res.Changes) != entriesOf(s) {
			t.Errorf("step %d of writer %d: %+v, %v", s, w, res, err)
			return
		}
	}
}

// pollOnce checks that ids continue after last without a gap, and that the
// generation fits the entries.
func pollOnce(t *testing.T, db *DB, last int64) (n int, newest int64) {
	err := db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		count, err1 := s.Count(ctx, ChangeQuery{AfterID: last})
		got, err2 := s.Changes(ctx, ChangeQuery{AfterID: last, Limit: 7})
		if int64(len(got)) != min(count, 7) {
			t.Errorf("%d entries, count %d", len(got), count)
		}
		for i, c := range got {
			if c.ID != last+int64(i)+1 || c.Event == nil {
				t.Errorf("after %d: entry %d has id %d, event %v", last, i, c.ID, c.Event)
			}
		}
		n = len(got)
		return errors.Join(err1, err2)
	})
	if err != nil {
		t.Error(err)
	}
	return n, last + int64(n)
}

// If one component of a span has entries outside the asked time, the deltas of the span are
// counted, in whichever order its components stand: the sums of one of them are not enough.
func TestSpanOfTwoComponents(t *testing.T) {
	db := openWith(t, "a", "b")
	db.spans = history.NewSpans(4, history.MaxSpans)
	step(t, db, info(0, 1, 1, 2), func(ctx context.Context, tx *StepTx) (err error) {
		add := func(component int64, at, entries int) {
			d := Delta{ComponentID: component, Commit: head(1), At: day(at)}
			for range entries {
				d.Entries = append(d.Entries, Entry{Action: catalog.ActionHook})
			}
			err = errors.Join(err, tx.AddDelta(ctx, d))
		}
		add(1, 1, 1) // the first span: before the asked time, then in it
		add(1, 5, 1)
		add(2, 5, 2)
		add(2, 6, 2) // the second one: in it, then after it
		add(1, 6, 1)
		add(1, 9, 1)
		for range 20 {
			add(2, 10, 1)
		}
		return err
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		n, err := s.Count(ctx, ChangeQuery{Actions: []catalog.Action{catalog.ActionHook}, From: day(4), To: day(8)})
		if n != 6 {
			t.Errorf("%d entries from day 4 to day 8, want 6", n)
		}
		return err
	})
}
