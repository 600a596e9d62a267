// Package check lints PO and POT files: it finds them, reads them in parallel
// and renders the findings for people and for programs.
//
// Goals: one documented verdict per file, the same on every run and machine; output in a fixed
// order whatever the number of workers; bounded memory on large trees; no part of a file's name
// or text that could control a terminal or a CI system's log reaches the output.
//
// Non-goals: the grammar, which is in poparse, and the rules of quality, which are in
// catalog/checks; the flags, the exit status and the summary are in
// cmd/repoglot/command_check.go. The package itself checks the header and the plural rule of a
// file, as msgfmt -c does (gettext manual, section "Invoking the msgfmt Program"), but with
// warnings, since such a file can be read.
package check

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/repoglot/repoglot/poparse"
)

// Options say what to check.
type Options struct {
	// Paths are files, folders, or "-" for the standard input; files are
	// checked whatever their names. Empty means the current folder.
	Paths []string
	// Stdin is read to its end if a path is "-"; nil means empty.
	Stdin io.Reader
	// Workers is the number of files that are read at a time; 0: one per core.
	Workers int
	// Quality adds the findings of quality checks, as warnings; nil: no checks.
	Quality *Checker
	// Template adds what files lack of it, and what it does not have, as warnings; other
	// templates are not compared with it. Nil: none.
	Template *poparse.File
}

// memoryBudget bounds the bytes of files in work at a time; a larger file is read
// alone. Parsing takes about three times as much.
const memoryBudget = 128 << 20

// ahead is the number of files per worker that may be in work or done before their turn.
const ahead = 16

// Run checks files in parallel and calls each with the verdicts, one at a time, in the order of
// the paths and, below folders, of the names. It returns the first error of each, or the error
// of ctx as soon as it ends. An unreadable file is a verdict, not an error.
func Run(ctx context.Context, o Options, each func(Result) error) error {
	return newRunner(o, memoryBudget).run(ctx, each)
}

// runner is one Run.
type runner struct {
	Options
	limit  int64 // memoryBudget, except in tests
	budget *semaphore.Weighted
}

func newRunner(o Options, limit int64) *runner {
	if len(o.Paths) == 0 {
		o.Paths = []string{"."}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return &runner{Options: o, limit: limit, budget: semaphore.NewWeighted(limit)}
}

func (c *runner) run(ctx context.Context, each func(Result) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ordered := c.start(ctx)
	for {
		var verdict chan Result
		select {
		case <-ctx.Done():
			return ctx.Err()
		case verdict = <-ordered:
		}
		if verdict == nil {
			return ctx.Err()
		}
		select {
		case <-ctx.Done(): // not waiting for a large file, or for stdin
			return ctx.Err()
		case r := <-verdict:
			if err := each(r); err != nil {
				return err
			}
		}
	}
}

// start begins to walk and to check. The channel delivers where the verdicts will be, in
// order, and is closed after the last one, or when ctx ends.
func (c *runner) start(ctx context.Context) <-chan chan Result {
	ordered := make(chan chan Result, ahead*c.Workers)
	go func() {
		defer close(ordered)
		var work errgroup.Group
		work.SetLimit(c.Workers)
		walk(c.Paths, func(path string, err error) bool {
			verdict := make(chan Result, 1) // it holds one, so that no worker waits
			select {
			case ordered <- verdict:
			case <-ctx.Done():
				return false
			}
			work.Go(func() error {
				if err != nil {
					verdict <- unreadable(path, err)
				} else if r, ok := c.check(ctx, path); ok {
					verdict <- r
				}
				return nil
			})
			return true
		})
	}()
	return ordered
}

// check returns the verdict on a file; false if ctx ended.
func (c *runner) check(ctx context.Context, path string) (Result, bool) {
	if path == stdinArg {
		var data []byte
		if c.Stdin != nil {
			var err error
			if data, err = io.ReadAll(c.Stdin); err != nil {
				return unreadable(StdinName, err), true
			}
		}
		return verdict(StdinName, data, c.Quality, c.Template), ctx.Err() == nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(path, err), true
	}
	weight := min(info.Size(), c.limit)
	if c.budget.Acquire(ctx, weight) != nil {
		return Result{}, false
	}
	defer c.budget.Release(weight)
	data, err := os.ReadFile(path)
	if err != nil {
		return unreadable(path, err), true
	}
	r := verdict(path, data, c.Quality, c.Template)
	if weight >= memoryBudget {
		runtime.GC() // by itself it would not run until the heap has doubled
	}
	return r, true
}

// StdinName is the name of the standard input in results.
const StdinName = "<stdin>"

// stdinArg is the path that means the standard input.
const stdinArg = "-"

// walk calls to with the files of paths, in order, each file once, or with the error of
// reading it: files whatever their names, and the PO and POT files below folders, sorted by
// name in each folder. To returns false to stop.
//
// It does not follow links inside of folders: their targets are checked where they
// are, or belong to another project, and links may form loops.
func walk(paths []string, to func(path string, err error) bool) {
	seen := map[string]bool{}
	once := func(path string, err error) bool {
		if len(paths) > 1 { // a single path needs no such check
			key := path
			if path != stdinArg {
				key = "./" + filepath.Clean(path)
			}
			if seen[key] {
				return true
			}
			seen[key] = true
		}
		return to(path, err)
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case p == stdinArg:
			err = nil
		case err == nil && info.IsDir():
			if !walkDir(p, once) {
				return
			}
			continue
		}
		if !once(p, err) {
			return
		}
	}
}

// walkDir visits the files below a folder; false if it was stopped.
func walkDir(dir string, to func(path string, err error) bool) bool {
	root := dir
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // WalkDir follows no link, and with a / this is not one
	}
	going := true
	// The function returns no error except SkipAll, which WalkDir handles.
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // a folder that cannot be listed; go on with the next one
			going = to(path, err)
		case path == root:
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && slices.Contains([]string{".po", ".pot"}, strings.ToLower(filepath.Ext(path))):
			going = to(path, nil)
		}
		if !going {
			return fs.SkipAll
		}
		return nil
	})
	return going
}
