package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// Options configure a Syncer. DB, Languages and MirrorDir are required.
type Options struct {
	// DB is the store of units and changes.
	DB *store.DB
	// Languages is the language table.
	Languages *lang.Table
	// MirrorDir is the folder of the local mirrors. It is a cache.
	MirrorDir string
	// Git are the options of the mirrors.
	Git gitsource.Options
	// MaxFileSize bounds a PO file in bytes; 0: 128 MiB.
	MaxFileSize int64
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Logger; nil: silence.
	Logger *slog.Logger
	// Progress, if set, is called with the progress of the pull of a branch; key
	// is Branch.Key. It must be quick and safe for concurrent use.
	Progress func(key string, p Progress)
}

// Progress is how far a pull is.
type Progress struct {
	// Done and Total count commits of a replay, or components of an import
	// without history. Total is 0 if it is not known.
	Done, Total int
	// Entries is the number of change entries that this pull has made.
	Entries int64
}

// Syncer pulls branches into the store. It is safe for concurrent use. Pulls of
// one branch wait for each other.
type Syncer struct {
	db          *store.DB
	table       *lang.Table
	mirrorDir   string
	git         gitsource.Options
	maxFileSize int64
	now         func() time.Time
	log         *slog.Logger
	progress    func(key string, p Progress)
	metrics     *metrics
	hooked      hookTimes

	bounds replayBounds

	mu      sync.Mutex
	mirrors map[string]*mirror
}

const defaultMaxFileSize = 128 << 20

// New makes a Syncer.
func New(o Options) *Syncer {
	s := &Syncer{
		db: o.DB, table: o.Languages, mirrorDir: o.MirrorDir, git: o.Git, maxFileSize: o.MaxFileSize,
		now: o.Now, log: o.Logger, progress: o.Progress, metrics: newMetrics(),
		bounds: defaultReplayBounds(), mirrors: make(map[string]*mirror),
	}
	if s.maxFileSize <= 0 {
		s.maxFileSize = defaultMaxFileSize
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.progress == nil {
		s.progress = func(string, Progress) {}
	}
	return s
}

// Sync is one pull: it fetches the branch and brings all of its components to
// its head, step by step. The error says why the branch as a whole could not be
// pulled, and joins the errors of its components. A component that fails does
// not stop the others; its error is in its report, too. After an error nothing
// is half-done: the next Sync continues.
func (s *Syncer) Sync(ctx context.Context, b Branch) (Report, error) {
	m, err := s.take(ctx, b)
	if err != nil {
		return Report{}, err
	}
	defer m.give()
	started := s.now() // after take: pulls of a branch are in order of time
	p := &pull{s: s, branch: b, at: started.UTC().Truncate(time.Microsecond), changes: make(map[int64]int64)}
	report, err := p.run(ctx, m)
	s.metrics.pull(s.now().Sub(started), &report, err)
	if err != nil {
		return report, fmt.Errorf("pull %s: %w", b.Key, err)
	}
	return report, nil
}
