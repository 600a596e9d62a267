package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestProgressLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var lines []string
	p := newProgress(nil, func() time.Time { return now }, func(key string, d done) { lines = append(lines, key+": "+d.String()) })
	p.belongs(7, "k")
	for i := range 25 {
		p.tell("k", i, 50)
		now = now.Add(time.Second)
	}
	if got := strings.Join(lines, ", "); got != "k: 10 of 50, k: 20 of 50" {
		t.Errorf("lines: %s", got)
	}
	if got, ok := p.component(7); !ok || got.Percent != 48 {
		t.Errorf("component: %+v, %v", got, ok)
	}
	p.end("k")
	if _, ok := p.component(7); ok {
		t.Error("progress after the end")
	}
	if _, ok := p.branch("other"); ok {
		t.Error("progress of an unknown branch")
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	b := &bar{w: &screen}
	p := newProgress(b, time.Now, func(string, done) { t.Error("a line beside the bar") })
	p.tell("k", 1, 4)
	p.tell("k", 1, 4)
	fmt.Fprintln(b.above(&screen), "text")
	p.tell("k", 4, 4)
	p.end("k")
	want := eraseLine + "[#####...............] 1 of 4 k" + eraseLine + "text\n" + eraseLine + "[####################] 4 of 4 k" + eraseLine
	if got := screen.String(); got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
	if line := barLine(strings.Repeat("ž", 200), done{465, 465}); utf8.RuneCountInString(line) > 79 {
		t.Errorf("a bar of %d columns", utf8.RuneCountInString(line))
	}
	if got := barLine("k", done{5, 0}); got != "[....................] … k" {
		t.Errorf("bar without a total: %q", got)
	}
}
