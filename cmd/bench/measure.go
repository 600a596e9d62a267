package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of the first part, and what the peer reached on such a machine.
const (
	limitUnits      = 50000 // units/s of a first import, after the clone
	limitRSS        = 400   // MiB, clone included
	limitPush       = 300   // ms from push to visible, 20,000 entries
	limitPage       = 2     // ms, 50 units from the store
	limitDeep       = 2     // page 1,000 against page 1
	weblateUnits    = 270   // units/s, the same repository
	weblatePushMS   = 17000 // ms, 53,612 entries
	weblatePageMS   = 300   // ms, 53,612 entries
	pushEntries     = 20000
	pushes          = 20
	pageEntries     = 1_000_000
	pageRequests    = 300
	generatedLangs  = 30
	generatedString = 3200
)

// importHead measures a first import with and without the clone.
func (b *bench) importHead(ctx context.Context) error {
	repo, mask, what := filepath.Join(b.dir, "vim.git"), "        filemask: src/po/*.po\n        new_base: src/po/vim.pot\n        language_regex: \".*\"\n", "vim-po"
	bundle := filepath.Join(b.shared, "data/repos/vim-po.bundle")
	if _, err := os.Stat(bundle); err == nil {
		if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--bare", bundle, repo).CombinedOutput(); err != nil {
			return fmt.Errorf("git clone: %w\n%s", err, out)
		}
	} else {
		repo, mask, what = filepath.Join(b.dir, "generated.git"), "        filemask: po/*.po\n", "generated (no shared data)"
		if _, err := testrepos.Generate(repo, testrepos.GenSpec{Languages: testrepos.Languages(generatedLangs), Entries: generatedString}); err != nil {
			return err
		}
	}
	config, err := b.writeConfig("import", repo, mask)
	if err != nil {
		return err
	}
	first, err := b.sync(ctx, config)
	if err != nil {
		return err
	}
	units, err := b.countUnits(ctx, config)
	if err != nil {
		return err
	}
	var best usage
	for range 3 {
		if err := removeDatabase(filepath.Join(filepath.Dir(config), "data")); err != nil {
			return err
		}
		u, err := b.sync(ctx, config)
		if err != nil {
			return err
		}
		if best.wall == 0 || u.wall < best.wall {
			best = u
		}
	}
	rate := float64(units) / best.wall.Seconds()
	b.rate(fmt.Sprintf("first import of %s, %d units, whole process", what, units), "/s", rate, limitUnits)
	b.rate("  against Weblate 5.4.2 (recorded)", "/s", rate, weblateUnits)
	b.row("  peak RSS with go-git's clone", "MiB", first.rss, limitRSS)
	b.row("  peak RSS of the import alone", "MiB", best.rss, limitRSS)
	return nil
}

// removeDatabase leaves the mirrors, so that the next sync clones nothing.
func removeDatabase(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.db*"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no database in %s", dir)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// countUnits asks the API for the units of all translations.
func (b *bench) countUnits(ctx context.Context, config string) (int64, error) {
	s, err := b.serve(ctx, config)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	body, _, err := s.get("/api/components/bench/it/translations/?page_size=1000")
	if err != nil {
		return 0, err
	}
	var page struct {
		Results []struct{ Total int64 }
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return 0, err
	}
	var units int64
	for _, r := range page.Results {
		units += r.Total
	}
	return units, nil
}

// push measures how long one pushed string takes to be visible.
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
	if err := os.WriteFile(config, append([]byte("max_file_size: 1GiB\n"), text...), 0o644); err != nil {
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
