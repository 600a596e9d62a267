package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// move is what one step does to the heads of a convoy.
type move struct {
	convoy   []*component
	from, to string // commits; from is "" for components that are read whole

	// In a first import with history:
	partial bool      // the head of the branch is not reached
	opened  time.Time // the time of entry 51; zero: the time of the commit
}

// applyStep applies one step to the components that it touches and moves the
// heads of the whole convoy to its commit, in one transaction.
//
// A step that holds more memory than usual waits for a turn.
func (p *pull) applyStep(ctx context.Context, m move, touched []*component, step *gitsource.Step) error {
	defer p.meter.endTurn()
	if err := p.takeTurn(ctx, touched, step); err != nil {
		return err
	}
	err := p.tryStep(ctx, m, touched, step)
	if errors.Is(err, errMemory) && !p.meter.turn {
		if err := p.meter.takeTurn(ctx); err != nil {
			return err
		}
		err = p.tryStep(ctx, m, touched, step)
	}
	return p.tooMuch(err)
}

// takeTurn waits for a turn if the files that a step reads are large.
func (p *pull) takeTurn(ctx context.Context, touched []*component, step *gitsource.Step) error {
	room := p.meter.small / usualFactor
	for _, v := range p.versions(touched, step) {
		size, err := p.reader.Size(ctx, v.blob)
		if err != nil {
			return nil // whoever reads the file says so
		}
		if room -= size; room < 0 {
			return p.meter.takeTurn(ctx)
		}
	}
	return nil
}

// tooMuch explains errMemory, after which a component stays where it is.
func (p *pull) tooMuch(err error) error {
	if !errors.Is(err, errMemory) {
		return err
	}
	over := &errQuota{p.meter.tooMuch("its strings take")}
	if one, ok := errors.AsType[*componentError](err); ok {
		return &componentError{one.component, over}
	}
	return over
}

// tryStep is applyStep within the memory that the pull may take now. After errMemory all
// is as before.
func (p *pull) tryStep(ctx context.Context, m move, touched []*component, step *gitsource.Step) (err error) {
	mailmap, err := p.reader.Mailmap(ctx, step.Commit.Hash)
	if err != nil {
		return err
	}
	p.meter.begin()
	defer p.undoOver(touched, &err)()
	defer clear(p.partial)
	if err := p.read(ctx, touched, step); err != nil {
		return err
	}
	m.to = step.At.String()
	changes := make(map[int64]int64, len(touched))
	var newFailures checkup.NewFailures
	var k *checkup.Step
	err = p.advanceHeads(ctx, m, func(ctx context.Context, tx *store.StepTx) (err error) {
		defer p.phases.begin(applyPhase)()
		if !m.partial {
			k = p.checksOf(tx)
			if m.from != "" {
				k.Report()
			}
		}
		for _, c := range touched {
			a := p.application(direct{tx}, c, step, mailmap)
			a.checkup, a.journal = k, tx
			p.begin(a, m.opened)
			if err := p.runWithin(ctx, a); err != nil {
				return &componentError{c, err}
			}
			changes[c.row.ID] = a.entries.count()
		}
		if m.partial {
			return nil
		}
		if err := p.storeReplayedFiles(ctx, tx, m.convoy...); err != nil {
			return err
		}
		defer p.phases.begin(checkPhase)()
		newFailures, err = checkStep(ctx, k, m.convoy, touched)
		return err
	})
	if err != nil {
		return err
	}
	p.keep(k)
	for id, n := range changes {
		p.changes[id] += n
	}
	p.report.NewFailures.Add(newFailures)
	for _, c := range touched {
		c.applied, c.matchesNothing = true, !c.selects()
		if m.from == "" {
			c.dropUnion() // other components are read before this one is again
		}
	}
	return nil
}

// undoOver returns a function that undoes in memory what a step did that ended with
// errMemory.
func (p *pull) undoOver(touched []*component, err *error) func() {
	type flags struct{ reread, retry bool }
	before := catalog.Each(touched, func(c **component) flags { return flags{(*c).reread, (*c).retry} })
	return func() {
		if !errors.Is(*err, errMemory) {
			return
		}
		for i, c := range touched {
			c.forget()
			c.reread, c.retry = before[i].reread, before[i].retry
		}
		for _, c := range p.comps { // what they remember may be the most of it
			c.dropUnion()
		}
	}
}

// runWithin runs the part of a component in a step, within its quotas.
func (p *pull) runWithin(ctx context.Context, a *application) error {
	if err := p.s.Quotas.checkFiles(a.comp); err != nil {
		return err
	}
	a.maxUnits = p.s.Quotas.Units
	if err := a.run(ctx); err != nil {
		return p.s.Quotas.growthError(err)
	}
	return p.s.Quotas.checkUnits(a.comp)
}

// checkStep runs the checks of a step and returns what fails since.
func checkStep(ctx context.Context, k *checkup.Step, convoy, touched []*component) (n checkup.NewFailures, err error) {
	if err := k.Run(ctx, checked(touched...)); err != nil {
		return n, err
	}
	rest := slices.DeleteFunc(slices.Clone(convoy), func(c *component) bool { return slices.Contains(touched, c) })
	if err := k.LongUntranslated(ctx, checked(rest...), false); err != nil {
		return n, err
	}
	return k.NewFailures(ctx)
}

// read reads what a step changes before its transaction begins, so that others can
// write meanwhile.
func (p *pull) read(ctx context.Context, touched []*component, step *gitsource.Step) error {
	defer p.phases.begin(readPhase)()
	if err := p.findPartial(ctx, touched, step); err != nil {
		return err
	}
	p.loader.prefetch(ctx, p.versions(touched, step))
	return nil
}

// versions lists the files that a step will read whole, as far as that is known.
func (p *pull) versions(touched []*component, step *gitsource.Step) (list []fileVersion) {
	for _, c := range touched {
		if c.reread {
			for _, f := range c.files {
				list = append(list, fileVersion{c, f.Path, f.Blob})
			}
			continue
		}
		for _, ch := range step.Changes {
			if !ch.New.IsZero() && c.selection.wants(ch.Path) && p.partial[cacheKey{c.row.ID, ch.New}] == nil {
				list = append(list, fileVersion{c, ch.Path, ch.New})
			}
		}
	}
	return list
}

// application prepares the part of a component in a step.
func (p *pull) application(tx stepStore, c *component, step *gitsource.Step, mailmap object.Mailmap) *application {
	return &application{
		tx: tx, comp: c, loader: p.loader, partial: p.partial, log: p.s.Logger, step: step, mailmap: mailmap,
		origins: newAttributor(step, p.loader, c),
	}
}

// begin sets the times of what a step of a pull makes. opened is move.opened.
func (p *pull) begin(a *application, opened time.Time) {
	a.record, a.created = a.comp.isStored(), p.at
	if !a.record {
		a.created = commitTime(a.step.Commit, p.at)
		if opened.IsZero() || p.at.Before(opened) {
			opened = a.created
		}
		a.entries.created(opened)
	}
}

// commitTime is the time of entries about a commit of the past: never later
// than the pull (docs/compatibility.md#history).
func commitTime(c object.Commit, pull time.Time) time.Time {
	if t := committed(c); t.Before(pull) {
		return t
	}
	return pull
}

// committed is the committer time of a commit, 1970 if it has none that can be read.
func committed(c object.Commit) time.Time {
	if when := c.Committer.When; !when.IsZero() {
		return when.UTC()
	}
	return time.Unix(0, 0).UTC()
}

// advanceHeads moves the heads of a convoy, in one transaction with fn.
func (p *pull) advanceHeads(ctx context.Context, m move, fn func(context.Context, *store.StepTx) error) error {
	defer p.phases.begin(commitPhase)()
	err := p.transact(ctx, p.stepInfo(ctx, m), func(ctx context.Context, tx *store.StepTx) error {
		if err := fn(ctx, tx); err != nil || m.to != p.head.String() {
			return err
		}
		return tx.NoneOnItsWay(ctx, ids(m.convoy))
	})
	if err != nil {
		return err
	}
	p.moved(m)
	return nil
}

func (p *pull) stepInfo(ctx context.Context, m move) store.StepInfo {
	spec := &p.branch.Components[0].Spec
	info := store.StepInfo{
		Repo: spec.Repo, Branch: spec.Branch, Components: ids(m.convoy),
		From: m.from, To: m.to, Tracking: p.ref, At: p.at, Partial: m.partial,
		Reread: !slices.ContainsFunc(m.convoy, func(c *component) bool { return !c.reread }),
	}
	if m.partial {
		info.ImportAt = p.at
	} else {
		info.Commit = p.shown(ctx, m.to)
	}
	for _, c := range m.convoy {
		info.Configured = max(info.Configured, c.row.Configured)
	}
	return info
}

// shown returns what people are shown of a commit. It is nil if the commit
// cannot be read, which does not stop the pull.
func (p *pull) shown(ctx context.Context, id string) *catalog.Commit {
	at, err := gitsource.ParseState(id)
	if err != nil {
		return nil
	}
	c, err := p.reader.Commit(ctx, at.Commit)
	if err != nil {
		p.s.Logger.Debug("commit cannot be shown", "commit", id, "error", err)
		return nil
	}
	shown := catalog.NewCommit(catalog.Commit{
		Hash: at.Commit.String(), Author: c.Author.Name, Committer: c.Committer.Name,
		AuthorTime: c.Author.When.UTC(), CommitTime: c.Committer.When.UTC(), Message: c.Message,
	})
	return &shown
}

// transact runs the transaction of a step. It changes nothing in p.
func (p *pull) transact(ctx context.Context, info store.StepInfo, fn func(context.Context, *store.StepTx) error) error {
	if err := p.s.hasRoom(); err != nil {
		return err
	}
	info.MaxBytes = max(1, p.s.Quotas.Growth-p.written.Load())
	res, err := p.s.DB.Step(ctx, info, fn)
	p.written.Add(res.Bytes)
	if errors.Is(err, catalog.ErrConflict) {
		return fmt.Errorf("another process moved the component; the next pull goes on from there: %w", err)
	}
	return p.s.Quotas.growthError(err)
}

func (p *pull) moved(m move) {
	p.report.Steps++
	for _, c := range m.convoy {
		c.row.Head, c.row.Imported = m.to, c.row.Imported || !m.partial
		if m.partial && c.row.ImportAt.IsZero() {
			c.row.ImportAt = p.at
		}
	}
}
