package gitsource

import (
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

// ErrNotFetched says that the mirror has no commit yet: Fetch has to succeed once.
var ErrNotFetched = errors.New("mirror was not fetched yet")

// Options of a mirror; the zero value is usable.
type Options struct {
	// Remote says how the remote is reached.
	Remote remote.Options
	// Logger gets what a maintainer should know; nil: nothing is logged.
	Logger *slog.Logger
	// Timeout of one Fetch, clone included; 0: 30 minutes. A remote that sends
	// nothing for a minute is given up before.
	Timeout time.Duration
}

const defaultTimeout = 30 * time.Minute

// Mirror is a bare, single-branch, tag-free copy of one repository on disk.
// One Mirror per directory at a time; the caller sees to that.
type Mirror struct {
	dir    string
	remote remote.Repository
	opts   Options
	log    *slog.Logger
	turn   chan struct{} // holds one token: one fetch at a time
	keep   string        // repository that could not be repacked; for the holder of the turn

	mu      sync.Mutex
	current string         // repository in use, relative to dir; "" before the first fetch
	readers map[string]int // open Readers by repository
}

// currentFile names the repository in use.
const currentFile = "CURRENT"

var generationName = regexp.MustCompile(`^git-[0-9]{6,}$`)

// Open creates or opens the mirror in dir. It asks nothing of the network;
// left-overs of clones and replaced repositories are removed.
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
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
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

// load finds the repository in use and removes the others.
func (m *Mirror) load() error {
	name, err := object.ReadText(filepath.Join(m.dir, currentFile))
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
				m.log.Warn("cannot remove what is left of an older mirror", "name", e.Name(), "error", err)
			}
		}
	}
	m.sweep()
	return nil
}

// sweep removes packs that a killed process did not receive to their end.
func (m *Mirror) sweep() {
	if m.current == "" {
		return
	}
	pack := filepath.Join(m.dir, m.current, "objects", "pack")
	left, _ := os.ReadDir(pack)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "tmp_") {
			_ = os.Remove(filepath.Join(pack, e.Name()))
		}
	}
}

// Remote is what the mirror copies.
func (m *Mirror) Remote() remote.Repository { return m.remote }

// Path is the bare repository in use, for git_export; false before the first
// fetch. It changes when the mirror is cloned anew.
func (m *Mirror) Path() (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return filepath.Join(m.dir, m.current), m.current != ""
}

// Head is the branch's commit as of the last fetch, without asking the remote;
// ErrNotFetched before the first one.
func (m *Mirror) Head() (object.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.headLocked()
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

// Reader opens the mirror for reading, with its own storage.
func (m *Mirror) Reader(ctx context.Context) (*Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	head, err := m.headLocked()
	if err != nil {
		return nil, err
	}
	name := m.current
	r, err := openReader(filepath.Join(m.dir, name), head, func() { m.release(name) })
	if err == nil {
		m.readers[name]++
	}
	return r, err
}

// release forgets a Reader, and removes a replaced repository after its last.
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
		m.log.Warn("cannot remove a replaced mirror; it is tried again at the next start", "name", name, "error", err)
	}
}

// next is a name for a new repository beside the one in use.
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

// swap makes a complete repository the one in use.
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
