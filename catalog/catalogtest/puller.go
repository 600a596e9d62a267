package catalogtest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Puller is a store that is filled from one branch of a repository. Its
// components are in the project "demo".
type Puller struct {
	*Store
	Syncer *ingest.Syncer
	Editor *editing.Editor
	Branch ingest.Branch
	// Clock is the time; every look at it adds a minute.
	Clock time.Time
	// MaxFileSize is the limit of the syncers that Open makes; 0: the default.
	MaxFileSize int64
	// Change, if set, changes the options of the syncers that Open makes.
	Change func(o *ingest.Options)
	// ChangeEditor, if set, changes the options of the editors that Open makes.
	ChangeEditor func(o *editing.Options)
	// Progress, if set, is called when a pull reports its progress.
	Progress func()
}

// FirstClock is the time before the first pull of a Puller.
func FirstClock() time.Time { return time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC) }

// NewPuller opens a store and configures the given components of the default
// branch of a repository, as Configure does.
func NewPuller(tb testing.TB, repo string, components map[string]catalog.ComponentSettings) *Puller {
	tb.Helper()
	p := PullerAt(tb, tb.TempDir())
	p.Open()
	p.Configure(repo, "", components)
	return p
}

// PullerAt is a puller whose store is in a directory and not open yet.
func PullerAt(tb testing.TB, dir string) *Puller {
	return &Puller{Store: At(tb, dir), Clock: FirstClock()}
}

// Open opens the store and makes a syncer and an editor.
func (p *Puller) Open() {
	p.TB.Helper()
	p.Store.Open()
	now := func() time.Time { p.Clock = p.Clock.Add(time.Minute); return p.Clock }
	p.Syncer = p.NewSyncer(now)
	p.Editor = p.NewEditor(p.Syncer, now)
}

// Reopen closes the store and opens it with other options.
func (p *Puller) Reopen(change func(o *store.Options)) {
	p.TB.Helper()
	p.Close()
	change(&p.Options)
	p.Open()
}

// NewSyncer makes a syncer with another clock.
func (p *Puller) NewSyncer(now func() time.Time) *ingest.Syncer {
	o := ingest.Options{
		DB: p.DB, Languages: p.Languages, MirrorDir: p.Mirrors(), MaxFileSize: p.MaxFileSize,
		Now:    now,
		Logger: Logger(p.TB, slog.LevelInfo),
		Progress: func(string, ingest.Progress) {
			if p.Progress != nil {
				p.Progress()
			}
		},
	}
	if p.Change != nil {
		p.Change(&o)
	}
	return ingest.New(o)
}

// Mirrors is the directory of the mirrors.
func (p *Puller) Mirrors() string { return filepath.Join(p.Dir, "mirrors") }

// Configure configures components of a branch, by slug. Without a filemask a
// component has po/*.po, without a source language en, without a name its slug.
func (p *Puller) Configure(repo, branch string, components map[string]catalog.ComponentSettings) {
	p.TB.Helper()
	b, specs, templates := BranchOf(repo, branch, components)
	p.Branch = b
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}
	if err := p.DB.Configure(p.TB.Context(), []catalog.Project{project}, specs, templates); err != nil {
		p.TB.Fatal(err)
	}
}

// BranchOf is what a configuration makes of components of a branch, with the
// defaults of Configure.
func BranchOf(repo, branch string, components map[string]catalog.ComponentSettings) (b ingest.Branch, specs []store.ComponentSpec, templates []store.TemplateKey) {
	b = ingest.Branch{Remote: remote.Repository{URL: repo, Branch: branch}, Key: ingest.BranchKey(repo, branch)}
	for _, slug := range slices.Sorted(maps.Keys(components)) {
		s := components[slug]
		s.Filemask = cmp.Or(s.Filemask, "po/*.po")
		s.SourceLanguage = cmp.Or(s.SourceLanguage, "en")
		s.Name = cmp.Or(s.Name, slug)
		spec := store.ComponentSpec{Project: "demo", Slug: slug, Settings: s, Repo: repourl.Redact(repo), Branch: branch}
		b.Components = append(b.Components, ingest.Component{Spec: spec})
		b.AddTemplate(ingest.TemplateKey(repo, &s), remote.Repository{URL: cmp.Or(s.TemplateRepo, repo), Branch: s.TemplateBranch})
		if strings.Contains(slug, "{component}") {
			templates = append(templates, store.TemplateKey{Project: "demo", Slug: slug})
		} else {
			specs = append(specs, spec)
		}
	}
	return b, specs, templates
}

// Sync pulls, and fails the test on any error.
func (p *Puller) Sync() ingest.Report {
	p.TB.Helper()
	report, err := p.Syncer.Sync(p.TB.Context(), p.Branch)
	if err != nil {
		p.TB.Fatalf("sync: %v", err)
	}
	return report
}

// PullAll pulls components of different branches, and fails the test on any error.
func PullAll(s *Store, now func() time.Time, specs []store.ComponentSpec) {
	s.TB.Helper()
	syncer := ingest.New(ingest.Options{DB: s.DB, Languages: s.Languages, MirrorDir: filepath.Join(s.Dir, "mirrors"), Now: now})
	for _, spec := range specs {
		report, err := syncer.Sync(s.TB.Context(), ingest.Branch{
			Remote: remote.Repository{URL: spec.Repo, Branch: spec.Branch}, Key: ingest.BranchKey(spec.Repo, spec.Branch), Components: []ingest.Component{{Spec: spec}},
		})
		if err == nil {
			err = report.Components[0].Err
		}
		if err != nil {
			s.TB.Fatalf("%s: %v", spec.Slug, err)
		}
	}
}

// NewEditor makes an editor of what a syncer pulls, with another clock.
func (p *Puller) NewEditor(of *ingest.Syncer, now func() time.Time) *editing.Editor {
	o := editing.Options{DB: p.DB, Syncer: of, Languages: p.Languages, Now: now}
	if p.ChangeEditor != nil {
		p.ChangeEditor(&o)
	}
	return editing.New(o)
}

// UnitOf finds a unit by language and source.
func (p *Puller) UnitOf(language, source string) (found catalog.Unit) {
	p.TB.Helper()
	p.EachUnit(func(_ *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if t.Language == language && u.Source == source {
			found = *u
		}
	})
	if found.ID == 0 {
		p.TB.Fatalf("no unit %q", source)
	}
	return found
}

// Write edits a Czech string, by Jana Nováková.
func (p *Puller) Write(source string, state catalog.State, target ...string) error {
	p.TB.Helper()
	u := p.UnitOf("cs", source)
	by := edit.Author{Name: "Jana Nováková", Email: "jana@example.org"}
	_, err := p.Editor.Edit(p.TB.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, by, []edit.Request{{UnitID: u.ID, Target: target, State: state}})
	return err
}

// Journal lists the edits of texts: status, source, base, text, reason.
func (p *Puller) Journal() string {
	p.TB.Helper()
	var b strings.Builder
	p.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		list, count, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Kind: store.EditText, Limit: 100})
		if count != len(list) {
			p.TB.Errorf("%d edits are counted, %d listed", count, len(list))
		}
		for _, e := range list {
			fmt.Fprintf(&b, "%s %s: %q → %q %d by %d %s\n", e.Status, e.Source, e.Base.Target, e.Ours.Target, e.Ours.State, len(e.Authors), e.Reason)
		}
		return err
	})
	return b.String()
}

// RemoveFile wishes for the removal of a file, by Jana.
func (p *Puller) RemoveFile(path string) {
	p.TB.Helper()
	found := false
	p.EachUnit(func(c *catalog.Component, tr *catalog.Translation, _ *catalog.Unit) {
		if tr.Filename == path && !found {
			found = true
			if err := p.Editor.RemoveTranslation(p.TB.Context(), c.ID, tr, edit.Author{Name: "Jana", Email: "jana@example.org"}); err != nil {
				p.TB.Fatal(err)
			}
		}
	})
	if !found {
		p.TB.Fatalf("there is no %s", path)
	}
}
