package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/remote"
)

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

// awayPause is how long a template's repository that cannot be read is left alone: it must
// not hold up the pulls of those who read it.
const awayPause = time.Minute

// turnPatience is how long a pull waits for the turn of a mirror with templates: whoever has
// it for longer has fetched already, and imports.
const turnPatience = 10 * time.Second

// fetchTemplates fetches the branches with templates, before the turn of the branch itself is
// taken, so that no two pulls wait for each other. One that cannot be read stays as it is.
func (s *Syncer) fetchTemplates(ctx context.Context, b Branch) {
	for _, of := range b.Templates {
		turn, cancel := context.WithTimeout(ctx, turnPatience)
		m, err := s.take(turn, of)
		cancel()
		if err != nil {
			continue
		}
		fetch := m.Fetch
		if m.suspect.Swap(false) {
			fetch = m.Rebuild
		}
		if now := s.now(); m.away == nil || now.Sub(m.awaySince) >= awayPause || now.Before(m.awaySince) {
			_, err = fetch(ctx)
			s.mu.Lock()
			if m.awaySince = now; ctx.Err() == nil {
				m.away = err
			}
			s.mu.Unlock()
		}
		m.give()
	}
}

// suspectTemplates has the mirrors with templates cloned again with the next pull, since the
// damage that one found may be theirs.
func (s *Syncer) suspectTemplates(b Branch) {
	for _, of := range b.Templates {
		s.mirrorOf(of.Key).suspect.Store(true)
	}
}

// byTemplate groups components by the branch of their templates, those with none elsewhere
// first.
func byTemplate(comps []*component) [][]*component {
	groups := map[string][]*component{"": nil}
	for _, c := range comps {
		key := templateKey(&c.row.Component)
		groups[key] = append(groups[key], c)
	}
	list := make([][]*component, 0, len(groups))
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, groups[key])
	}
	return list
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
			p.fail(c, fmt.Errorf("the branch of its template, %s: %w", key, cmp.Or(away, failed)))
		}
	}
	fn()
}
