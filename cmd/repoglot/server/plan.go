package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/notify"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Plan is a configuration in the terms of store and ingest.
type Plan struct {
	projects   []catalog.Project
	components []store.ComponentSpec // without discoveries
	templates  []store.TemplateKey   // the discoveries
	discover   []store.ComponentSpec // their settings, in the order of templates
	branches   []ingest.Branch       // by key; those that only templates are read from have no component
	bots       []string
	revision   int64
	receivers  []notify.Receiver
	secrets    map[store.TemplateKey]secret
	pushes     map[store.TemplateKey]push.Destination // of components that take edits
}

// secret is the secret of the webhooks of a component or a discovery.
type secret struct {
	required bool
	value    config.Secret // "": no call is accepted
}

// NewPlan sorts the components of a configuration by repository and branch.
func NewPlan(c *config.Config) *Plan {
	p := &Plan{components: []store.ComponentSpec{}, secrets: map[store.TemplateKey]secret{}, pushes: map[store.TemplateKey]push.Destination{}}
	for i := range c.Projects {
		p.projects = append(p.projects, catalog.Project{Slug: c.Projects[i].Slug, Settings: c.Projects[i].ProjectSettings})
	}
	for _, n := range c.Notify {
		p.receivers = append(p.receivers, notify.Receiver{
			URL: string(n.URL), Secret: string(n.Secret), Events: n.Events, Projects: n.Projects, Languages: n.Languages, Batch: n.Batch, AllowPrivate: n.AllowPrivate,
		})
	}
	branches, templates := map[string]*ingest.Branch{}, map[string]ingest.Branch{}
	for project, component := range c.Components() {
		spec := store.ComponentSpec{
			Project: project.Slug, Slug: component.Slug, Settings: component.Settings(),
			Repo: component.Repo.String(), Branch: component.Branch,
		}
		named := store.TemplateKey{Project: spec.Project, Slug: spec.Slug}
		p.secrets[named] = secret{component.WebhookSecured, component.WebhookSecret}
		if component.PushMode != "" {
			p.pushes[named] = destination(c, component)
		}
		if component.Discovers() {
			p.templates = append(p.templates, named)
			p.discover = append(p.discover, spec)
		} else {
			p.components = append(p.components, spec)
		}
		key := ingest.BranchKey(spec.Repo, spec.Branch)
		b := branches[key]
		if b == nil {
			b = &ingest.Branch{Key: key, Remote: remote.Repository{
				URL: component.Repo.Raw(), Branch: component.Branch,
				Credential: credential(c.Credentials, component.Repo.Raw()),
			}}
			branches[key] = b
		}
		b.Components = append(b.Components, ingest.Component{Spec: spec})
		from := cmp.Or(component.TemplateRepo, component.Repo).Raw()
		b.AddTemplate(ingest.TemplateKey(spec.Repo, &spec.Settings), remote.Repository{
			URL: from, Branch: component.TemplateBranch, Credential: credential(c.Credentials, from),
		})
	}
	p.bots, p.revision = c.Bots, int64(c.Revision)
	for _, b := range branches {
		p.branches = append(p.branches, *b)
		for _, of := range b.Templates {
			if branches[of.Key] == nil {
				templates[of.Key] = of
			}
		}
	}
	p.branches = slices.AppendSeq(p.branches, maps.Values(templates))
	slices.SortFunc(p.branches, func(a, b ingest.Branch) int { return cmp.Compare(a.Key, b.Key) })
	return p
}

// destination is where edits of a component go. Its key and forge were checked by config.
func destination(c *config.Config, component *config.Component) (d push.Destination) {
	if address := component.Push.Raw(); address != "" {
		d.Repository = remote.Repository{URL: address, Credential: credential(c.Credentials, address)}
	}
	d.Signer, _ = component.Signer()
	d.Forge, _ = component.NewForge(string(component.ForgeToken)) // also to close what was opened before
	if d.Forge != nil {
		d.Git = component.ForgeGit(string(component.ForgeToken))
	}
	return d
}

// takesEdits reports whether a component of a branch takes edits.
func takesEdits(b *ingest.Branch) bool {
	return slices.ContainsFunc(b.Components, func(c ingest.Component) bool { return c.Spec.Settings.Edits.Taken() })
}

// Branches are the branches, by key. They are not to be changed.
func (p *Plan) Branches() []ingest.Branch { return p.branches }

// branch returns the branch of a key, or nil.
func (p *Plan) branch(key string) *ingest.Branch {
	i, ok := slices.BinarySearchFunc(p.branches, key, func(b ingest.Branch, key string) int { return cmp.Compare(b.Key, key) })
	if !ok {
		return nil
	}
	return &p.branches[i]
}

// fetched are the keys of a branch, and of those that it reads templates from.
func (p *Plan) fetched(key string) []string {
	keys := []string{key}
	if b := p.branch(key); b != nil {
		for _, of := range b.Templates {
			keys = append(keys, of.Key)
		}
	}
	return keys
}

// credential returns the credential for a repository's host, first of one with the port.
func credential(list []config.Credential, repo string) *remote.Credential {
	host := repourl.Host(repo)
	if host == "" {
		return nil
	}
	bare, _, _ := strings.Cut(host, ":")
	for _, name := range []string{host, bare} {
		for _, c := range list {
			if c.Host == name {
				return &remote.Credential{Host: c.Host, Username: c.Username, Password: string(c.Password), SSHKey: string(c.SSHKey)}
			}
		}
	}
	return nil
}

func (p *Plan) private(c *store.ComponentSpec) bool {
	return c.Settings.Private(p.project(c.Project))
}

// project returns a project of the plan; for an unknown slug, a private one.
func (p *Plan) project(slug string) *catalog.Project {
	for i := range p.projects {
		if p.projects[i].Slug == slug {
			return &p.projects[i]
		}
	}
	return &catalog.Project{Slug: slug, Settings: catalog.ProjectSettings{Access: catalog.AccessPrivate}}
}

// public returns the public components of the plan, in the order of its branches.
func (p *Plan) public() []ingest.Component {
	var list []ingest.Component
	for _, b := range p.branches {
		for _, c := range b.Components {
			if !p.private(&c.Spec) {
				list = append(list, c)
			}
		}
	}
	return list
}
