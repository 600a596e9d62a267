package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// The bounds of a batch, the commits that one transaction of a replay stores:
// it ends with the commit that reaches one of them. They decide how much is
// done again after a crash, never what is stored.
const (
	batchEntries = 30_000
	batchBytes   = 24 << 20 // of the files to be stored
	batchCommits = 2_000    // that touch a file
)

// replay walks the first-parent history of components that have not reached a
// head yet, from their stored commit to the head of the branch, without other
// components (docs/compatibility.md#history). After a crash it goes on from the
// last batch. Three things are done at once: reading and parsing the next
// commits (readAhead), applying one to what is in memory (staging), and storing
// the batch before (pendingBatch).
type replay struct {
	p       *pull
	comps   []*component
	staging *staging
	from    string          // the stored head once all batches are stored
	commits int             // of the batch
	entries int64           // of all batches
	changes map[int64]int64 // entries of the batch by component
	pending *pendingBatch   // the batch that is being stored, or nil
	broken  error           // why a batch could not be stored
}

// pendingBatch is a batch that is being stored.
type pendingBatch struct {
	done    chan struct{} // closed at its end
	err     error
	made    map[int64]int64 // ids of new translations
	move    move            // to its last commit
	changes map[int64]int64 // entries by component
	counts  map[int64]stagedComponent
}

// replayAll replays components that are at one commit, or that are new and have
// one History. A component that fails stays where it is; the others go on
// without it.
func (p *pull) replayAll(ctx context.Context, comps []*component) {
	p.withoutFailing(ctx, comps, func(comps []*component) error { return p.replay(ctx, comps) })
}

func (p *pull) replay(ctx context.Context, comps []*component) error {
	from := comps[0].row.Head
	if from == "" && !comps[0].isStored() {
		bound, first, err := p.bound(ctx, comps[0].row.Settings.History)
		switch {
		case err != nil:
			return err
		case bound == p.head: // nothing is young enough
			return p.jump(ctx, comps, "")
		case !bound.IsZero():
			if err := p.importBound(ctx, comps, bound, first); err != nil {
				return err
			}
			from = bound.String()
		}
	}
	r := &replay{p: p, comps: comps, from: from, changes: make(map[int64]int64)}
	r.staging = newStaging(p.s.db, comps, r.waitStored)
	p.loader.pool = unit.NewPool()
	p.loader.units = unit.NewReader(p.loader.pool)
	p.reader.LimitCache(pullCache)
	defer func() {
		p.loader.units, p.loader.pool = nil, nil
		p.reader.LimitCache(0)
	}()
	return r.run(ctx)
}

// bound finds the commit whose state a replay begins with, zero for none, and
// the commit that it replays first.
func (p *pull) bound(ctx context.Context, h catalog.History) (bound object.Hash, first gitsource.FirstParent, err error) {
	n := 0
	for link, err := range p.reader.FirstParents(ctx, p.head) {
		if err != nil {
			return bound, first, err
		}
		if n++; h.Commits > 0 && n > h.Commits || !h.Since.IsZero() && link.When.Before(h.Since) {
			return link.Hash, first, nil
		}
		first = link
	}
	return bound, first, nil
}

// importBound imports the state at the bound of a history, without entries.
func (p *pull) importBound(ctx context.Context, comps []*component, bound object.Hash, first gitsource.FirstParent) error {
	if err := p.listFiles(ctx, bound, comps); err != nil {
		return err
	}
	commit, err := p.reader.Commit(ctx, bound)
	if err != nil {
		return err
	}
	if err := p.applyStep(ctx, move{convoy: comps, partial: true, opened: first.When}, comps, stepOf(commit)); err != nil {
		return err
	}
	return p.refreshCounters(ctx, comps)
}

// refreshCounters reads the last unit and the time of the last entry of
// components.
func (p *pull) refreshCounters(ctx context.Context, comps []*component) error {
	rows, err := p.rows(ctx)
	byID := make(map[int64]*store.BranchComponent, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	for _, c := range comps {
		if row := byID[c.row.ID]; row != nil { // else the next step is a conflict
			c.row.LastUnit, c.row.LastAt = row.LastUnit, row.LastAt
		}
	}
	return err
}

func (r *replay) run(ctx context.Context) error {
	base, err := r.start(ctx)
	if err != nil {
		return err
	}
	if !base.IsZero() && !r.p.reader.Has(base) {
		return r.p.jump(ctx, r.comps, r.from)
	}
	if err := r.walk(ctx, base); err != nil {
		if stored := r.waitStored(); stored != nil && !errors.Is(err, stored) { // a batch that is being stored ends in any case
			err = errors.Join(err, stored)
		}
		return err
	}
	return r.flush(ctx, r.p.report.Head, true)
}

// walk applies the commits after base.
func (r *replay) walk(ctx context.Context, base object.Hash) error {
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
		if err := r.step(ctx, commit); err != nil {
			return err
		}
		ahead.release(commit)
	}
}

// start lists the files of the components at their commit. New components get
// the first entry of their lists, at the time of the branch's first commit.
func (r *replay) start(ctx context.Context) (base object.Hash, err error) {
	for _, c := range r.comps {
		c.files, c.reread, c.retry = nil, false, false
	}
	if r.from != "" {
		if base, err = object.ParseHash(r.from); err != nil {
			return base, fmt.Errorf("stored head: %w", err)
		}
		if !r.p.reader.Has(base) {
			return base, nil
		}
		return base, r.p.listFiles(ctx, base, r.comps)
	}
	_, link, err := r.p.bound(ctx, catalog.History{})
	if err != nil {
		return base, err
	}
	first, err := r.p.reader.Commit(ctx, link.Hash)
	if err != nil {
		return base, err
	}
	mailmap, err := r.p.reader.Mailmap(ctx, first.Hash)
	if err != nil {
		return base, err
	}
	step := stepOf(first)
	for _, c := range r.comps {
		a := r.application(c, step, mailmap)
		a.entries.created(a.at)
		if err := r.count(c, a, a.entries.write(ctx, a)); err != nil {
			return base, err
		}
	}
	return base, nil
}

// step adds one commit to the batch.
func (r *replay) step(ctx context.Context, commit *readCommit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	loader := r.p.loader
	loader.prefetch(ctx, commit.rest)
	for _, file := range commit.files {
		loader.add(file)
	}
	step := &commit.step
	for _, c := range commit.touched {
		c.advance(step.Changes)
		a := r.application(c, step, commit.mailmap)
		if err := r.count(c, a, a.run(ctx)); err != nil {
			return err
		}
	}
	loader.forget() // a version is needed again only where branches are merged
	r.p.tell(Progress{Done: step.Position, Total: step.Total, Entries: r.entries})
	r.commits++
	if r.staging.entries < r.p.s.batchEntries && r.staging.bytes < batchBytes && r.commits < batchCommits {
		return nil
	}
	return r.flush(ctx, step.Commit.Hash.String(), false)
}

// application prepares the part of a component in a replayed commit.
func (r *replay) application(c *component, step *gitsource.Step, mailmap object.Mailmap) *application {
	at := r.staging.time(c.row.ID, pastTime(step.Commit, r.importStart(c)))
	return &application{
		tx: r.staging.stepStore(), comp: c, loader: r.p.loader, log: r.p.s.log, step: step, mailmap: mailmap,
		origins: newAttributor(step, r.p.loader, c),
		record:  true, created: at, at: at,
	}
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

// importStart is the time when the first import of a component began.
func (r *replay) importStart(c *component) time.Time {
	if c.row.ImportAt.IsZero() {
		return r.p.at
	}
	return c.row.ImportAt
}

// pastTime is the time of entries about a replayed commit: its committer time,
// never later than the import (docs/compatibility.md#history).
func pastTime(c object.Commit, importStart time.Time) time.Time {
	if c.Committer.When.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return commitTime(c, importStart)
}

// flush begins to store the batch, whose last commit is to. With done, the head
// is reached: flush waits until the batch is stored.
func (r *replay) flush(ctx context.Context, to string, done bool) error {
	if err := r.waitStored(); err != nil {
		return err
	}
	b := &pendingBatch{
		done: make(chan struct{}), changes: r.changes, counts: r.staging.counts(),
		move: move{convoy: r.comps, from: r.from, to: to, partial: !done},
	}
	sealed, info := r.staging.seal(), r.p.stepInfo(ctx, b.move)
	r.pending, r.from, r.commits, r.changes = b, to, 0, make(map[int64]int64)
	go func() {
		defer close(b.done)
		b.err = r.p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) (err error) {
			b.made, err = sealed.write(ctx, tx)
			if err == nil && done {
				err = newCheckup(tx).run(ctx, r.comps)
			}
			return err
		})
	}()
	if !done {
		return nil
	}
	return r.waitStored()
}

// waitStored waits until the pending batch is stored.
func (r *replay) waitStored() error {
	b := r.pending
	if b == nil {
		return r.broken
	}
	r.pending = nil
	<-b.done
	if r.broken = b.err; b.err != nil {
		return b.err
	}
	r.staging.addIDs(b.made)
	r.p.moved(b.move)
	for _, c := range r.comps {
		r.p.changes[c.row.ID] += b.changes[c.row.ID]
		c.row.LastUnit, c.row.LastAt = b.counts[c.row.ID].lastUnit, b.counts[c.row.ID].lastAt
	}
	if !b.move.partial {
		r.reachedHead()
	}
	return nil
}

// reachedHead sets what later parts of the pull read of components at the head.
func (r *replay) reachedHead() {
	for _, c := range r.comps {
		c.applied, c.matchesNothing = true, !c.selects()
		for _, row := range c.translations {
			row.ID = r.staging.id(row.ID)
		}
	}
}
