package ingest

import (
	"context"
	"errors"
	"sync"

	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
	"golang.org/x/sync/semaphore"
)

// aheadCommits bounds the commits that are read ahead.
const aheadCommits = 256

// minAhead is the least that a file counts, in bytes.
const minAhead = 1 << 10

// readAhead reads the commits of a history and parses their files, while earlier
// commits are applied.
type readAhead struct {
	comps    []*component
	loader   *fileLoader // of walk
	bounds   replayBounds
	touching map[string][]*component
	budget   *semaphore.Weighted // bytes
	commits  chan *readCommit
	cancel   context.CancelFunc
	walked   sync.WaitGroup
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

// readAhead begins to read the commits after base.
func (r *replay) readAhead(ctx context.Context, base gitsource.State) (*readAhead, error) {
	reader, err := r.p.open(ctx)
	if err != nil {
		return nil, err
	}
	reader.LimitCache(r.p.s.bounds.aheadObjects)
	ctx, cancel := context.WithCancel(ctx)
	a := &readAhead{
		comps: r.comps, loader: newFileLoader(r.p.s, reader, r.p.meter), bounds: r.p.s.bounds, touching: make(map[string][]*component),
		budget: semaphore.NewWeighted(r.p.s.bounds.aheadBytes), commits: make(chan *readCommit, aheadCommits), cancel: cancel,
	}
	a.walked.Go(func() { a.walk(ctx, base, r.p.head) })
	return a, nil
}

// stop ends reading and waits for that.
func (a *readAhead) stop() {
	a.cancel()
	a.walked.Wait()
	_ = a.loader.reader.Close() // reading is over: an error does not matter
}

// next returns the next commit, whose part of the budget the caller gives back; nil after
// the last one.
func (a *readAhead) next(ctx context.Context) (*readCommit, error) {
	c := <-a.commits // closed if ctx is done
	if c == nil {
		return nil, ctx.Err()
	}
	c.parsed.Wait()
	return c, c.err
}

// walk reads commits until the last one, or until it is stopped.
func (a *readAhead) walk(ctx context.Context, base, head gitsource.State) {
	defer close(a.commits)
	for step, err := range a.loader.reader.Steps(ctx, base, head, matcher(a.comps)) {
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

// read reads the files of a commit, up to a bound by their length.
func (a *readAhead) read(ctx context.Context, c *readCommit) (err error) {
	reader := a.loader.reader
	if c.mailmap, err = reader.Mailmap(ctx, c.step.Commit.Hash); err != nil {
		return err
	}
	n, list := 0, a.versions(c)
	for ; n < len(list); n++ {
		size, err := reader.Size(ctx, list[n].blob)
		if size = max(size, minAhead); err != nil || c.bytes+size > a.bounds.commitBytes {
			break // whoever reads it later reports the error
		}
		c.bytes += size
	}
	c.bytes = min(c.bytes, a.bounds.aheadBytes)
	if err := a.budget.Acquire(ctx, c.bytes); err != nil {
		c.bytes = 0
		return err
	}
	c.files, c.rest = a.loader.parse(ctx, &c.parsed, list[:n], a.bounds.commitBytes)
	c.rest = append(c.rest, list[n:]...)
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

// minWeight is the least that a file counts for a replay's part, in bytes.
const minWeight = 1 << 10

// part is the place of a replay among those that follow each other, as long as not
// all components of a branch are replayed in one walk.
type part struct{ index, of int }

// replayAll replays components that are at one commit, in parts.
func (p *pull) replayAll(ctx context.Context, comps []*component) {
	parts, err := p.replayParts(ctx, comps)
	if err != nil {
		p.fail(err, comps...)
		return
	}
	for i, list := range parts {
		p.withoutFailing(ctx, list, func(ctx context.Context, comps []*component) error {
			return p.replay(ctx, comps, part{index: i, of: len(parts)})
		})
	}
	p.importHeavy(ctx, comps)
}

// replayParts splits components, in their order, so that the files of a part at the
// head have no more than partBytes, if it has several components. What a replay
// holds in memory is bounded by its batches and tables, except for what a single
// commit brings: often one commit brings all files there are.
//
// After a crash, the parts that are left are those that there would have been.
func (p *pull) replayParts(ctx context.Context, comps []*component) (parts [][]*component, err error) {
	if len(comps) == 1 {
		return [][]*component{comps}, nil
	}
	if err := p.listFiles(ctx, p.head, comps); err != nil {
		return nil, err
	}
	var weight int64
	for i, c := range comps {
		var own int64
		for _, f := range c.files {
			size, err := p.reader.Size(ctx, f.Blob)
			if err != nil {
				return nil, err
			}
			own += max(size, minWeight)
		}
		c.files = nil
		if weight += own; i == 0 || weight > p.s.bounds.partBytes {
			parts, weight = append(parts, nil), own
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], c)
	}
	return parts, nil
}

// A replay that meets a commit with too much for the memory ends there. The component
// that brought the most is brought to the head in one step, as with a history that was
// rewritten, or without one if nothing of it is stored yet. It has a problem that says so.

// errHeavy says that a commit brought too much for a replay.
type errHeavy struct{ commit gitsource.State }

func (e *errHeavy) Error() string { return "commit " + e.commit.String() + ": " + errMemory.Error() }
func (e *errHeavy) Unwrap() error { return errMemory }

// heaviest is the component that brought the most of a commit.
type heaviest struct {
	component *component
	bytes     int64
}

// weigh adds what a component brought.
func (h *heaviest) weigh(c *component, bytes int64) {
	if h.component == nil || bytes > h.bytes {
		h.component, h.bytes = c, bytes
	}
}

// blame makes errMemory the error of the heaviest component.
func (h *heaviest) blame(err error, commit gitsource.State) error {
	if !errors.Is(err, errMemory) {
		return err
	}
	return &componentError{h.component, &errHeavy{commit}}
}

// weigh waits for a turn if a commit brings more files than are read ahead. It returns an
// error if their sizes show already that it brings too much.
func (r *replay) weigh(ctx context.Context, commit *readCommit) error {
	if len(commit.rest) == 0 {
		return nil
	}
	sizes := make(map[*component]int64)
	var sum int64
	var h heaviest
	for _, v := range commit.rest {
		size, err := r.p.reader.Size(ctx, v.blob)
		if err != nil {
			return nil // whoever reads the file says so
		}
		sum += size
		sizes[v.component] += size
		h.weigh(v.component, sizes[v.component])
	}
	if sum > r.p.meter.large {
		return h.blame(errMemory, commit.step.At)
	}
	return r.p.meter.takeTurn(ctx)
}

// replayBeforeHeavy is replayCommits, which stores the commits before a heavy one.
func (p *pull) replayBeforeHeavy(ctx context.Context, comps []*component, of part) error {
	err := p.replayCommits(ctx, comps, of, gitsource.State{})
	heavy, ok := errors.AsType[*errHeavy](err)
	if !ok {
		return err
	}
	for _, c := range comps {
		c.forget() // the commits since the last batch are not stored
	}
	if before := p.replayCommits(ctx, comps, of, heavy.commit); before != nil {
		return before
	}
	return err
}

// turnForChecks waits for a turn if a file of a component is large: its strings are
// checked together.
func (p *pull) turnForChecks(ctx context.Context, c *component) error {
	for _, f := range c.files {
		size, err := p.reader.Size(ctx, f.Blob)
		if err == nil && size > p.meter.small/usualFactor {
			return p.meter.takeTurn(ctx)
		}
	}
	return nil
}

// importHeavy brings components to the head whose replay met a commit with too much.
func (p *pull) importHeavy(ctx context.Context, comps []*component) {
	var list []*component
	for _, c := range comps {
		if heavy, ok := errors.AsType[*errHeavy](p.errs[c.row.ID]); ok {
			delete(p.errs, c.row.ID)
			c.forget()
			c.leapt = p.meter.tooMuch("the commits from " + heavy.commit.String() + " on until the import were read in one step, since that one takes")
			list = append(list, c)
		}
	}
	if len(list) > 0 {
		p.importAll(ctx, list)
	}
}
