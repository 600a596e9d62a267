package main

import (
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest"
)

func TestProgressLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var lines []string
	p := newProgress(nil, func() time.Time { return now }, func(key string, d done) { lines = append(lines, key+": "+d.String()) })
	p.assign(7, "k")
	for i := range 25 {
		p.update("k", ingest.Progress{Done: i, Total: 50})
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
