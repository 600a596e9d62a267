package ingest

import (
	"context"

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
