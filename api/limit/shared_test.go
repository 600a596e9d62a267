package limit

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"
)

// sums is what processes told, by limit and client, in one span.
type sums map[string]int

func (s sums) send(_ context.Context, limit string, list []Spent) (out []Spent, err error) {
	for _, spent := range list {
		s[limit+" "+spent.Client] += spent.Used
		out = append(out, Spent{spent.Client, s[limit+" "+spent.Client], spent.Left - time.Second})
	}
	return out, nil
}

// TestExchange: processes count together, but for a share of the limit in each, and what
// came since the last exchange. What could not be told is told later.
func TestExchange(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	told := sums{}
	rate := Rate{Count: 64, Per: time.Minute}
	var processes [2]*Limiter
	exchange := func(send func(context.Context, string, []Spent) ([]Spent, error)) (err error) {
		for _, l := range processes {
			err = errors.Join(err, l.Exchange(t.Context(), send))
		}
		return err
	}
	for i := range processes {
		processes[i] = New(rate, func() time.Time { return now })
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(exchange(told.send))
	processes[1].Take("shy")
	for range 40 {
		processes[0].Take("a")
	}
	broken := errors.New("broken")
	if err := exchange(func(context.Context, string, []Spent) ([]Spent, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("the error of an exchange is %v", err)
	}
	must(exchange(told.send))
	if len(told) != 1 || told["64 in 1m0s a"] != 40 {
		t.Errorf("told: %v", told)
	}
	for range 2 {
		processes[1].Take("a")
	}
	must(processes[1].Exchange(t.Context(), func(ctx context.Context, limit string, list []Spent) ([]Spent, error) {
		processes[1].Take("a") // meanwhile
		return told.send(ctx, limit, list)
	}))
	if a, _ := processes[1].Take("a"); a.Remaining != 64-40-2-1-1 || a.Reset != 59 {
		t.Errorf("the other process: %+v", a)
	}
	passed := 0
	for range 64 {
		for _, l := range processes {
			if a, _ := l.Take("a"); a.Allowed {
				passed++
			}
		}
		must(exchange(told.send))
	}
	if passed < 64-44 || passed > 64-44+4 {
		t.Errorf("%d more requests passed", passed)
	}
	now = now.Add(time.Minute)
	if a, _ := processes[1].Take("a"); !a.Allowed {
		t.Error("a span does not end")
	}
	must(exchange(func(context.Context, string, []Spent) ([]Spent, error) {
		t.Error("something is told without news")
		return nil, nil
	}))
}

// TestExchangeBound: an exchange has a bounded number of clients, and the rest waits for
// the next one; without exchanges nothing waits.
func TestExchangeBound(t *testing.T) {
	t.Parallel()
	l := New(Rate{Count: 1, Per: time.Hour}, time.Now)
	l.Take("before")
	if len(l.untold) != 0 {
		t.Error("clients wait for an exchange that nobody makes")
	}
	told := sums{}
	for range 2 {
		if err := l.Exchange(t.Context(), told.send); err != nil {
			t.Fatal(err)
		}
		if len(told) == 1 {
			for i := range maxTold + 10 {
				l.Take(strconv.Itoa(i))
			}
		} else if len(told) != 1+maxTold {
			t.Errorf("%d clients at once", len(told))
		}
	}
	_ = l.Exchange(t.Context(), told.send)
	if len(told) != 1+maxTold+10 {
		t.Errorf("%d clients were told of", len(told))
	}
}
