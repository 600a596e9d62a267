// Package check lints PO and POT files: it finds them, reads them in parallel
// and renders the findings for people and for programs.
//
// Goals: one documented verdict per file, the same on every run and machine;
// output in a fixed order whatever the number of workers; bounded memory on
// large trees; no part of a file's name or text that could control a terminal or a
// CI system's log reaches the output.
//
// Non-goals: the grammar, which is in poparse, and the rules of quality, which are
// in catalog/checks; the flags, the exit status and the summary are in
// cmd/repoglot/command_check.go.
// The package itself checks the header and the plural rule of a file, as msgfmt -c
// does (gettext manual, section "Invoking the msgfmt Program"), but with warnings,
// since such a file can be read.
package check

import (
	"context"
	"io"
	"runtime"

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
	Quality *Quality
	// Template adds what files lack of it, and what it does not have, as warnings; other
	// templates are not compared with it. Nil: none.
	Template *poparse.File
}

// memoryBudget bounds the bytes of files in work at a time; a larger file is read
// alone. Parsing takes about three times as much.
const memoryBudget = 128 << 20

// ahead is the number of files per worker that may be in work or done before their
// turn.
const ahead = 16

// job is a file to check, and later the verdict.
type job struct {
	path string
	err  error
	done chan Result // holds one, so that a worker never waits
}

// Run checks files in parallel and calls each with the verdicts, one at a time, in
// the order of the paths and, below folders, of the names. It returns the first
// error of each, or the error of ctx as soon as it ends, or an error for an unknown
// language in Quality. An unreadable file is a verdict, not an error.
func Run(ctx context.Context, o Options, each func(Result) error) error {
	c := newChecker(o, memoryBudget)
	var err error
	if c.quality, err = newQuality(o.Quality); err != nil {
		return err
	}
	return c.run(ctx, each)
}

func (c *checker) run(ctx context.Context, each func(Result) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ordered := c.start(ctx)
	for {
		var j *job
		select {
		case <-ctx.Done():
			return ctx.Err()
		case j = <-ordered:
		}
		if j == nil {
			return ctx.Err()
		}
		select {
		case <-ctx.Done(): // not waiting for a large file, or for stdin
			return ctx.Err()
		case r := <-j.done:
			if err := each(r); err != nil {
				return err
			}
		}
	}
}

// checker is one Run.
type checker struct {
	paths   []string
	stdin   io.Reader
	workers int
	quality *quality
	against *poparse.File
	limit   int64 // memoryBudget, except in tests
	budget  *semaphore.Weighted
}

func newChecker(o Options, limit int64) *checker {
	c := &checker{paths: o.Paths, stdin: o.Stdin, workers: o.Workers, limit: limit, budget: semaphore.NewWeighted(limit), against: o.Template}
	if len(c.paths) == 0 {
		c.paths = []string{"."}
	}
	if c.workers <= 0 {
		c.workers = runtime.GOMAXPROCS(0)
	}
	return c
}

// start begins to walk and to check. The channel delivers the jobs in order and is
// closed after the last one, or when ctx ends.
func (c *checker) start(ctx context.Context) <-chan *job {
	ordered := make(chan *job, ahead*c.workers)
	todo := make(chan *job)
	go func() {
		defer close(ordered)
		defer close(todo)
		walk(c.paths, func(path string, err error) bool {
			j := &job{path: path, err: err, done: make(chan Result, 1)}
			return send(ctx, ordered, j) && send(ctx, todo, j)
		})
	}()
	for range c.workers {
		go c.work(ctx, todo)
	}
	return ordered
}

func send(ctx context.Context, to chan<- *job, j *job) bool {
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// work checks one file after the other.
func (c *checker) work(ctx context.Context, todo <-chan *job) {
	r := reader{limit: c.limit, budget: c.budget, stdin: c.stdin, quality: c.quality, against: c.against}
	for j := range todo {
		if j.err != nil {
			j.done <- unreadable(j.path, j.err)
			continue
		}
		if result, ok := r.check(ctx, j.path); ok {
			j.done <- result
		}
	}
}
