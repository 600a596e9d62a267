package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// importAll reads components at the branch's head, one transaction each: new
// components, which get no entries, as with history: none
// (docs/compatibility.md#history), and components whose settings changed, which
// are compared with what is stored.
func (p *pull) importAll(ctx context.Context, comps []*component) {
	if err := p.listFiles(ctx, p.head, comps); err != nil {
		for _, c := range comps {
			p.fail(c, err)
		}
		return
	}
	for i, c := range comps {
		p.tell(Progress{Done: i, Total: len(comps)})
		if err := p.snapshot(ctx, []*component{c}, p.head, ""); err != nil {
			p.fail(c, err)
			if errors.Is(err, store.ErrUnavailable) { // each of the others would wait for the lock again
				for _, c := range comps[i+1:] {
					p.fail(c, err)
				}
				return
			}
		}
	}
	p.tell(Progress{Done: len(comps), Total: len(comps)})
}

// advanceAll walks a convoy to the head. A component that fails stays where it
// is, and later pulls move it alone; the others go on without it.
func (p *pull) advanceAll(ctx context.Context, comps []*component) {
	p.withoutFailing(ctx, comps, func(comps []*component) error { return p.walk(ctx, comps, comps[0].row.Head) })
}

// walk brings a convoy from one commit to the head, a transaction per step.
func (p *pull) walk(ctx context.Context, comps []*component, from string) error {
	base, err := object.ParseHash(from)
	if err != nil {
		return fmt.Errorf("stored head: %w", err)
	}
	if !p.reader.Has(base) {
		return p.jump(ctx, comps, from)
	}
	if err := p.listFiles(ctx, base, comps); err != nil {
		return err
	}
	at := from
	for step, err := range p.reader.Steps(ctx, base, p.head, matcher(comps)) {
		if errors.Is(err, object.ErrUnknownCommit) {
			return p.jump(ctx, comps, at)
		}
		if err != nil {
			return err
		}
		var touched []*component
		for _, c := range comps {
			if c.advance(step.Changes) {
				touched = append(touched, c)
			}
		}
		if err := p.applyStep(ctx, move{convoy: comps, from: at}, touched, &step); err != nil {
			return err
		}
		at = step.Commit.Hash.String()
	}
	if at == p.report.Head {
		return nil
	}
	// The last commits touch no file of the components: only their heads move.
	return p.advanceHeads(ctx, move{convoy: comps, from: at, to: p.report.Head}, func(ctx context.Context, tx *store.StepTx) error {
		return newCheckup(tx).longUntranslated(ctx, comps) // strings grow older with the head
	})
}

// jump brings a convoy to the head in one step, for example when the mirror no
// longer has the commit of the convoy (docs/compatibility.md#history).
func (p *pull) jump(ctx context.Context, comps []*component, from string) error {
	return p.snapshotOf(ctx, comps, p.head, from)
}

// snapshotOf brings components to the files of a commit.
func (p *pull) snapshotOf(ctx context.Context, comps []*component, at object.Hash, from string) error {
	if err := p.listFiles(ctx, at, comps); err != nil {
		return err
	}
	return p.snapshot(ctx, comps, at, from)
}

// snapshot brings components to the files of a commit, which are listed already,
// whatever commit they are at.
func (p *pull) snapshot(ctx context.Context, comps []*component, at object.Hash, from string) error {
	commit, err := p.reader.Commit(ctx, at)
	if err != nil {
		return err
	}
	return p.applyStep(ctx, move{convoy: comps, from: from}, comps, stepOf(commit))
}

// stepOf makes a step of a commit without its parents: all is of the commit.
func stepOf(commit object.Commit) *gitsource.Step {
	return &gitsource.Step{Commit: commit, Origins: []gitsource.Origin{{Commit: commit}}}
}

// componentError is the error of one component of a convoy.
type componentError struct {
	component *component
	err       error
}

func (e *componentError) Error() string { return e.component.name() + ": " + e.err.Error() }
func (e *componentError) Unwrap() error { return e.err }

// maxFailing bounds the components of a convoy that fail one by one in a pull.
// Where more do, the components are not the cause.
const maxFailing = 3

// withoutFailing runs fn for components, and again without a component that
// failed, which stays where it is. Where the database fails, no component is the
// cause: all stay together.
func (p *pull) withoutFailing(ctx context.Context, comps []*component, fn func([]*component) error) {
	for failed := 0; len(comps) > 0; failed++ {
		err := fn(comps)
		if err == nil {
			return
		}
		var one *componentError
		if !errors.As(err, &one) || failed == maxFailing || ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
			for _, c := range comps {
				p.fail(c, err)
			}
			return
		}
		p.fail(one.component, err)
		comps = slices.DeleteFunc(slices.Clone(comps), func(c *component) bool { return c == one.component })
		for _, c := range comps {
			c.forget() // the changes of the failed step are not stored
		}
	}
}
