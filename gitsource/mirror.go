package gitsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// ErrNotFetched says that the mirror has no commit yet: Fetch must succeed once.
var ErrNotFetched = errors.New("mirror was not fetched yet")

// Options of a mirror; the zero value is usable.
type Options struct {
	// Remote says how the remote is reached.
	Remote remote.Options
	// Logger receives warnings for a maintainer; nil: nothing is logged.
	Logger *slog.Logger
	// Room returns an error while nothing more may be written to the disk; nil: there
	// is always room. It is asked while objects are transferred.
	Room func() error
	// Timeout of one fetch or clone; 0: 30 minutes.
	Timeout time.Duration
}

const defaultTimeout = 30 * time.Minute

// Mirror is a copy of one repository on disk: bare, with one branch and no tags. The
// caller makes sure that only one Mirror uses a directory at a time.
type Mirror struct {
	dir    string
	remote remote.Repository
	opts   Options
	log    *slog.Logger
	turn   chan struct{} // has one token while a fetch runs
	fresh  object.Fresh  // files of the last fetch, for the next Reader
	keep   string        // git directory that could not be repacked; for the holder of the turn

	mu      sync.Mutex
	current string         // git directory in use, in dir; "" before the first fetch
	readers map[string]int // number of open Readers by git directory
}

// currentFile is the file that names the git directory in use.
const currentFile = "CURRENT"

var generationName = regexp.MustCompile(`^git-[0-9]{6,}$`)

// Open creates or opens the mirror in dir. It does not use the network. It removes
// unfinished clones and git directories that were replaced.
func Open(ctx context.Context, dir string, repo remote.Repository, opts Options) (*Mirror, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := repo.Validate(); err != nil {
		return nil, err
	}
	if err := opts.Remote.Validate(); err != nil {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.Room == nil {
		opts.Room = func() error { return nil }
	}
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open mirror of %s: %w", repo, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open mirror of %s: %w; check data_dir", repo, err)
	}
	m := &Mirror{
		dir: dir, remote: repo, opts: opts,
		log:  opts.Logger.With("repository", repo.String()),
		turn: make(chan struct{}, 1), readers: map[string]int{},
	}
	return m, m.load()
}

// load finds the git directory in use and removes the others.
func (m *Mirror) load() error {
	name, err := object.ReadText(m.dir, currentFile)
	if err == nil && generationName.MatchString(name) {
		if _, err := object.CurrentHead(filepath.Join(m.dir, name)); err == nil {
			m.current = name
		}
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return fmt.Errorf("open mirror of %s: %w", m.remote, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "git-") && e.Name() != m.current || strings.HasPrefix(e.Name(), ".tmp-") {
			if err := os.RemoveAll(filepath.Join(m.dir, e.Name())); err != nil {
				m.log.Warn("cannot remove an old git directory of the mirror", "name", e.Name(), "error", err)
			}
		}
	}
	if m.current != "" {
		sweep(filepath.Join(m.dir, m.current))
	}
	return nil
}

// sweep removes packs that a killed process left unfinished in a git directory.
func sweep(gitDir string) {
	pack := filepath.Join(gitDir, "objects", "pack")
	left, _ := os.ReadDir(pack)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "tmp_") {
			_ = os.Remove(filepath.Join(pack, e.Name()))
		}
	}
}

// Remote returns the repository that the mirror copies.
func (m *Mirror) Remote() remote.Repository { return m.remote }

// orOwn returns a repository, or without an address the one that the mirror copies.
func (m *Mirror) orOwn(r remote.Repository) remote.Repository {
	if r.URL == "" {
		return m.remote
	}
	return r
}

// Path returns the git directory in use, until a clone or repack; false before the first fetch.
func (m *Mirror) Path() (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return filepath.Join(m.dir, m.current), m.current != ""
}

// Head returns the branch and its commit as of the last fetch, without asking the
// remote; ErrNotFetched before the first fetch.
func (m *Mirror) Head() (object.Head, error) {
	_, head, err := m.inUse()
	return head, err
}

// inUse returns the name of the git directory in use, "" before the first fetch, and its head.
func (m *Mirror) inUse() (name string, head object.Head, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head, err = m.headLocked()
	return m.current, head, err
}

func (m *Mirror) headLocked() (object.Head, error) {
	if m.current == "" {
		return object.Head{}, fmt.Errorf("mirror of %s: %w", m.remote, ErrNotFetched)
	}
	head, err := object.CurrentHead(filepath.Join(m.dir, m.current))
	if err != nil {
		return object.Head{}, fmt.Errorf("mirror of %s: %w: %w", m.remote, object.ErrCorrupt, err)
	}
	return head, nil
}

// Reader opens the mirror for reading; ErrNotFetched before the first fetch.
func (m *Mirror) Reader(ctx context.Context) (*Reader, error) {
	dir, head, release, err := m.lease(ctx)
	if err != nil {
		return nil, err
	}
	r, err := openReader(dir, head, release)
	if err != nil {
		release()
		return nil, err
	}
	r.store.Lend(&m.fresh)
	return r, nil
}

// release counts a Reader out. After the last one it removes a git directory that was replaced.
func (m *Mirror) release(name string) {
	m.mu.Lock()
	m.readers[name]--
	gone := m.readers[name] <= 0
	if gone {
		delete(m.readers, name)
	}
	gone = gone && name != m.current
	m.mu.Unlock()
	if gone {
		m.discard(name)
	}
}

func (m *Mirror) discard(name string) {
	if err := os.RemoveAll(filepath.Join(m.dir, name)); err != nil {
		m.log.Warn("cannot remove a replaced git directory of the mirror; it is tried again at the next start", "name", name, "error", err)
	}
}

func (m *Mirror) next() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _ := strconv.Atoi(strings.TrimPrefix(m.current, "git-"))
	for n++; ; n++ {
		name := fmt.Sprintf("git-%06d", n)
		if _, err := os.Lstat(filepath.Join(m.dir, name)); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// swap makes a complete git directory the one in use.
func (m *Mirror) swap(name string) error {
	m.mu.Lock()
	if err := object.WriteText(filepath.Join(m.dir, currentFile), name+"\n"); err != nil {
		m.mu.Unlock()
		return fmt.Errorf("mirror of %s: %w", m.remote, err)
	}
	old := m.current
	m.current = name
	busy := m.readers[old] > 0
	m.mu.Unlock()
	if old != "" && !busy {
		m.discard(old)
	}
	return nil
}
