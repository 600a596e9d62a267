package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

const (
	// defaultSides is how many branches a component has suggestions from, where
	// its settings do not say it.
	defaultSides = 20
	// maxSides bounds the branches of one repository that are fetched.
	maxSides = 1000
	// maxSuggestions bounds those of one component: about 200 bytes each while
	// they are compared.
	maxSuggestions = 100_000
	// sideBytes bounds the files that are kept parsed: the versions of one that
	// branches have. Another branch begins with other files anyway.
	sideBytes = 4 << 20
	// maxStepBlobs bounds the files of commits in steps that are kept for the
	// next component: 20 bytes each.
	maxStepBlobs = 2_000_000
)

// suggestedFrom is what the suggestions of a component were made of: where it
// stood, how it reads, which branches there were and where. They need no second
// look while that is the same.
type suggestedFrom struct {
	from     string
	none     bool // no branch was asked for
	problems []string
}

// suggest brings the suggestions of the branch's components up to date, once
// they stand at its head. Nothing that goes wrong here fails the pull: what was
// suggested stays, and the next pull tries again.
func (p *pull) suggest(ctx context.Context, m *mirror) {
	p.sideProblems = make(map[int64][]string)
	s := &suggesting{p: p, m: m}
	for _, c := range p.comps {
		if p.errs[c.row.ID] != nil || !c.row.Imported || c.row.Head == "" || ctx.Err() != nil {
			continue
		}
		pattern, err := gitsource.ParseBranchPattern(c.row.Settings.SuggestionBranches)
		if err != nil {
			p.s.log.Warn("no suggestions: correct suggestions.branches", "component", c.name(), "error", err)
			continue
		}
		if pattern.IsZero() && m.suggested[c.row.ID].none {
			continue
		}
		query := gitsource.SideQuery{Pattern: pattern, Most: c.row.Settings.SuggestionLimit}
		if query.Most <= 0 {
			query.Most = defaultSides
		}
		s.comps = append(s.comps, side{c, query})
		s.ask(query)
	}
	if len(s.comps) == 0 {
		return
	}
	err := s.run(ctx)
	if gitsource.Damaged(err) && ctx.Err() == nil && !m.sidesRebuilt {
		m.sidesRebuilt = true // if that does not help, another time will not either
		p.s.log.Warn("mirror is damaged; cloning again beside it", "branch", p.branch.Key, "error", err)
		if _, err = m.Rebuild(ctx); err == nil {
			err = s.run(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		p.s.log.Warn("suggestions stay as they are; the next pull tries again", "branch", p.branch.Key, "error", err)
	}
	m.sidesRebuilt = m.sidesRebuilt && err != nil
}

// suggesting is one run of suggest.
type suggesting struct {
	p       *pull
	m       *mirror
	comps   []side
	queries []gitsource.SideQuery // of all components, each pattern once
	sides   gitsource.Sides
	reader  *gitsource.Reader // of the mirror with the branches
	load    *loader
	mailmap gitsource.Mailmap // of the branch that is looked at
	steps   map[leapKey]*gitsource.Step
	blobs   int // of the origins in steps
}

// side is a component with the branches that it has suggestions from; the zero
// pattern selects none.
type side struct {
	*component
	query gitsource.SideQuery
}

// ask adds a query to those of other components.
func (s *suggesting) ask(q gitsource.SideQuery) {
	if q.Pattern.IsZero() {
		return
	}
	for i := range s.queries {
		if s.queries[i].Pattern.String() == q.Pattern.String() {
			s.queries[i].Most = max(s.queries[i].Most, q.Most)
			return
		}
	}
	s.queries = append(s.queries, q)
}

// leapKey is what a step to a branch depends on.
type leapKey struct{ base, tip gitsource.Hash }

func (s *suggesting) run(ctx context.Context) error {
	if err := s.fetch(ctx); err != nil {
		return err
	}
	if len(s.queries) > 0 {
		var err error
		if s.reader, err = s.m.Reader(ctx); err != nil {
			return err
		}
		defer s.reader.Close()
		s.load, s.steps = newLoader(s.reader, s.p.s.maxFileSize), make(map[leapKey]*gitsource.Step)
		s.load.bound = sideBytes
	}
	var all []error
	for _, c := range s.comps {
		if err := s.component(ctx, c); err != nil {
			all = append(all, fmt.Errorf("%s: %w", c.name(), err))
			if errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(all...)
}

// fetch brings the branches that are asked for into the mirror; without any it
// forgets those that were.
func (s *suggesting) fetch(ctx context.Context) (err error) {
	if s.sides, err = s.m.FetchSides(ctx, s.queries, maxSides); err != nil {
		return err
	}
	for _, branch := range slices.Sorted(maps.Keys(s.sides.Failed)) {
		err := s.sides.Failed[branch]
		s.p.s.log.Warn("a branch with suggestions cannot be fetched", "branch", s.p.branch.Key, "from", branch, "error", err)
		if errors.Is(err, gitsource.ErrCorrupt) && gitsource.Damaged(err) && !s.m.sidesRebuilt {
			return err
		}
	}
	return nil
}

// component makes the suggestions of one component, unless all that they depend
// on is as it was.
func (s *suggesting) component(ctx context.Context, c side) error {
	heads, omitted := s.sides.Chosen(c.query)
	var from strings.Builder
	fmt.Fprintf(&from, "%s %s %d", c.row.Head, c.row.Settings.ReadKey(), omitted)
	for _, h := range heads {
		fmt.Fprintf(&from, " %s %s", h.Hash, h.Branch)
	}
	if last, known := s.m.suggested[c.row.ID]; known && last.from == from.String() {
		s.p.sideProblems[c.row.ID] = last.problems
		return nil
	}
	if omitted > 0 {
		s.p.s.log.Warn("branches are left out: raise suggestions.limit, or narrow suggestions.branches", "component", c.name(), "branches", omitted)
	}
	made := sideSuggestions{suggesting: s, comp: c.component}
	if len(heads) > 0 {
		if err := made.collect(ctx, heads); err != nil {
			return err
		}
	}
	if err := made.store(ctx); err != nil {
		return err
	}
	s.m.suggested[c.row.ID] = suggestedFrom{from.String(), c.query.Pattern.IsZero(), made.problems}
	s.p.sideProblems[c.row.ID] = made.problems
	return nil
}

// step leads from where a component stands to a branch, for all components.
func (s *suggesting) step(ctx context.Context, base, tip gitsource.Hash) (*gitsource.Step, error) {
	key := leapKey{base, tip}
	if step, ok := s.steps[key]; ok {
		return step, nil
	}
	comps := make([]*component, len(s.comps))
	for i := range s.comps {
		comps[i] = s.comps[i].component
	}
	step, err := s.reader.Leap(ctx, base, tip, matcher(comps))
	if err != nil {
		return nil, err
	}
	blobs := len(step.Origins) * len(step.Changes)
	if s.blobs += blobs; s.blobs > maxStepBlobs {
		clear(s.steps)
		s.blobs = blobs
	}
	s.steps[key] = &step
	return &step, nil
}

// sideSuggestions are those of one component.
type sideSuggestions struct {
	*suggesting
	comp     *component
	rows     map[string]*catalog.Translation // live ones, by language
	list     []store.Suggestion
	problems []string
}

// collect looks at each branch. One that cannot be read has no suggestions.
func (s *sideSuggestions) collect(ctx context.Context, heads []gitsource.Head) error {
	base, err := gitsource.ParseHash(s.comp.row.Head)
	if err != nil {
		return err
	}
	err = s.p.s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Translations(ctx, s.comp.row.ID)
		s.rows = make(map[string]*catalog.Translation, len(rows))
		for i := range rows {
			s.rows[rows[i].Language] = &rows[i]
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range heads {
		step, err := s.step(ctx, base, h.Hash)
		if err != nil {
			return fmt.Errorf("branch %s: %w", h.Branch, err)
		}
		if step.Truncated {
			s.problems = append(s.problems, h.Branch+": no suggestions: too many commits are not merged")
		}
		if len(step.Origins) == 0 {
			continue // merged, or too much
		}
		if err := s.branch(ctx, h, step); err != nil {
			return fmt.Errorf("branch %s: %w", h.Branch, err)
		}
		if len(s.list) > maxSuggestions {
			s.list = s.list[:maxSuggestions]
			s.problems = append(s.problems, fmt.Sprintf("%s: only %d suggestions are kept of a component; narrow suggestions.branches", h.Branch, maxSuggestions))
			return nil
		}
	}
	return nil
}

// branch collects the suggestions of one branch.
func (s *sideSuggestions) branch(ctx context.Context, h gitsource.Head, step *gitsource.Step) error {
	fresh := make(map[string]bool)
	for i, ch := range step.Changes {
		if s.comp.layout.wants(ch.Path) && !ch.New.IsZero() && introducesFile(step, i) {
			fresh[ch.Path] = true
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	m := matcher([]*component{s.comp})
	files, err := s.reader.Snapshot(ctx, h.Hash, m.Want, m.Prune)
	if err != nil {
		return err
	}
	files, _ = gitsource.WithoutLinks(files)
	if s.mailmap, err = s.reader.Mailmap(ctx, h.Hash); err != nil {
		return err
	}
	places := s.comp.layout.assign(files)
	for i := range places.targets {
		place := &places.targets[i]
		row := s.rows[place.language]
		if !fresh[place.path] || row == nil || row.IsSource {
			continue
		}
		if err := s.file(ctx, h.Branch, place, row, step); err != nil {
			return fmt.Errorf("%s: %w", place.path, err)
		}
	}
	return nil
}

// introducesFile reports whether a commit of the step has a version of a changed
// file that no parent of it has.
func introducesFile(step *gitsource.Step, change int) bool {
	for i := range step.Origins {
		o := &step.Origins[i]
		inherited := false
		for p, parent := range o.Parents {
			before := o.Outside[p]
			if parent >= 0 {
				before = step.Origins[parent].Blobs
			}
			inherited = inherited || before[change] == o.Blobs[change]
		}
		if !inherited {
			return true
		}
	}
	return false
}

// file collects the suggestions in one file of a branch: texts that differ from
// those that are served, and that a commit of the branch brought.
func (s *sideSuggestions) file(ctx context.Context, branch string, place *place, row *catalog.Translation, step *gitsource.Step) error {
	theirs, err := s.load.load(ctx, s.comp.row.ID, place.path, place.blob, s.comp.rules)
	if bad := fault(err); bad != nil {
		s.problems = append(s.problems, problemText(store.Problem{Path: branch + ":" + place.path, Line: bad.line, Column: bad.column, Message: bad.msg}))
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := s.served(ctx, row)
	if err != nil {
		return err
	}
	var ids []catalog.Identity
	for i := range theirs.units {
		u := &theirs.units[i]
		if u.State != catalog.StateTranslated {
			continue // empty, fuzzy: nobody proposes it; or read-only
		}
		at, ok := ours.find(u.Identity)
		if ok && ours.units[at].Target != u.Target && ours.units[at].State != catalog.StateReadOnly {
			ids = append(ids, u.Identity)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	attribute := newAttributor(step, s.load, s.comp)
	if row.Filename != place.path {
		attribute.moved = map[string]string{place.path: row.Filename}
	}
	origins, err := attribute.introduced(ctx, place.path, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		origin, ok := origins[id]
		if !ok {
			continue // older than the branch
		}
		commit := &step.Origins[origin].Commit
		at, _ := theirs.find(id)
		name, email := s.mailmap.Lookup(commit.Author.Name, commit.Author.Email)
		s.list = append(s.list, store.Suggestion{
			TranslationID: row.ID, Identity: id, Branch: branch, Target: own(theirs.units[at].Target),
			AuthorName: name, AuthorEmail: email, At: commit.Committer.When.UTC(), Commit: commit.Hash.String(),
		})
	}
	return nil
}

// served is the version of a file that is served: that of its row, which may be
// older than what the branch's head has.
func (s *sideSuggestions) served(ctx context.Context, row *catalog.Translation) (*poFile, error) {
	blob, err := gitsource.ParseHash(row.Revision)
	if err != nil {
		return nil, err
	}
	if s.reader.Has(blob) {
		return s.load.load(ctx, s.comp.row.ID, row.Filename, blob, s.comp.rules)
	}
	var stored store.File
	err = s.p.s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		stored, err = snap.File(ctx, row.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	file, bad := parse(row.Filename, stored.Data, s.comp.rules, nil)
	if bad != nil {
		return nil, bad
	}
	return file, nil
}

// store puts the suggestions of the component in place of those stored: a step
// that leaves the head where it is, if anything differs.
func (s *sideSuggestions) store(ctx context.Context) error {
	p := s.p
	same := false
	err := p.s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		same, err = snap.SameSuggestions(ctx, s.comp.row.ID, s.list)
		return err
	})
	if err != nil || same {
		return err
	}
	spec := &p.branch.Components[0].Spec
	info := store.StepInfo{
		Repo: spec.Repo, Branch: spec.Branch, Components: []int64{s.comp.row.ID},
		From: s.comp.row.Head, To: s.comp.row.Head, Tracking: p.ref, At: p.at, Configured: s.comp.row.Configured,
	}
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		return tx.PutSuggestions(ctx, s.comp.row.ID, s.list)
	})
}
