package schedule

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// TestShareOfHostileHost draws components of one hostile host, whose pulls hang for minutes
// or for ever, fail or panic at their end, and are wished for all the time, beside those of
// other hosts: with more than one worker, in memory and with a table of several processes,
// these are pulled as often as if the hostile ones were not there.
func TestShareOfHostileHost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		play := sharePlay{workers: rapid.IntRange(2, 5).Draw(rt, "workers"), several: rapid.Bool().Draw(rt, "several")}
		seconds := func(name string, of ...int) time.Duration {
			return time.Duration(rapid.SampledFrom(of).Draw(rt, name)) * time.Second
		}
		for range rapid.IntRange(1, 12).Draw(rt, "hostile") {
			play.hostile = append(play.hostile, hostileJob{
				hangs: seconds("hangs", 1, 30, 120, 600, 86400), interval: seconds("interval", 0, 1, 60),
				end: rapid.SampledFrom([]string{"fails", "panics", "succeeds"}).Draw(rt, "end"),
			})
		}
		for range rapid.IntRange(1, 3).Draw(rt, "good") {
			play.good = append(play.good, rapid.SampledFrom([]string{"fast", "other", ""}).Draw(rt, "host"))
		}
		play.asked = rapid.SliceOfN(rapid.IntRange(0, len(play.hostile)-1), 0, 60).Draw(rt, "asked")
		var wrongs []string
		synctest.Test(t, func(t *testing.T) { wrongs = play.run(t) })
		if len(wrongs) > 0 {
			rt.Fatalf("%+v: %q", play, wrongs)
		}
	})
}

type sharePlay struct {
	workers int
	several bool // processes: the table is not the Scheduler's own
	hostile []hostileJob
	good    []string // hosts
	asked   []int    // hostile jobs, one each 20 s
}

type hostileJob struct {
	hangs, interval time.Duration
	end             string
}

func (play sharePlay) run(t *testing.T) []string {
	const every, takes = 10 * time.Second, time.Second
	opts := Options{Workers: play.workers, Rand: func() float64 { return 0.5 }}
	shared := &sharedTable{rows: map[string]*sharedRow{}}
	if play.several {
		opts.Table, opts.Process, opts.Configuration = shared, "P", func() string { return "c" }
	}
	p := newFixture(t, opts)
	var jobs []Job
	for i, h := range play.hostile {
		jobs = append(jobs, p.job(fmt.Sprintf("hostile%d", i), "hostile", h.interval, func(ctx context.Context) error {
			err := lasting(h.hangs, map[string]error{"fails": errDead}[h.end])(ctx)
			if h.end == "panics" && ctx.Err() == nil {
				panic("hostile")
			}
			return err
		}))
	}
	var mu sync.Mutex
	last, longest := map[string]time.Time{}, map[string]time.Duration{}
	pulled := func(key string) {
		mu.Lock()
		defer mu.Unlock()
		longest[key], last[key] = max(longest[key], time.Since(last[key])), time.Now()
	}
	for i, host := range play.good {
		key := fmt.Sprintf("good%d", i)
		last[key] = time.Now()
		jobs = append(jobs, p.job(key, host, every, func(ctx context.Context) error {
			pulled(key)
			return lasting(takes, nil)(ctx)
		}))
	}
	for _, job := range jobs {
		shared.rows[job.Key] = &sharedRow{host: job.Host, due: time.Now()}
	}
	p.Set(jobs)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	for _, i := range play.asked {
		p.Trigger(fmt.Sprintf("hostile%d", i))
		p.wait(20 * time.Second)
	}
	p.wait(20 * time.Minute)
	for i := range play.good {
		key := fmt.Sprintf("good%d", i)
		pulled(key)
		// All good ones before it on one worker, a tenth of variation, and a look at the
		// table each second.
		if most := every*11/10 + time.Duration(len(play.good)+1)*(takes+defaultPoll); longest[key] > most {
			p.wrongs = append(p.wrongs, fmt.Sprintf("%s waited %v, at most %v is right", key, longest[key], most))
		}
	}
	cancel()
	if err := <-done; err != nil {
		p.wrongs = append(p.wrongs, err.Error())
	}
	return p.wrongs
}

// sharedTable is a table of leases that knows no workers, as the database's does not: only
// what the room says.
type sharedTable struct {
	mu    sync.Mutex
	rows  map[string]*sharedRow
	token int64
}

type sharedRow struct {
	host         string
	due, started time.Time
	held, wished bool
}

func (s *sharedTable) Take(_ context.Context, room *cluster.Room) (l cluster.Lease, taken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := map[string]int{}
	for _, r := range s.rows {
		if r.held {
			runs[r.host]++
		}
	}
	for branch, r := range s.rows {
		free := !r.held && !slices.Contains(room.Pulling, branch) && (r.wished || !r.due.After(time.Now()))
		allowed := r.host == "" || runs[r.host] < room.PerHost && !slices.Contains(room.Full, r.host)
		if free && allowed && (l.Branch == "" || r.started.Before(s.rows[l.Branch].started)) {
			l.Branch = branch
		}
	}
	if l.Branch == "" {
		return l, false, nil
	}
	s.token++
	r := s.rows[l.Branch]
	r.held, r.wished, r.started, l.Token = true, false, time.Now(), s.token
	return l, true, nil
}

func (s *sharedTable) Renew(context.Context, *cluster.Lease, time.Duration) (bool, error) {
	return true, nil
}

func (s *sharedTable) Give(_ context.Context, l *cluster.Lease, o cluster.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rows[l.Branch]
	r.held, r.due = false, time.Now().Add(o.Next)
	if o.Next < 0 {
		r.due = time.Now().Add(1000 * time.Hour)
	}
	return nil
}

func (s *sharedTable) Wish(_ context.Context, branches []string, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, branch := range branches {
		s.rows[branch].wished = true
	}
	return nil
}

func (s *sharedTable) State(context.Context) (*cluster.State, error) {
	return &cluster.State{At: time.Now()}, nil
}
