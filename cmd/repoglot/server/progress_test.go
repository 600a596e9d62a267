package server

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

func TestProgressLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var lines []string
	p := newProgress(nil, func() time.Time { return now }, func(branch, done string) { lines = append(lines, branch+": "+done) })
	component := &store.ComponentRow{Component: catalog.Component{Repo: "https://example.org/k", Branch: "main"}}
	const key = "https://example.org/k#main"
	for i := range 25 {
		p.update(key, ingest.Progress{Done: i, Total: 50})
		now = now.Add(time.Second)
	}
	if got := strings.Join(lines, ", "); got != key+": 10 of 50, "+key+": 20 of 50" {
		t.Errorf("lines: %s", got)
	}
	if got, ok := p.component(component); !ok || got.Percent != 48 {
		t.Errorf("component: %+v, %v", got, ok)
	}
	p.end(key)
	if _, ok := p.component(component); ok {
		t.Error("progress after the end")
	}
	if _, ok := p.branch("other"); ok {
		t.Error("progress of an unknown branch")
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	b := &Bar{w: &screen}
	p := newProgress(b, time.Now, func(string, string) { t.Error("a line beside the bar") })
	p.update("k", ingest.Progress{Done: 1, Total: 4})
	p.update("k", ingest.Progress{Done: 1, Total: 4})
	fmt.Fprintln(b.Above(&screen), "text")
	p.update("k", ingest.Progress{Done: 4, Total: 4})
	p.end("k")
	want := eraseLine + "[#####...............] 1 of 4 k" + eraseLine + "text\n" + eraseLine + "[####################] 4 of 4 k" + eraseLine
	if got := screen.String(); got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
	replay := pulling{Progress: ingest.Progress{Done: 1000, Total: 4000, Entries: 90000}, took: 3 * time.Second}
	if got := barLine("k", replay); got != "[#####...............] 1000 of 4000, 30000 entries/s, 9s left k" {
		t.Errorf("bar of a replay: %q", got)
	}
	if line := barLine(strings.Repeat("ž", 200), replay); utf8.RuneCountInString(line) > 79 {
		t.Errorf("the bar of a replay has %d columns", utf8.RuneCountInString(line))
	}
	if line := barLine(strings.Repeat("ž", 200), pulling{Progress: ingest.Progress{Done: 465, Total: 465}}); utf8.RuneCountInString(line) > 79 {
		t.Errorf("a bar of %d columns", utf8.RuneCountInString(line))
	}
	if got := barLine("k", pulling{Progress: ingest.Progress{Done: 5}}); got != "[....................] … k" {
		t.Errorf("bar without a total: %q", got)
	}
}
