package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// idleLimit is when the database ends a transaction of a process that is silent.
const idleLimit = 10 * time.Second

var (
	errNetwork = errors.New("the network failed")
	errKilled  = errors.New("the process is dead")
	errFull    = fmt.Errorf("%w: %w", store.ErrUnavailable, store.ErrFull) // as the store says it
	errNoRoom  = errors.New("the disk of the process is full")
)

// world is a simulated database with the repositories that are pulled into it.
type world struct {
	seed  uint64
	end   chan struct{} // closed when dead processes may end
	start time.Time

	mu       sync.Mutex
	rows     map[string]*branchRow
	newest   string // configuration
	active   map[string]map[string]context.Context
	known    map[string]*process // by id
	violated []string
	trace    []string
	lossy    float64   // share of messages that are lost
	full     bool      // the disk of the database
	troubled time.Time // when a process was last stopped or cut off, or a disk full

	lossyUntil time.Time
}

// branchRow is a mirror with the state of its branch.
type branchRow struct {
	branch        string
	token         int64
	holder        string
	expires, due  time.Time
	wished        time.Time
	failures      int
	writing       int // transactions that hold the row
	head, pushed  int
	commits       []int // by the steps, in order
	diedAt        time.Time
	failsUntil    time.Time // pulls fail
	started, last time.Time
}

func newWorld(seed uint64, branches int) *world {
	w := &world{seed: seed, end: make(chan struct{}), start: time.Now(), rows: map[string]*branchRow{}, active: map[string]map[string]context.Context{}, known: map[string]*process{}, newest: "c"}
	for i := range branches {
		name := fmt.Sprintf("b%d", i)
		w.rows[name] = &branchRow{branch: name, due: time.Now(), pushed: 1}
	}
	return w
}

// row returns the present state of a mirror.
func (w *world) row(branch string) branchRow {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.rows[branch]
}

// interval is the time between two pulls; the last branch is pulled only if that is
// wished.
func (r *branchRow) interval() time.Duration {
	if r.branch == fmt.Sprintf("b%d", branches-1) {
		return 0
	}
	return interval
}

// sorted are the rows in the order of their names.
func (w *world) sorted() []*branchRow {
	var list []*branchRow
	for _, r := range w.rows {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *branchRow) int { return cmp.Compare(a.branch, b.branch) })
	return list
}

// note adds an event to the trace. The caller holds w.mu.
func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%12v ", time.Since(w.start))+fmt.Sprintf(format, args...))
}

// wrong records what must never happen. The caller holds w.mu.
func (w *world) wrong(format string, args ...any) {
	w.note("WRONG: "+format, args...)
	w.violated = append(w.violated, fmt.Sprintf(format, args...))
}

// process is a simulated process.
type process struct {
	w         *world
	id        string
	scheduler *Scheduler
	stop      context.CancelFunc
	ended     chan struct{}

	mu      sync.Mutex
	dead    bool
	cut     bool          // no message passes
	filled  time.Time     // its disk is full from then
	full    time.Time     // until then
	resumed chan struct{} // not nil while it is stopped
	goesOn  time.Time     // when it was stopped last, until then
	counts  map[string]int
}

// gate is passed by everything that a process does: not while it is stopped, and never
// once it is dead.
func (p *process) gate() error {
	for {
		p.mu.Lock()
		dead, resumed := p.dead, p.resumed
		p.mu.Unlock()
		switch {
		case dead:
			<-p.w.end
			return errKilled
		case resumed != nil:
			select {
			case <-resumed:
			case <-p.w.end:
				return errKilled
			}
		default:
			return nil
		}
	}
}

// room is Options.Room.
func (p *process) room() error {
	if p.noRoomFor(0) {
		return errNoRoom
	}
	return nil
}

// noRoomFor reports whether the disk of a process has been full for a time in which it
// was not stopped, and is.
func (p *process) noRoomFor(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	return now.Before(p.full) && now.Sub(p.filled) >= d && now.Sub(p.goesOn) >= d
}

func (p *process) is(what *bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *what
}

// chance is a source of numbers for the next call of a process about a branch: it
// depends on the seed only, not on the order in which goroutines run.
func (p *process) chance(what string) *rand.Rand {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[what]++
	return rand.New(rand.NewPCG(p.w.seed, hash(p.id, what, p.counts[what])))
}

// hash is the same in every run of the tests.
func hash(parts ...any) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(fmt.Sprint(parts...)) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// call is a message to the database and its answer. Either may be lost or late, and
// what was sent happens even if the caller no longer waits.
func (p *process) call(ctx context.Context, what string, apply func()) error {
	if err := p.gate(); err != nil {
		return err
	}
	random := p.chance(what)
	there, back := latency(random), latency(random)
	p.w.mu.Lock()
	lossy := p.w.lossy
	p.w.mu.Unlock()
	lostThere, lostBack := random.Float64() < lossy, random.Float64() < lossy
	answered := make(chan error, 1)
	go func() {
		time.Sleep(there)
		if lostThere || p.is(&p.cut) {
			time.Sleep(idleLimit)
			answered <- errNetwork
			return
		}
		p.w.mu.Lock()
		apply()
		p.w.mu.Unlock()
		time.Sleep(back)
		if lostBack || p.is(&p.cut) {
			time.Sleep(idleLimit)
			answered <- errNetwork
			return
		}
		answered <- nil
	}()
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if e := p.gate(); e != nil {
		return e
	}
	return err
}

// latency is mostly a few milliseconds, seldom a second.
func latency(random *rand.Rand) time.Duration {
	d := time.Duration(1 + random.Int64N(int64(5*time.Millisecond)))
	if random.IntN(50) == 0 {
		d += time.Duration(random.Int64N(int64(2 * time.Second)))
	}
	return d
}

// Take is what cluster.Cluster.Take does.
func (p *process) Take(ctx context.Context, room *cluster.Room) (l cluster.Lease, taken bool, err error) {
	var got *cluster.Lease
	err = p.call(ctx, "take", func() { got = p.w.take(room) })
	if err != nil || got == nil {
		return l, false, err
	}
	return *got, true, nil
}

// take chooses a row. The caller holds w.mu.
func (w *world) take(room *cluster.Room) *cluster.Lease {
	now := time.Now()
	if room.Configuration != w.newest {
		return nil
	}
	var best *branchRow
	for _, r := range w.sorted() {
		free := r.holder == "" && (!r.wished.IsZero() || !r.due.After(now)) || r.holder != "" && !r.expires.After(now)
		if !free || r.writing > 0 || slices.Contains(room.Pulling, r.branch) {
			continue
		}
		if best == nil || r.started.Before(best.started) {
			best = r
		}
	}
	if best == nil {
		return nil
	}
	for id, runs := range w.active {
		if run := runs[best.branch]; run != nil && run.Err() == nil && w.known[id].runs() {
			w.wrong("%s takes %s, which %s pulls", room.Process, best.branch, id)
		}
	}
	if !best.diedAt.IsZero() && now.Sub(best.diedAt) > 20*time.Second && now.Sub(w.troubled) > 20*time.Second && now.Sub(w.lossyUntil) > 20*time.Second {
		w.wrong("%s goes on %v after a death", best.branch, now.Sub(best.diedAt))
	}
	if p := w.known[room.Process]; p.noRoomFor(5 * time.Second) {
		w.wrong("%s takes %s, for which it has no room", room.Process, best.branch)
	}
	best.token++
	best.holder, best.expires, best.started, best.wished, best.diedAt = room.Process, now.Add(room.Length), now, time.Time{}, time.Time{}
	w.note("%s takes %s, token %d", room.Process, best.branch, best.token)
	return &cluster.Lease{Fence: cluster.Fence{Branch: best.branch, Token: best.token, Configuration: room.Configuration}, Failures: best.failures}
}

// Renew is what cluster.Cluster.Renew does.
func (p *process) Renew(ctx context.Context, l *cluster.Lease, length time.Duration) (held bool, err error) {
	renewed := false
	err = p.call(ctx, "renew "+l.Branch, func() {
		if r := p.w.rows[l.Branch]; r.token == l.Token && r.holder != "" {
			r.expires, renewed = time.Now().Add(length), true
		}
	})
	return err == nil && renewed, err // without an answer, it may still happen
}

// Give is what cluster.Cluster.Give does.
func (p *process) Give(ctx context.Context, l *cluster.Lease, o cluster.Outcome) error {
	return p.call(ctx, "give "+l.Branch, func() {
		r := p.w.rows[l.Branch]
		if r.token != l.Token {
			return
		}
		r.holder, r.due, r.diedAt = "", time.Now().Add(o.Next), time.Time{}
		p.w.note("%s gives %s back: %+v", p.id, l.Branch, o)
		if o.Next < 0 {
			r.due = time.Now().Add(1000 * time.Hour)
		}
		switch {
		case o.Cut:
		case !o.Excused && (errors.Is(o.Err, errFull) || errors.Is(o.Err, errNoRoom) && p.noRoomFor(0)):
			p.w.wrong("%s is blamed: %v", l.Branch, o.Err)
		case o.Excused:
		case o.Err != nil:
			r.failures++
		default:
			r.failures, r.last = 0, time.Now()
		}
	})
}

// Wish is what cluster.Cluster.Wish does.
func (p *process) Wish(ctx context.Context, branches []string, _ string) error {
	return p.call(ctx, "wish", func() {
		for _, b := range branches {
			if r := p.w.rows[b]; r.wished.IsZero() {
				r.wished = time.Now()
			}
		}
	})
}

// State is what cluster.Cluster.State does, in short.
func (p *process) State(ctx context.Context) (*cluster.State, error) {
	s := &cluster.State{}
	err := p.call(ctx, "state", func() {
		s.At = time.Now()
		for _, r := range p.w.sorted() {
			s.Mirrors = append(s.Mirrors, cluster.MirrorState{Mirror: cluster.Mirror{Branch: r.branch, Host: "h"}, Ended: r.last, Due: r.due, Failures: r.failures})
		}
	})
	return s, err
}

// pull is the job of a branch: it fetches, and makes a step for each commit.
func (p *process) pull(ctx context.Context, branch string) error {
	p.enter(ctx, branch)
	defer p.leave(branch)
	fetched, head := 0, 0
	err := p.call(ctx, "fetch "+branch, func() {
		r := p.w.rows[branch]
		fetched, head = r.pushed, r.head
		if time.Now().Before(r.failsUntil) {
			fetched = -1
		}
	})
	if err != nil {
		return err
	}
	if err := p.room(); err != nil {
		return err
	}
	if fetched < 0 {
		return errNetwork
	}
	for ; head < fetched; head++ {
		if err := p.parse(ctx, branch); err != nil {
			return err
		}
		if err := p.step(ctx, branch, head); err != nil {
			return err
		}
	}
	return nil
}

// parse takes some seconds, and up to a minute in troubled times.
func (p *process) parse(ctx context.Context, branch string) error {
	random := p.chance("parse " + branch)
	d := time.Duration(random.Int64N(int64(4 * time.Second)))
	if random.IntN(10) == 0 && time.Since(p.w.start) < troubles {
		d *= 15
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
	}
	return p.gate()
}

func (p *process) enter(ctx context.Context, branch string) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.w.active[p.id] == nil {
		p.w.active[p.id] = map[string]context.Context{}
	}
	if p.w.active[p.id][branch] != nil {
		p.w.wrong("%s pulls %s twice", p.id, branch)
	}
	p.w.active[p.id][branch] = ctx
	if n := len(p.w.active[p.id]); n > workers {
		p.w.wrong("%s pulls %d branches", p.id, n)
	}
}

func (p *process) leave(branch string) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	delete(p.w.active[p.id], branch)
}

// transaction is one of a step.
type transaction struct{ open bool }

// step is a transaction: it locks the row of the lease, writes for a while, and
// commits with a compare-and-swap of the head. ctx is asked only before messages, as if
// the process were stopped right after it.
func (p *process) step(ctx context.Context, branch string, head int) error {
	fence, _ := cluster.FenceOf(ctx)
	tx := &transaction{}
	refused := error(nil)
	err := p.call(ctx, "begin "+branch, func() {
		r := p.w.rows[branch]
		if r.token != fence.Token || fence.Configuration != p.w.newest {
			refused = cluster.ErrFenced
			return
		}
		r.writing++
		tx.open = true
		time.AfterFunc(idleLimit, func() { p.w.finish(branch, tx) })
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return err
	}
	err = p.call(context.WithoutCancel(ctx), "commit "+branch, func() {
		r := p.w.rows[branch]
		switch {
		case !tx.open:
			refused = errNetwork
		case r.head != head:
			refused = errors.New("conflict")
			p.w.wrong("%s makes step %d of %s, which is at %d", p.id, head, branch, r.head)
		case p.w.full:
			refused = errFull
		case r.token != fence.Token:
			p.w.wrong("%s writes %s without its lease", p.id, branch)
		default:
			r.head++
			r.commits = append(r.commits, head)
			p.w.note("%s commits step %d of %s", p.id, head, branch)
		}
		p.w.close(branch, tx)
	})
	if err == nil {
		err = refused
	}
	return err
}

// finish ends a transaction that is still open.
func (w *world) finish(branch string, tx *transaction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.close(branch, tx)
}

// close ends a transaction. The caller holds w.mu.
func (w *world) close(branch string, tx *transaction) {
	if tx.open {
		tx.open = false
		w.rows[branch].writing--
	}
}
