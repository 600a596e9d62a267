package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// Editors that change strings at once.
const (
	editors       = 100
	editsASecond  = 50
	editsOfEach   = 10
	limitEditP99  = 50 // ms
	editedStrings = 20_000
)

// edits measures editors who send an edit each now and then, all into one translation,
// from when an edit is due until it is answered, and so durable.
func (b *bench) edits(ctx context.Context) error {
	repo, err := testrepos.Generate(filepath.Join(b.dir, "edits.git"), testrepos.GenSpec{Name: "edits", Entries: editedStrings})
	if err != nil {
		return err
	}
	config, err := b.writeConfig(ctx, "edits", repo.Path(), "        filemask: po/*.po\n        push_mode: direct\n        flush: 24h\n        flush_max: 100000\n")
	if err != nil {
		return err
	}
	s, err := b.serve(ctx, config)
	if err != nil {
		return err
	}
	defer s.stop()
	key, err := exec.CommandContext(ctx, b.binary, "token", "create", "--config", config, "--scope", "write", "--author", "Jana", "--email", "jana@example.org", "jana").Output()
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	body, _, err := s.get("/api/translations/bench/it/cs/units/?page_size=1000")
	if err != nil {
		return err
	}
	var list struct{ Results []struct{ ID int64 } }
	if err := json.Unmarshal(body, &list); err != nil || len(list.Results) < editors*editsOfEach {
		return errors.Join(err, fmt.Errorf("%d strings", len(list.Results)))
	}
	before, err := s.cpu()
	if err != nil {
		return err
	}
	var all []time.Duration
	var failed error
	var mu sync.Mutex
	var running sync.WaitGroup
	start := time.Now()
	for i := range editors {
		running.Go(func() {
			for n := range editsOfEach {
				number := n*editors + i
				due := start.Add(time.Duration(number) * time.Second / editsASecond)
				time.Sleep(time.Until(due))
				err := s.patch(ctx, strings.TrimSpace(string(key)), list.Results[number].ID, fmt.Sprintf("Text %d", number))
				took := time.Since(due)
				mu.Lock()
				all, failed = append(all, took), errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	after, err := s.cpu()
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	slices.Sort(all)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.row(fmt.Sprintf("%d editors, %d edits a second: answered, p99 of %d", editors, editsASecond, len(all)), "ms", ms(all[len(all)*99/100]), limitEditP99)
	b.figure("  median", "ms", ms(all[len(all)/2]))
	b.figure("  processor time of the server for each", "ms", ms((after-before)/time.Duration(len(all))))
	return nil
}

// patch sends an edit.
func (s *server) patch(ctx context.Context, key string, unit int64, text string) error {
	body, err := json.Marshal(map[string]any{"target": []string{text}, "state": 20})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, fmt.Sprintf("%s/api/units/%d/", s.base, unit), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Token "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("PATCH units/%d/: %s", unit, resp.Status)
	}
	return nil
}
