package ingest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// componentMark stands for the component's name in slug, name, filemask and
// new_base of a discovery (DESIGN, Configuration).
const componentMark = "{component}"

// discovery remembers what a discovery was last made of.
type discovery struct {
	head object.Hash
	spec store.ComponentSpec
}

// discover stores the components that the discoveries of a branch find at its
// head, new ones and those whose settings changed. Vanished ones stay, without
// files. done holds what was discovered before, by project and slug: a pull
// that finds the same head does nothing (DESIGN, invariant 1).
func (p *pull) discover(ctx context.Context, done map[string]discovery) error {
	for i := range p.branch.Components {
		c := &p.branch.Components[i]
		if !c.discovers() {
			continue
		}
		key, now := c.Spec.Project+"/"+c.Spec.Slug, discovery{p.head, c.Spec}
		made, err := p.discovered(ctx, &c.Spec)
		if err == nil {
			if len(made) > 0 && reflect.DeepEqual(done[key], now) {
				continue
			}
			var found int
			if found, err = p.discoverOne(ctx, &c.Spec, made); found == 0 {
				p.emptyDiscoveries = append(p.emptyDiscoveries, &c.Spec)
			}
		}
		if err != nil {
			return fmt.Errorf("discovery %s: %w", key, err)
		}
		done[key] = now
	}
	return nil
}

// discoverOne makes the components of one discovery and counts them; made are
// those of it that are there, slugs by filemask.
func (p *pull) discoverOne(ctx context.Context, spec *store.ComponentSpec, made map[string]string) (int, error) {
	mask, err := filemask.Parse(spec.Settings.Filemask)
	if err != nil {
		return 0, err
	}
	regex, err := filemask.CompileLanguageRegex(spec.Settings.LanguageRegex)
	if err != nil {
		return 0, err
	}
	rules := filemask.Rules{LanguageRegex: regex, Language: spec.Settings.Language}
	m := filemask.NewMatcher([]filemask.Mask{mask})
	files, err := p.reader.Snapshot(ctx, p.head, m.Want, m.Prune)
	if err != nil {
		return 0, err
	}
	files, _ = gitsource.SplitLinks(files)
	taken, err := p.slugs(ctx, spec.Project)
	if err != nil {
		return 0, err
	}
	found := make(map[string]bool) // by filemask
	var specs []store.ComponentSpec
	for _, f := range files {
		m, ok := mask.Select(f.Path, rules)
		if !ok {
			if reason := mask.Refuses(f.Path); reason != "" {
				p.s.log.Warn("file not served: its name is unsafe", "project", spec.Project, "discovery", spec.Slug, "path", f.Path, "problem", reason)
			}
			continue
		}
		c := expand(spec, m.Component)
		if found[c.Settings.Filemask] {
			continue
		}
		found[c.Settings.Filemask] = true
		if strings.ContainsAny(m.Component, "*{}") {
			p.s.log.Warn("a discovered name holds a character that filemasks reserve; the file is not served",
				"project", spec.Project, "discovery", spec.Slug, "path", f.Path)
			continue
		}
		if c.Slug, ok = made[c.Settings.Filemask]; !ok {
			c.Slug = freeSlug(spec.Slug, m.Component, taken)
			taken[c.Slug] = true
		}
		specs = append(specs, c)
	}
	if len(specs) == 0 {
		return 0, nil
	}
	_, err = p.s.db.AddComponents(ctx, specs)
	return len(specs), err
}

// discovered are the components that a discovery made: slugs by filemask.
func (p *pull) discovered(ctx context.Context, spec *store.ComponentSpec) (map[string]string, error) {
	rows, err := p.s.db.Branch(ctx, spec.Repo, spec.Branch)
	made := make(map[string]string)
	for i := range rows {
		if rows[i].Project.Slug == spec.Project && rows[i].Template == spec.Slug {
			made[rows[i].Settings.Filemask] = rows[i].Slug
		}
	}
	return made, err
}

// slugs are those of a project that are taken.
func (p *pull) slugs(ctx context.Context, project string) (map[string]bool, error) {
	taken := make(map[string]bool)
	err := p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, project)
		for i := range components {
			taken[components[i].Slug] = true
		}
		return err
	})
	return taken, err
}

// expand makes the component of one match out of a discovery.
func expand(spec *store.ComponentSpec, name string) store.ComponentSpec {
	found := *spec
	found.Template = spec.Slug
	s := &found.Settings
	s.Discovery = catalog.Discovery{Slug: spec.Slug, Name: s.Name, Filemask: s.Filemask, NewBase: s.NewBase}
	for _, field := range []*string{&s.Name, &s.Filemask, &s.NewBase} {
		*field = strings.ReplaceAll(*field, componentMark, name)
	}
	return found
}

// freeSlug makes the slug of a match: every run outside [A-Za-z0-9_-] becomes
// "-", and -2, -3 … tells equal ones apart.
func freeSlug(pattern, name string, taken map[string]bool) string {
	slug := strings.ReplaceAll(pattern, componentMark, slugify(name))
	for n, base := 2, slug; taken[slug]; n++ {
		slug = base + "-" + strconv.Itoa(n)
	}
	return slug
}

func slugify(name string) string {
	var b strings.Builder
	bad := false
	for _, r := range name {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			bad = false
			b.WriteRune(r)
			continue
		}
		if !bad {
			b.WriteByte('-')
		}
		bad = true
	}
	return b.String()
}

// files lists for every component the files that it reads at a commit.
func (p *pull) files(ctx context.Context, commit object.Hash, comps []*component) error {
	m := matcher(comps)
	all, err := p.reader.Snapshot(ctx, commit, m.Want, m.Prune)
	if err != nil {
		return err
	}
	all, _ = gitsource.SplitLinks(all)
	for _, c := range comps {
		c.files = nil
		for _, f := range all {
			if c.selection.lists(f.Path) {
				c.files = append(c.files, f)
			}
		}
	}
	return nil
}

// matcher selects what any of the components reads.
func matcher(comps []*component) filemask.Matcher {
	var masks []filemask.Mask
	var paths []string
	for _, c := range comps {
		masks = append(masks, c.selection.mask)
		if c.selection.newBase != "" {
			paths = append(paths, c.selection.newBase)
		}
	}
	return filemask.NewMatcher(masks, paths...)
}

// convoy is a group of components that move together.
type convoy struct {
	from   string // the commit that they stand at; "": they are read whole
	replay bool   // their first replay has to begin or to go on
	comps  []*component
}

// convoys groups components by where they stand, replays first: they move
// alone, and meet the others at the head. New components of one History replay
// in one walk.
func convoys(comps []*component) []convoy {
	type key struct {
		from    string
		replay  bool
		history catalog.History
	}
	var list []convoy
	index := make(map[key]int)
	for _, c := range comps {
		k := key{from: c.row.Head, replay: !c.row.Imported && c.row.Head != ""}
		if c.row.Head == "" && !c.isStored() && c.row.Settings.History.Full {
			k.replay, k.history = true, c.row.Settings.History
		}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, convoy{from: k.from, replay: k.replay})
		}
		list[i].comps = append(list[i].comps, c)
	}
	slices.SortStableFunc(list, func(x, y convoy) int {
		if x.replay != y.replay {
			return boolToInt(y.replay) - boolToInt(x.replay)
		}
		return strings.Compare(x.from, y.from)
	})
	return list
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ids(comps []*component) []int64 {
	list := make([]int64, len(comps))
	for i, c := range comps {
		list[i] = c.row.ID
	}
	return list
}
