package ingest

import (
	"context"
	"errors"

	"github.com/repoglot/repoglot/gitsource"
)

// minWeight is the least that a file counts for a replay's part, in bytes.
const minWeight = 1 << 10

// part is the place of a replay among those that follow each other, as long as not
// all components of a branch are replayed in one walk.
type part struct{ index, of int }

// progress is the progress of all parts after a step of one.
func (a part) progress(step *gitsource.Step, entries int64) Progress {
	return Progress{Done: a.index*step.Total + step.Position, Total: a.of * step.Total, Entries: entries}
}

// replayAll replays components that are at one commit, in parts.
func (p *pull) replayAll(ctx context.Context, comps []*component) {
	parts, err := p.replayParts(ctx, comps)
	if err != nil {
		for _, c := range comps {
			p.fail(c, err)
		}
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
