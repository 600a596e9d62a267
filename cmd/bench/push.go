package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
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
	repo, err := testrepos.Generate(filepath.Join(b.dir, "push.git"), testrepos.GenSpec{Name: "push", Entries: pushEntries})
	if err != nil {
		return err
	}
	config, err := b.writeConfig("push", repo.Path(), "        filemask: po/*.po\n")
	if err != nil {
		return err
	}
	s, err := b.serve(ctx, config)
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		body, _, err := s.get("/api/translations/bench/it/cs/changes/?ordering=-id&page_size=1")
		if err != nil {
			return err
		}
		if bytes.Contains(body, text) {
			return nil
		}
	}
	return fmt.Errorf("the pushed string does not appear:\n%s", s.out.String())
}
