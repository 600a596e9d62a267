package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// The limits of a replay of a whole history.
const (
	limitEntries    = 30000 // change entries/s
	limitCommits    = 500   // first-parent commits/s
	limitReplayRSS  = 350   // MiB
	limitRestart    = 500   // ms
	replayRuns      = 3
	restarts        = 5 // of a server, measured
	anyLanguageCode = "        language_regex: \".*\"\n"
)

// replayed is a repository whose history is replayed. One of the rates is
// limited.
type replayed struct {
	name       string
	components map[string]string
	entries    bool // the limit is on entries/s, else on commits/s
}

func replayedRepos() []replayed {
	return []replayed{
		{"vim-po", map[string]string{
			"it": "        filemask: src/po/*.po\n        new_base: src/po/vim.pot\n" + anyLanguageCode,
		}, true},
		{"gtranslator-po", map[string]string{
			"it":   "        filemask: po/*.po\n" + anyLanguageCode,
			"help": "        filemask: help/*/*.po\n" + anyLanguageCode,
		}, true},
		{"switchboard", map[string]string{
			"it":    "        filemask: po/*.po\n        new_base: po/io.elementary.settings.pot\n" + anyLanguageCode,
			"extra": "        filemask: po/extra/*.po\n        new_base: po/extra/extra.pot\n" + anyLanguageCode,
		}, false},
	}
}

// replay measures replays of whole histories, as whole processes with an existing
// mirror, and the start of a server after them.
func (b *bench) replay(ctx context.Context) error {
	for _, r := range replayedRepos() {
		repo, err := b.cloneBundle(ctx, r.name)
		if err != nil {
			return err
		}
		if repo == "" {
			fmt.Fprintf(b.out, "replay of %s: not measured, there is no shared data\n", r.name)
			continue
		}
		if err := b.replayOne(ctx, r, repo); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (b *bench) replayOne(ctx context.Context, r replayed, repo string) error {
	config, err := b.writeComponents(ctx, "replay-"+r.name, repo, "full", r.components)
	if err != nil {
		return err
	}
	if _, err := b.sync(ctx, config); err != nil { // makes the mirror
		return err
	}
	best, rss, err := b.importAgain(ctx, config, replayRuns)
	if err != nil {
		return err
	}
	entries, restart, err := b.afterReplay(ctx, config)
	if err != nil {
		return err
	}
	idle, err := b.sync(ctx, config) // also finds out that there is nothing to pull
	if err != nil {
		return err
	}
	out, err := git(ctx, "-C", repo, "rev-list", "--first-parent", "--count", "HEAD")
	if err != nil {
		return err
	}
	commits, err := strconv.Atoi(out)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("replay of %s, %d entries, %d commits, best of %d", r.name, entries, commits, replayRuns)
	if r.entries {
		b.rate(what, "entries/s", float64(entries)/best.wall.Seconds(), limitEntries)
	} else {
		b.rate(what, "commits/s", float64(commits)/best.wall.Seconds(), limitCommits)
	}
	b.row(fmt.Sprintf("  peak RSS, highest of %d", replayRuns), "MiB", rss, limitReplayRSS)
	b.row(fmt.Sprintf("  restart until ready, median of %d", restarts), "ms", restart, limitRestart)
	b.row("  sync that finds nothing, start to exit", "ms", float64(idle.wall.Microseconds())/1000, limitRestart)
	return nil
}

// afterReplay counts the entries and measures starts of a server without new commits.
func (b *bench) afterReplay(ctx context.Context, config string) (entries int64, ready float64, err error) {
	var took []time.Duration
	for range restarts {
		started := time.Now()
		s, err := b.serve(ctx, config)
		if err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(started))
		entries, err = s.count("/api/changes/")
		s.stop()
		if err != nil {
			return 0, 0, err
		}
	}
	return entries, median(took), nil
}
