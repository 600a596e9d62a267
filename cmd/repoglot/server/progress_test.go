package server

import (
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

func TestProgressLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var lines []string
	p := newProgress(func() time.Time { return now }, func(branch, done string) { lines = append(lines, branch+": "+done) })
	component := &store.ComponentRow{Component: catalog.Component{Repo: "https://example.org/k", Branch: "main"}}
	const key = "https://example.org/k#main"
	for i := range 25 {
		p.update(key, ingest.Progress{Done: i, Total: 50})
		now = now.Add(time.Second)
	}
	if got := strings.Join(lines, ", "); got != key+": 10 of 50, "+key+": 20 of 50" {
		t.Errorf("lines: %s", got)
	}
	if got, ok := p.component(component); !ok || got != 48 {
		t.Errorf("component: %d, %v", got, ok)
	}
	p.end(key)
	if _, ok := p.component(component); ok {
		t.Error("progress after the end")
	}
	if _, ok := p.branch("other"); ok {
		t.Error("progress of an unknown branch")
	}
}

func TestProgressText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		done pulling
	}{
		{"1 of 4", pulling{Progress: ingest.Progress{Done: 1, Total: 4}}},
		{"…", pulling{Progress: ingest.Progress{Done: 5}}},
		{"1000 of 4000, 30000 entries/s, 9s left", pulling{Progress: ingest.Progress{Done: 1000, Total: 4000, Entries: 90000}, took: 3 * time.Second}},
	} {
		if got := c.done.String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.done, got, c.want)
		}
	}
}
