package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Engine is what serve and sync share: the locked data directory, its store and the syncer.
type Engine struct {
	options   Options
	log       *slog.Logger
	db        *store.DB
	languages *lang.Table
	syncer    *ingest.Syncer
	editor    *editing.Editor
	trust     remote.Trust
	progress  *progress
	unlock    func() error
	cluster   *member      // nil with SQLite
	room      func() error // an error while pulls have too little room on the disk
}

// Options say what a process does.
type Options struct {
	Work    string // WorkServe, WorkAnswer, WorkPull or WorkSync
	Version string // of the program
	Memory  Memory // what it may take
	Logger  *slog.Logger
	// LeaseLength is the length of leases in a cluster; 0: the default.
	LeaseLength time.Duration
	// Line is called every ten seconds of a long pull.
	Line func(branch, done string)
}

// Open locks the data directory of a configuration and opens the database.
func Open(ctx context.Context, c *config.Config, o Options) (e *Engine, err error) {
	if o.Work != WorkServe && o.Work != WorkSync && c.Database.Raw() == "" {
		return nil, ErrNeedsPostgres
	}
	log := o.Logger
	pr := newProgress(time.Now, o.Line)
	unlock, err := lockSoon(ctx, string(c.DataDir))
	if err != nil {
		return nil, err
	}
	e = &Engine{options: o, log: log, progress: pr, unlock: unlock, trust: trust(c), room: diskRoom(string(c.DataDir), c.MinFreeSpace, freeSpace)}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	mirrors := filepath.Join(string(c.DataDir), "mirrors")
	if err := os.MkdirAll(mirrors, 0o700); err != nil {
		return e, fmt.Errorf("the folder of the mirrors %s cannot be made: %w: give this user write access, or change data_dir (--data-dir)", mirrors, errors.Unwrap(err))
	}
	if e.db, err = store.Open(ctx, c.DatabaseAddress(), store.Options{Logger: log, Readers: c.DatabaseReaders, Memory: o.Memory.bytes}); err != nil {
		return e, err
	}
	e.cluster = newMember(e.db, &o)
	if e.languages, err = lang.New(); err != nil {
		return e, fmt.Errorf("reading the language table: %w", err)
	}
	q := &c.Quotas
	e.syncer = ingest.New(ingest.Options{
		DB: e.db, Languages: e.languages, MirrorDir: mirrors, Git: GitOptions(c, log),
		Quotas:      ingest.Quotas{Components: q.Components, Files: q.Files, Units: int64(q.Units), Growth: int64(q.Growth)},
		MaxFileSize: int64(c.MaxFileSize), Memory: o.Memory.imports(), Room: e.room, Now: time.Now, Logger: log, Progress: pr.update,
		Fetched: e.fetched,
	})
	e.editor = editing.New(editing.Options{DB: e.db, Syncer: e.syncer, Languages: e.languages, Room: editRoom(c)})
	return e, nil
}

// The lock is tried lockTries times, lockPause apart: two seconds in all, longer
// than a command such as token holds it.
const (
	lockPause = 50 * time.Millisecond
	lockTries = 40
)

// lockSoon locks the data directory, if need be after a short command has ended.
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

// Close closes the store and unlocks the data directory.
func (e *Engine) Close() error {
	var err error
	if e.syncer != nil {
		e.syncer.Close()
	}
	if e.db != nil {
		err = e.db.Close()
	}
	return errors.Join(err, e.unlock())
}

// GitOptions are the settings of git in a configuration.
func GitOptions(c *config.Config, log *slog.Logger) gitsource.Options {
	return gitsource.Options{Remote: remote.Options{Transport: c.Git, Trust: trust(c), MaxMirror: int64(c.Quotas.Mirror)}, Logger: log}
}

func trust(c *config.Config) remote.Trust {
	return remote.Trust{SafeDirectories: c.SafeDirectories, PrivateDir: string(c.DataDir)}
}

// Configure stores a plan, unless another process has a newer one. While the database
// cannot be written it tries again.
func (e *Engine) Configure(ctx context.Context, p *Plan) error {
	return again(ctx, e.log, store.ErrWriting, func() error { return e.configureOnce(ctx, p) })
}

const configurePause = time.Second

// again calls a function until it returns no error of a kind, or ctx is done.
func again(ctx context.Context, log *slog.Logger, kind error, fn func() error) error {
	for said := false; ; said = true {
		err := fn()
		if !errors.Is(err, kind) {
			return err
		}
		if !said {
			log.Warn("the configuration cannot be stored yet; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(configurePause):
		}
	}
}

func (e *Engine) configureOnce(ctx context.Context, p *Plan) error {
	fenced, newest := ctx, true
	if e.cluster != nil {
		var err error
		if newest, err = e.cluster.adopt(ctx, p); err != nil {
			return err
		}
		fenced = cluster.WithFence(ctx, cluster.Fence{Configuration: e.cluster.configuration()})
	}
	if newest {
		err := e.db.Configure(fenced, p.projects, p.components, p.templates)
		if err == nil {
			err = e.db.SetBots(fenced, p.bots)
		}
		if err != nil && !errors.Is(err, cluster.ErrFenced) { // a newer one, just now
			return fmt.Errorf("storing the configuration: %w", err)
		}
	}
	return nil
}

// fetched is ingest.Options.Fetched: the mirror of another process of a cluster is not ours.
func (e *Engine) fetched(ctx context.Context, key string) (at int64) {
	if e.options.Work == WorkSync { // it has no jobs
		return time.Now().UnixNano()
	}
	if e.cluster != nil {
		at, _ = e.cluster.table.WishedFor(ctx, cluster.Fetched, key) // on an error it is fetched the next time
	}
	return max(1, at)
}

// answersOnly reports whether another process pulls.
func (e *Engine) answersOnly() bool { return e.cluster != nil && e.cluster.process.Work == WorkAnswer }

func (e *Engine) rows(ctx context.Context, b *ingest.Branch) ([]store.BranchComponent, error) {
	if len(b.Components) == 0 {
		return nil, nil
	}
	spec := &b.Components[0].Spec
	rows, err := e.db.Branch(ctx, spec.Repo, spec.Branch)
	if err != nil {
		return nil, fmt.Errorf("reading the components of %s: %w", b.Key, err)
	}
	return rows, nil
}

// unchecked returns the keys of branches with strings to be checked again: settings of a
// component affect its whole project, whose other components may be in other repositories.
func (e *Engine) unchecked(ctx context.Context, p *Plan) (keys []string, err error) {
	err = e.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		rows, err := s.Components(ctx, "")
		if err != nil {
			return err
		}
		branches := make(map[int64]string, len(rows))
		ids := make([]int64, len(rows))
		for i, row := range rows {
			ids[i], branches[row.ID] = row.ID, ingest.BranchKey(row.Repo, row.Branch)
		}
		stale, err := s.Unchecked(ctx, ids)
		for _, id := range stale {
			if p.branch(branches[id]) != nil {
				keys = append(keys, branches[id])
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		return err
	})
	return keys, err
}

// Pull pulls a branch and logs the result.
func (e *Engine) Pull(ctx context.Context, b *ingest.Branch) (ingest.Report, error) {
	began := time.Now()
	report, err := e.syncer.Sync(ctx, *b)
	e.progress.end(b.Key)
	if report.Steps > 0 {
		e.log.Info("pulled", "branch", b.Key, "head", report.Head, "steps", report.Steps, "changes", report.Changes, "took", time.Since(began).Round(time.Millisecond))
	}
	if report.NewFailures.Total > 0 {
		e.log.Info("strings fail quality checks that did not before", "branch", b.Key, "total", report.NewFailures.Total, "first", NewFailureLines(&report, maxLogged))
	}
	return report, err
}

// Puller returns the function that pulls a branch once: in a cluster, when no other process
// pulls it. ErrOlderCopy is the error of an older copy of the configuration.
func (e *Engine) Puller() (func(context.Context, *ingest.Branch) (ingest.Report, error), error) {
	if e.cluster == nil {
		return e.Pull, nil
	}
	if e.cluster.older() {
		return nil, ErrOlderCopy
	}
	puller := e.cluster.puller(0, nil, nil)
	return func(ctx context.Context, b *ingest.Branch) (report ingest.Report, err error) {
		err = puller.Hold(ctx, &schedule.Job{Key: b.Key, Run: func(ctx context.Context) (err error) {
			report, err = e.Pull(ctx, b)
			return err
		}})
		return report, err
	}, nil
}

// Workers is the number of pulls at a time.
func Workers(c *config.Config) int {
	return cmp.Or(c.Workers, max(2, runtime.GOMAXPROCS(0)))
}

// Mirror returns the mirror of the default branch of a repository, which no component has yet.
func (e *Engine) Mirror(ctx context.Context, c *config.Config, address string) (*gitsource.Mirror, error) {
	r := remote.Repository{URL: address, Credential: credential(c.Credentials, address)}
	return e.syncer.Mirror(ctx, ingest.Branch{Key: ingest.BranchKey(address, ""), Remote: r})
}

// Languages is the table of languages.
func (e *Engine) Languages() *lang.Table { return e.languages }

// diskRoom returns a function that returns an error while less than floor is free on
// the disk of a folder. Its text does not depend on how much is: a problem that stays
// the same is stored and logged once. A disk that cannot be asked has room.
func diskRoom(dir string, floor config.Size, free func(dir string) (int64, error)) func() error {
	return func() error {
		if floor <= 0 {
			return nil
		}
		if left, err := free(dir); err != nil || left >= int64(floor) {
			return nil
		}
		return fmt.Errorf("less than %s are free on the disk of data_dir (min_free_space): make room; pulls go on by themselves", floor)
	}
}

// editRoom is like diskRoom for edits: they use half of what pulls leave free, so that a full
// disk of repositories keeps no one from editing. In PostgreSQL they are elsewhere.
func editRoom(c *config.Config) func() error {
	floor := c.MinFreeSpace / 2
	if c.Database.Raw() != "" {
		floor = 0
	}
	return diskRoom(string(c.DataDir), floor, freeSpace)
}

// excused reports whether a pull failed for a reason that says nothing about its
// repository: the database cannot be used, or the disk has too little room.
func (e *Engine) excused(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || e.room() != nil
}
