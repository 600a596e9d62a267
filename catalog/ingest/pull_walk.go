package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// importCache bounds the objects of git that an import keeps, in bytes: each is read once, and
// is seldom the base of another one.
const importCache = 16 << 20

// importAll reads components at the branch's head, one transaction each: new
// components, which get no entries, as with history: none
// (docs/compatibility.md#history), and components whose settings changed, which
// are compared with what is stored.
func (p *pull) importAll(ctx context.Context, comps []*component) {
	if err := p.listFiles(ctx, p.head, comps); err != nil {
		p.fail(err, comps...)
		return
	}
	p.later = len(comps) > 1
	p.reader.LimitCache(importCache)
	defer p.reader.LimitCache(0)
	defer func() { p.later = false }()
	for i, c := range comps {
		p.tell(Progress{Done: i, Total: len(comps)})
		err := p.snapshot(ctx, move{convoy: []*component{c}, from: c.row.Head}, p.head)
		p.loader.forget()                         // no other component reads these files by the same rules
		if errors.Is(err, store.ErrUnavailable) { // each of the others would wait for the lock again
			p.fail(err, comps[i:]...)
			return
		}
		p.fail(err, c)
	}
	p.tell(Progress{Done: len(comps), Total: len(comps)})
}

// walk brings a convoy to the head, a transaction per step.
func (p *pull) walk(ctx context.Context, comps []*component) error {
	from := comps[0].row.Head
	base, err := gitsource.ParseState(from)
	if err != nil {
		return fmt.Errorf("stored head: %w", err)
	}
	if !p.reader.HasState(base) {
		return p.jump(ctx, comps, p.head, from)
	}
	for _, c := range comps {
		c.files = nil // the first step that touches it lists them
	}
	at := from
	for step, err := range p.reader.Steps(ctx, base, p.head, matcher(comps)) {
		if errors.Is(err, object.ErrUnknownCommit) {
			return p.jump(ctx, comps, p.head, at)
		}
		if err != nil {
			return err
		}
		touched := slices.DeleteFunc(slices.Clone(comps), func(c *component) bool { return !c.touchedBy(step.Changes) })
		unlisted := slices.DeleteFunc(slices.Clone(touched), func(c *component) bool { return c.files != nil })
		if err := p.listFiles(ctx, base, unlisted); err != nil {
			return err
		}
		for _, c := range touched {
			c.advance(step.Changes)
		}
		if err := p.applyStep(ctx, move{convoy: comps, from: at}, touched, &step); err != nil {
			return err
		}
		at = step.At.String()
	}
	head := p.head.String()
	if at == head {
		return nil
	}
	// The last commits touch no file of the components: only their heads move.
	return p.advanceHeads(ctx, move{convoy: comps, from: at, to: head}, func(ctx context.Context, tx *store.StepTx) error {
		return checkup.New(tx).LongUntranslated(ctx, checked(comps...), false) // strings grow older with the head
	})
}

// jump brings components to the files of a commit in one step: to the head, for
// example, when the mirror no longer has the commit of the convoy
// (docs/compatibility.md#history).
func (p *pull) jump(ctx context.Context, comps []*component, at gitsource.State, from string) error {
	if err := p.listFiles(ctx, at, comps); err != nil {
		return err
	}
	return p.snapshot(ctx, move{convoy: comps, from: from}, at)
}

// leap brings components to the head in one step that a quota kept from a commit on the way
// there: what is at the head may be within it again.
func (p *pull) leap(ctx context.Context, comps []*component) {
	for _, c := range comps {
		if _, over := errors.AsType[*errQuota](p.errs[c.row.ID]); over {
			c.forget()
			p.fail(p.jump(ctx, []*component{c}, p.head, c.row.Head), c)
		}
	}
}

// snapshot brings the components of a move to the files of a commit, which are listed
// already, whatever commit they are at.
func (p *pull) snapshot(ctx context.Context, m move, at gitsource.State) error {
	step, err := p.stepTo(ctx, at)
	if err != nil {
		return err
	}
	return p.applyStep(ctx, m, m.convoy, step)
}

// stepTo makes a step to a state of a commit without its parents: all is of the commit.
func (p *pull) stepTo(ctx context.Context, at gitsource.State) (*gitsource.Step, error) {
	commit, err := p.reader.Commit(ctx, at.Commit)
	return &gitsource.Step{Commit: commit, At: at, Origins: []gitsource.Origin{{Commit: commit}}}, err
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
// failed, which stays where it is, and later pulls move it alone. Where the
// database fails, no component is the cause: all stay together.
func (p *pull) withoutFailing(ctx context.Context, comps []*component, fn func(context.Context, []*component) error) {
	for failed := 0; len(comps) > 0; failed++ {
		err := fn(ctx, comps)
		if err == nil {
			return
		}
		var one *componentError
		if !errors.As(err, &one) || failed == maxFailing || ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
			p.fail(err, comps...)
			return
		}
		p.fail(err, one.component)
		comps = slices.DeleteFunc(slices.Clone(comps), func(c *component) bool { return c == one.component })
		for _, c := range comps {
			c.forget() // the changes of the failed step are not stored
		}
	}
}

// listFiles sets the files that every component reads at a state.
func (p *pull) listFiles(ctx context.Context, at gitsource.State, comps []*component) error {
	all, err := p.reader.Snapshot(ctx, at, matcher(comps))
	if err != nil {
		return err
	}
	for _, c := range comps {
		c.files = nil
		for _, f := range all {
			if c.selection.lists(f.Path) {
				c.files = append(c.files, f)
			}
		}
	}
	return nil
}

// matcher selects the files that any of the components reads.
func matcher(comps []*component) filemask.Matcher {
	var masks []filemask.Mask
	var paths []string
	for _, c := range comps {
		masks = append(masks, c.selection.mask)
		if c.selection.newBase != "" {
			paths = append(paths, c.selection.newBase)
		}
	}
	return filemask.NewMatcher(masks, paths...)
}

// convoy is a group of components that move together.
type convoy struct {
	from   string // the commit that they are at; "": they are read whole
	replay bool   // their first replay begins or goes on
	comps  []*component
}

// convoys groups components by the commit that they are at. Replays come first:
// they move without others, and meet them at the head. New components with one
// History replay together (replay_ahead.go), after those that an earlier process
// began with; so do those whose settings changed since.
func convoys(comps []*component) []convoy {
	type key struct {
		from           string
		replay, reread bool
		history        catalog.History
	}
	var list []convoy
	index := make(map[key]int)
	for _, c := range comps {
		k := key{from: c.row.Head, replay: !c.row.Imported && c.row.Head != ""}
		if k.replay && c.reread {
			k.reread, k.history = true, c.row.Settings.History
		}
		if c.row.Head == "" && !c.isStored() && c.row.Settings.History.Full {
			k.replay, k.history = true, c.row.Settings.History
		}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, convoy{from: k.from, replay: k.replay})
		}
		list[i].comps = append(list[i].comps, c)
	}
	slices.SortStableFunc(list, func(x, y convoy) int {
		switch {
		case x.replay && y.replay: // new ones last, as without a crash
			return strings.Compare(y.from, x.from)
		case x.replay == y.replay:
			return strings.Compare(x.from, y.from)
		case x.replay:
			return -1
		}
		return 1
	})
	return list
}

func ids(comps []*component) []int64 {
	return catalog.Each(comps, func(c **component) int64 { return (*c).row.ID })
}
