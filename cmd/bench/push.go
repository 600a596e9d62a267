package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limit of a push until it is visible, and what the peer reached.
const (
	limitPush     = 300   // ms from push to visible, 20,000 entries
	weblatePushMS = 17000 // ms, 53,612 entries
	pushEntries   = 20000
	pushes        = 20
)

// push measures the time until a pushed string is visible.
func (b *bench) push(ctx context.Context) error {
	s, repo, err := b.serveGenerated(ctx, testrepos.GenSpec{Name: "push", Entries: pushEntries}, "")
	if err != nil {
		return err
	}
	defer s.stop()
	var took []time.Duration
	for i := range pushes {
		edited, err := repo.EditString("cs", i*977)
		if err != nil {
			return err
		}
		pushed := time.Now()
		if err := s.waitFor(edited.Target); err != nil {
			return err
		}
		took = append(took, time.Since(pushed))
	}
	b.row(fmt.Sprintf("one string pushed, %d entries: visible, median of %d", pushEntries, pushes), "ms", median(took), limitPush)
	b.row("  against Weblate 5.4.2 (recorded, 53,612 entries)", "ms", median(took), weblatePushMS)
	return nil
}

// waitFor polls the newest change until it shows the target.
func (s *server) waitFor(target string) error {
	text, err := json.Marshal(target)
	if err != nil {
		return err
	}
	return s.waitUntil(time.Minute, time.Millisecond, "the pushed string", func() (bool, error) {
		body, _, err := s.get("/api/translations/bench/it/cs/changes/?ordering=-id&page_size=1")
		return bytes.Contains(body, text), err
	})
}
