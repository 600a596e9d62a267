package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/hooks"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// hookPulls lets webhooks pull the supervisor's branches.
type hookPulls struct{ *supervisor }

// Branches lists the branches of the plan.
func (h hookPulls) Branches() []hooks.Branch {
	p := h.current()
	list := make([]hooks.Branch, len(p.branches))
	for i := range p.branches {
		b := &p.branches[i]
		list[i] = hooks.Branch{Key: b.Key, Repo: repourl.Redact(b.Remote.URL)}
		for _, c := range b.Components {
			if !slices.Contains(list[i].Projects, c.Spec.Project) {
				list[i].Projects = append(list[i].Projects, c.Spec.Project)
			}
			secret := p.secrets[store.TemplateKey{Project: c.Spec.Project, Slug: c.Spec.Slug}]
			list[i].Open = list[i].Open || !secret.required
			if value := string(secret.value); value != "" && !slices.Contains(list[i].Secrets, value) {
				list[i].Secrets = append(list[i].Secrets, value)
			}
		}
		for k := range b.Templates {
			list = append(list, hooks.Branch{
				Key: b.Key + ofTemplate + b.Templates[k].Key, Repo: repourl.Redact(b.Templates[k].Remote.URL), Secrets: list[i].Secrets, Open: list[i].Open,
			})
		}
	}
	return list
}

// ofTemplate is between the key of a branch and those of its templates, whose pushes pull it.
const ofTemplate = "\n"

// Components lists the stored components of a branch, and discoveries that found none yet.
func (h hookPulls) Components(ctx context.Context, key string) ([]hooks.Component, error) {
	p := h.current()
	key, template, ofTemplates := strings.Cut(key, ofTemplate)
	b := p.branch(key)
	if b == nil {
		return nil, nil // a reload removed it
	}
	rows, err := h.engine.rows(ctx, b)
	if err != nil {
		return nil, err
	}
	var list []hooks.Component
	found := map[store.TemplateKey]bool{}
	for i := range rows {
		c := &rows[i]
		from := store.TemplateKey{Project: c.Project.Slug, Slug: cmp.Or(c.Template, c.Slug)}
		found[from] = true
		if ofTemplates {
			if ingest.TemplateKey(c.Repo, &c.Settings) != template {
				continue
			}
			c.Branch, c.Tracking, c.Settings.SuggestionBranches = c.Settings.TemplateBranch, "", ""
		}
		list = append(list, p.secured(from, hooks.Component{
			ID: c.ID, Project: c.Project.Slug, Slug: c.Slug, Branch: c.Branch, Tracking: c.Tracking, Suggests: suggests(&c.Settings),
			Private: c.Settings.Private(&c.Project), Enabled: c.Project.Settings.EnableHooks,
		}))
	}
	for _, c := range b.Components {
		from := store.TemplateKey{Project: c.Spec.Project, Slug: c.Spec.Slug}
		if found[from] || ofTemplates {
			continue
		}
		project := p.project(c.Spec.Project)
		list = append(list, p.secured(from, hooks.Component{
			Project: c.Spec.Project, Slug: c.Spec.Slug, Branch: c.Spec.Branch, Suggests: suggests(&c.Spec.Settings),
			Private: p.private(&c.Spec), Enabled: project.Settings.EnableHooks,
		}))
	}
	return list, nil
}

// suggests returns what matches the branches with suggestions for a component; nil: none does.
func suggests(c *catalog.ComponentSettings) func(string) bool {
	pattern, err := remote.ParseBranchPattern(c.SuggestionBranches)
	if err != nil || pattern.IsZero() {
		return nil
	}
	return pattern.Match
}

// secured adds the secret of a component's webhooks. A component missing from the
// plan, in the middle of a reload, gets a secret that no caller can know.
func (p *Plan) secured(from store.TemplateKey, c hooks.Component) hooks.Component {
	s, known := p.secrets[from]
	c.Secured, c.Secret = s.required || !known, string(s.value)
	return c
}

// Record stores change entry 53.
func (h hookPulls) Record(ctx context.Context, key string, components []int64, event map[string]string) error {
	key, _, _ = strings.Cut(key, ofTemplate)
	b := h.current().branch(key)
	if b == nil {
		return nil
	}
	return h.engine.syncer.RecordHook(ctx, *b, components, event)
}

// Pull pulls a branch soon, after those that it reads templates from; of the one that was
// pushed to, those who read it.
func (h hookPulls) Pull(key string) {
	key, template, _ := strings.Cut(key, ofTemplate)
	for _, key := range h.current().fetched(cmp.Or(template, key)) {
		h.sched.Wish(key, "a webhook")
	}
}

// exports finds the mirrors of components for git_export.
type exports struct {
	engine   *Engine
	clonable func(r *http.Request, project, component string) (row store.ComponentRow, client string, ask bool, err error)
}

// find finds the mirror of a component.
func (e exports) find(r *http.Request, project, component string) (_ gitexport.Mirror, client string, err error) {
	row, client, ask, err := e.clonable(r, project, component)
	switch {
	case ask:
		return nil, "", gitexport.ErrCredentials
	case err != nil:
		return nil, "", fmt.Errorf("finding %s/%s: %w", project, component, err)
	}
	m := e.engine.syncer.Shown(ingest.BranchKey(row.Repo, row.Branch))
	switch {
	case m == nil && e.engine.cluster != nil:
		return nil, "", gitexport.ErrElsewhere
	case m == nil:
		return nil, "", gitsource.ErrNotFetched
	}
	return m, client, nil
}
