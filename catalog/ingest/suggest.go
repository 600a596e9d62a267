package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

const (
	// defaultBranches is how many branches a component has suggestions from,
	// unless its settings say otherwise.
	defaultBranches = 20
	// maxBranches bounds the branches of one repository that are fetched.
	maxBranches = 1000
	// maxSuggestions bounds the suggestions of one component: each takes about
	// 200 bytes while they are compared.
	maxSuggestions = 100_000
	// maxParsed bounds the parsed files that are kept, in bytes. Keeping the
	// versions of one file is enough: the next branch begins with other files.
	maxParsed = 4 << 20
	// maxStepBlobs bounds the blob ids in the steps that are kept for the next
	// component: 20 bytes each.
	maxStepBlobs = 2_000_000
)

// suggestionInputs records what the suggestions of a component were made from.
// While that does not change, they need not be made again.
type suggestionInputs struct {
	key      string // head and settings of the component, names and heads of the branches
	none     bool   // no branches were asked for
	problems []string
}

// suggest brings the suggestions of the branch's components up to date, after the
// components have reached its head. An error here does not fail the pull: the
// stored suggestions stay, and the next pull tries again.
func (p *pull) suggest(ctx context.Context, m *mirror) {
	p.suggestionProblems = make(map[int64][]string)
	s := &suggestionRun{p: p, m: m}
	var comps []*component
	for _, c := range p.comps {
		if p.errs[c.row.ID] != nil || !c.row.Imported || c.row.Head == "" || ctx.Err() != nil {
			continue
		}
		pattern, err := remote.ParseBranchPattern(c.row.Settings.SuggestionBranches)
		if err != nil {
			p.s.Logger.Warn("no suggestions: correct suggestions.branches", "component", c.name(), "error", err)
			continue
		}
		if pattern.IsZero() && m.suggested[c.row.ID].none {
			continue
		}
		query := gitsource.BranchQuery{Pattern: pattern, Most: c.row.Settings.SuggestionLimit}
		if query.Most <= 0 {
			query.Most = defaultBranches
		}
		s.comps = append(s.comps, suggestedComponent{c, query})
		s.addQuery(query)
		comps = append(comps, c)
	}
	if len(comps) == 0 {
		return
	}
	s.files = matcher(comps)
	err := s.run(ctx)
	if object.Damaged(err) && ctx.Err() == nil && !m.suggestionsRebuilt {
		m.suggestionsRebuilt = true // once: a second time would not help
		p.s.Logger.Warn("mirror is damaged; cloning again beside it", "branch", p.branch.Key, "error", err)
		if _, err = m.Rebuild(ctx); err == nil {
			err = s.run(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		p.s.Logger.Warn("suggestions stay as they are; the next pull tries again", "branch", p.branch.Key, "error", err)
	}
	m.suggestionsRebuilt = m.suggestionsRebuilt && err != nil
}

type suggestionRun struct {
	p        *pull
	m        *mirror
	comps    []suggestedComponent
	files    filemask.Matcher        // of all of them
	queries  []gitsource.BranchQuery // of all components, each pattern once
	branches gitsource.OtherBranches
	reader   *gitsource.Reader // of the mirror with the branches
	load     *fileLoader
	mailmap  object.Mailmap // of the current branch
	steps    map[commitPair]*gitsource.Step
	blobs    int // number of blob ids in steps
}

// suggestedComponent is a component with the branches that it has suggestions
// from. The zero pattern selects no branch.
type suggestedComponent struct {
	*component
	query gitsource.BranchQuery
}

// commitPair is the head of a component and the head of a branch.
type commitPair struct{ base, tip object.Hash }

func (s *suggestionRun) addQuery(q gitsource.BranchQuery) {
	if q.Pattern.IsZero() {
		return
	}
	i := slices.IndexFunc(s.queries, func(other gitsource.BranchQuery) bool { return other.Pattern.String() == q.Pattern.String() })
	if i < 0 {
		s.queries = append(s.queries, q)
		return
	}
	s.queries[i].Most = max(s.queries[i].Most, q.Most)
}

func (s *suggestionRun) run(ctx context.Context) error {
	if err := s.fetch(ctx); err != nil {
		return err
	}
	if len(s.queries) > 0 {
		var err error
		if s.reader, err = s.m.Reader(ctx); err != nil {
			return err
		}
		defer s.reader.Close()
		m := newMeter(s.p.s.memory)
		m.wait = func() error { return m.takeTurn(ctx) } // files are read before the transaction
		defer m.endTurn()
		s.load, s.steps = newFileLoader(s.p.s, s.reader.With(nil, nil), m), make(map[commitPair]*gitsource.Step)
		s.load.bound = maxParsed
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

// fetch brings the branches that the queries select into the mirror, and removes
// all others from it.
func (s *suggestionRun) fetch(ctx context.Context) (err error) {
	if s.branches, err = s.m.FetchOtherBranches(ctx, s.queries, maxBranches); err != nil {
		return err
	}
	for _, branch := range slices.Sorted(maps.Keys(s.branches.Failed)) {
		err := s.branches.Failed[branch]
		s.p.s.Logger.Warn("a branch with suggestions cannot be fetched", "branch", s.p.branch.Key, "from", branch, "error", err)
		if errors.Is(err, object.ErrCorrupt) && object.Damaged(err) && !s.m.suggestionsRebuilt {
			return err
		}
	}
	return nil
}

// maxBranchName bounds the name of a branch with suggestions, in bytes: it is in the key
// of its suggestions, and PostgreSQL's rows of an index have 2,704.
const maxBranchName = 1_000

// component makes the suggestions of one component, unless their inputs are the
// same as the last time.
func (s *suggestionRun) component(ctx context.Context, c suggestedComponent) error {
	heads, omitted := s.branches.Select(c.query)
	heads = slices.DeleteFunc(heads, func(h object.Head) bool {
		long := len(h.Branch) > maxBranchName
		if long {
			omitted++
		}
		return long
	})
	var key strings.Builder
	fmt.Fprintf(&key, "%s %s %d", c.row.Head, c.row.Settings.ReadKey(), omitted)
	for _, h := range heads {
		fmt.Fprintf(&key, " %s %s", h.Hash, h.Branch)
	}
	last := s.m.suggested[c.row.ID]
	if last.key == key.String() {
		s.p.suggestionProblems[c.row.ID] = last.problems
		return nil
	}
	if omitted > 0 {
		s.p.s.Logger.Warn("branches are left out: raise suggestions.limit, or narrow suggestions.branches", "component", c.name(), "branches", omitted)
	}
	made := componentSuggestions{suggestionRun: s, comp: c.component}
	if len(heads) > 0 {
		if err := made.collect(ctx, heads); err != nil {
			return err
		}
	}
	if err := made.store(ctx); err != nil {
		return err
	}
	s.m.suggested[c.row.ID] = suggestionInputs{key.String(), c.query.Pattern.IsZero(), made.problems}
	s.p.suggestionProblems[c.row.ID] = made.problems
	return nil
}

// step returns the step from the head of components to the head of a branch, with
// the files of all components.
func (s *suggestionRun) step(ctx context.Context, base, tip object.Hash) (*gitsource.Step, error) {
	key := commitPair{base, tip}
	if step, ok := s.steps[key]; ok {
		return step, nil
	}
	step, err := s.reader.Between(ctx, base, tip, s.files)
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
