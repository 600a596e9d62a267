package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// mirror is the mirror of a branch, with what pulls of this process remember
// about the branch. Only the pull that has the turn uses it, except shown.
type mirror struct {
	turn chan struct{} // holds a token while a pull has the turn

	discovered         map[string]discovery       // by project and slug of the discovery
	suggested          map[int64]suggestionInputs // by component
	suggestionsRebuilt bool                       // cloned again because a branch with suggestions could not be read
	retried            bool                       // the files that an earlier process could not read were tried again
	unreadableHead     object.Hash                // a head that cannot be read even from a new clone
	lease              int64                      // the token of the last lease, in a cluster
	told               string                     // what its last pull found
	away               error                      // why it could not be fetched the last time, with Syncer.mu
	fetched            atomic.Int64               // for its templates: what Options.Fetched was
	suspect            atomic.Bool                // it may be damaged, as a pull of another branch found
	*gitsource.Mirror                             // nil before the first pull

	shown atomic.Pointer[gitsource.Mirror] // the Mirror, to be read without a turn
}

// Mirror returns the mirror that pulls of a branch use, for looking at a
// repository before it has components. Do not use it during a pull of the branch.
func (s *Syncer) Mirror(ctx context.Context, b Branch) (*gitsource.Mirror, error) {
	m, err := s.take(ctx, b)
	if err != nil {
		return nil, err
	}
	defer m.give()
	return m.Mirror, nil
}

// Held is the mirror of a branch while nobody else pulls it or pushes from it.
type Held struct {
	s      *Syncer
	mirror *mirror
	branch Branch
}

// Mirror is the mirror.
func (h *Held) Mirror() *gitsource.Mirror { return h.mirror.Mirror }

// Pull is Sync.
func (h *Held) Pull(ctx context.Context) (Report, error) { return h.s.pull(ctx, h.branch, h.mirror) }

// Hold waits for the turn of a branch, as a pull does, and calls fn meanwhile.
func (s *Syncer) Hold(ctx context.Context, b Branch, fn func(context.Context, *Held) error) error {
	s.fetchTemplates(ctx, b)
	m, err := s.take(ctx, b)
	if err != nil {
		return err
	}
	defer m.give()
	return fn(ctx, &Held{s, m, b})
}

// Reclone replaces the mirror of a branch by a new clone. Whoever reads the old one, or
// clones it, has it until the end; if the clone fails, it stays.
func (s *Syncer) Reclone(ctx context.Context, b Branch) error {
	err := s.Hold(ctx, b, func(ctx context.Context, held *Held) error {
		_, err := held.Mirror().Rebuild(ctx)
		held.mirror.unreadableHead = object.Hash{} // it is tried again
		return err
	})
	if err != nil {
		return fmt.Errorf("clone %s anew: %w", b.Key, err)
	}
	return nil
}

// take waits for the turn of a branch, which give ends, and opens its mirror if
// it is not open yet or has other credentials. Opening removes what looks like
// left-overs, so it must not happen during a pull.
func (s *Syncer) take(ctx context.Context, b Branch) (*mirror, error) {
	m := s.mirrorOf(b.Key)
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m.Mirror != nil && reflect.DeepEqual(m.Remote(), b.Remote) {
		return m, nil
	}
	opened, err := gitsource.Open(ctx, mirrorPath(s.MirrorDir, b.Key), b.Remote, s.Git)
	if err != nil {
		m.give()
		return nil, fmt.Errorf("pull %s: %w", b.Key, err)
	}
	m.Mirror = opened
	m.shown.Store(opened)
	return m, nil
}

// mirrorPath is the folder of the mirror of a branch.
func mirrorPath(mirrorDir, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(mirrorDir, hex.EncodeToString(sum[:8]))
}

// Shown returns the mirror of a branch for reading during pulls. It is nil until
// this process begins the first pull of the branch.
func (s *Syncer) Shown(key string) *gitsource.Mirror {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mirrors[key]; m != nil {
		return m.shown.Load()
	}
	return nil
}

func (m *mirror) give() { <-m.turn }

// mirrorOf returns the mirror of a branch, which may not be open.
func (s *Syncer) mirrorOf(key string) *mirror {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mirrors[key]
	if m == nil {
		m = &mirror{turn: make(chan struct{}, 1), discovered: make(map[string]discovery), suggested: make(map[int64]suggestionInputs)}
		s.mirrors[key] = m
	}
	return m
}

// A template from elsewhere takes the place of the file of its path in every state that the
// component is read at (gitsource.View): what reads files does not know where they are from.

// TemplateKey is the Key of the branch that the template of a component of a repository is
// read from; "" if that is the component's own.
func TemplateKey(repo string, s *catalog.ComponentSettings) string {
	if !s.TemplateElsewhere() {
		return ""
	}
	return BranchKey(cmp.Or(s.TemplateRepo, repo), s.TemplateBranch)
}

func templateKey(c *catalog.Component) string { return TemplateKey(c.Repo, &c.Settings) }

// AddTemplate adds a branch that the template of a component is read from.
func (b *Branch) AddTemplate(key string, from remote.Repository) {
	if key != "" && !slices.ContainsFunc(b.Templates, func(of Branch) bool { return of.Key == key }) {
		b.Templates = append(b.Templates, Branch{Key: key, Remote: from})
	}
}

// turnPatience is how long a pull waits for the turn of a mirror with templates: whoever has
// it for longer has fetched already, and imports.
const turnPatience = 10 * time.Second

// fetchTemplates fetches the branches with templates that nobody fetched yet for this process
// (Options.Fetched), before the turn of the branch itself is taken, so that no two pulls wait for
// each other. One that cannot be read stays as it is. Of pulls that wait for one, the first
// fetches for all.
func (s *Syncer) fetchTemplates(ctx context.Context, b Branch) {
	for _, of := range b.Templates {
		m, asked := s.mirrorOf(of.Key), s.Fetched(ctx, of.Key)
		due := func() bool { return m.fetched.Load() < asked || m.suspect.Load() }
		if !due() {
			continue
		}
		turn, cancel := context.WithTimeout(ctx, turnPatience)
		_, err := s.take(turn, of)
		cancel()
		if err != nil {
			continue
		}
		if now := s.Fetched(ctx, of.Key); due() {
			if _, _ = s.fetch(ctx, m); ctx.Err() == nil { // else others do it themselves
				m.fetched.Store(now)
			}
		}
		m.give()
	}
}

// fetch fetches the branch of a mirror, and remembers whether that failed for those who read
// templates from it. One that may be damaged is cloned again.
func (s *Syncer) fetch(ctx context.Context, m *mirror) (object.Head, error) {
	fetch := m.Fetch
	if m.suspect.Swap(false) {
		fetch = m.Rebuild
	}
	head, err := fetch(ctx)
	if ctx.Err() == nil {
		s.mu.Lock()
		m.away = err
		s.mu.Unlock()
	}
	return head, err
}

// byTemplate groups components by the branch of their templates, those with none elsewhere
// first.
func byTemplate(comps []*component) [][]*component {
	groups := map[string][]*component{"": nil}
	for _, c := range comps {
		key := templateKey(&c.row.Component)
		groups[key] = append(groups[key], c)
	}
	return catalog.Each(slices.Sorted(maps.Keys(groups)), func(key *string) []*component { return groups[*key] })
}

// withTemplates calls fn while the pull reads the templates of components, which are of one
// branch, from where they are. Without them it fails the components.
func (p *pull) withTemplates(ctx context.Context, comps []*component, fn func()) {
	if len(comps) == 0 {
		return
	}
	key := templateKey(&comps[0].row.Component)
	if key == "" {
		fn()
		return
	}
	reader, open, head := p.reader, p.open, p.head
	defer func() { p.reader, p.open, p.head = reader, open, head }()
	m := p.s.mirrorOf(key)
	p.s.mu.Lock()
	away := m.away
	p.s.mu.Unlock()
	paths := map[string]bool{}
	for _, c := range comps {
		paths[c.selection.newBase] = true
		if away != nil {
			p.away[c.row.ID] = fmt.Errorf("the repository of its template, whose last state stays: %w", away)
		}
	}
	p.open = func(ctx context.Context) (*gitsource.View, error) {
		r, err := open(ctx)
		if err != nil {
			return nil, err
		}
		shown := m.shown.Load()
		if shown == nil {
			return r, gitsource.ErrNotFetched
		}
		other, err := shown.Reader(ctx)
		return r.With(other, paths), err
	}
	view, err := p.open(ctx)
	if view != nil {
		defer func() { _ = view.Close() }() // reading is over
	}
	if err == nil {
		p.reader, p.head.Elsewhere = view, view.Elsewhere()
	}
	for _, c := range comps {
		failed := err
		if failed == nil && away != nil { // in a cluster another process may have read more
			if at, parsed := gitsource.ParseState(c.row.Head); parsed == nil && !view.HasElsewhere(at) {
				failed = gitsource.ErrNotFetched
			}
		}
		if failed != nil {
			p.fail(fmt.Errorf("the branch of its template, %s: %w", key, cmp.Or(away, failed)), c)
		}
	}
	fn()
}
