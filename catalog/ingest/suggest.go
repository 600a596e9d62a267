package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
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
	read     string // ReadKey of the component
	files    map[store.SuggestionSource]suggestedFile
}

// suggestedFile is what the suggestions of one file on a branch were made of.
// While that is the same and they are stored the file need not be read again.
type suggestedFile struct {
	from    [sha256.Size]byte
	n       int    // suggestions
	problem string // why it cannot be read
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
		pattern, err := remote.ParseBranchPattern(c.row.Settings.SuggestionBranches)
		if err != nil {
			p.s.log.Warn("no suggestions: correct suggestions.branches", "component", c.name(), "error", err)
			continue
		}
		if pattern.IsZero() && m.suggested[c.row.ID].none {
			continue
		}
		query := gitsource.BranchQuery{Pattern: pattern, Most: c.row.Settings.SuggestionLimit}
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
	if object.Damaged(err) && ctx.Err() == nil && !m.sidesRebuilt {
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
	queries []gitsource.BranchQuery // of all components, each pattern once
	sides   gitsource.OtherBranches
	reader  *gitsource.Reader // of the mirror with the branches
	load    *fileLoader
	mailmap object.Mailmap // of the branch that is looked at
	steps   map[leapKey]*gitsource.Step
	blobs   int // of the origins in steps
}

// side is a component with the branches that it has suggestions from; the zero
// pattern selects none.
type side struct {
	*component
	query gitsource.BranchQuery
}

// ask adds a query to those of other components.
func (s *suggesting) ask(q gitsource.BranchQuery) {
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
type leapKey struct{ base, tip object.Hash }

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
		s.load, s.steps = newFileLoader(s.reader, s.p.s.maxFileSize), make(map[leapKey]*gitsource.Step)
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
	if s.sides, err = s.m.FetchOtherBranches(ctx, s.queries, maxSides); err != nil {
		return err
	}
	for _, branch := range slices.Sorted(maps.Keys(s.sides.Failed)) {
		err := s.sides.Failed[branch]
		s.p.s.log.Warn("a branch with suggestions cannot be fetched", "branch", s.p.branch.Key, "from", branch, "error", err)
		if errors.Is(err, object.ErrCorrupt) && object.Damaged(err) && !s.m.sidesRebuilt {
			return err
		}
	}
	return nil
}

// component makes the suggestions of one component, unless all that they depend
// on is as it was.
func (s *suggesting) component(ctx context.Context, c side) error {
	heads, omitted := s.sides.Select(c.query)
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
	made := sideSuggestions{suggesting: s, comp: c.component, files: map[store.SuggestionSource]suggestedFile{}, keep: map[store.SuggestionSource]bool{}}
	if last := s.m.suggested[c.row.ID]; last.read == c.row.Settings.ReadKey() {
		made.last = last.files
	}
	if len(heads) > 0 {
		if err := made.collect(ctx, heads); err != nil {
			return err
		}
	}
	if err := made.store(ctx); err != nil {
		return err
	}
	s.m.suggested[c.row.ID] = suggestedFrom{from.String(), c.query.Pattern.IsZero(), made.problems, c.row.Settings.ReadKey(), made.files}
	s.p.sideProblems[c.row.ID] = made.problems
	return nil
}

// step leads from where a component stands to a branch, for all components.
func (s *suggesting) step(ctx context.Context, base, tip object.Hash) (*gitsource.Step, error) {
	key := leapKey{base, tip}
	if step, ok := s.steps[key]; ok {
		return step, nil
	}
	comps := make([]*component, len(s.comps))
	for i := range s.comps {
		comps[i] = s.comps[i].component
	}
	step, err := s.reader.Between(ctx, base, tip, matcher(comps))
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
