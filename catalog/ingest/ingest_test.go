package ingest_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// world is a store and a syncer over one repository.
type world struct {
	t      testing.TB
	db     *store.DB
	table  *lang.Table
	syncer *ingest.Syncer
	branch ingest.Branch
	clock  time.Time
	dir    string
	// maxFileSize is that of the syncer; 0: the default.
	maxFileSize int64
	// busy is how long the store waits for locks; 0: the default.
	busy time.Duration
	// fault, if set, is the store's.
	fault string
	// progress, if set, is called where a pull tells of its progress.
	progress func()
}

// newWorld configures project "demo" with the given components of one
// repository; settings left zero get sensible values.
func newWorld(t testing.TB, repo string, components map[string]catalog.ComponentSettings) *world {
	t.Helper()
	w := &world{t: t, clock: time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC), dir: t.TempDir()}
	w.open()
	w.configure(repo, "", components)
	return w
}

func (w *world) open() {
	w.t.Helper()
	db, err := store.Open(w.t.Context(), filepath.Join(w.dir, "repoglot.db"), store.Options{BusyTimeout: w.busy, Fault: w.fault})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { db.Close() })
	table, err := lang.New()
	if err != nil {
		w.t.Fatal(err)
	}
	w.db, w.table = db, table
	w.syncer = w.withClock(func() time.Time { w.clock = w.clock.Add(time.Minute); return w.clock })
}

// withClock makes a syncer with another clock.
func (w *world) withClock(now func() time.Time) *ingest.Syncer {
	return ingest.New(ingest.Options{
		DB: w.db, Languages: w.table, MirrorDir: filepath.Join(w.dir, "mirrors"), MaxFileSize: w.maxFileSize,
		Now:    now,
		Logger: slog.New(slog.NewTextHandler(testWriter{w.t}, nil)),
		Progress: func(string, ingest.Progress) {
			if w.progress != nil {
				w.progress()
			}
		},
	})
}

// testWriter sends log lines to the test.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

func (w *world) configure(repo, branch string, components map[string]catalog.ComponentSettings) {
	w.t.Helper()
	var specs []store.ComponentSpec
	var templates []store.TemplateKey
	w.branch, specs, templates = branchOf(repo, branch, components)
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}
	if err := w.db.Configure(w.t.Context(), []catalog.Project{project}, specs, templates); err != nil {
		w.t.Fatal(err)
	}
}

// branchOf is what a configuration makes of components of a branch.
func branchOf(repo, branch string, components map[string]catalog.ComponentSettings) (b ingest.Branch, specs []store.ComponentSpec, templates []store.TemplateKey) {
	b = ingest.Branch{Remote: gitsource.Remote{URL: repo, Branch: branch}, Key: ingest.BranchKey(repo, branch)}
	for _, slug := range slices.Sorted(maps.Keys(components)) {
		s := components[slug]
		if s.Filemask == "" {
			s.Filemask = "po/*.po"
		}
		if s.SourceLanguage == "" {
			s.SourceLanguage = "en"
		}
		if s.Name == "" {
			s.Name = slug
		}
		spec := store.ComponentSpec{Project: "demo", Slug: slug, Settings: s, Repo: gitsource.RedactURL(repo), Branch: branch}
		b.Components = append(b.Components, ingest.Component{Spec: spec})
		if strings.Contains(slug, "{component}") {
			templates = append(templates, store.TemplateKey{Project: "demo", Slug: slug})
		} else {
			specs = append(specs, spec)
		}
	}
	return b, specs, templates
}

// sync pulls and fails the test on any error.
func (w *world) sync() ingest.Report {
	w.t.Helper()
	report, err := w.syncer.Sync(w.t.Context(), w.branch)
	if err != nil {
		w.t.Fatalf("sync: %v", err)
	}
	return report
}

// read runs fn in a snapshot.
func (w *world) read(fn func(ctx context.Context, s *store.Snapshot) error) {
	w.t.Helper()
	if err := w.db.Read(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

// maxDumped bounds the units and changes of a dump, so that golden files stay
// readable; no scenario that is compared whole has as many.
const maxDumped = 40

// dump renders everything that is served: translations, units, changes after
// an id. Two stores that serve the same have the same dump.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, "demo")
		if err != nil {
			return err
		}
		for _, c := range components {
			fmt.Fprintf(&b, "component %s/%s head %s tracking %s problem %q\n", c.Project.Slug, c.Slug, c.Head, c.Tracking, c.Problem)
			translations, err := s.Translations(ctx, c.ID)
			if err != nil {
				return err
			}
			for _, t := range translations {
				dumpTranslation(&b, &t)
				units, err := s.Units(ctx, t.ID, 0, 1<<20)
				if err != nil {
					return err
				}
				for i := range units {
					if i == maxDumped {
						fmt.Fprintf(&b, "    and %d more\n", len(units)-i)
						break
					}
					dumpUnit(&b, &units[i])
				}
			}
		}
		return nil
	})
	w.verify()
	return b.String()
}

func dumpTranslation(b *strings.Builder, t *catalog.Translation) {
	s := t.Stats
	fmt.Fprintf(b, "  translation %s code %s file %s revision %s source %v plural %d %q\n    stats {Total:%+v Translated:%+v Fuzzy:%+v ReadOnly:%+v Failing:%+v}\n",
		t.Language, t.FileCode, t.Filename, t.Revision, t.IsSource, t.PluralNumber, t.PluralFormula, s.Total, s.Translated, s.Fuzzy, s.ReadOnly, s.Failing)
	if s.Comments+s.Suggestions > 0 {
		fmt.Fprintf(b, "    %d with comments, %d with suggestions\n", s.Comments, s.Suggestions)
	}
}

func dumpUnit(b *strings.Builder, u *catalog.Unit) {
	fmt.Fprintf(b, "    unit %d source %d position %d state %d words %d %q / %q -> %q", u.ID, u.SourceID, u.Position, u.State, u.Words, short(u.Source), short(u.Context), short(u.Target))
	fmt.Fprintf(b, " at %q", u.Location)
	if u.Note != "" {
		fmt.Fprintf(b, " note %q", u.Note)
	}
	if u.Comment != "" {
		fmt.Fprintf(b, " comment %q", u.Comment)
	}
	if u.Flags != "" {
		fmt.Fprintf(b, " flags %q", u.Flags)
	}
	if u.PreviousSource != "" {
		fmt.Fprintf(b, " previous %q", u.PreviousSource)
	}
	fmt.Fprintf(b, " created %s\n", u.Created.Format(time.RFC3339))
}

// short cuts long texts.
func short(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:100], ""), len(s))
	}
	return s
}

// changesAfter renders the change entries after an id, all scopes together.
func (w *world) changesAfter(id int64) (text string, last int64) {
	w.t.Helper()
	var b strings.Builder
	last = id
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		list, err := s.Changes(ctx, store.ChangeQuery{AfterID: id, Limit: 1 << 20})
		if err != nil {
			return err
		}
		for i := range list {
			if i == maxDumped {
				fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			}
			if i < maxDumped {
				dumpChange(&b, &list[i])
			}
			last = list[i].ID
		}
		return nil
	})
	return b.String(), last
}

func dumpChange(b *strings.Builder, c *catalog.Change) {
	commit := c.Commit
	if len(commit) > 7 {
		commit = commit[:7]
	}
	fmt.Fprintf(b, "%d %s", c.Action, c.Component)
	if c.Language != "" {
		fmt.Fprintf(b, "/%s", c.Language)
	}
	fmt.Fprintf(b, " by %s (%s) in %s at %s", c.Username, c.AuthorName, commit, c.Timestamp.Format(time.RFC3339))
	if c.UnitID != 0 {
		fmt.Fprintf(b, ": %q / %q: %d %q -> %d %q", short(c.Source), short(c.Context), c.OldState, short(c.Old), c.State, short(c.Target))
	}
	if len(c.Event) > 0 {
		fmt.Fprintf(b, ": %v", c.Event)
	}
	b.WriteByte('\n')
}

// golden compares text with a golden file.
func golden(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", path, diff)
	}
}
