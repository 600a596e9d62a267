package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// importAll reads components at the branch's head, one transaction each: new
// ones without entries, as with history: none (decision 19); those whose
// settings changed against what is stored.
func (p *pull) importAll(ctx context.Context, comps []*component, load *loader) {
	if err := p.files(ctx, p.head, comps); err != nil {
		for _, c := range comps {
			p.fail(c, err)
		}
		return
	}
	for i, c := range comps {
		p.tell(Progress{Done: i, Total: len(comps)})
		if err := p.snapshot(ctx, []*component{c}, p.head, "", load); err != nil {
			p.fail(c, err)
			if errors.Is(err, store.ErrUnavailable) { // each would wait for the lock again
				for _, c := range comps[i+1:] {
					p.fail(c, err)
				}
				return
			}
		}
	}
	p.tell(Progress{Done: len(comps), Total: len(comps)})
}

// walk brings a convoy from one commit to the head, a transaction per step.
func (p *pull) walk(ctx context.Context, comps []*component, from string, load *loader) error {
	base, err := object.ParseHash(from)
	if err != nil {
		return fmt.Errorf("stored head: %w", err)
	}
	if !p.reader.Has(base) {
		return p.jump(ctx, comps, from, load)
	}
	if err := p.files(ctx, base, comps); err != nil {
		return err
	}
	at := from
	for step, err := range p.reader.Steps(ctx, base, p.head, matcher(comps)) {
		if errors.Is(err, object.ErrUnknownCommit) {
			return p.jump(ctx, comps, at, load)
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
		if err := p.step(ctx, comps, touched, at, &step, load); err != nil {
			return err
		}
		at = step.Commit.Hash.String()
	}
	if at == p.report.Head {
		return nil
	}
	// The last commits touch no file of ours: only the head moves.
	return p.move(ctx, comps, at, p.report.Head)
}

// remark reads the files of components whose units were stored by a version
// that did not know translator comments, at the commits that they stand at.
func (p *pull) rereadNotes(ctx context.Context, comps []*component, load *loader) {
	for _, c := range comps {
		if !c.row.LacksTranslatorComments || !c.row.Imported || c.reread {
			continue
		}
		c.reread = true // also for the leap to the head, where the commit is not there any more
		at, err := object.ParseHash(c.row.Head)
		if err == nil && p.reader.Has(at) {
			err = p.snapshotOf(ctx, []*component{c}, at, c.row.Head, load)
		}
		if err != nil {
			p.fail(c, err)
		}
	}
}

// retry reads the files of unmoved components again that could not be read by
// an earlier process, which may have been an older version or have had a
// smaller max_file_size. What is wrong with those components is reported anew.
func (p *pull) retry(ctx context.Context, comps []*component, load *loader) {
	for _, c := range comps {
		if c.applied || p.errs[c.row.ID] != nil {
			continue
		}
		bad, err := p.loadStored(ctx, c)
		if err == nil && bad {
			err = p.jump(ctx, []*component{c}, c.row.Head, load)
		}
		if err != nil {
			p.fail(c, err)
		}
	}
}

// recall reads what is stored of a component's files and reports whether some
// of them cannot be read.
func (p *pull) loadStored(ctx context.Context, c *component) (bad bool, err error) {
	err = p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		problems, err := s.Problems(ctx, c.row.ID)
		if err != nil {
			return err
		}
		translations, err := s.Translations(ctx, c.row.ID)
		if err != nil {
			return err
		}
		c.loadStored(problems, translations)
		bad = slices.ContainsFunc(problems, func(p store.Problem) bool { return p.Blob != noBlob })
		return nil
	})
	return bad, err
}

// leap brings a convoy to the head in one step, such as when the mirror does not
// have the commit that it stands at any more (decision 20).
func (p *pull) jump(ctx context.Context, comps []*component, from string, load *loader) error {
	return p.snapshotOf(ctx, comps, p.head, from, load)
}

// snapshotOf brings components to the files of a commit.
func (p *pull) snapshotOf(ctx context.Context, comps []*component, at object.Hash, from string, load *loader) error {
	if err := p.files(ctx, at, comps); err != nil {
		return err
	}
	return p.snapshot(ctx, comps, at, from, load)
}

// snapshot brings components to the files of a commit, which are listed already,
// whatever commit they stood at.
func (p *pull) snapshot(ctx context.Context, comps []*component, at object.Hash, from string, load *loader) error {
	commit, err := p.reader.Commit(ctx, at)
	if err != nil {
		return err
	}
	step := gitsource.Step{Commit: commit, Origins: []gitsource.Origin{{Commit: commit}}}
	return p.step(ctx, comps, comps, from, &step, load)
}

// step applies one step to the components that it touches and moves the heads
// of the whole convoy, in one transaction.
func (p *pull) step(ctx context.Context, convoy, touched []*component, from string, step *gitsource.Step, load *loader) error {
	return p.applyStep(ctx, convoy, touched, from, step, load, replayStep{})
}

// stage is what is particular to the steps of a first import with history.
type replayStep struct {
	partial bool      // the head is not reached
	opened  time.Time // of entry 51, if it is not that of the commit
}

func (p *pull) applyStep(ctx context.Context, convoy, touched []*component, from string, step *gitsource.Step, load *loader, at replayStep) error {
	mailmap, err := p.reader.Mailmap(ctx, step.Commit.Hash)
	if err != nil {
		return err
	}
	p.prefetch(ctx, touched, step, load)
	changes := make(map[int64]int64, len(touched))
	var newFailures NewFailures
	err = p.advanceHeads(ctx, convoy, from, step.Commit.Hash.String(), at, func(ctx context.Context, tx *store.StepTx) error {
		var checkup *checkup
		if !at.partial {
			checkup = newCheckup(tx)
			if from != "" {
				checkup.failures.diff = failureDiff{}
			}
		}
		for _, c := range touched {
			a := p.application(direct{tx}, c, step, load, mailmap, at.opened)
			a.checkup = checkup
			if err := a.run(ctx); err != nil {
				return &componentError{c, err}
			}
			changes[c.row.ID] = a.entries.count()
		}
		if at.partial {
			return nil
		}
		if err := checkup.run(ctx, touched); err != nil {
			return err
		}
		if err := checkup.longUntranslated(ctx, slices.DeleteFunc(slices.Clone(convoy), func(c *component) bool { return slices.Contains(touched, c) })); err != nil {
			return err
		}
		newFailures, err = checkup.failures.diff.newFailures(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	for id, n := range changes {
		p.changes[id] += n
	}
	p.report.NewFailures.add(newFailures)
	for _, c := range touched {
		c.applied, c.matchesNothing = true, !c.selects()
		if from == "" {
			c.union = nil // others will be read before this one is again
		}
	}
	return nil
}

// prefetch parses what a step will read before its transaction begins, so that
// others can write meanwhile.
func (p *pull) prefetch(ctx context.Context, touched []*component, step *gitsource.Step, load *loader) {
	var list []fileVersion
	for _, c := range touched {
		if c.reread {
			for _, f := range c.files {
				list = append(list, fileVersion{c, f.Path, f.Blob})
			}
			continue
		}
		for _, ch := range step.Changes {
			if !ch.New.IsZero() && c.selection.wants(ch.Path) {
				list = append(list, fileVersion{c, ch.Path, ch.New})
			}
		}
	}
	load.prefetch(ctx, list)
}

// componentError is what went wrong with one component of a convoy.
type componentError struct {
	component *component
	err       error
}

func (e *componentError) Error() string { return e.component.name() + ": " + e.err.Error() }
func (e *componentError) Unwrap() error { return e.err }

// maxLeftBehind bounds the components that fail one by one in a pull: where
// more do, it is not them.
const maxLeftBehind = 3

// advanceAll walks a convoy to the head. A component that fails stays behind,
// where later pulls find it alone; the others go on without it.
func (p *pull) advanceAll(ctx context.Context, comps []*component, load *loader) {
	p.withoutFailing(ctx, comps, func(comps []*component) error { return p.walk(ctx, comps, comps[0].row.Head, load) })
}

func without(comps []*component, one *component) []*component {
	return slices.DeleteFunc(slices.Clone(comps), func(c *component) bool { return c == one })
}

// application prepares the part of a component in a step.
func (p *pull) application(tx stepStore, c *component, step *gitsource.Step, load *loader, mailmap object.Mailmap, opened time.Time) *application {
	a := &application{
		tx: tx, comp: c, load: load, log: p.s.log, step: step, mailmap: mailmap,
		origins: newAttributor(step, load, c),
		record:  c.isStored(), created: p.at,
	}
	if !c.isStored() {
		a.created = commitTime(step.Commit, p.at)
		if opened.IsZero() || p.at.Before(opened) {
			opened = a.created
		}
		a.entries.created(opened)
	}
	return a
}

// commitTime is the time of entries about a commit of the past: never later
// than the pull (decision 19).
func commitTime(c object.Commit, pull time.Time) time.Time {
	if t := c.Committer.When.UTC(); t.Before(pull) {
		return t
	}
	return pull
}

// move moves the heads of a convoy; strings grow older with them.
func (p *pull) move(ctx context.Context, convoy []*component, from, to string) error {
	return p.advanceHeads(ctx, convoy, from, to, replayStep{}, func(ctx context.Context, tx *store.StepTx) error {
		return newCheckup(tx).longUntranslated(ctx, convoy)
	})
}

func (p *pull) advanceHeads(ctx context.Context, convoy []*component, from, to string, at replayStep, fn func(context.Context, *store.StepTx) error) error {
	if err := p.transact(ctx, p.stepInfo(ctx, convoy, from, to, at), fn); err != nil {
		return err
	}
	p.moved(convoy, to, at)
	return nil
}

// stepInfo says what a step of a convoy moves.
func (p *pull) stepInfo(ctx context.Context, convoy []*component, from, to string, at replayStep) store.StepInfo {
	spec := &p.branch.Components[0].Spec
	info := store.StepInfo{
		Repo: spec.Repo, Branch: spec.Branch, Components: ids(convoy),
		From: from, To: to, Tracking: p.ref, At: p.at, Partial: at.partial,
		Reread: !slices.ContainsFunc(convoy, func(c *component) bool { return !c.reread }),
	}
	if at.partial {
		info.ImportAt = p.at
	} else {
		info.Commit = p.shown(ctx, to)
	}
	for _, c := range convoy {
		info.Configured = max(info.Configured, c.row.Configured)
	}
	return info
}

// shown is what people are shown of a commit; nil if it cannot be read, which is
// no reason to fail.
func (p *pull) shown(ctx context.Context, id string) *catalog.Commit {
	hash, err := object.ParseHash(id)
	if err != nil {
		return nil
	}
	c, err := p.reader.Commit(ctx, hash)
	if err != nil {
		p.s.log.Debug("commit cannot be shown", "commit", id, "error", err)
		return nil
	}
	shown := catalog.NewCommit(catalog.Commit{
		Hash: id, Author: c.Author.Name, Committer: c.Committer.Name,
		AuthorTime: c.Author.When.UTC(), CommitTime: c.Committer.When.UTC(), Message: c.Message,
	})
	return &shown
}

// transact runs the transaction of a step; it changes nothing in p.
func (p *pull) transact(ctx context.Context, info store.StepInfo, fn func(context.Context, *store.StepTx) error) error {
	_, err := p.s.db.Step(ctx, info, fn)
	if errors.Is(err, catalog.ErrConflict) {
		return fmt.Errorf("another process moved the component; the next pull goes on from there: %w", err)
	}
	return err
}

// moved notes that a step of a convoy is stored.
func (p *pull) moved(convoy []*component, to string, at replayStep) {
	p.report.Steps++
	for _, c := range convoy {
		c.row.Head, c.row.Imported = to, c.row.Imported || !at.partial
		if at.partial && c.row.ImportAt.IsZero() {
			c.row.ImportAt = p.at
		}
	}
}
