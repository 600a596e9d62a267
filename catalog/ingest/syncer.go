package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Options are what a Syncer works with. DB, Languages and MirrorDir are
// required.
type Options struct {
	// DB is where units and changes go.
	DB *store.DB
	// Languages is the language table.
	Languages *lang.Table
	// MirrorDir is the folder for the local mirrors; it is a cache.
	MirrorDir string
	// Git are the options of the mirrors.
	Git gitsource.Options
	// MaxFileSize bounds a PO file in bytes; 0: 128 MiB.
	MaxFileSize int64
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Logger; nil: silence.
	Logger *slog.Logger
	// Progress, if set, is told how far the pull of a branch is. It must be
	// quick and safe for concurrent use.
	Progress func(key string, p Progress)
}

// Progress is how far a pull is.
type Progress struct {
	// Done of Total units of work: commits of a replay, components of an import
	// without history. Total is 0 if it is not known.
	Done, Total int
	// Entries is the number of change entries that this pull made so far.
	Entries int64
}

// Syncer pulls branches into the store. It is safe for concurrent use; pulls
// of one branch wait for each other.
type Syncer struct {
	db          *store.DB
	table       *lang.Table
	mirrorDir   string
	git         gitsource.Options
	maxFileSize int64
	now         func() time.Time
	log         *slog.Logger
	progress    func(key string, p Progress)
	metrics     *metrics
	hooked      hooked

	batchEntries int // bound of a replay's batch
	ahead        aheadBounds

	mu      sync.Mutex
	mirrors map[string]*mirror
}

// mirror is an open mirror and the turn of its pulls.
type mirror struct {
	turn chan struct{} // holds a token
	// For the pull whose turn it is: what was discovered, whether the files that
	// an earlier process could not read were tried again, and the head that
	// cannot be read even when it is cloned anew.
	discovered        map[string]discovery
	suggested         map[int64]suggestedFrom // by component: what its suggestions were made of
	sidesRebuilt      bool                    // cloned anew since a branch with suggestions could not be read
	retried           bool
	unreadableHead    object.Hash
	*gitsource.Mirror // nil before the first pull
	// shown is the same, for those who do not wait for a turn.
	shown atomic.Pointer[gitsource.Mirror]
}

const defaultMaxFileSize = 128 << 20

// New makes a Syncer.
func New(o Options) *Syncer {
	s := &Syncer{
		db: o.DB, table: o.Languages, mirrorDir: o.MirrorDir, git: o.Git, maxFileSize: o.MaxFileSize,
		now: o.Now, log: o.Logger, progress: o.Progress, metrics: newMetrics(), batchEntries: batchEntries,
		ahead: aheadBounds{aheadBytes, commitBytes}, mirrors: make(map[string]*mirror),
	}
	if s.maxFileSize <= 0 {
		s.maxFileSize = defaultMaxFileSize
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.progress == nil {
		s.progress = func(string, Progress) {}
	}
	return s
}

// Sync is one pull: fetch the branch, bring all of its components to its head,
// step by step. The error says why the branch as a whole could not be pulled;
// what went wrong with one component stands in its report, and the others go
// on. After an error nothing is half-done: the next Sync continues.
func (s *Syncer) Sync(ctx context.Context, b Branch) (Report, error) {
	m, err := s.take(ctx, b)
	if err != nil {
		return Report{}, err
	}
	defer m.give()
	started := s.now() // not before its turn: pulls of a branch are in order of time
	p := &pull{s: s, branch: b, at: started.UTC().Truncate(time.Microsecond), changes: make(map[int64]int64)}
	report, err := p.run(ctx, m)
	s.metrics.pull(s.now().Sub(started), &report, err)
	if err != nil {
		return report, fmt.Errorf("pull %s: %w", b.Key, err)
	}
	return report, nil
}

// Mirror is the mirror that pulls of a branch use, for looking at a repository
// before it has components. Do not use it beside a pull of the branch.
func (s *Syncer) Mirror(ctx context.Context, b Branch) (*gitsource.Mirror, error) {
	m, err := s.take(ctx, b)
	if err != nil {
		return nil, err
	}
	defer m.give()
	return m.Mirror, nil
}

// take waits for the turn of a branch, which give ends, and opens its mirror
// if that was not done yet, or for other credentials. Opening removes what it
// takes for left-overs: never beside a pull.
func (s *Syncer) take(ctx context.Context, b Branch) (*mirror, error) {
	m := s.slot(b.Key)
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m.Mirror != nil && sameRemote(m.Remote(), b.Remote) {
		return m, nil
	}
	sum := sha256.Sum256([]byte(b.Key))
	opened, err := gitsource.Open(ctx, filepath.Join(s.mirrorDir, hex.EncodeToString(sum[:8])), b.Remote, s.git)
	if err != nil {
		m.give()
		return nil, fmt.Errorf("pull %s: %w", b.Key, err)
	}
	m.Mirror = opened
	m.shown.Store(opened)
	return m, nil
}

// Shown is the mirror of a branch for reading beside pulls, nil before this
// process has begun to pull it.
func (s *Syncer) Shown(key string) *gitsource.Mirror {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mirrors[key]; m != nil {
		return m.shown.Load()
	}
	return nil
}

func (m *mirror) give() { <-m.turn }

// slot is the place of a branch's mirror.
func (s *Syncer) slot(key string) *mirror {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mirrors[key]
	if m == nil {
		m = &mirror{turn: make(chan struct{}, 1), discovered: make(map[string]discovery), suggested: make(map[int64]suggestedFrom)}
		s.mirrors[key] = m
	}
	return m
}

// sameRemote compares what remotes say, credentials included.
func sameRemote(a, b remote.Repository) bool {
	if a.Credential == nil || b.Credential == nil {
		return a == b
	}
	same := *a.Credential == *b.Credential
	a.Credential, b.Credential = nil, nil
	return same && a == b
}

// pull is one run of Sync.
type pull struct {
	s                *Syncer
	branch           Branch
	at               time.Time
	head             object.Hash
	ref              string // the branch in use
	reader           *gitsource.Reader
	open             func(context.Context) (*gitsource.Reader, error) // another reader of the same state
	comps            []*component
	emptyDiscoveries []*store.ComponentSpec // discoveries that find nothing
	report           Report
	changes          map[int64]int64
	errs             map[int64]error

	sideProblems map[int64][]string // of files on branches with suggestions
}

func (p *pull) run(ctx context.Context, m *mirror) (Report, error) {
	head, err := m.Fetch(ctx)
	if err != nil {
		return p.report, p.failed(ctx, err)
	}
	defer p.closeReader()
	err = p.attempt(ctx, m, head)
	if damage := p.damage(err); damage != nil && ctx.Err() == nil && m.unreadableHead != head.Hash {
		p.s.log.Warn("mirror is damaged; cloning again beside it", "branch", p.branch.Key, "error", damage)
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

// attempt brings the components to a head that the mirror should hold. What it
// stores is whole, so that it can be run again.
func (p *pull) attempt(ctx context.Context, m *mirror, head object.Head) error {
	p.errs, p.comps = make(map[int64]error), nil
	p.head, p.ref, p.report.Head = head.Hash, head.Branch, head.Hash.String()
	reader, err := m.Reader(ctx)
	if err != nil {
		return err
	}
	p.closeReader()
	p.reader, p.open = reader, m.Reader
	if err := p.discover(ctx, m.discovered); err != nil {
		return err
	}
	if err := p.loadComponents(ctx); err != nil {
		return err
	}
	p.walkAll(ctx, !m.retried)
	return nil
}

// blameRemote says what to do about damage that a new clone has, too.
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

// closeReader gives the reader back. Reading is over: an error tells nothing.
func (p *pull) closeReader() {
	if p.reader != nil {
		_ = p.reader.Close()
	}
}

// damage is what speaks of a damaged mirror in the errors of an attempt.
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

// loadComponents reads the branch's components from the store.
func (p *pull) loadComponents(ctx context.Context) error {
	rows, err := p.rows(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		c, err := newComponent(row, p.s.table)
		if err != nil {
			p.errs[row.ID] = err
			p.comps = append(p.comps, &component{row: row})
			continue
		}
		p.comps = append(p.comps, c)
	}
	return nil
}

// rows are the stored components of the branch.
func (p *pull) rows(ctx context.Context) ([]store.BranchComponent, error) {
	if len(p.branch.Components) == 0 {
		return nil, fmt.Errorf("the branch has no component: %w", catalog.ErrInvalid)
	}
	spec := &p.branch.Components[0].Spec
	return p.s.db.Branch(ctx, spec.Repo, spec.Branch)
}

// walkAll brings every group of components to the head. A group that fails
// does not keep the others. retry also tries the files that could not be read.
func (p *pull) walkAll(ctx context.Context, retry bool) {
	sound := slices.DeleteFunc(slices.Clone(p.comps), func(c *component) bool { return p.errs[c.row.ID] != nil })
	for _, c := range sound {
		c.retry = retry
	}
	load := newLoader(p.reader, p.s.maxFileSize)
	p.rereadNotes(ctx, sound, load)
	for _, g := range convoys(slices.DeleteFunc(slices.Clone(sound), func(c *component) bool { return p.errs[c.row.ID] != nil })) {
		switch {
		case g.replay:
			p.replayAll(ctx, g.comps, load)
		case g.from == "":
			p.importAll(ctx, g.comps, load)
		case g.from != p.report.Head:
			p.advanceAll(ctx, g.comps, load)
		}
	}
	if retry {
		p.retry(ctx, sound, load)
	}
	p.recheckAll(ctx, sound, retry)
}

// tell tells of the pull's progress.
func (p *pull) tell(progress Progress) { p.s.progress(p.branch.Key, progress) }

// fail notes why a component is not at the head.
func (p *pull) fail(c *component, err error) {
	var of *componentError
	if errors.As(err, &of) && of.component == c {
		err = of.err // its name is said anyway
	}
	p.errs[c.row.ID] = err
}

// summarise fills the report's components.
func (p *pull) summarise() {
	for _, c := range p.comps {
		r := ComponentReport{
			ID: c.row.ID, Project: c.row.Project.Slug, Slug: c.row.Slug, Head: c.row.Head,
			Changes: p.changes[c.row.ID], Problems: c.problemsList(), Err: p.errs[c.row.ID],
		}
		r.Problems = append(r.Problems, p.sideProblems[c.row.ID]...)
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

// settle remembers which components failed and joins their errors.
func (p *pull) recordErrors(ctx context.Context) error {
	var all []error
	mute := false
	for _, c := range p.comps {
		err := p.errs[c.row.ID]
		if err != nil && !mute {
			all = append(all, fmt.Errorf("component %s: %w", c.name(), err))
		}
		if errors.Is(err, catalog.ErrConflict) {
			continue // somebody else was faster, such as a new configuration: no failure
		}
		if mute {
			continue
		}
		if serr := p.recordProblem(ctx, []*component{c}, err); serr != nil {
			all = append(all, serr)
			mute = errors.Is(serr, store.ErrUnavailable) // each would wait for the lock, and say the same, again
		}
	}
	return errors.Join(all...)
}

// failed remembers that the pull of the whole branch failed.
func (p *pull) failed(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return cause // stopped, not failed
	}
	rows, err := p.rows(ctx)
	if err != nil {
		return errors.Join(cause, err)
	}
	comps := make([]*component, len(rows))
	for i, row := range rows {
		comps[i] = &component{row: row}
	}
	return errors.Join(cause, p.recordProblem(ctx, comps, cause))
}

// spell stores that components cannot be pulled, or can again, and records
// entry 22 where a spell of failure begins (decision 21).
func (p *pull) recordProblem(ctx context.Context, comps []*component, cause error) error {
	message := ""
	if cause != nil {
		message = cause.Error()
	}
	for _, c := range comps {
		if c.row.Problem == message {
			continue
		}
		begins := c.row.Problem == "" && c.row.Head != "" && c.row.Imported // a replay's list is of the past
		if begins {
			if err := p.recordFailure(ctx, c, message); err != nil {
				return err
			}
			continue
		}
		if _, err := p.s.db.SetPullProblem(ctx, []int64{c.row.ID}, message); err != nil {
			return err
		}
	}
	return nil
}

// recordFailure stores that a component cannot be pulled, with entry 22; its head
// stays.
func (p *pull) recordFailure(ctx context.Context, c *component, message string) error {
	spec := &p.branch.Components[0].Spec
	info := store.StepInfo{
		Repo: spec.Repo, Branch: spec.Branch, Components: []int64{c.row.ID},
		From: c.row.Head, To: c.row.Head, Tracking: c.row.Tracking, At: p.at,
	}
	_, err := p.s.db.Step(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		if err := tx.SetPullProblem(ctx, c.row.ID, message); err != nil {
			return err
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: c.row.ID, Entries: []store.Entry{{
			Action: catalog.ActionFailedMerge, State: catalog.StateAbsent, OldState: catalog.StateAbsent,
			Event: map[string]string{"error": message},
		}}})
	})
	return err
}
