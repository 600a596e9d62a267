package sqldb

import (
	"io/fs"
	"log/slog"
	"runtime"
	"time"
)

// Options are the settings of Open. The zero value is usable.
type Options struct {
	// Logger gets a line per opened database and per migration; nil discards
	// them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now. It only measures durations: callers
	// provide the times that are stored.
	Now func() time.Time
	// BusyTimeout is how long a transaction waits for another process that
	// holds the database; 0 is ten seconds.
	BusyTimeout time.Duration
	// Shared opens a database that another process serves or pulls into. Its
	// schema is not migrated; a schema of another version is refused.
	Shared bool
	// Pragmas are further settings for the connections of SQLite that write, such
	// as "max_page_count(100000)", which limits the size of the file.
	Pragmas []string
	// Readers is the number of snapshots that can be open at once; 0 is twice
	// the number of cores and four, at least eight.
	Readers int
	// Memory is what the process may take, in bytes; 0: enough. With less than 2 GiB
	// SQLite's cache for large imports is smaller.
	Memory int64
	// PollInterval is how often a Watch looks for changes by other processes; 0 is
	// one second.
	PollInterval time.Duration

	Migrations fs.FS // nil: those of this version
}

// WithDefaults fills in what is zero.
func (o Options) WithDefaults() Options {
	if o.Migrations == nil {
		o.Migrations = MigrationFiles
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 10 * time.Second
	}
	if o.Readers <= 0 {
		o.Readers = max(8, 4+2*runtime.GOMAXPROCS(0))
	}
	if o.PollInterval <= 0 {
		o.PollInterval = time.Second
	}
	return o
}

// BulkCache is the cache of large imports in KiB: a sixteenth of the memory at most, with
// what the allocator adds.
func (o *Options) BulkCache() int {
	if o.Memory <= 0 {
		return BulkCache
	}
	return int(min(max(o.Memory>>15, ImportCache), BulkCache))
}
