package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// pull is one run of Sync.
type pull struct {
	s       *Syncer
	branch  Branch
	at      time.Time       // of its entries
	head    gitsource.State // of the components that are being pulled
	ref     string          // the branch in use
	reader  *gitsource.View
	open    func(context.Context) (*gitsource.View, error) // opens another reader of the same state
	loader  *fileLoader
	meter   *meter
	partial map[cacheKey]*partialFile // of the step that is being applied
	comps   []*component
	report  Report
	changes map[int64]int64 // entries by component
	errs    map[int64]error // by component
	away    map[int64]error // of repositories of templates, by component
	written atomic.Int64    // bytes that steps wrote
	phases  *phases
	told    Progress

	later, unchecked   bool                   // units of several components are compared by compareAll; it has some to compare
	kept               checkup.Kept           // units for compareAll
	keptUnits          int64                  // how many
	emptyDiscoveries   []*store.ComponentSpec // discoveries without a component
	discoveryErrs      map[string]error       // of discoveries over their quota, by project and slug
	suggestionProblems map[int64][]string     // of files on branches with suggestions, by component
}

func (p *pull) run(ctx context.Context, m *mirror) (Report, error) {
	if err := p.s.hasRoom(); err != nil {
		return p.report, p.failed(ctx, err)
	}
	fetched := p.phases.begin(fetchPhase)
	head, err := p.s.fetch(ctx, m)
	fetched()
	told := fmt.Sprint(head.Hash, err == nil)
	p.report.Moved, m.told = told != m.told, told
	if err != nil {
		return p.report, p.failed(ctx, cmp.Or(p.s.hasRoom(), err)) // it may have become full during the transfer
	}
	defer p.closeReader()
	err = p.attempt(ctx, m, head)
	damage := p.damage(err)
	if damage != nil {
		for _, of := range p.branch.Templates { // the damage may be theirs
			p.s.mirrorOf(of.Key).suspect.Store(true)
		}
	}
	if damage != nil && ctx.Err() == nil && m.unreadableHead != head.Hash {
		p.s.Logger.Warn("mirror is damaged; cloning again beside it", "branch", p.branch.Key, "error", damage)
		if head, err = m.Rebuild(ctx); err != nil {
			return p.report, p.failed(ctx, err)
		}
		err = p.attempt(ctx, m, head)
	}
	if p.damage(err) != nil && ctx.Err() == nil {
		m.unreadableHead = head.Hash
		err = p.blameRemote(err)
	}
	if err != nil {
		return p.report, p.failed(ctx, err)
	}
	m.retried = m.retried || ctx.Err() == nil
	p.suggest(ctx, m)
	p.summarise()
	if err := ctx.Err(); err != nil {
		return p.report, err
	}
	return p.report, p.recordErrors(ctx)
}

// attempt brings the components to a head that the mirror should hold. Each of
// its steps is one transaction, so that it can be run again.
func (p *pull) attempt(ctx context.Context, m *mirror, head object.Head) error {
	defer p.phases.begin(walkPhase)()
	p.errs, p.away, p.comps, p.discoveryErrs = make(map[int64]error), make(map[int64]error), nil, make(map[string]error)
	p.head, p.ref, p.report.Head = gitsource.State{Commit: head.Hash}, head.Branch, head.Hash.String()
	p.open = func(ctx context.Context) (*gitsource.View, error) {
		r, err := m.Reader(ctx)
		return r.With(nil, nil), err
	}
	reader, err := p.open(ctx)
	if err != nil {
		return err
	}
	p.closeReader()
	p.reader = reader
	if err := p.discover(ctx, m.discovered); err != nil {
		return err
	}
	if err := p.loadComponents(ctx); err != nil {
		return err
	}
	p.walkAll(ctx, !m.retried)
	return nil
}

// blameRemote adds the remedy to errors about damage that a new clone has, too.
func (p *pull) blameRemote(err error) error {
	blame := func(err error) error {
		if !object.Damaged(err) {
			return err
		}
		return fmt.Errorf("%w, also when cloned anew: run git fsck on the repository", err)
	}
	for id, err := range p.errs {
		p.errs[id] = blame(err)
	}
	return blame(err)
}

// closeReader closes the reader. Reading is over, so an error does not matter.
func (p *pull) closeReader() {
	if p.reader != nil {
		_ = p.reader.Close()
	}
}

// damage returns the error of an attempt that shows that the mirror is damaged,
// or nil.
func (p *pull) damage(err error) error {
	if object.Damaged(err) {
		return err
	}
	for _, c := range p.comps {
		if err := p.errs[c.row.ID]; object.Damaged(err) {
			return err
		}
	}
	return nil
}

func (p *pull) loadComponents(ctx context.Context) error {
	rows, err := p.s.rows(ctx, &p.branch)
	if err != nil {
		return err
	}
	for _, row := range rows {
		row.Head, row.TemplateHead = row.At(), ""
		c, err := newComponent(row, p.s.Languages)
		if err == nil && row.Template != "" {
			err = p.discoveryErrs[row.Project.Slug+"/"+row.Template]
		}
		if err != nil {
			p.errs[row.ID], c = err, &component{row: row}
		}
		p.comps = append(p.comps, c)
	}
	return nil
}

// rows returns the stored components of a branch.
func (s *Syncer) rows(ctx context.Context, b *Branch) ([]store.BranchComponent, error) {
	if len(b.Components) == 0 {
		return nil, nil // only templates are read from it
	}
	spec := &b.Components[0].Spec
	return s.DB.Branch(ctx, spec.Repo, spec.Branch)
}

// walkAll brings every group of components to the head. A group that fails does
// not stop the others. With retry, the files that could not be read are tried
// again.
func (p *pull) walkAll(ctx context.Context, retry bool) {
	sound := p.sound(p.comps)
	for _, c := range sound {
		c.retry = retry
	}
	p.meter = newMeter(p.s.memory)
	for _, comps := range byTemplate(sound) {
		p.withTemplates(ctx, comps, func() { p.walkGroup(ctx, comps, retry) })
	}
	p.recheckAll(ctx, sound, retry)
	for _, c := range p.sound(sound) {
		if c.row.Imported {
			p.fail(p.s.DB.FillSearch(ctx, c.row.ID), c)
		}
	}
}

// walkGroup is walkAll for components whose templates are of one branch.
func (p *pull) walkGroup(ctx context.Context, comps []*component, retry bool) {
	p.loader = newFileLoader(p.s, p.reader, p.meter)
	comps = p.sound(comps)
	for _, g := range convoys(p.sound(comps)) {
		switch {
		case g.replay:
			p.replayAll(ctx, g.comps)
		case g.from == "":
			p.importAll(ctx, g.comps)
		case g.from != p.head.String():
			p.withoutFailing(ctx, g.comps, p.walk)
			p.leap(ctx, g.comps)
		}
	}
	if retry {
		p.retry(ctx, comps)
	}
	p.loader = nil // frees its memory for what follows
}

// sound returns the components without an error so far.
func (p *pull) sound(comps []*component) []*component {
	return slices.DeleteFunc(slices.Clone(comps), func(c *component) bool { return p.errs[c.row.ID] != nil })
}

func (p *pull) tell(progress Progress) {
	p.unchecked = p.unchecked || p.later
	progress.Unchecked = p.unchecked
	p.told = progress
	p.s.Progress(p.branch.Key, progress)
}

// fail reports components with their error, which is nil for those that are at the head now.
func (p *pull) fail(err error, comps ...*component) {
	of, one := errors.AsType[*componentError](err)
	for _, c := range comps {
		if p.errs[c.row.ID] = err; one && of.component == c {
			p.errs[c.row.ID] = of.err // the report names the component
		}
	}
}

func (p *pull) summarise() {
	for _, c := range p.comps {
		head, _, _ := strings.Cut(c.row.Head, "+")
		r := ComponentReport{
			ID: c.row.ID, Project: c.row.Project.Slug, Slug: c.row.Slug, Head: head,
			Changes: p.changes[c.row.ID], Problems: c.problemsList(), Err: p.errs[c.row.ID],
		}
		r.Problems = append(r.Problems, p.suggestionProblems[c.row.ID]...)
		if r.Err == nil && c.matchesNothing {
			r.Problems = append(r.Problems, noFiles(c.row.Settings.Filemask, p.ref))
		}
		p.report.Changes += r.Changes
		p.report.Components = append(p.report.Components, r)
	}
	for _, d := range p.emptyDiscoveries {
		p.report.Components = append(p.report.Components, ComponentReport{
			Project: d.Project, Slug: d.Slug, Head: p.report.Head,
			Problems: []string{noFiles(d.Settings.Filemask, p.ref)},
		})
	}
}

// retry reads again the files of unmoved components that an earlier process
// could not read: it may have been an older version or have had a smaller
// max_file_size. The problems that those components still have are reported anew.
func (p *pull) retry(ctx context.Context, comps []*component) {
	for _, c := range comps {
		if c.applied || p.errs[c.row.ID] != nil {
			continue
		}
		unreadable, err := p.loadStored(ctx, c)
		if err == nil && unreadable {
			err = p.jump(ctx, []*component{c}, p.head, c.row.Head)
		}
		p.fail(err, c)
	}
}

// loadStored reads what is stored of the files of a component that the pull does
// not move, and reports whether some of them cannot be read. A component that a discovery
// made is reported when its files vanish and not again, since no setting can be corrected.
func (p *pull) loadStored(ctx context.Context, c *component) (unreadable bool, err error) {
	err = p.s.DB.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		problems, err := s.Problems(ctx, c.row.ID)
		if err != nil {
			return err
		}
		translations, err := s.Translations(ctx, c.row.ID)
		if err != nil {
			return err
		}
		c.setProblems(problems)
		c.matchesNothing = len(problems) == 0 && c.row.Template == "" && !slices.ContainsFunc(translations, func(t catalog.Translation) bool {
			return !t.IsSource || t.Filename != "" && t.Filename != c.selection.newBase
		})
		unreadable = slices.ContainsFunc(problems, func(p store.Problem) bool { return p.Blob != noBlob })
		return nil
	})
	return unreadable, err
}
