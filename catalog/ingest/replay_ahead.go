package ingest

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// aheadCommits bounds the commits that are read ahead.
const aheadCommits = 256

// maxParsers bounds the goroutines that parse.
const maxParsers = 8

// minAhead is the least that a file counts, in bytes. From countFrom bytes of a commit on
// their entries are counted.
const (
	minAhead  = 1 << 10
	countFrom = 1 << 20
)

// readAhead reads the commits of a history and parses their files, while earlier
// commits are applied.
type readAhead struct {
	comps     []*component
	reader    *gitsource.View // of walk
	maxSize   int64
	bounds    replayBounds
	touching  map[string][]*component
	budget    *semaphore.Weighted // bytes
	jobs      chan job
	commits   chan *readCommit
	cancel    context.CancelFunc
	goroutine sync.WaitGroup
}

// readCommit is a commit with its files.
type readCommit struct {
	step    gitsource.Step
	mailmap object.Mailmap
	touched []*component  // the components that read or refuse a file that it changes
	files   []*cachedFile // its files, once parsed
	rest    []fileVersion // its files beyond the bounds, not read yet
	parsed  sync.WaitGroup
	bytes   int64 // its part of the budget
	err     error // why the walk ended
}

// job is a file to be parsed.
type job struct {
	fileVersion
	data   []byte
	into   *cachedFile
	commit *readCommit
}

// readAhead begins to read the commits after base.
func (r *replay) readAhead(ctx context.Context, base gitsource.State) (*readAhead, error) {
	reader, err := r.p.open(ctx)
	if err != nil {
		return nil, err
	}
	reader.LimitCache(r.p.s.bounds.aheadObjects)
	ctx, cancel := context.WithCancel(ctx)
	a := &readAhead{
		comps: r.comps, reader: reader, maxSize: r.p.s.maxFileSize, bounds: r.p.s.bounds, touching: make(map[string][]*component),
		budget: semaphore.NewWeighted(r.p.s.bounds.aheadBytes),
		jobs:   make(chan job, aheadCommits), commits: make(chan *readCommit, aheadCommits), cancel: cancel,
	}
	for range min(runtime.GOMAXPROCS(0), maxParsers) {
		a.goroutine.Go(a.parse)
	}
	a.goroutine.Go(func() { a.walk(ctx, base, r.p.head) })
	return a, nil
}

// stop ends reading and waits for that.
func (a *readAhead) stop() {
	a.cancel()
	a.goroutine.Wait()
	_ = a.reader.Close() // reading is over: an error does not matter
}

// next returns the next commit, nil after the last one. release gives back its
// part of the budget.
func (a *readAhead) next(ctx context.Context) (*readCommit, error) {
	var c *readCommit
	select {
	case c = <-a.commits:
	case <-ctx.Done():
	}
	if c == nil {
		return nil, ctx.Err()
	}
	c.parsed.Wait()
	return c, c.err
}

// release gives back a commit's part of the budget.
func (a *readAhead) release(c *readCommit) { a.budget.Release(c.bytes) }

// walk reads commits until the last one, or until it is stopped.
func (a *readAhead) walk(ctx context.Context, base, head gitsource.State) {
	defer close(a.commits)
	defer close(a.jobs)
	for step, err := range a.reader.Steps(ctx, base, head, matcher(a.comps)) {
		c := &readCommit{step: step, err: err}
		if err == nil {
			c.err = a.read(ctx, c)
		}
		select {
		case a.commits <- c:
		case <-ctx.Done():
			return
		}
		if c.err != nil {
			return
		}
	}
}

func (a *readAhead) read(ctx context.Context, c *readCommit) (err error) {
	if c.mailmap, err = a.reader.Mailmap(ctx, c.step.Commit.Hash); err != nil {
		return err
	}
	list := a.versions(c)
	var jobs []job
	for ; len(list) > 0 && c.bytes < a.bounds.commitBytes; list = list[1:] {
		w := list[0]
		data, err := a.reader.SharedBlob(ctx, w.blob, min(a.maxSize, a.bounds.commitBytes))
		if err != nil {
			break // the loader reads it again and reports the error
		}
		size := max(int64(len(data)), minAhead)
		if c.bytes+size > countFrom {
			size = max(size, weight(data))
		}
		if c.bytes > 0 && c.bytes+size > a.bounds.commitBytes {
			break
		}
		c.bytes += size
		into := &cachedFile{key: cacheKey{w.component.row.ID, w.blob}}
		c.files = append(c.files, into)
		jobs = append(jobs, job{fileVersion: w, data: data, into: into, commit: c})
	}
	c.rest, c.bytes = list, min(c.bytes, a.bounds.aheadBytes)
	if err := a.budget.Acquire(ctx, c.bytes); err != nil {
		c.bytes = 0
		return err
	}
	c.parsed.Add(len(jobs))
	for _, j := range jobs {
		a.jobs <- j // parsers take all of them
	}
	return nil
}

// versions lists the files of a commit that the components read, and sets
// c.touched, in the order of the components.
func (a *readAhead) versions(c *readCommit) []fileVersion {
	var list []fileVersion
	touched := make(map[*component]bool)
	for _, ch := range c.step.Changes {
		for _, comp := range a.readersOf(ch.Path) {
			touched[comp] = true
			if !ch.New.IsZero() && comp.selection.wants(ch.Path) {
				list = append(list, fileVersion{comp, ch.Path, ch.New})
			}
		}
	}
	for _, comp := range a.comps {
		if touched[comp] {
			c.touched = append(c.touched, comp)
		}
	}
	return list
}

func (a *readAhead) readersOf(path string) []*component {
	list, ok := a.touching[path]
	if !ok {
		for _, c := range a.comps {
			if c.selection.lists(path) {
				list = append(list, c)
			}
		}
		a.touching[path] = list
	}
	return list
}

// parse parses files until the last one.
func (a *readAhead) parse() {
	r := new(unit.Reader)
	for j := range a.jobs {
		j.into.file, j.into.err = parse(j.path, j.data, j.component.rules, r)
		j.commit.parsed.Done()
	}
}
