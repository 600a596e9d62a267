package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
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

// componentSuggestions collects the suggestions of one component.
type componentSuggestions struct {
	*suggestionRun
	comp     *component
	rows     map[string]*catalog.Translation // live translations by language
	list     []store.Suggestion              // new suggestions
	problems []string
}

// collect collects the suggestions of each branch. A branch that cannot be read
// has no suggestions.
func (s *componentSuggestions) collect(ctx context.Context, heads []object.Head) error {
	at, err := gitsource.ParseState(s.comp.row.Head)
	if err != nil {
		return err
	}
	err = s.p.s.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Translations(ctx, s.comp.row.ID)
		s.rows = catalog.ByKey(rows, func(t *catalog.Translation) string { return t.Language })
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range heads {
		step, err := s.step(ctx, at.Commit, h.Hash)
		if err != nil {
			return fmt.Errorf("branch %s: %w", h.Branch, err)
		}
		if step.Truncated {
			s.problems = append(s.problems, h.Branch+": no suggestions: too many commits are not merged")
		}
		if len(step.Origins) == 0 {
			continue // merged, or truncated
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

func (s *componentSuggestions) branch(ctx context.Context, h object.Head, step *gitsource.Step) error {
	fresh := make(map[string]bool)
	for i, ch := range step.Changes {
		if s.comp.selection.wants(ch.Path) && !ch.New.IsZero() && introducesFile(step, i) {
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
	if s.mailmap, err = s.reader.Mailmap(ctx, h.Hash); err != nil {
		return err
	}
	slots := s.comp.selection.assign(files)
	for i := range slots.targets {
		slot := &slots.targets[i]
		row := s.rows[slot.language]
		if !fresh[slot.path] || row == nil || row.IsSource {
			continue
		}
		if err := s.collectFile(ctx, h.Branch, slot, row, step); err != nil {
			return fmt.Errorf("%s: %w", slot.path, err)
		}
	}
	return nil
}

// store replaces the stored suggestions of the component if they differ, in a step
// that does not move the head.
func (s *componentSuggestions) store(ctx context.Context) error {
	p, row := s.p, &s.comp.row
	same := false
	err := p.s.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		same, err = snap.SameSuggestions(ctx, row.ID, s.list)
		return err
	})
	if err != nil || same {
		return err
	}
	info := stayingAt(row, p.at, row.ID)
	info.Tracking, info.Configured = p.ref, row.Configured
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		return tx.PutSuggestions(ctx, row.ID, s.list)
	})
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

// collectFile collects the suggestions in one file of a branch: targets that a
// commit of the branch introduced and that differ from the served ones.
func (s *componentSuggestions) collectFile(ctx context.Context, branch string, slot *fileSlot, row *catalog.Translation, step *gitsource.Step) error {
	theirs, err := s.load.load(ctx, s.comp, slot.path, slot.blob, false)
	if bad := fault(err); bad != nil {
		s.problems = append(s.problems, problemText(store.Problem{Path: branch + ":" + slot.path, Line: bad.line, Column: bad.column, Message: bad.msg}))
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := s.servedFile(ctx, row)
	if err != nil {
		return err
	}
	var ids []catalog.Identity
	for i := range theirs.Units {
		u := &theirs.Units[i]
		if u.State != catalog.StateTranslated {
			continue // an empty, fuzzy or read-only string suggests nothing
		}
		at, ok := ours.Find(u.Identity)
		if ok && ours.Units[at].Target != u.Target && ours.Units[at].State != catalog.StateReadOnly {
			ids = append(ids, u.Identity)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	attribute := newAttributor(step, s.load, s.comp)
	if row.Filename != slot.path {
		attribute.moved = map[string]string{slot.path: row.Filename}
	}
	origins := make(map[catalog.Identity]int, len(ids)) // of those that no commit outside the step has
	if err := attribute.walk(ctx, slot.path, shownTranslation(row.PluralNumber), ids, origins); err != nil {
		return err
	}
	for _, id := range ids {
		origin, ok := origins[id]
		if !ok {
			continue // older than the branch
		}
		commit := &step.Origins[origin].Commit
		at, _ := theirs.Find(id)
		name, email := s.mailmap.Lookup(commit.Author.Name, commit.Author.Email)
		s.list = append(s.list, store.Suggestion{
			TranslationID: row.ID, Identity: id, Branch: branch, Target: strings.Clone(theirs.Units[at].Target),
			AuthorName: catalog.PersonName(name), AuthorEmail: email, At: commit.Committer.When.UTC(), Commit: commit.Hash.String(),
		})
	}
	return nil
}

// servedFile returns the version of a file that is served, which may be older than
// the version at the component's head.
func (s *componentSuggestions) servedFile(ctx context.Context, row *catalog.Translation) (*unit.File, error) {
	blob, err := object.ParseHash(row.Revision)
	if err != nil {
		return nil, err
	}
	if s.reader.Has(blob) {
		return s.load.load(ctx, s.comp, row.Filename, blob, false)
	}
	stored, err := store.Get(ctx, s.p.s.DB, (*store.Snapshot).File, row.ID)
	if err != nil {
		return nil, err
	}
	return parse(row.Filename, stored.Data, s.comp.rules, nil)
}
