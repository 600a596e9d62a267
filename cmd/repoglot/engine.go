package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource"
)

// engine is what serve and sync have in common: the locked data directory, the
// store in it and the syncer above.
type engine struct {
	log       *slog.Logger
	db        *store.DB
	languages *lang.Table
	syncer    *ingest.Syncer
	progress  *progress
	unlock    func() error
}

// openEngine locks the data directory and opens what is in it.
func openEngine(ctx context.Context, c *config.Config, log *slog.Logger, pr *progress) (e *engine, err error) {
	unlock, err := lockSoon(ctx, string(c.DataDir))
	if err != nil {
		return nil, err
	}
	e = &engine{log: log, progress: pr, unlock: unlock}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	mirrors := filepath.Join(string(c.DataDir), "mirrors")
	if err := os.MkdirAll(mirrors, 0o700); err != nil {
		return e, fmt.Errorf("the folder of the mirrors %s cannot be made: %w: give this user write access, or change data_dir", mirrors, errors.Unwrap(err))
	}
	if e.db, err = store.Open(ctx, databasePath(c), store.Options{Logger: log}); err != nil {
		return e, err
	}
	if e.languages, err = lang.New(); err != nil {
		return e, fmt.Errorf("reading the language table: %w", err)
	}
	e.syncer = ingest.New(ingest.Options{
		DB: e.db, Languages: e.languages, MirrorDir: mirrors, Git: gitOptions(c, log),
		MaxFileSize: int64(c.MaxFileSize), Now: time.Now, Logger: log, Progress: pr.tell,
	})
	return e, nil
}

// Between two tries to get the lock passes lockPause, and there are lockTries:
// two seconds, which is more than a command such as token needs it for.
const (
	lockPause = 50 * time.Millisecond
	lockTries = 40
)

// lockSoon locks the data directory, perhaps after a command that is about to end.
func lockSoon(ctx context.Context, dir string) (unlock func() error, err error) {
	tick := time.NewTicker(lockPause)
	defer tick.Stop()
	for range lockTries {
		if unlock, err = store.Lock(dir); !errors.Is(err, store.ErrLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick.C:
		}
	}
	return nil, err
}

// close gives back what openEngine took.
func (e *engine) close() error {
	var err error
	if e.db != nil {
		err = e.db.Close()
	}
	return errors.Join(err, e.unlock())
}

func gitOptions(c *config.Config, log *slog.Logger) gitsource.Options {
	return gitsource.Options{Transport: string(c.Git), Logger: log}
}

// configure makes the store hold a plan.
func (e *engine) configure(ctx context.Context, p *plan) error {
	if err := e.db.Configure(ctx, p.projects, p.components, p.templates); err != nil {
		return fmt.Errorf("storing the configuration: %w", err)
	}
	if err := e.db.SetBots(ctx, p.bots); err != nil {
		return fmt.Errorf("storing the configuration: %w", err)
	}
	for i := range p.branches {
		if err := e.learn(ctx, &p.branches[i]); err != nil {
			return err
		}
	}
	return nil
}

// learn notes which components belong to a branch, for their progress.
func (e *engine) learn(ctx context.Context, b *ingest.Branch) error {
	rows, err := e.rows(ctx, b)
	if err != nil {
		return err
	}
	for i := range rows {
		e.progress.belongs(rows[i].ID, b.Key)
	}
	return nil
}

// rows are the stored components of a branch.
func (e *engine) rows(ctx context.Context, b *ingest.Branch) ([]store.BranchComponent, error) {
	spec := &b.Components[0].Spec
	rows, err := e.db.Branch(ctx, spec.Repo, spec.Branch)
	if err != nil {
		return nil, fmt.Errorf("reading the components of %s: %w", b.Key, err)
	}
	return rows, nil
}

// unchecked are the keys of the branches with strings whose checks no longer
// count: a component's settings decide about those of its whole project, and the
// others of that are in other repositories perhaps.
func (e *engine) unchecked(ctx context.Context, p *plan) (keys []string, err error) {
	for i := range p.branches {
		rows, err := e.rows(ctx, &p.branches[i])
		if err != nil {
			return nil, err
		}
		ids := make([]int64, len(rows))
		for j := range rows {
			ids[j] = rows[j].ID
		}
		if err := e.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
			stale, err := s.Unchecked(ctx, ids)
			if len(stale) > 0 {
				keys = append(keys, p.branches[i].Key)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// pull is one pull of a branch; what it did is logged.
func (e *engine) pull(ctx context.Context, b *ingest.Branch) (ingest.Report, error) {
	began := time.Now()
	report, err := e.syncer.Sync(ctx, *b)
	e.progress.end(b.Key)
	if report.Steps > 0 {
		e.log.Info("pulled", "branch", b.Key, "head", report.Head, "steps", report.Steps, "changes", report.Changes, "took", time.Since(began).Round(time.Millisecond))
	}
	if report.NewFailures.Total > 0 {
		e.log.Info("strings fail quality checks that did not before", "branch", b.Key, "total", report.NewFailures.Total, "first", newFailureLines(&report, logged))
	}
	return report, err
}
