package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestChecksOfHistories: after pulls in any order, with any settings meanwhile, the
// same checks fail as after a first import. Strings come, go, come back and change
// in three repositories of one project; one of them has its glossary. The flags
// -histories and -history are the same as for TestHistories.
func TestChecksOfHistories(t *testing.T) {
	failed := map[string]int{}
	for n := range max(played()/2, 1) {
		t.Run(fmt.Sprintf("history=%d", *firstHistory+n), func(t *testing.T) {
			p := newCheckPlayer(t, *firstHistory+n)
			for round := range 5 {
				p.play()
				p.countFailing(failed)
				p.compareStrings()
				fresh := p.newWorld()
				p.sync(fresh, p.IntN(2) == 0)
				if !equal(t, servedUnits(fresh), servedUnits(p.world), "round %d: pulling and importing differ (-import +pull)", round) {
					t.FailNow()
				}
			}
		})
	}
	if testing.Short() {
		return
	}
	for _, check := range []string{"inconsistent", "reused", "check_glossary", "multiple_failures", "end_stop", "ellipsis"} {
		if failed[check] == 0 {
			t.Errorf("%s never failed: the test compares nothing", check)
		}
	}
}

// checkFolders are the components by folder, checkRepos those of each repository.
var (
	checkFolders = []string{"app", "docs", "web", "other", "terms", "mobile"}
	checkRepos   = [][]string{checkFolders[:3], checkFolders[3:5], checkFolders[5:]}
)

// checkPlayer plays with three repositories.
type checkPlayer struct {
	*rand.Rand
	t        testing.TB
	repos    [3]*testrepos.Repo
	files    map[string][]checkEntry // by path
	formulas map[string]string       // by path, if it is not the usual one
	pushed   map[string]bool         // paths that exist
	settings map[string]catalog.ComponentSettings
	project  string
	world    *checkWorld
}

// checkWorld is a store with a branch of each repository.
type checkWorld struct {
	*catalogtest.Puller
	branches [3]ingest.Branch
}

// checkEntry is an entry of a file.
type checkEntry struct{ source, context, flags, target string }

var (
	checkSources = []string{
		"Open the branch.", "Open the tree", "A branch", "A forest", "%d file(s)", "Save...", "Branch of a tree", "%s of %s",
		"One tree\x00%d trees", "Wait", "Wait", "Stop",
	}
	checkTargets = []string{
		"", "Open the branch.", "Zweig öffnen.", "Zweig öffnen", "Ein Ast", "Ein  Zweig", "%s Dateien", "%d Dateien", "Warte…", "Baum", "%s von %s", "\nBaum",
	}
	checkTerms = []string{"branch", "tree", "forest"}
	termWords  = []string{"", "Zweig", "Ast", "Baum", "Wald"}
)

func newCheckPlayer(t testing.TB, seed uint64) *checkPlayer {
	p := &checkPlayer{
		Rand: rand.New(rand.NewPCG(seed, 11)), t: t, files: map[string][]checkEntry{}, formulas: map[string]string{}, pushed: map[string]bool{}, settings: map[string]catalog.ComponentSettings{}, project: "Demo",
	}
	for _, folder := range checkFolders {
		s := checkSettings(folder)
		if folder == "app" {
			s.NewBase = "app/app.pot"
		}
		if folder == "docs" {
			s.CheckFlags = "check-glossary"
		}
		p.settings[folder] = s
	}
	for i := range p.repos {
		p.repos[i] = testrepos.Empty(t)
	}
	for _, folder := range checkFolders {
		for _, path := range p.paths(folder) {
			for range 4 {
				p.edit(path)
			}
		}
	}
	p.push()
	p.world = p.newWorld()
	p.sync(p.world, false)
	return p
}

func checkSettings(folder string) catalog.ComponentSettings {
	return catalog.ComponentSettings{Filemask: folder + "/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true, IsGlossary: folder == "terms"}
}

func (p *checkPlayer) paths(folder string) []string {
	paths := []string{folder + "/cs.po", folder + "/de.po", folder + "/ja.po"}
	if folder == "app" {
		paths = append(paths, "app/app.pot")
	}
	return paths
}

func (p *checkPlayer) newWorld() *checkWorld {
	w := &checkWorld{Puller: catalogtest.NewPuller(p.t, p.repos[0].URL(), nil)}
	p.configure(w)
	return w
}

// configure gives a store the current settings.
func (p *checkPlayer) configure(w *checkWorld) {
	p.t.Helper()
	var all []store.ComponentSpec
	for i, folders := range checkRepos {
		of := map[string]catalog.ComponentSettings{}
		for _, f := range folders {
			if s, ok := p.settings[f]; ok {
				of[f] = s
			}
		}
		var specs []store.ComponentSpec
		w.branches[i], specs, _ = catalogtest.BranchOf(p.repos[i].URL(), "", of)
		all = append(all, specs...)
	}
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: p.project}}
	must(p.t, w.DB.Configure(p.t.Context(), []catalog.Project{project}, all, nil))
}

// sync pulls all branches.
func (p *checkPlayer) sync(w *checkWorld, backwards bool) {
	p.t.Helper()
	order := []int{0, 1, 2}
	if backwards {
		slices.Reverse(order)
	}
	for _, i := range order {
		p.pull(w, i)
	}
}

func (p *checkPlayer) pull(w *checkWorld, i int) {
	p.t.Helper()
	if len(w.branches[i].Components) == 0 {
		return // all components are removed
	}
	if _, err := w.Syncer.Sync(p.t.Context(), w.branches[i]); err != nil {
		p.t.Fatalf("sync: %v", err)
	}
}

// play changes files and settings, and pulls sometimes one branch and sometimes
// another, at the end all.
func (p *checkPlayer) play() {
	for range 1 + p.IntN(4) {
		for range 1 + p.IntN(3) {
			folder := checkFolders[p.IntN(len(checkFolders))]
			paths := p.paths(folder)
			path := paths[p.IntN(len(paths))]
			switch p.IntN(16) {
			case 0:
				p.files[path] = nil
			case 1:
				p.move(path)
			case 2:
				if p.formulas[path] = ""; p.IntN(2) == 0 {
					p.formulas[path] = "nplurals=3; plural=n==1 ? 0 : n<5 ? 1 : 2;"
				}
			default:
				p.edit(path)
			}
		}
		if p.IntN(3) == 0 {
			p.resettle()
		}
		p.push()
		if p.IntN(3) > 0 {
			p.pull(p.world, p.IntN(3))
		}
	}
	p.sync(p.world, p.IntN(2) == 0)
}

// edit adds, changes or removes an entry.
func (p *checkPlayer) edit(path string) {
	entries := slices.Clone(p.files[path])
	pot, terms := strings.HasSuffix(path, ".pot"), strings.HasPrefix(path, "terms/")
	target := func() string {
		switch {
		case pot:
			return ""
		case terms:
			return termWords[p.IntN(len(termWords))]
		}
		return checkTargets[p.IntN(len(checkTargets))]
	}
	if len(entries) == 0 || p.IntN(3) == 0 {
		e := checkEntry{source: checkSources[p.IntN(len(checkSources))], target: target()}
		if terms {
			e.source = checkTerms[p.IntN(len(checkTerms))]
		} else if p.IntN(4) == 0 {
			e.context = "menu"
		}
		if !slices.ContainsFunc(entries, func(o checkEntry) bool { return o.source == e.source && o.context == e.context }) {
			p.files[path] = append(entries, e)
		}
		return
	}
	i := p.IntN(len(entries))
	switch p.IntN(5) {
	case 0:
		entries = slices.Delete(entries, i, i+1)
	case 1:
		entries[i].flags = []string{"", "fuzzy", "c-format", "check-glossary", "ignore-inconsistent", "ignore-reused", "forbidden", "read-only"}[p.IntN(8)]
	default:
		entries[i].target = target()
	}
	p.files[path] = entries
}

// move renames a language, or swaps two.
func (p *checkPlayer) move(path string) {
	if strings.HasSuffix(path, ".pot") {
		return
	}
	folder, _, _ := strings.Cut(path, "/")
	other := p.paths(folder)[p.IntN(3)]
	p.files[path], p.files[other] = p.files[other], p.files[path]
}

// resettle changes settings, and configures the store.
func (p *checkPlayer) resettle() {
	folder := checkFolders[p.IntN(len(checkFolders))]
	s, ok := p.settings[folder]
	n := p.IntN(8)
	switch {
	case !ok:
		s = checkSettings(folder)
	case n == 1:
		s.AllowTranslationPropagation = !s.AllowTranslationPropagation
	case n == 2:
		s.IsGlossary = !s.IsGlossary
	case n == 3:
		s.CheckFlags = []string{"", "check-glossary", "ignore-end-stop", "ignore-multiple-failures", "check-glossary, ignore-reused"}[p.IntN(5)]
	case n == 4:
		s.Name = []string{"", "Branch", "Tree"}[p.IntN(3)]
	case n == 5:
		p.project = []string{"Demo", "Branch", "Open the tree"}[p.IntN(3)]
	case n == 6:
		s.Access = []catalog.Access{"", catalog.AccessPrivate}[p.IntN(2)]
	}
	if p.settings[folder] = s; ok && n == 0 && folder != "app" {
		delete(p.settings, folder)
	}
	p.configure(p.world)
}

// push commits the files as they are now.
func (p *checkPlayer) push() {
	p.t.Helper()
	for i, folders := range checkRepos {
		c := testrepos.Change{Files: map[string]string{"README": fmt.Sprint(p.Uint64())}}
		for _, folder := range folders {
			for _, path := range p.paths(folder) {
				if entries := p.files[path]; entries != nil {
					c.Files[path], p.pushed[path] = p.text(path, entries), true
				} else if p.pushed[path] {
					c.Delete, p.pushed[path] = append(c.Delete, path), false
				}
			}
		}
		p.repos[i].Commit(p.t, c)
	}
}

func (p *checkPlayer) text(path string, entries []checkEntry) string {
	rule, forms := "nplurals=2; plural=n != 1;", 2
	if strings.HasSuffix(path, "ja.po") {
		rule, forms = "nplurals=1; plural=0;", 1
	} else if f := p.formulas[path]; f != "" {
		rule, forms = f, 3
	}
	var b strings.Builder
	fmt.Fprintf(&b, "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: %s\\n\"\n", rule)
	for _, e := range entries {
		b.WriteString("\n")
		if e.flags != "" {
			fmt.Fprintf(&b, "#, %s\n", e.flags)
		}
		if e.context != "" {
			fmt.Fprintf(&b, "msgctxt %q\n", e.context)
		}
		one, many, plural := strings.Cut(e.source, "\x00")
		fmt.Fprintf(&b, "msgid %q\n", one)
		if !plural {
			fmt.Fprintf(&b, "msgstr %q\n", e.target)
			continue
		}
		fmt.Fprintf(&b, "msgid_plural %q\n", many)
		for form := range forms {
			target := e.target
			if form > 0 && len(e.target)%2 == 0 {
				target = ""
			}
			fmt.Fprintf(&b, "msgstr[%d] %q\n", form, target)
		}
	}
	return b.String()
}

func (p *checkPlayer) countFailing(into map[string]int) {
	p.world.EachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		for _, name := range failingNames(u) {
			into[name]++
		}
	})
}

// comparedUnit is a unit with what decides whether it is compared with another one.
type comparedUnit struct {
	scope, component string
	letters          map[checks.ID]bool // checks that run on it
	forms            int
	sibling          checks.Sibling
	unit             *catalog.Unit
}

// compareStrings holds the checks that compare units against a comparison of all
// units with all others.
func (p *checkPlayer) compareStrings() {
	p.t.Helper()
	var all []comparedUnit
	p.world.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		s := &c.Settings
		v := comparedUnit{component: c.Slug, letters: map[checks.ID]bool{}, forms: t.PluralNumber, unit: u}
		if !t.IsSource && s.AllowTranslationPropagation && !s.IsGlossary {
			v.scope = fmt.Sprint(t.Language, t.PluralNumber, t.PluralFormula, s.Access == catalog.AccessPrivate)
		}
		for check, flag := range map[checks.ID]string{checks.Inconsistent: "ignore-inconsistent", checks.Reused: "ignore-reused"} {
			v.letters[check] = v.scope != "" && u.State != catalog.StateReadOnly && !strings.Contains(s.CheckFlags+u.Flags, flag)
		}
		v.sibling = checks.Sibling{Source: u.Source, Context: u.Context, Target: catalog.TrimForms(u.Target), State: u.State}
		all = append(all, v)
	})
	for i := range all {
		a := &all[i]
		want := checks.Mask{}
		for j := range all {
			b := &all[j]
			if i == j || a.scope == "" || a.scope != b.scope {
				continue
			}
			if a.letters[checks.Inconsistent] && a.component != b.component && a.sibling.Source == b.sibling.Source && a.sibling.Context == b.sibling.Context &&
				a.sibling.Target != b.sibling.Target && (a.sibling.State.Translated() || b.sibling.State.Translated()) {
				want = want.With(checks.Inconsistent)
			}
			if a.letters[checks.Reused] && checks.IsReused(a.sibling, b.sibling, a.forms) {
				want = want.With(checks.Reused)
			}
		}
		if got := checks.Mask(a.unit.Failing).And(checks.Mask{}.With(checks.Inconsistent).With(checks.Reused)); got != want {
			p.t.Fatalf("unit %d of %s in %s, %q: %v fail, %v should", a.unit.ID, a.component, a.scope, a.unit.Source, got, want)
		}
	}
}
