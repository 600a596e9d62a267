package config

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is the time without a change before a file is read: editors write in
// several steps.
const settle = 100 * time.Millisecond

// settleMost is how long other files of the same folder, which somebody writes all the
// time, can put off that the file is read.
const settleMost = 10 * settle

// Watcher reports changes of a configuration file.
type Watcher struct {
	path    string
	environ []string
	events  *fsnotify.Watcher
	last    []byte
}

// NewWatcher begins to watch the file that c was read from. Run also reports
// changes since c was read.
func NewWatcher(c *Config, environ []string) (*Watcher, error) {
	path := c.file
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", path, err)
	}
	w := &Watcher{path: path, environ: environ, events: events, last: c.source}
	for _, folder := range w.folders() {
		if err := events.Add(folder); err != nil {
			return nil, fmt.Errorf("watching %s: %w", folder, closing(err, events))
		}
	}
	return w, nil
}

func closing(err error, events *fsnotify.Watcher) error {
	if cerr := events.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing: %v)", err, cerr)
	}
	return err
}

// folders are the folder of the file and, if it is a symbolic link, the folder of
// its target: editors and configuration managers replace files by renaming.
func (w *Watcher) folders() []string {
	list := []string{filepath.Dir(w.path)}
	if target, err := filepath.EvalSymlinks(w.path); err == nil && filepath.Dir(target) != list[0] {
		list = append(list, filepath.Dir(target))
	}
	return list
}

// Run calls changed with every new configuration and failed with the error of
// every broken one, one call at a time, until ctx is done. A file with the same
// bytes as at the last call is not reported again.
func (w *Watcher) Run(ctx context.Context, changed func(*Config), failed func(error)) error {
	defer func() { _ = w.events.Close() }() // nothing was written
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	var first time.Time // of the changes since the file was read
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-w.events.Events:
			if !ok {
				return nil
			}
			if now := time.Now(); first.IsZero() {
				first = now
				quiet.Reset(settle)
			} else if now.Sub(first) < settleMost {
				quiet.Reset(settle)
			}
		case err := <-w.events.Errors:
			failed(fmt.Errorf("watching %s: %w", w.path, err))
			quiet.Reset(settle) // events may be lost
		case <-quiet.C:
			first = time.Time{}
			w.look(changed, failed)
		}
	}
}

// look reads the file and reports the result.
func (w *Watcher) look(changed func(*Config), failed func(error)) {
	data, err := readFile(w.path)
	if err != nil {
		if w.last != nil {
			w.last = nil
			failed(err)
		}
		return
	}
	if w.last != nil && bytes.Equal(data, w.last) {
		return
	}
	w.last = data
	for _, folder := range w.folders() {
		_ = w.events.Add(folder) // a link may lead elsewhere now; known folders are no error
	}
	c, err := Parse(w.path, data, w.environ)
	if err != nil {
		failed(err)
		return
	}
	changed(c)
}
