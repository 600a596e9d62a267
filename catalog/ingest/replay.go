package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// replayBounds bound what a replay holds in memory, and how much is done again
// after a crash. They do not affect what is stored.
type replayBounds struct {
	// A batch, the commits that one transaction stores, ends with the commit that
	// reaches one of its bounds: entries, bytes of memory (batch.bytes), and commits
	// that touch a file. Two batches are in memory, one of which is being stored.
	batchEntries, batchBytes, batchCommits int
	// tableBytes bounds the units that are kept between commits (unitTable.bytes).
	tableBytes int
	// aheadBytes bounds the files that are read ahead, by their length in the
	// repository; parsed they take about four times as much. A commit that brings
	// more waits until it is the only one. commitBytes bounds each commit.
	aheadBytes, commitBytes int64
	// Of the readers, which keep objects of git for later commits.
	aheadObjects, objects int
	// partBytes bounds the files of the components that are replayed in one walk, by
	// their length at the head (replayParts).
	partBytes int64
}

// defaultReplayBounds returns the bounds of every Syncer except in tests.
func defaultReplayBounds(m *memory) replayBounds {
	return replayBounds{
		batchEntries: 30_000, batchBytes: int(m.part(10 << 20)), batchCommits: 2_000, tableBytes: int(m.part(40 << 20)),
		aheadBytes: m.part(3 << 20), commitBytes: m.part(16 << 20), partBytes: 8 << 20,
		aheadObjects: int(m.part(48 << 20)), objects: int(m.part(8 << 20)),
	}
}

// replay walks the first-parent history of components that have not reached a
// head yet, from their stored commit to the head of the branch, without other
// components (docs/compatibility.md#history). After a crash it goes on from the
// last batch. Three things are done at once: reading and parsing the next
// commits (readAhead), applying one to what is in memory (staging), and storing
// the batch before (pendingBatch).
type replay struct {
	p       *pull
	comps   []*component
	part    part
	staging *staging
	until   gitsource.State // the commit to stop before, or zero
	from    string          // the stored head once all batches are stored
	last    string          // the commit that was applied last
	commits int             // of the batch
	entries int64           // of all batches
	changes map[int64]int64 // entries of the batch by component
	pending *pendingBatch   // the batch that is being stored, or nil
	broken  error           // why a batch could not be stored
}

// replay replays components that are at one commit, or that are new and have one
// History, and checks them at the head, one after the other: each counts as
// imported once it is checked. After a crash in between the next pull checks the
// rest.
func (p *pull) replay(ctx context.Context, comps []*component, of part) error {
	p.reader.LimitCache(p.s.bounds.objects)
	defer p.reader.LimitCache(0)
	if err := p.replayBeforeHeavy(ctx, comps, of); err != nil {
		return err
	}
	p.later = len(comps) > 1
	p.tell(p.told)
	defer func() { p.later = false }()
	for _, c := range comps {
		if c.row.Imported { // its checks ran before those of another one failed
			continue
		}
		if err := p.turnForChecks(ctx, c); err != nil {
			return err
		}
		err := p.recheck(ctx, c)
		p.meter.endTurn()
		if err != nil {
			return err
		}
		c.row.Imported = true
	}
	return nil
}

// replayCommits replays components up to the head, and frees what that took. If until is
// not zero, it stops before that commit.
func (p *pull) replayCommits(ctx context.Context, comps []*component, of part, until gitsource.State) error {
	from := comps[0].row.Head
	if from == "" && !comps[0].isStored() {
		bound, first, err := p.bound(ctx, comps[0].row.Settings.History)
		switch {
		case err != nil:
			return err
		case bound == p.head: // nothing is young enough
			return p.jump(ctx, comps, p.head, "")
		case bound != gitsource.State{}:
			if err := p.importBound(ctx, comps, bound, first); err != nil {
				return err
			}
			from = bound.String()
		}
	}
	r := &replay{p: p, comps: comps, part: of, until: until, from: from, last: from, changes: make(map[int64]int64)}
	r.staging = newStaging(p.s.DB, comps, r.waitStored)
	r.staging.blob, r.staging.meter, r.staging.room = p.blob, p.meter, p.roomToGrow
	p.meter.begin()
	p.meter.wait = func() error { return p.meter.takeTurn(ctx) }
	defer func() {
		p.meter.wait = nil
		p.meter.endTurn()
		for _, c := range comps {
			c.dropUnion()
		}
	}()
	p.loader.units = new(unit.Reader)
	defer func() {
		p.loader.forget()
		p.loader.units = nil
	}()
	return r.run(ctx)
}

func (r *replay) run(ctx context.Context) error {
	again := r.from != "" && r.comps[0].reread
	base, err := r.start(ctx)
	if err != nil {
		return err
	}
	if base != (gitsource.State{}) && !r.p.reader.HasState(base) {
		return r.p.jump(ctx, r.comps, r.p.head, r.from)
	}
	if err := r.walk(ctx, base); err != nil {
		if stored := r.waitStored(); stored != nil && !errors.Is(err, stored) { // a batch that is being stored ends in any case
			err = errors.Join(err, stored)
		}
		return err
	}
	end := r.p.head.String()
	if r.until != (gitsource.State{}) {
		end = r.last
	}
	if again || r.from != end {
		if err := r.flush(ctx, end); err != nil {
			return err
		}
	}
	if err := r.waitStored(); err != nil || r.until != (gitsource.State{}) {
		return err
	}
	r.reachedHead()
	return nil
}

// walk applies the commits after base.
func (r *replay) walk(ctx context.Context, base gitsource.State) error {
	ahead, err := r.readAhead(ctx, base)
	if err != nil {
		return err
	}
	defer ahead.stop()
	for {
		commit, err := ahead.next(ctx)
		if commit == nil || err != nil {
			return err
		}
		if commit.step.At == r.until {
			return nil
		}
		if err := r.step(ctx, commit); err != nil {
			return err
		}
		r.last = commit.step.At.String()
		ahead.budget.Release(commit.bytes)
	}
}

// start lists the files of the components at their commit. New components get
// the first entry of their lists, at the time of the branch's first commit.
func (r *replay) start(ctx context.Context) (base gitsource.State, err error) {
	if r.from != "" && r.comps[0].reread {
		return r.startAgain(ctx)
	}
	for _, c := range r.comps {
		c.files, c.reread, c.retry = nil, false, false
	}
	if r.from != "" {
		if base, err = gitsource.ParseState(r.from); err != nil {
			return base, fmt.Errorf("stored head: %w", err)
		}
		if !r.p.reader.HasState(base) {
			return base, nil
		}
		return base, r.p.listFiles(ctx, base, r.comps)
	}
	_, link, err := r.p.bound(ctx, catalog.History{})
	if err != nil {
		return base, err
	}
	step, mailmap, err := r.stepTo(ctx, link.State())
	if err != nil {
		return base, err
	}
	for _, c := range r.comps {
		a := r.application(c, step, mailmap)
		a.entries.created(a.at)
		if err := r.count(c, a, a.entries.write(ctx, a)); err != nil {
			return base, err
		}
	}
	return base, nil
}

// startAgain brings components whose settings, repository or branch changed since
// their replay began to a commit's files as they are read now, with entries, and
// returns the commit.
func (r *replay) startAgain(ctx context.Context) (base gitsource.State, err error) {
	base, err = r.p.reached(ctx, r.from, r.comps[0].row.Settings.History)
	if err != nil {
		return base, err
	}
	step, mailmap, err := r.stepTo(ctx, base)
	if err != nil {
		return base, err
	}
	if err := r.p.listFiles(ctx, base, r.comps); err != nil {
		return base, err
	}
	for _, c := range r.comps {
		c.reread = true
		a := r.application(c, step, mailmap)
		if err := r.count(c, a, r.p.runWithin(ctx, a)); err != nil {
			return base, (&heaviest{component: c}).blame(err, base)
		}
		r.p.loader.forget()
	}
	return base, nil
}

// stepTo is pull.stepTo with the commit's .mailmap.
func (r *replay) stepTo(ctx context.Context, at gitsource.State) (step *gitsource.Step, mailmap object.Mailmap, err error) {
	if step, err = r.p.stepTo(ctx, at); err == nil {
		mailmap, err = r.p.reader.Mailmap(ctx, at.Commit)
	}
	return step, mailmap, err
}

// reached returns the newest commit of the branch that a replay to a stored commit has
// passed, in another repository or branch perhaps; if there is none, the commit that a
// replay of its history begins with.
func (p *pull) reached(ctx context.Context, from string, h catalog.History) (gitsource.State, error) {
	at, err := gitsource.ParseState(from)
	if err != nil {
		return at, fmt.Errorf("stored head: %w", err)
	}
	passed := make(map[object.Hash]bool)
	if p.reader.Has(at.Commit) {
		for link, err := range p.reader.Reader.FirstParents(ctx, at.Commit) {
			if err != nil {
				return at, err
			}
			passed[link.Hash] = true
		}
	}
	for link, err := range p.reader.FirstParents(ctx, p.head) {
		if err != nil || passed[link.Hash] {
			return link.State(), err
		}
	}
	bound, first, err := p.bound(ctx, h)
	if bound == (gitsource.State{}) {
		bound = first.State()
	}
	return bound, err
}

func (r *replay) step(ctx context.Context, commit *readCommit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.staging.begun = r.staging.clock
	r.p.meter.begin()
	loader := r.p.loader
	if err := r.weigh(ctx, commit); err != nil {
		return err
	}
	loader.prefetch(ctx, commit.rest)
	for _, file := range commit.files {
		loader.keep(file)
	}
	step := &commit.step
	var heaviest heaviest
	for _, c := range commit.touched {
		c.advance(step.Changes)
		a := r.application(c, step, commit.mailmap)
		held := r.p.meter.held
		err := r.count(c, a, r.p.runWithin(ctx, a))
		heaviest.weigh(c, r.p.meter.held-held)
		if err != nil {
			return heaviest.blame(err, step.At)
		}
	}
	loader.forget() // a version is needed again only where branches are merged
	of := r.part
	r.p.tell(Progress{Done: of.index*step.Total + step.Position, Total: of.of * step.Total, Entries: r.entries})
	r.commits++
	bounds := &r.p.s.bounds
	if r.p.meter.turn { // what the turn is for must be stored before it ends
		return r.flushTurn(ctx, step.At.String())
	}
	if !r.staging.full(bounds) && r.commits < bounds.batchCommits {
		return nil
	}
	return r.flush(ctx, step.At.String())
}

// application prepares the part of a component in a replayed commit.
func (r *replay) application(c *component, step *gitsource.Step, mailmap object.Mailmap) *application {
	begun := c.row.ImportAt
	if begun.IsZero() {
		begun = r.p.at
	}
	at := r.staging.time(c.row.ID, commitTime(step.Commit, begun))
	a := r.p.application(r.staging, c, step, mailmap)
	a.record, a.created, a.at = true, at, at
	return a
}

// count counts the entries of an application that ran with err.
func (r *replay) count(c *component, a *application, err error) error {
	if r.broken != nil {
		return r.broken // not the fault of the component that noticed it
	}
	if err != nil {
		return &componentError{c, err}
	}
	n := a.entries.count()
	r.changes[c.row.ID] += n
	r.entries += n
	return nil
}

// bound finds the commit whose state a replay begins with, zero for none, and
// the commit that it replays first.
func (p *pull) bound(ctx context.Context, h catalog.History) (bound gitsource.State, first gitsource.FirstParent, err error) {
	n := 0
	for link, err := range p.reader.FirstParents(ctx, p.head) {
		if err != nil {
			return bound, first, err
		}
		if n++; h.Commits > 0 && n > h.Commits || !h.Since.IsZero() && link.When.Before(h.Since) {
			return link.State(), first, nil
		}
		first = link
	}
	return bound, first, nil
}

// importBound imports the state at the bound of a history, without entries.
func (p *pull) importBound(ctx context.Context, comps []*component, bound gitsource.State, first gitsource.FirstParent) error {
	if err := p.listFiles(ctx, bound, comps); err != nil {
		return err
	}
	if err := p.snapshot(ctx, move{convoy: comps, partial: true, opened: first.When}, bound); err != nil {
		return err
	}
	return p.refreshCounters(ctx, comps)
}

// refreshCounters reads the last unit and the time of the last entry of
// components.
func (p *pull) refreshCounters(ctx context.Context, comps []*component) error {
	rows, err := p.s.rows(ctx, &p.branch)
	byID := catalog.ByKey(rows, func(row *store.BranchComponent) int64 { return row.ID })
	for _, c := range comps {
		if row := byID[c.row.ID]; row != nil { // else the next step is a conflict
			c.row.LastUnit, c.row.LastAt = row.LastUnit, row.LastAt
		}
	}
	return err
}
