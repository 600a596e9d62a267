package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of pages of units, and what the peer reached.
const (
	limitPage     = 2   // ms, 50 units from the store
	limitDeep     = 2   // page 1,000 against page 1
	weblatePageMS = 300 // ms, 53,612 entries
	pageEntries   = 1_000_000
	pageRequests  = 300
)

// page measures pages of units of a translation of a million.
func (b *bench) page(ctx context.Context) error {
	repo, err := testrepos.Generate(filepath.Join(b.dir, "page.git"), testrepos.GenSpec{Name: "page", Entries: pageEntries})
	if err != nil {
		return err
	}
	config, err := b.writeConfig("page", repo.Path(), "        filemask: po/*.po\n")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, append([]byte("max_file_size: 1GiB\nresponse_cache: 0\n"), text...), 0o644); err != nil {
		return err
	}
	s, err := b.serve(ctx, config)
	if err != nil {
		return err
	}
	defer s.stop()
	first, err := s.pages(1)
	if err != nil {
		return err
	}
	deep, err := s.pages(1000)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("page of 50 units of %d, over HTTP, median of %d", pageEntries, pageRequests), "ms", first, limitPage)
	b.row("  against Weblate 5.4.2 (recorded, 53,612 entries)", "ms", first, weblatePageMS)
	b.row("  page 1,000 against page 1", "×", deep/first, limitDeep)
	return nil
}

func (s *server) pages(page int) (float64, error) {
	var took []time.Duration
	for i := range pageRequests + 20 {
		_, d, err := s.get(fmt.Sprintf("/api/translations/bench/it/cs/units/?page=%d&page_size=50", page))
		if err != nil {
			return 0, err
		}
		if i >= 20 {
			took = append(took, d)
		}
	}
	return median(took), nil
}
