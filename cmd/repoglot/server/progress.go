package server

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// lineEvery is the time between two log lines about one long pull.
const lineEvery = 10 * time.Second

// progress keeps the progress of the pull of each branch and shows it: on a
// terminal as a bar, elsewhere as a line every lineEvery.
type progress struct {
	now   func() time.Time
	lines func(branch, done string) // called every lineEvery without a bar
	bar   *Bar                      // nil without a terminal

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

// newProgress makes a progress; b may be nil.
func newProgress(b *Bar, now func() time.Time, lines func(branch, done string)) *progress {
	return &progress{now: now, lines: lines, bar: b, branches: map[string]pulling{}}
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
	due := p.bar == nil && at.Sub(b.lastLine) >= lineEvery
	if due {
		b.lastLine = at
	}
	p.branches[key] = b
	p.mu.Unlock()
	p.bar.show(key, b)
	if due {
		p.lines(key, b.String())
	}
}

func (p *progress) end(key string) {
	p.mu.Lock()
	delete(p.branches, key)
	p.mu.Unlock()
	p.bar.clear()
}

// branch returns the progress of a branch; ok is false if it has none.
func (p *progress) branch(key string) (d pulling, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok = p.branches[key]
	return d, ok
}

// component returns the progress of the first import of a component, for the API.
func (p *progress) component(c *store.ComponentRow) (resource.Progress, bool) {
	d, ok := p.branch(ingest.BranchKey(c.Repo, c.Branch))
	return resource.Progress{Percent: d.percent(), Stage: "importing"}, ok
}

func (d pulling) percent() int {
	if d.Total <= 0 {
		return 0
	}
	return max(0, min(100, 100*d.Done/d.Total))
}

// eraseLine puts a terminal's cursor at the start of an empty line.
const eraseLine = "\r\x1b[K"

// Bar is a progress bar in the last line of a terminal. A nil bar shows
// nothing.
type Bar struct {
	mu    sync.Mutex
	w     io.Writer
	shown string
}

// NewBar returns a bar if w is a terminal, else nil.
func NewBar(w io.Writer) *Bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Bar{w: w}
}

func (b *Bar) show(key string, d pulling) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if line := barLine(key, d); line != b.shown {
		b.shown = line
		fmt.Fprint(b.w, eraseLine+line)
	}
}

func (b *Bar) clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
}

// erase is clear for callers that hold b.mu.
func (b *Bar) erase() {
	if b.shown != "" {
		b.shown = ""
		fmt.Fprint(b.w, eraseLine)
	}
}

// Above returns a writer for other text on the same terminal, which erases the bar
// until the next show.
func (b *Bar) Above(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return aboveBar{b, w}
}

type aboveBar struct {
	bar *Bar
	w   io.Writer
}

// Write writes whole lines above the bar.
func (a aboveBar) Write(p []byte) (int, error) {
	a.bar.mu.Lock()
	defer a.bar.mu.Unlock()
	a.bar.erase()
	return a.w.Write(p)
}

// barLine draws a bar, at most 79 columns wide.
func barLine(key string, d pulling) string {
	const width, columns = 20, 79
	text := d.String()
	room := max(8, min(40, columns-width-4-utf8.RuneCountInString(text)))
	if r := []rune(key); len(r) > room {
		key = "…" + string(r[len(r)-room+1:])
	}
	full := width * d.percent() / 100
	return fmt.Sprintf("[%s%s] %s %s", strings.Repeat("#", full), strings.Repeat(".", width-full), text, key)
}

// String is like "3 of 10", or "…" if the total is unknown; with entries it is
// like "3 of 10, 12000 entries/s, 3s left".
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
