package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestDiscovery holds the rules of {component}.
func TestDiscovery(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"locale/cs/LC_MESSAGES/intro.po":      po("One", "Jedna"),
		"locale/cs/LC_MESSAGES/a b.po":        po("One", "Jedna"),
		"locale/cs/LC_MESSAGES/a+b.po":        po("One", "Jedna"),
		"locale/cs/LC_MESSAGES/deep/topic.po": po("One", "Jedna"),
		"locale/de/LC_MESSAGES/intro.po":      po("One", "Eins"),
	})
	settings := map[string]catalog.ComponentSettings{"docs-{component}": {Name: "Docs: {component}", Filemask: "locale/*/LC_MESSAGES/{component}.po"}}
	w := synced(t, repo.URL(), settings)
	want := []string{"docs-a-b|Docs: a b", "docs-a-b-2|Docs: a+b", "docs-deep-topic|Docs: deep/topic", "docs-intro|Docs: intro"}
	equal(t, want, componentNames(w), "components")
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", "docs-a-b")
		made := catalog.Discovery{Slug: "docs-{component}", Name: "Docs: {component}", Filemask: "locale/*/LC_MESSAGES/{component}.po"}
		if c.Settings.Discovery != made {
			t.Errorf("made by %+v", c.Settings.Discovery)
		}
		return err
	})
	report := pullCommit(w, repo, testrepos.Change{Files: map[string]string{"locale/cs/LC_MESSAGES/a*b.po": po("One", "1"), "locale/cs/LC_MESSAGES/a!b.po": po("One", "1")}, Delete: []string{"locale/cs/LC_MESSAGES/deep"}})
	want = append(want, "docs-a-b-3|Docs: a!b")
	equal(t, want, componentNames(w), "components after a pull")
	vanished := ""
	for _, c := range report.Components {
		if c.Slug == "docs-deep-topic" {
			vanished = strings.Join(c.Problems, "\n")
		}
	}
	if !strings.Contains(vanished, "matches no file") {
		t.Errorf("a vanished component is not reported: %q", vanished)
	}
	if again := w.Sync(); again.Steps != 0 {
		t.Errorf("a pull of nothing made %d steps", again.Steps)
	}
}

// TestDiscoverySettings: a changed setting of a discovery reaches the
// components that it made before, without a new commit. They keep their slugs.
func TestDiscoverySettings(t *testing.T) {
	repo := repoWith(t, map[string]string{"cs/a b.po": po("One", "Jedna"), "cs/a+b.po": po("One", "Jedna")})
	settings := catalog.ComponentSettings{Name: "Docs: {component}", Filemask: "*/{component}.po"}
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"docs-{component}": settings})
	settings.Name, settings.CheckFlags = "Manual: {component}", "read-only"
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"docs-{component}": settings})
	w.Sync()
	equal(t, []string{"docs-a-b|Manual: a b", "docs-a-b-2|Manual: a+b"}, componentNames(w), "components")
	w.EachUnit(func(c *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		if u.State != catalog.StateReadOnly {
			t.Errorf("%s: %q has state %d", c.Slug, u.Source, u.State)
		}
	})
	// Away and back: the discovery is made again though neither it nor the head
	// changed.
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"other": {Filemask: "*/a b.po"}})
	w.Sync()
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"docs-{component}": settings})
	w.Sync()
	equal(t, 2, len(componentNames(w)), "components after all, %q", componentNames(w))
}

// TestMatchesNothing: a mask without files is reported in the pull that finds
// it so and in the first pull of each process, for components and for
// discoveries.
func TestMatchesNothing(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/cs.po": po("One", "Jedna"), "po/app.pot": po("One", ""), "a/x/cs.po": po("One", "Jedna"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":               {NewBase: "po/app.pot", LanguageRegex: "^[^.]+$"},
		"own":               {Filemask: "po/app*.pot", LanguageRegex: ".*", NewBase: "po/app.pot"},
		"found-{component}": {Filemask: "a/{component}/*.po"},
		"none-{component}":  {Filemask: "b/{component}/*.po"},
	})
	problems := func() map[string][]string {
		told := make(map[string][]string)
		for _, c := range w.Sync().Components {
			if len(c.Problems) > 0 {
				told[c.Slug] = c.Problems
			}
		}
		return told
	}
	none := map[string][]string{
		"own":              {"the filemask po/app*.pot matches no file of branch main: correct filemask or branch"},
		"none-{component}": {"the filemask b/{component}/*.po matches no file of branch main: correct filemask or branch"},
	}
	all := map[string][]string{
		"own": none["own"], "none-{component}": none["none-{component}"],
		"app": {"the filemask po/*.po matches no file of branch main: correct filemask or branch"},
	}
	restart := func() {
		w.DB.Close()
		w.Open()
	}
	check := func(when string, want map[string][]string) {
		t.Helper()
		equal(t, want, problems(), "%s: problems", when)
	}
	check("first pull", none)
	restart()
	check("restart", none)
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/cs.po"}})
	restart()
	check("restart without files", all)
	pullCommit(w, repo, testrepos.Change{Delete: []string{"a"}})
	restart()
	all["found-{component}"] = []string{"the filemask a/{component}/*.po matches no file of branch main: correct filemask or branch"}
	check("restart without what was discovered", all) // found-x itself is not told of again
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna"), "b/y/cs.po": po("One", "Jedna")}})
	restart()
	check("mended", map[string][]string{"own": none["own"], "found-{component}": all["found-{component}"]})
}

// TestDiscoveryMoves: the components of a discovery follow it to another branch, and get
// its settings, also those without files there or with them.
func TestDiscoveryMoves(t *testing.T) {
	repo := repoWith(t, map[string]string{"one/cs.po": po("One", "Jedna"), "two/fr.po": po("One", "Un")})
	s := catalog.ComponentSettings{Filemask: "{component}/*.po", LanguageRegex: "^[^.]+$"}
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"{component}": s})
	repo.Commit(t, testrepos.Change{Branch: "other", Files: map[string]string{"one/cs.po": po("One", "Jeden")}, Force: true})
	for _, regex := range []string{"^[^.]+$", "^c.$"} {
		s.LanguageRegex = regex
		w.Configure(repo.URL(), "other", map[string]catalog.ComponentSettings{"{component}": s})
		w.Sync()
		w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
			if c.Branch != "other" || c.Settings.LanguageRegex != regex || c.Slug != "one" && c.Slug != "two" {
				t.Errorf("%s is of branch %q, with %s", c.Slug, c.Branch, c.Settings.LanguageRegex)
			}
			return nil
		})
		if got := servedFile(w, "one", "one/cs.po"); got != po("One", "Jeden") {
			t.Errorf("one serves\n%s", got)
		}
		if files := servedFiles(w, "two"); len(files) != 0 {
			t.Errorf("two serves %q", files)
		}
	}
}

// TestDiscoveryMaskChanges: components keep their slugs when the mask of their discovery
// changes, whether their files moved or are named otherwise now.
func TestDiscoveryMaskChanges(t *testing.T) {
	texts := map[string]string{"po/a/cs.po": po("One", "Jedna"), "po/b/cs.po": po("One", "Jedna"), "po/x y/cs.po": po("One", "Jedna"), "l10n/a/cs.po": po("One", "Jednička"), "l10n/x y/cs.po": po("One", "Jednička")}
	repo := repoWith(t, texts)
	s := catalog.ComponentSettings{Name: "Docs: {component}", Filemask: "po/{component}/*.po", LanguageRegex: "^[^.]+$"}
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"docs-{component}": s})
	want := []string{"docs-a|Docs: a", "docs-b|Docs: b", "docs-x-y|Docs: x y"}
	equal(t, want, componentNames(w), "components")
	again := func(mask string) {
		t.Helper()
		s.Filemask = mask
		w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"docs-{component}": s})
		w.Sync()
	}
	again("l10n/{component}/*.po")
	equal(t, want, componentNames(w), "components of the other folder")
	for slug, path := range map[string]string{"docs-a": "l10n/a/cs.po", "docs-x-y": "l10n/x y/cs.po"} {
		if got := servedFile(w, slug, path); got != po("One", "Jednička") {
			t.Errorf("%s serves\n%s", slug, got)
		}
	}
	if files := servedFiles(w, "docs-b"); len(files) != 0 {
		t.Errorf("docs-b serves %q, which the discovery does not find", files)
	}
	again("po/{component}/*.po")
	equal(t, want, componentNames(w), "components of the first folder")
	if got := servedFile(w, "docs-b", "po/b/cs.po"); got != po("One", "Jedna") {
		t.Errorf("docs-b serves\n%s", got)
	}
	again("{component}/*.po") // other names of the same files, and new ones
	want = []string{"docs-a|Docs: po/a", "docs-b|Docs: po/b", "docs-x-y|Docs: po/x y", "docs-l10n-a|Docs: l10n/a", "docs-l10n-x-y|Docs: l10n/x y"}
	equal(t, want, componentNames(w), "components of all folders")
}
