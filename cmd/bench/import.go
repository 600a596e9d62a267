package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of a first import of a head, and what the peer reached.
const (
	limitUnits      = 50000 // units/s of a first import, after the clone
	limitRSS        = 400   // MiB, clone included
	weblateUnits    = 270   // units/s, the same repository
	generatedLangs  = 30
	generatedString = 3200
)

// importHead measures a first import with and without the clone.
func (b *bench) importHead(ctx context.Context) error {
	mask, what := "        filemask: src/po/*.po\n        new_base: src/po/vim.pot\n        language_regex: \".*\"\n", "vim-po"
	repo, err := b.cloneBundle(ctx, "vim-po")
	if err != nil {
		return err
	}
	if repo == "" {
		repo, mask, what = filepath.Join(b.dir, "generated.git"), "        filemask: po/*.po\n", "generated (no shared data)"
		if _, err := testrepos.Generate(repo, testrepos.GenSpec{Languages: testrepos.Languages(generatedLangs), Entries: generatedString}); err != nil {
			return err
		}
	}
	config, err := b.writeConfig(ctx, "import", repo, mask)
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
	best, _, err := b.importAgain(ctx, config, 3)
	if err != nil {
		return err
	}
	rate := float64(units) / best.wall.Seconds()
	b.rate(fmt.Sprintf("first import of %s, %d units, whole process", what, units), "/s", rate, limitUnits)
	b.rate("  against Weblate 5.4.2 (recorded)", "/s", rate, weblateUnits)
	b.row("  peak RSS with go-git's clone", "MiB", first.rss, limitRSS)
	b.row("  peak RSS of the import alone", "MiB", best.rss, limitRSS)
	return nil
}

// importAgain imports with the existing mirrors into a new database, some times. It
// returns the fastest run and the highest memory.
func (b *bench) importAgain(ctx context.Context, config string, runs int) (best usage, rss float64, err error) {
	for range runs {
		if err := b.emptyDatabase(ctx, config); err != nil {
			return best, 0, err
		}
		u, err := b.sync(ctx, config)
		if err != nil {
			return best, 0, err
		}
		if best.wall == 0 || u.wall < best.wall {
			best = u
		}
		rss = max(rss, u.rss)
	}
	return best, rss, nil
}

// emptyDatabase keeps the mirrors.
func (b *bench) emptyDatabase(ctx context.Context, config string) error {
	dir := filepath.Dir(config)
	if b.server == "" {
		return removeDatabase(filepath.Join(dir, "data"))
	}
	_, err := b.schema(ctx, filepath.Base(dir))
	return err
}

// removeDatabase keeps the mirrors, so that the next sync clones nothing.
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
