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

// aheadBytes bounds the files that are read ahead of a replay, by their length
// in the repository; parsed they take about four times as much. A commit that
// brings more waits until it is the only one, and commitBytes bounds it.
const (
	aheadBytes  = 6 << 20
	commitBytes = 16 << 20
)

// aheadBounds are aheadBytes and commitBytes, but for tests.
type aheadBounds struct{ room, commit int64 }

// aheadCache and besideAhead bound the inflated objects that its reader keeps,
// and meanwhile the pull's own, which reads what is needed again only.
const (
	aheadCache  = 32 << 20
	besideAhead = 8 << 20
)

// aheadCommits bounds the commits that are read ahead.
const aheadCommits = 256

// minAhead is what a file at least counts for.
const minAhead = 1 << 10

// ahead reads the commits of a history and parses their files, while those
// before are applied.
type ahead struct {
	comps     []*component
	reader    *gitsource.Reader // of walk
	maxSize   int64
	bounds    aheadBounds
	touching  map[string][]*component
	room      *semaphore.Weighted
	pool      *unit.Pool
	jobs      chan job
	commits   chan *readCommit
	cancel    context.CancelFunc
	goroutine sync.WaitGroup
}

// readCommit is a commit with its files.
type readCommit struct {
	step    gitsource.Step
	mailmap object.Mailmap
	touched []*component  // those that read a file that it changes
	files   []*cachedFile // what it brings, once parsed
	rest    []fileVersion // what there was no room for
	parsed  sync.WaitGroup
	room    int64
	err     error // why the walk ended
}

// job is a file to be parsed.
type job struct {
	fileVersion
	data   []byte
	into   *cachedFile
	commit *readCommit
}

// lookAhead begins to read the commits after base.
func (r *replay) lookAhead(ctx context.Context, base object.Hash) (*ahead, error) {
	reader, err := r.p.open(ctx)
	if err != nil {
		return nil, err
	}
	reader.LimitCache(aheadCache)
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{
		comps: r.comps, reader: reader, maxSize: r.p.s.maxFileSize, bounds: r.p.s.ahead, touching: make(map[string][]*component),
		room: semaphore.NewWeighted(r.p.s.ahead.room), pool: r.load.pool,
		jobs: make(chan job, aheadCommits), commits: make(chan *readCommit, aheadCommits), cancel: cancel,
	}
	for range runtime.GOMAXPROCS(0) {
		a.goroutine.Go(a.parse)
	}
	a.goroutine.Go(func() { a.walk(ctx, base, r.p.head) })
	return a, nil
}

// stop ends reading and waits for that.
func (a *ahead) stop() {
	a.cancel()
	a.goroutine.Wait()
	_ = a.reader.Close() // reading is over: an error tells nothing
}

// next gives the next commit, nil after the last one. What it holds of the room
// is to be given back by release.
func (a *ahead) next(ctx context.Context) (*readCommit, error) {
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

// release makes room for others.
func (a *ahead) release(c *readCommit) { a.room.Release(c.room) }

// walk reads commits until there are no more, or it is stopped.
func (a *ahead) walk(ctx context.Context, base, head object.Hash) {
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

// read reads what a commit brings.
func (a *ahead) read(ctx context.Context, c *readCommit) (err error) {
	if c.mailmap, err = a.reader.Mailmap(ctx, c.step.Commit.Hash); err != nil {
		return err
	}
	list := a.wanted(c)
	var jobs []job
	for ; len(list) > 0 && c.room < a.bounds.commit; list = list[1:] {
		w := list[0]
		data, err := a.reader.SharedBlob(ctx, w.blob, min(a.maxSize, a.bounds.commit))
		if err != nil {
			break // the loader reads it again, and says why
		}
		c.room += max(int64(len(data)), minAhead)
		into := &cachedFile{key: cacheKey{w.component.row.ID, w.blob}}
		c.files = append(c.files, into)
		jobs = append(jobs, job{fileVersion: w, data: data, into: into, commit: c})
	}
	c.rest, c.room = list, min(c.room, a.bounds.room)
	if err := a.room.Acquire(ctx, c.room); err != nil {
		c.room = 0
		return err
	}
	c.parsed.Add(len(jobs))
	for _, j := range jobs {
		a.jobs <- j // parsers take all of them
	}
	return nil
}

// wanted lists what the components read of a commit, and finds those that it
// touches, in their order.
func (a *ahead) wanted(c *readCommit) []fileVersion {
	var list []fileVersion
	touched := make(map[*component]bool)
	for _, ch := range c.step.Changes {
		for _, comp := range a.readersOf(ch.Path) {
			touched[comp] = true
			if !ch.New.IsZero() {
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

// readersOf are the components that read a path.
func (a *ahead) readersOf(path string) []*component {
	list, ok := a.touching[path]
	if !ok {
		for _, c := range a.comps {
			if c.selection.wants(path) {
				list = append(list, c)
			}
		}
		a.touching[path] = list
	}
	return list
}

// parse parses files until there are no more.
func (a *ahead) parse() {
	r := unit.NewReader(a.pool)
	for j := range a.jobs {
		j.into.file, j.into.err = parse(j.path, j.data, j.component.rules, r)
		j.commit.parsed.Done()
	}
}
