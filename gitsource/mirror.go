package gitsource

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options of a mirror; the zero value is usable.
type Options struct {
	// Transport says who transports packs: "builtin" (go-git), "binary" (git),
	// or "auto" (the zero value too): the binary for network remotes where
	// there is one. Objects are always read by go-git. Local repositories are
	// copied from without either, unless "binary" is asked for or they need it
	// (reftable).
	Transport string
	// Logger gets what a maintainer should know; nil: nothing is logged.
	Logger *slog.Logger
	// Timeout of one Fetch, clone included; 0: 30 minutes. A remote that sends
	// nothing for a minute is given up before.
	Timeout time.Duration
	// GitBinary is the name or path of the git program; empty: "git".
	GitBinary string
	// Netrc is the path of the .netrc file; empty: $NETRC, else ~/.netrc.
	Netrc string
	// KnownHosts are the files with ssh host keys; empty: those of ssh
	// (~/.ssh/known_hosts, /etc/ssh/ssh_known_hosts).
	KnownHosts []string
	// MaxPack bounds one pack that a remote sends, in bytes; 0: 16 GiB.
	MaxPack int64

	stall time.Duration // how long a remote may stay silent; 0: a minute. For tests
}

const (
	transportAuto    = "auto"
	transportBuiltin = "builtin"
	transportBinary  = "binary"

	defaultTimeout = 30 * time.Minute
)

// Mirror is a bare, single-branch, tag-free copy of one repository on disk.
// One Mirror per directory at a time; the caller sees to that.
type Mirror struct {
	dir    string
	remote Remote
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
func Open(ctx context.Context, dir string, remote Remote, opts Options) (*Mirror, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := remote.validate(); err != nil {
		return nil, err
	}
	switch opts.Transport {
	case "":
		opts.Transport = transportAuto
	case transportAuto, transportBuiltin, transportBinary:
	default:
		return nil, fmt.Errorf("open mirror: git transport %q: %w; want auto, builtin or binary", opts.Transport, ErrUnsupported)
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.GitBinary == "" {
		opts.GitBinary = "git"
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open mirror of %s: %w", remote, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open mirror of %s: %w; check data_dir", remote, err)
	}
	m := &Mirror{
		dir: dir, remote: remote, opts: opts,
		log:  opts.Logger.With("repository", remote.String()),
		turn: make(chan struct{}, 1), readers: map[string]int{},
	}
	return m, m.load()
}

// load finds the repository in use and removes the others.
func (m *Mirror) load() error {
	name, err := readSmall(filepath.Join(m.dir, currentFile))
	if err == nil && generationName.MatchString(name) {
		if _, err := currentHead(filepath.Join(m.dir, name)); err == nil {
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
func (m *Mirror) Remote() Remote { return m.remote }

// Path is the bare repository in use, for git_export; false before the first
// fetch. It changes when the mirror is cloned anew.
func (m *Mirror) Path() (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return filepath.Join(m.dir, m.current), m.current != ""
}

// Head is the branch's commit as of the last fetch, without asking the remote;
// ErrNotFetched before the first one.
func (m *Mirror) Head() (Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.headLocked()
}

func (m *Mirror) headLocked() (Head, error) {
	if m.current == "" {
		return Head{}, fmt.Errorf("mirror of %s: %w", m.remote, ErrNotFetched)
	}
	head, err := currentHead(filepath.Join(m.dir, m.current))
	if err != nil {
		return Head{}, fmt.Errorf("mirror of %s: %w: %w", m.remote, ErrCorrupt, err)
	}
	return head, nil
}

// currentHead reads what a repository of ours stands at.
func currentHead(gitDir string) (Head, error) {
	ref, hash, err := readHEAD(gitDir)
	if err != nil {
		return Head{}, err
	}
	if ref == "" {
		return Head{Hash: hash, Branch: detached}, nil
	}
	hash, err = readRef(gitDir, ref)
	return Head{Hash: hash, Branch: strings.TrimPrefix(ref, "refs/heads/")}, err
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
		if _, err := os.Lstat(filepath.Join(m.dir, name)); isNotExist(err) {
			return name
		}
	}
}

// swap makes a complete repository the one in use.
func (m *Mirror) swap(name string) error {
	m.mu.Lock()
	if err := writeAtomic(filepath.Join(m.dir, currentFile), name+"\n"); err != nil {
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

// setHead moves the branch of a repository of ours.
func (m *Mirror) setHead(gitDir string, head Head) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, err := currentHead(gitDir)
	had := err == nil
	if head.Branch == detached {
		return writeAtomic(filepath.Join(gitDir, "HEAD"), head.Hash.String()+"\n")
	}
	if had && old.Hash != head.Hash {
		// A rewritten branch is compared with its last state (decision 20):
		// this keeps that state through maintenance.
		if err := writeAtomic(filepath.Join(gitDir, "refs", "repoglot", "previous"), old.Hash.String()+"\n"); err != nil {
			return err
		}
	}
	if had && old.Branch != head.Branch && old.Branch != detached {
		// "a" may stand in the way of "a/b".
		_ = os.Remove(filepath.Join(gitDir, "refs", "heads", filepath.FromSlash(old.Branch)))
	}
	ref := "refs/heads/" + head.Branch
	if err := writeAtomic(filepath.Join(gitDir, filepath.FromSlash(ref)), head.Hash.String()+"\n"); err != nil {
		return err
	}
	if had && old.Branch == head.Branch {
		return nil
	}
	return writeAtomic(filepath.Join(gitDir, "HEAD"), "ref: "+ref+"\n")
}

// bareConfig is the whole configuration of a mirror: no remote, so no address
// and no credential is ever on disk.
const bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

// initBare makes an empty bare repository.
func initBare(gitDir string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(gitDir, "config"), []byte(bareConfig), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600)
}
