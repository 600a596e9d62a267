package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// eraseLine puts a terminal's cursor at the start of an empty line.
const eraseLine = "\r\x1b[K"

// progressBar is a progress bar in the last line of a terminal. A nil bar shows
// nothing.
type progressBar struct {
	mu    sync.Mutex
	w     io.Writer
	shown string
}

// newProgressBar returns a bar if w is a terminal, else nil.
func newProgressBar(w io.Writer) *progressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progressBar{w: w}
}

// show draws the progress of a branch.
func (b *progressBar) show(key string, d done) {
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

// clear erases the bar.
func (b *progressBar) clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
}

// erase is clear for callers that hold b.mu.
func (b *progressBar) erase() {
	if b.shown != "" {
		b.shown = ""
		fmt.Fprint(b.w, eraseLine)
	}
}

// above returns a writer for other text on the same terminal, which erases the bar
// until the next show.
func (b *progressBar) above(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return aboveBar{b, w}
}

type aboveBar struct {
	bar *progressBar
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
func barLine(key string, d done) string {
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
func (d done) String() string {
	if d.total <= 0 {
		return "…"
	}
	text := fmt.Sprintf("%d of %d", d.done, d.total)
	if d.entries == 0 || d.done <= 0 || d.took < time.Second {
		return text
	}
	left := time.Duration(float64(d.took) * float64(d.total-d.done) / float64(d.done))
	return fmt.Sprintf("%s, %.0f entries/s, %s left", text, float64(d.entries)/d.took.Seconds(), left.Round(time.Second))
}
