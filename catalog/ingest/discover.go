package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// componentMark is the component's name in slug, name, filemask and new_base of a
// discovery.
const componentMark = "{component}"

// discovery is the input of the last run of a discovery.
type discovery struct {
	head object.Hash
	spec store.ComponentSpec
}

// discover stores the components that the discoveries of a branch find at its
// head: new components, and components whose settings changed. Vanished ones
// stay, without files. done holds the last discoveries, by project and slug: a
// pull that finds the same head does nothing.
func (p *pull) discover(ctx context.Context, done map[string]discovery) error {
	for i := range p.branch.Components {
		c := &p.branch.Components[i]
		if !strings.Contains(c.Spec.Slug, componentMark) {
			continue
		}
		key, now := c.Spec.Project+"/"+c.Spec.Slug, discovery{p.head.Commit, c.Spec}
		made, err := p.discovered(ctx, &c.Spec)
		if err == nil {
			if len(made) > 0 && p.findsTheSame(ctx, done[key], &now) {
				continue
			}
			var found int
			if found, err = p.discoverOne(ctx, &c.Spec, made); found == 0 {
				p.emptyDiscoveries = append(p.emptyDiscoveries, &c.Spec)
			}
		}
		if over, ok := errors.AsType[*errQuota](err); ok && len(made) > 0 { // they stay as they are
			p.discoveryErrs[key] = over
			continue
		}
		if err != nil {
			return fmt.Errorf("discovery %s: %w", key, err)
		}
		done[key] = now
	}
	return nil
}

// findsTheSame reports whether a discovery finds the files now that it found before.
func (p *pull) findsTheSame(ctx context.Context, before discovery, now *discovery) bool {
	mask, err := filemask.Parse(now.spec.Settings.Filemask)
	if err != nil || !reflect.DeepEqual(before.spec, now.spec) {
		return false
	}
	changes, err := p.reader.Changed(ctx, before.head, now.head, filemask.NewMatcher([]filemask.Mask{mask}))
	return err == nil && !slices.ContainsFunc(changes, func(c gitsource.Change) bool { return c.Old.IsZero() || c.New.IsZero() })
}

// discoverOne makes the components of one discovery and counts those with files. made
// are the components that it made before, by filemask: they get its settings, and move
// from another repository, branch or folder.
func (p *pull) discoverOne(ctx context.Context, spec *store.ComponentSpec, made map[string]*store.BranchComponent) (int, error) {
	selection, err := newSelection(&spec.Settings, p.s.Languages)
	if err != nil {
		return 0, err
	}
	mask := selection.mask
	files, err := p.reader.Snapshot(ctx, p.head, filemask.NewMatcher([]filemask.Mask{mask}))
	if err != nil {
		return 0, err
	}
	taken, err := p.slugs(ctx, spec.Project)
	if err != nil {
		return 0, err
	}
	first, why, n := "", "", 0 // of the files that are not served: one line of the log, as a repository can hold any number
	refuse := func(path, reason string) {
		first, why, n = cmp.Or(first, path), cmp.Or(why, reason), n+1
	}
	defer func() {
		if n > 0 {
			p.s.Logger.Warn("files are not served", "project", spec.Project, "discovery", spec.Slug, "files", n, "first", fmt.Sprintf("%.200s", first), "problem", why)
		}
	}()
	found := make(map[string]bool) // by filemask
	var specs []store.ComponentSpec
	for _, f := range files {
		m, ok := mask.Select(f.Path, selection.rules)
		if !ok {
			if reason := mask.Refuses(f.Path); reason != "" {
				refuse(f.Path, "its name is unsafe: "+reason)
			}
			continue
		}
		c := expand(spec, m.Component)
		if found[c.Settings.Filemask] {
			continue
		}
		found[c.Settings.Filemask] = true
		if strings.ContainsAny(m.Component, "*{}") {
			refuse(f.Path, "the discovered name holds a character that filemasks reserve")
			continue
		}
		if specs = append(specs, c); len(specs) > p.s.Quotas.Components {
			return len(specs), &errQuota{fmt.Sprintf("it finds more than %d components, which quotas.components allows (%d so far): narrow its filemask, or raise it",
				p.s.Quotas.Components, len(specs))}
		}
	}
	fresh := len(specs)
	renamed(spec, made, found)
	for i := range specs {
		c := &specs[i]
		if old := made[c.Settings.Filemask]; old != nil {
			c.Slug = old.Slug
			continue
		}
		name, _ := nameOf(&c.Settings)
		c.Slug = freeSlug(spec.Slug, name, taken)
		taken[c.Slug] = true
	}
	for _, mask := range slices.Sorted(maps.Keys(made)) {
		if !found[mask] {
			specs = append(specs, without(spec, mask, made[mask]))
		}
	}
	if len(specs) == 0 {
		return 0, nil
	}
	_, err = p.s.DB.AddComponents(ctx, specs)
	return fresh, err
}

// renamed gives components that a discovery made the filemasks that its mask, if it has
// changed, gives their names now. Those whose files it finds under the filemask of before
// keep that.
func renamed(spec *store.ComponentSpec, made map[string]*store.BranchComponent, found map[string]bool) {
	for _, mask := range slices.Sorted(maps.Keys(made)) {
		old := made[mask]
		name, ok := nameOf(&old.Settings)
		if now := expand(spec, name).Settings.Filemask; ok && !found[mask] && made[now] == nil {
			delete(made, mask)
			made[now] = old
		}
	}
}

// without is a component that a discovery made and has no files of now: with its
// settings, if its filemask follows from them.
func without(spec *store.ComponentSpec, mask string, made *store.BranchComponent) store.ComponentSpec {
	name, _ := nameOf(&made.Settings)
	c := expand(spec, name)
	if c.Settings.Filemask != mask {
		c.Settings = made.Settings
	}
	c.Slug = made.Slug
	return c
}

// nameOf is the name of a component that a discovery made, false if its settings do not say.
func nameOf(s *catalog.ComponentSettings) (string, bool) {
	of := s.Discovery.Filemask
	before, _, _ := strings.Cut(of, componentMark)
	marks := strings.Count(of, componentMark)
	if marks == 0 || !strings.HasPrefix(s.Filemask, before) {
		return "", false
	}
	end := len(before) + (len(s.Filemask)-len(of))/marks + len(componentMark)
	if end < len(before) || end > len(s.Filemask) {
		return "", false
	}
	name := s.Filemask[len(before):end]
	return name, filemask.Fill(of, name) == s.Filemask
}

// discovered returns the components that a discovery made, by filemask.
func (p *pull) discovered(ctx context.Context, spec *store.ComponentSpec) (map[string]*store.BranchComponent, error) {
	rows, err := p.s.DB.Discovered(ctx, spec.Project, spec.Slug)
	return catalog.ByKey(rows, func(row *store.BranchComponent) string { return row.Settings.Filemask }), err
}

func (p *pull) slugs(ctx context.Context, project string) (map[string]bool, error) {
	components, err := store.Get(ctx, p.s.DB, (*store.Snapshot).Components, project)
	taken := make(map[string]bool, len(components))
	for i := range components {
		taken[components[i].Slug] = true
	}
	return taken, err
}

// expand makes the component of one match of a discovery.
func expand(spec *store.ComponentSpec, name string) store.ComponentSpec {
	found := *spec
	found.Template = spec.Slug
	s := &found.Settings
	s.Discovery = catalog.Discovery{Slug: spec.Slug, Name: s.Name, Filemask: s.Filemask, NewBase: s.NewBase}
	for _, field := range []*string{&s.Name, &s.Filemask, &s.NewBase} {
		*field = filemask.Fill(*field, name)
	}
	return found
}

// freeSlug makes the slug of a match: every run of characters outside
// [A-Za-z0-9_-] becomes "-", and -2, -3 … is appended to a slug that is taken, or that
// was cut to maxSlug and would be.
func freeSlug(pattern, name string, taken map[string]bool) string {
	slug := strings.ReplaceAll(pattern, componentMark, notInSlugs.ReplaceAllString(name, "-"))
	slug = slug[:min(len(slug), maxSlug)]
	for n, base := 2, slug; taken[slug]; n++ {
		slug = base + "-" + strconv.Itoa(n)
	}
	return slug
}

// maxSlug bounds a slug that a discovery makes, before a suffix, as Weblate's are.
const maxSlug = 100

var notInSlugs = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
