package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/repoglot/repoglot/api"
)

// progress remembers how far the pull of each branch is.
type progress struct {
	mu       sync.Mutex
	branches map[string]done  // by key of the branch
	of       map[int64]string // key of the branch by component id
	bar      *bar             // nil without a terminal
}

// done is a part of a whole; the whole is 0 if it is not known.
type done struct{ done, total int }

func newProgress(w io.Writer) *progress {
	return &progress{branches: map[string]done{}, of: map[int64]string{}, bar: newBar(w)}
}

// tell is called by ingest.
func (p *progress) tell(key string, n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.branches[key] = done{n, total}
	p.bar.show(key, n, total)
}

// end forgets a branch whose pull has ended.
func (p *progress) end(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.branches, key)
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
	return min(100, 100*d.done/d.total)
}

// bar is a progress bar on a terminal. A nil bar shows nothing.
type bar struct {
	w     io.Writer
	shown string
}

// newBar returns a bar if w is a terminal, else nil.
func newBar(w io.Writer) *bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &bar{w: w}
}

func (b *bar) show(key string, n, total int) {
	if b == nil {
		return
	}
	line := barLine(key, n, total)
	if line == b.shown {
		return
	}
	b.shown = line
	fmt.Fprintf(b.w, "\r\x1b[K%s", line)
}

func (b *bar) clear() {
	if b == nil || b.shown == "" {
		return
	}
	b.shown = ""
	fmt.Fprint(b.w, "\r\x1b[K")
}

// barLine draws a bar, at most 79 columns wide.
func barLine(key string, n, total int) string {
	const width, room = 20, 40
	if r := []rune(key); len(r) > room {
		key = "…" + string(r[len(r)-room+1:])
	}
	full := width * done{n, total}.percent() / 100
	count := "…"
	if total > 0 {
		count = fmt.Sprintf("%d/%d", n, total)
	}
	return fmt.Sprintf("[%s%s] %s %s", strings.Repeat("#", full), strings.Repeat(".", width-full), count, key)
}
