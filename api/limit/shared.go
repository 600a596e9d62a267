package limit

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// Spent is what a client used of a limit in its span.
type Spent struct {
	// Client names it.
	Client string
	// Used is the number of requests.
	Used int
	// Left is the rest of the span.
	Left time.Duration
}

// A client is told of to other processes when it used a tellShare-th of the limit since
// the last time: those that come for a few requests cost nothing. maxTold of them are at
// once.
const (
	tellShare = 32
	maxTold   = 1000
)

// tell notes that others are to be told of a span. The caller holds l.mu.
func (l *Limiter) tell(s *span) {
	if l.shared && !s.untold && s.used-s.told >= max(1, l.rate.Count/tellShare) {
		s.untold = true
		l.untold = append(l.untold, s)
	}
}

// Exchange counts with other processes that have the same limit. send adds what is new
// to what they counted and returns the sums; it is not called if nothing is new. No
// request waits for it. A client can so make more requests than the limit: in each
// process fewer than a 32nd of it, and those between two calls.
func (l *Limiter) Exchange(ctx context.Context, send func(ctx context.Context, limit string, list []Spent) ([]Spent, error)) error {
	if l == nil {
		return nil
	}
	list, told := l.collect()
	if len(list) == 0 {
		return nil
	}
	sums, err := send(ctx, l.name(), list)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		for _, s := range told { // once more, with what is added until then
			if !s.untold {
				s.untold = true
				l.untold = append(l.untold, s)
			}
		}
		return err
	}
	now, index := l.now(), map[string]int{}
	for i := range list {
		index[list[i].Client] = i
	}
	for _, sum := range sums {
		i, asked := index[sum.Client]
		if !asked {
			continue
		}
		s := told[i]
		s.used += sum.Used - s.told - list[i].Used // what came meanwhile is not in the sum
		s.told = sum.Used
		s.ends = now.Add(min(sum.Left, l.rate.Per))
	}
	return nil
}

// name tells limits apart.
func (l *Limiter) name() string { return strconv.Itoa(l.rate.Count) + " in " + l.rate.Per.String() }

// collect returns what others are to be told of, and forgets that.
func (l *Limiter) collect() (list []Spent, told []*span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.shared {
		l.shared = true
		for _, s := range l.clients { // from before
			l.tell(s)
		}
	}
	n := min(len(l.untold), maxTold)
	for _, s := range l.untold[:n] {
		s.untold = false
		if now.Before(s.ends) && l.clients[s.client] == s {
			list, told = append(list, Spent{s.client, s.used - s.told, s.ends.Sub(now)}), append(told, s)
		}
	}
	l.untold = slices.Delete(l.untold, 0, n)
	return list, told
}
