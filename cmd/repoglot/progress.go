package main

import (
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog/ingest"
)

// lineEvery is the time between two log lines about one long pull.
const lineEvery = 10 * time.Second

// progress keeps the progress of the pull of each branch and shows it: on a
// terminal as a bar, elsewhere as a line every lineEvery.
type progress struct {
	now   func() time.Time
	lines func(key string, d done) // called every lineEvery without a bar
	bar   *progressBar             // nil without a terminal

	mu       sync.Mutex
	branches map[string]done      // by key of the branch
	lastLine map[string]time.Time // the time of the last line, or of the start
	started  map[string]time.Time // the time of the first call of update
	branchOf map[int64]string     // the key of the branch by component id
}

// done is how much of a pull is done; total is 0 if it is unknown.
type done struct {
	done, total int
	entries     int64         // change entries so far
	took        time.Duration // since the first call of update
}

// newProgress makes a progress; b may be nil.
func newProgress(b *progressBar, now func() time.Time, lines func(key string, d done)) *progress {
	return &progress{
		now: now, lines: lines, bar: b,
		branches: map[string]done{}, lastLine: map[string]time.Time{}, started: map[string]time.Time{}, branchOf: map[int64]string{},
	}
}

// update takes the progress of a pull from ingest.
func (p *progress) update(key string, now ingest.Progress) {
	d := done{done: now.Done, total: now.Total, entries: now.Entries}
	p.mu.Lock()
	at := p.now()
	if _, ok := p.started[key]; !ok {
		p.started[key] = at
	}
	d.took = at.Sub(p.started[key])
	p.branches[key] = d
	last, known := p.lastLine[key]
	due := known && p.bar == nil && at.Sub(last) >= lineEvery
	if !known || due {
		p.lastLine[key] = at
	}
	p.mu.Unlock()
	p.bar.show(key, d)
	if due {
		p.lines(key, d)
	}
}

// end forgets a branch whose pull has ended.
func (p *progress) end(key string) {
	p.mu.Lock()
	delete(p.branches, key)
	delete(p.lastLine, key)
	delete(p.started, key)
	p.mu.Unlock()
	p.bar.clear()
}

// assign sets the branch of a component.
func (p *progress) assign(component int64, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.branchOf[component] = key
}

// branch returns the progress of a branch; ok is false if it has none.
func (p *progress) branch(key string) (d done, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok = p.branches[key]
	return d, ok
}

// component returns the progress of the first import of a component, for the API.
func (p *progress) component(id int64) (resource.Progress, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.branches[p.branchOf[id]]
	if !ok {
		return resource.Progress{}, false
	}
	return resource.Progress{Percent: d.percent(), Stage: "importing"}, true
}

func (d done) percent() int {
	if d.total <= 0 {
		return 0
	}
	return max(0, min(100, 100*d.done/d.total))
}
