package main

import (
	"sync"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/ingest"
)

// lineEvery is the time between two plain lines about one long pull.
const lineEvery = 10 * time.Second

// progress remembers how far the pull of each branch is, and shows it: on a
// terminal as a bar, elsewhere in a plain line now and then.
type progress struct {
	now   func() time.Time
	lines func(key string, d done) // told every lineEvery without a bar
	bar   *bar                     // nil without a terminal

	mu       sync.Mutex
	branches map[string]done      // by key of the branch
	told     map[string]time.Time // of the last line, or of the start
	started  map[string]time.Time // of the first news
	of       map[int64]string     // key of the branch by component id
}

// done is a part of a whole; the whole is 0 if it is not known.
type done struct {
	done, total int
	entries     int64         // change entries so far
	took        time.Duration // since the first news of the pull
}

// newProgress makes a progress; b may be nil.
func newProgress(b *bar, now func() time.Time, lines func(key string, d done)) *progress {
	return &progress{
		now: now, lines: lines, bar: b,
		branches: map[string]done{}, told: map[string]time.Time{}, started: map[string]time.Time{}, of: map[int64]string{},
	}
}

// tell is called by ingest.
func (p *progress) tell(key string, news ingest.Progress) {
	d := done{done: news.Done, total: news.Total, entries: news.Entries}
	p.mu.Lock()
	now := p.now()
	if _, ok := p.started[key]; !ok {
		p.started[key] = now
	}
	d.took = now.Sub(p.started[key])
	p.branches[key] = d
	last, known := p.told[key]
	due := known && p.bar == nil && now.Sub(last) >= lineEvery
	if !known || due {
		p.told[key] = now
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
	delete(p.told, key)
	delete(p.started, key)
	p.mu.Unlock()
	p.bar.clear()
}

// belongs says to which branch a component belongs.
func (p *progress) belongs(component int64, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of[component] = key
}

// branch returns how far a branch is; ok is false if no pull told of it.
func (p *progress) branch(key string) (d done, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok = p.branches[key]
	return d, ok
}

// component tells the API how far the first import of a component is.
func (p *progress) component(id int64) (api.Progress, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.branches[p.of[id]]
	if !ok {
		return api.Progress{}, false
	}
	return api.Progress{Percent: d.percent(), Stage: "importing"}, true
}

func (d done) percent() int {
	if d.total <= 0 {
		return 0
	}
	return max(0, min(100, 100*d.done/d.total))
}
