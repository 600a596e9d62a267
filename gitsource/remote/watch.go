package remote

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/repoglot/repoglot/gitsource/repourl"
)

// ErrWatchLimit: the system has no more watches (ENOSPC) or descriptors (EMFILE); poll instead.
var ErrWatchLimit = errors.New("no more file watches")

// WatchOptions of a Watcher; the zero value is usable.
type WatchOptions struct {
	// OnMoved is called, by one goroutine, with the key of a repository whose refs may have
	// moved: often several times for one push. Required.
	OnMoved func(key string)
	// OnLost is called when a repository can no longer be watched completely (its
	// directories are gone, or no watches are left): poll it. OnLost must not
	// block and not call the Watcher. nil: it is only logged.
	OnLost func(key string, err error)
	// Trust says which repositories are watched.
	Trust Trust
	// Logger receives warnings; nil: nothing is logged.
	Logger *slog.Logger
}

// maxWatchDirs bounds the ref directories of one repository.
const maxWatchDirs = 4096

// Watcher reports when refs of local repositories move. A process needs one: a host has 128
// inotify instances, but many thousand watches. It may be used by any number of goroutines.
type Watcher struct {
	fs      *fsnotify.Watcher
	opts    WatchOptions
	ended   chan struct{}
	maxDirs int // per repository

	mu    sync.Mutex
	dirs  map[string][]string     // watched directory → keys
	repos map[string]*watchedRepo // key → repository
}

// watchedRepo is one repository watched under one key.
type watchedRepo struct {
	localRepo
	dirs []string // all watched directories
}

// NewWatcher starts a watcher; Close ends it. ErrWatchLimit: no inotify instance is left.
func NewWatcher(opts WatchOptions) (*Watcher, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.OnLost == nil {
		opts.OnLost = func(string, error) {}
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, watchError("start watching", err)
	}
	w := &Watcher{fs: notify, opts: opts, ended: make(chan struct{}), maxDirs: maxWatchDirs, dirs: map[string][]string{}, repos: map[string]*watchedRepo{}}
	go w.loop()
	return w, nil
}

func watchError(what string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("%s: %w: %w; raise fs.inotify.max_user_watches and max_user_instances", what, ErrWatchLimit, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Close ends the watcher: OnMoved is called no more. Closing twice is harmless.
func (w *Watcher) Close() error {
	err := w.fs.Close()
	<-w.ended
	return err
}

// Add watches the repository at a path or file:// URL (bare, work tree or linked work tree)
// under a key of the caller; several keys may watch one repository. Adding a key again replaces
// its repository. On ErrWatchLimit and ErrUnreachable nothing is watched: poll.
func (w *Watcher) Add(repoPath, key string) error {
	path, ok := repourl.IsLocal(repoPath)
	if !ok {
		return fmt.Errorf("watch %s: %w: not a local repository", repourl.Redact(repoPath), ErrUnsupported)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("watch %s: %w", repoPath, err)
	}
	repo, err := w.opts.Trust.find(path)
	if err != nil {
		return fmt.Errorf("watch %s: %w: %s", repoPath, ErrUnreachable, plainPathError(err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(key)
	repo.gitDir, repo.commonDir = filepath.Clean(repo.gitDir), filepath.Clean(repo.commonDir)
	r := &watchedRepo{localRepo: repo}
	w.repos[key] = r
	if err := w.watchLocked(key, r); err != nil {
		w.removeLocked(key)
		return watchError("watch "+repoPath, err)
	}
	return nil
}

// Remove ends watching under a key; an unknown key is ignored.
func (w *Watcher) Remove(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(key)
}

func (w *Watcher) removeLocked(key string) {
	r := w.repos[key]
	if r == nil {
		return
	}
	delete(w.repos, key)
	for _, dir := range r.dirs {
		keys := slices.DeleteFunc(slices.Clone(w.dirs[dir]), func(k string) bool { return k == key })
		if len(keys) > 0 {
			w.dirs[dir] = keys
			continue
		}
		delete(w.dirs, dir)
		_ = w.fs.Remove(dir) // fails if the directory is gone
	}
}

// watchLocked adds the directories of a repository that are not watched yet: its roots, its
// refs and those of branches, each before it is listed, so that nothing is missed.
func (w *Watcher) watchLocked(key string, r *watchedRepo) error {
	refs := filepath.Join(r.commonDir, "refs")
	dirs := []string{r.gitDir, r.commonDir, refs}
	if r.isReftable() {
		dirs = append(dirs, filepath.Join(r.commonDir, "reftable"))
	}
	for _, dir := range dirs {
		if err := w.addLocked(key, r, dir); err != nil {
			return err
		}
	}
	return w.watchBelowLocked(key, r, filepath.Join(refs, "heads"))
}

// watchBelowLocked adds a directory of branches and those below it.
func (w *Watcher) watchBelowLocked(key string, r *watchedRepo, root string) error {
	return filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil // removed in the meantime, or replaced
		case err != nil || !d.IsDir():
			return err
		}
		return w.addLocked(key, r, dir)
	})
}

// addLocked adds a directory; if it no longer exists, this is no error.
func (w *Watcher) addLocked(key string, r *watchedRepo, dir string) error {
	if slices.Contains(w.dirs[dir], key) {
		return nil
	}
	if len(r.dirs) >= w.maxDirs {
		return fmt.Errorf("more than %d directories of refs: %w", w.maxDirs, syscall.ENOSPC)
	}
	if len(w.dirs[dir]) == 0 {
		if err := w.fs.Add(dir); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	w.dirs[dir] = append(w.dirs[dir], key)
	r.dirs = append(r.dirs, dir)
	return nil
}

// loop receives events until the watcher is closed. Git moves a ref after it has written
// everything else, so nothing is waited for.
func (w *Watcher) loop() {
	defer close(w.ended)
	for {
		var keys []string
		select {
		case e, more := <-w.fs.Events:
			if !more {
				return
			}
			keys = w.moved(e)
		case err, more := <-w.fs.Errors:
			if !more {
				return
			}
			w.opts.Logger.Warn("file events were lost; all watched repositories are checked", "error", err)
			w.mu.Lock()
			keys = slices.Sorted(maps.Keys(w.repos))
			w.mu.Unlock()
		}
		for _, key := range keys {
			w.opts.OnMoved(key)
		}
	}
}

// moved returns the keys that an event concerns, and watches new directories.
func (w *Watcher) moved(e fsnotify.Event) []string {
	// Locks and temporary files: no name of a ref ends or begins like this.
	if e.Op == fsnotify.Chmod || strings.HasSuffix(e.Name, ".lock") || strings.HasPrefix(filepath.Base(e.Name), ".tmp") {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var keys []string
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		keys = w.goneLocked(e.Name)
	}
	dir, base := filepath.Split(e.Name)
	dir = filepath.Clean(dir)
	for _, key := range slices.Clone(w.dirs[dir]) {
		r := w.repos[key]
		if (dir == r.gitDir || dir == r.commonDir) && base != "HEAD" && base != "packed-refs" && base != "refs" {
			continue // index, FETCH_HEAD, logs and objects say nothing about refs
		}
		if info, err := os.Lstat(e.Name); e.Has(fsnotify.Create) && err == nil && info.IsDir() {
			watch := w.watchLocked
			if heads := filepath.Join(r.commonDir, "refs", "heads"); strings.HasPrefix(e.Name, heads+string(filepath.Separator)) {
				watch = func(key string, r *watchedRepo) error { return w.watchBelowLocked(key, r, e.Name) }
			}
			if err := watch(key, r); err != nil {
				err = watchError("watch "+e.Name, err)
				w.opts.Logger.Warn("repository cannot be watched completely", "key", key, "error", err)
				w.opts.OnLost(key, err)
			}
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// goneLocked forgets a directory that was removed or moved away. If it was a root
// of a repository, OnLost is called for its keys.
func (w *Watcher) goneLocked(dir string) []string {
	keys := w.dirs[dir]
	if len(keys) == 0 {
		return nil
	}
	delete(w.dirs, dir)
	_ = w.fs.Remove(dir)
	for _, key := range keys {
		r := w.repos[key]
		r.dirs = slices.DeleteFunc(r.dirs, func(d string) bool { return d == dir })
		if dir == r.gitDir || dir == r.commonDir {
			w.opts.OnLost(key, fmt.Errorf("watch %s: %w: the directory is gone", dir, ErrUnreachable))
		}
	}
	return keys
}
