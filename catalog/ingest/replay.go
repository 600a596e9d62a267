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
// head yet, alone, from where they stand to the head of the branch (decision
// 19). Killed, it goes on from the last batch. Three things are done at once:
// reading and parsing the next commits (ahead), applying one to what is in
// memory (staging), and storing the batch before (flight).
type replay struct {
	p       *pull
	comps   []*component
	load    *loader
	staging *staging
	from    string          // where the store will stand once all batches are stored
	commits int             // of the batch
	entries int64           // so far
	changes map[int64]int64 // entries of the batch by component
	pending *pendingBatch   // the batch that is being stored, or nil
	broken  error           // why a batch could not be stored
}

// flight is a batch that is being stored.
type pendingBatch struct {
	done    chan struct{} // closed at its end
	err     error
	made    map[int64]int64 // ids of new translations
	to      string          // its last commit
	changes map[int64]int64 // entries by component
	counted map[int64]stagedComponent
	at      replayStep
}

// replayAll replays components that stand at one commit, or that are new and of
// one History. One that fails stays behind; the others go on without it.
func (p *pull) replayAll(ctx context.Context, comps []*component, load *loader) {
	p.withoutFailing(ctx, comps, func(comps []*component) error { return p.replay(ctx, comps, load) })
}

func (p *pull) replay(ctx context.Context, comps []*component, load *loader) error {
	from := comps[0].row.Head
	if from == "" && !comps[0].isStored() {
		bound, first, err := p.bound(ctx, comps[0].row.Settings.History)
		switch {
		case err != nil:
			return err
		case bound == p.head: // nothing is young enough
			return p.jump(ctx, comps, "", load)
		case !bound.IsZero():
			if err := p.importBound(ctx, comps, bound, first, load); err != nil {
				return err
			}
			from = bound.String()
		}
	}
	r := &replay{p: p, comps: comps, load: load, from: from, changes: make(map[int64]int64)}
	r.staging = newStaging(p.s.db, comps, r.waitStored)
	load.pool = unit.NewPool()
	load.units = unit.NewReader(load.pool)
	p.reader.LimitCache(besideAhead)
	defer func() {
		load.units, load.pool = nil, nil
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

// enter imports the state at the bound of a history, which makes no entries.
func (p *pull) importBound(ctx context.Context, comps []*component, bound object.Hash, first gitsource.FirstParent, load *loader) error {
	if err := p.files(ctx, bound, comps); err != nil {
		return err
	}
	commit, err := p.reader.Commit(ctx, bound)
	if err != nil {
		return err
	}
	step := gitsource.Step{Commit: commit, Origins: []gitsource.Origin{{Commit: commit}}}
	if err := p.applyStep(ctx, comps, comps, "", &step, load, replayStep{partial: true, opened: first.When}); err != nil {
		return err
	}
	return p.refreshCounters(ctx, comps)
}

// recount reads how many units and which entries components have by now.
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
	base, err := r.begin(ctx)
	if err != nil {
		return err
	}
	if !base.IsZero() && !r.p.reader.Has(base) {
		return r.p.jump(ctx, r.comps, r.from, r.load)
	}
	if err := r.walk(ctx, base); err != nil {
		if stored := r.waitStored(); stored != nil && !errors.Is(err, stored) { // a batch that is being stored ends, whatever happened
			err = errors.Join(err, stored)
		}
		return err
	}
	return r.flush(ctx, r.p.report.Head, true)
}

// walk applies the commits after base.
func (r *replay) walk(ctx context.Context, base object.Hash) error {
	ahead, err := r.lookAhead(ctx, base)
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

// begin lists the files where the components stand. New components get the
// entry that begins their lists, at the time of the branch's first commit.
func (r *replay) begin(ctx context.Context) (base object.Hash, err error) {
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
		return base, r.p.files(ctx, base, r.comps)
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
	step := gitsource.Step{Commit: first, Origins: []gitsource.Origin{{Commit: first}}}
	for _, c := range r.comps {
		a := r.application(c, &step, mailmap)
		a.entries.created(a.at)
		if err := r.wrote(c, a, a.entries.write(ctx, a)); err != nil {
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
	r.load.prefetch(ctx, commit.rest)
	for _, file := range commit.files {
		r.load.add(file)
	}
	step := &commit.step
	for _, c := range commit.touched {
		c.advance(step.Changes)
		a := r.application(c, step, commit.mailmap)
		if err := r.wrote(c, a, a.run(ctx)); err != nil {
			return err
		}
	}
	r.load.forget() // a version is needed again only where branches are merged
	r.p.tell(Progress{Done: step.Position, Total: step.Total, Entries: r.entries})
	r.commits++
	if r.staging.entries < r.p.s.batchEntries && r.staging.bytes < batchBytes && r.commits < batchCommits {
		return nil
	}
	return r.flush(ctx, step.Commit.Hash.String(), false)
}

// application prepares a component's part of a replayed commit.
func (r *replay) application(c *component, step *gitsource.Step, mailmap object.Mailmap) *application {
	at := r.staging.time(c.row.ID, pastTime(step.Commit, r.importStart(c)))
	return &application{
		tx: r.staging, comp: c, load: r.load, log: r.p.s.log, step: step, mailmap: mailmap,
		origins: newAttributor(step, r.load, c),
		record:  true, created: at, at: at,
	}
}

// wrote counts the entries of an application that has run.
func (r *replay) wrote(c *component, a *application, err error) error {
	if r.broken != nil {
		return r.broken // no fault of the component that found out
	}
	if err != nil {
		return &componentError{c, err}
	}
	n := a.entries.count()
	r.changes[c.row.ID] += n
	r.entries += n
	return nil
}

// began is when the first import of a component began.
func (r *replay) importStart(c *component) time.Time {
	if c.row.ImportAt.IsZero() {
		return r.p.at
	}
	return c.row.ImportAt
}

// pastTime is the time of entries about a commit of the past: its committer
// time, never later than the import (decision 19).
func pastTime(c object.Commit, began time.Time) time.Time {
	if c.Committer.When.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return commitTime(c, began)
}

// flush stores the batch, beside what follows; done says that the head is
// reached, and waits.
func (r *replay) flush(ctx context.Context, to string, done bool) error {
	if err := r.waitStored(); err != nil {
		return err
	}
	f := &pendingBatch{done: make(chan struct{}), to: to, changes: r.changes, counted: r.staging.count(), at: replayStep{partial: !done}}
	sealed, info := r.staging.seal(), r.p.stepInfo(ctx, r.comps, r.from, to, f.at)
	r.pending, r.from, r.commits, r.changes = f, to, 0, make(map[int64]int64)
	go func() {
		defer close(f.done)
		f.err = r.p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) (err error) {
			f.made, err = sealed.store(ctx, tx)
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

// caughtUp waits for the batch that is being stored, and notes that it is.
func (r *replay) waitStored() error {
	f := r.pending
	if f == nil {
		return r.broken
	}
	r.pending = nil
	<-f.done
	if r.broken = f.err; f.err != nil {
		return f.err
	}
	r.staging.stored(f.made)
	r.p.moved(r.comps, f.to, f.at)
	for _, c := range r.comps {
		r.p.changes[c.row.ID] += f.changes[c.row.ID]
		c.row.LastUnit, c.row.LastAt = f.counted[c.row.ID].lastUnit, f.counted[c.row.ID].lastAt
	}
	if !f.at.partial {
		r.reachedHead()
	}
	return nil
}

// arrived notes what later parts of a pull ask components that are at the head.
func (r *replay) reachedHead() {
	for _, c := range r.comps {
		c.applied, c.matchesNothing = true, !c.selects()
		for _, row := range c.translations {
			row.ID = r.staging.id(row.ID)
		}
	}
}

// eachWithout runs fn for components, and again without one that failed, which
// is left where it stands. Where the database fails, it is no component's fault:
// all stay together.
func (p *pull) withoutFailing(ctx context.Context, comps []*component, fn func([]*component) error) {
	for failed := 0; len(comps) > 0; failed++ {
		err := fn(comps)
		if err == nil {
			return
		}
		var one *componentError
		if !errors.As(err, &one) || failed == maxLeftBehind || ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
			for _, c := range comps {
				p.fail(c, err)
			}
			return
		}
		p.fail(one.component, err)
		comps = without(comps, one.component)
		for _, c := range comps {
			c.forget() // what the step that failed changed is not stored
		}
	}
}
