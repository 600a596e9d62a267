package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// lineEvery is the time between two log lines about one long pull.
const lineEvery = 10 * time.Second

// progress keeps the progress of the pull of each branch and says it in a line every lineEvery.
type progress struct {
	now   func() time.Time
	lines func(branch, done string) // called every lineEvery

	mu       sync.Mutex
	branches map[string]pulling // by key of the branch
}

// pulling is how much of a pull is done; Total is 0 if it is unknown.
type pulling struct {
	ingest.Progress
	took     time.Duration // since the first call of update
	started  time.Time     // of the first call of update
	lastLine time.Time     // the time of the last line, or of the start
}

func newProgress(now func() time.Time, lines func(branch, done string)) *progress {
	return &progress{now: now, lines: lines, branches: map[string]pulling{}}
}

// update takes the progress of a pull from ingest.
func (p *progress) update(key string, now ingest.Progress) {
	p.mu.Lock()
	at := p.now()
	b, known := p.branches[key]
	if !known {
		b.started, b.lastLine = at, at
	}
	b.Progress, b.took = now, at.Sub(b.started)
	due := at.Sub(b.lastLine) >= lineEvery
	if due {
		b.lastLine = at
	}
	p.branches[key] = b
	p.mu.Unlock()
	if due {
		p.lines(key, b.String())
	}
}

func (p *progress) end(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.branches, key)
}

// branch returns the progress of a branch; ok is false if it has none.
func (p *progress) branch(key string) (d pulling, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok = p.branches[key]
	return d, ok
}

// component returns the progress of the first import of a component, for the API.
func (p *progress) component(c *store.ComponentRow) (percent int, running bool) {
	d, running := p.branch(ingest.BranchKey(c.Repo, c.Branch))
	return d.percent(), running
}

func (d pulling) percent() int {
	if d.Total <= 0 {
		return 0
	}
	return max(0, min(100, 100*d.Done/d.Total))
}

// String is like "3 of 10", "…" without a total, or "3 of 10, 12000 entries/s, 3s left".
func (d pulling) String() string {
	if d.Total <= 0 {
		return "…"
	}
	text := fmt.Sprintf("%d of %d", d.Done, d.Total)
	if d.Entries == 0 || d.Done <= 0 || d.took < time.Second {
		return text
	}
	left := time.Duration(float64(d.took) * float64(d.Total-d.Done) / float64(d.Done))
	return fmt.Sprintf("%s, %.0f entries/s, %s left", text, float64(d.Entries)/d.took.Seconds(), left.Round(time.Second))
}
