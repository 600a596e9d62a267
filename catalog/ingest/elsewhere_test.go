package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// apart is a history in one repository, and the same in two: the template and what is beside
// it in one, everything else in the other.
type apart struct {
	*player
	t                   *testing.T
	own, template       *testrepos.Repo
	states              []apartState // after each commit
	settings, elsewhere map[string]catalog.ComponentSettings
}

// apartState has the heads of the three repositories.
type apartState struct {
	both, own, template string
	broken              bool
}

const apartTemplate = "po/app.pot"

func newApart(t *testing.T, seed uint64) *apart {
	p := &apart{player: &player{Rand: newPlayer(t, seed).Rand, t: t, repo: testrepos.Empty(t)}, t: t, own: testrepos.Empty(t), template: testrepos.Empty(t)}
	tree := modelTree{}
	names := []string{"po/cs.po", "po/de.po", "po/pt_BR.po", "docs/cs.po", apartTemplate, "README", "src/a.c"}
	var now apartState
	when := time.Date(2021, 3, 1, 8, 0, 0, 0, time.UTC)
	for n := range 24 {
		name := names[p.IntN(len(names))]
		if n == 0 {
			name = "po/cs.po"
		}
		there := name == apartTemplate || name == "src/a.c"
		if there || p.IntN(2) == 0 { // of the same time that of the template is first
			when = when.Add(time.Duration(1+p.IntN(3)) * time.Hour)
		}
		c := testrepos.Change{Author: fmt.Sprintf("Author %d <a%d@example.org>", n, n), When: when, Force: true, Files: map[string]string{}}
		switch f := tree[name]; {
		case f != nil && n > 0 && p.IntN(8) == 0:
			delete(tree, name)
			c.Delete = []string{name}
		case strings.HasSuffix(name, ".po"), name == apartTemplate:
			tree[name] = p.edit(p.edit(f))
			c.Files[name] = tree[name].text()
		default:
			c.Files[name] = fmt.Sprint(n)
		}
		now.both = p.repo.Commit(t, c)
		if there {
			now.template = p.template.Commit(t, c)
		} else {
			now.own = p.own.Commit(t, c)
		}
		now.broken = tree.broken()
		p.states = append(p.states, now)
	}
	of := catalog.ComponentSettings{Filemask: "po/*.po", NewBase: apartTemplate, LanguageRegex: "^[^.]+$", CheckFlags: "ignore-long-untranslated"}
	of.History.Full = true
	p.settings = map[string]catalog.ComponentSettings{"app": of, "docs": {Filemask: "docs/*.po", History: of.History, CheckFlags: of.CheckFlags}}
	of.TemplateRepo = p.template.URL()
	p.elsewhere = maps.Clone(p.settings)
	p.elsewhere["app"] = of
	return p
}

// at moves the branches of the repositories.
func (p *apart) at(own, template apartState) {
	p.repo.Branch(p.t, "main", own.both)
	p.own.Branch(p.t, "main", own.own)
	if template.template != "" {
		p.template.Branch(p.t, "main", template.template)
	}
}

func (p *apart) last() apartState { return p.states[len(p.states)-1] }

// first is the first state in which both repositories have a commit.
func (p *apart) first() int {
	for n, s := range p.states {
		if s.template != "" {
			return n
		}
	}
	p.t.Skip("the template's repository stays empty")
	return 0
}

var anyCommit = regexp.MustCompile(`[0-9a-f]{40}`)

// entriesOf are the entries of a store; commits are named by their authors.
func entriesOf(w *catalogtest.Puller) map[string]string {
	all := changesByComponent(w)
	for slug, text := range all {
		all[slug] = anyCommit.ReplaceAllString(text, "commit")
	}
	return all
}

// servedOf is presentOf without what names the repository and its commits.
func servedOf(w *catalogtest.Puller) map[string]string {
	all := presentOf(w)
	maps.DeleteFunc(all, func(address, _ string) bool {
		return !strings.Contains(address, "units") && !strings.Contains(address, "statistics/") && !strings.Contains(address, "file/") &&
			!strings.Contains(address, "checks/") && !strings.Contains(address, "problems")
	})
	return all
}

// TestElsewhere: a template of another repository gives the same entries, strings, files and
// statistics as one of the same repository: by replays, also interrupted ones, and by pulls
// of any number of commits. Pulls in any order, and an import, give the same strings, files
// and statistics.
func TestElsewhere(t *testing.T) {
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
		p := newApart(t, seed)
		p.first()
		p.at(p.last(), p.last())
		one := catalogtest.NewPuller(t, p.repo.URL(), p.settings)
		one.Sync()
		served := servedOf(one)
		two := catalogtest.NewPuller(t, p.own.URL(), p.elsewhere)
		two.Syncer.SetBatch(1 + p.IntN(9))
		for n := p.IntN(12); n > 0; n -= 4 {
			(&ways{player: p.player}).interrupted(two, n)
			two.Close()
			two.Open()
			two.Syncer.SetBatch(1 + p.IntN(9))
		}
		two.Sync()
		equal(t, entriesOf(one), entriesOf(two), "entries (-one +two repositories, replayed)")
		equal(t, served, servedOf(two), "what is served (-one +two repositories, replayed)")
		p.pullTogether(served)
		p.pullApart(served)
		if !p.last().broken { // which good version is kept depends on what was read
			for slug, s := range p.elsewhere {
				s.History.Full = false
				p.elsewhere[slug] = s
			}
			w := catalogtest.NewPuller(t, p.own.URL(), p.elsewhere)
			w.Sync()
			equal(t, served, servedOf(w), "what is served (-one repository +import)")
			for slug, s := range p.elsewhere {
				s.History = catalog.History{Full: true, Commits: 1 + p.IntN(12)}
				p.elsewhere[slug] = s
			}
			w = catalogtest.NewPuller(t, p.own.URL(), p.elsewhere)
			w.Sync()
			equal(t, served, servedOf(w), "what is served (-one repository +replay of some commits)")
		}
	})
}

// pullTogether pulls some commits of both repositories at a time.
func (p *apart) pullTogether(served map[string]string) {
	n := p.first()
	p.at(p.states[n], p.states[n])
	one, two := catalogtest.NewPuller(p.t, p.repo.URL(), p.settings), catalogtest.NewPuller(p.t, p.own.URL(), p.elsewhere)
	for ; ; n = min(n+1+p.IntN(4), len(p.states)-1) {
		p.at(p.states[n], p.states[n])
		one.Sync()
		two.Sync()
		p.restart(two)
		if n == len(p.states)-1 {
			break
		}
	}
	equal(p.t, entriesOf(one), entriesOf(two), "entries (-one +two repositories, pulled)")
	equal(p.t, served, servedOf(two), "what is served (-one +two repositories, pulled)")
	two.Verify()
}

// pullApart pulls the repositories in any order.
func (p *apart) pullApart(served map[string]string) {
	own, template, last := p.first(), p.first(), len(p.states)-1
	p.at(p.states[own], p.states[template])
	w := catalogtest.NewPuller(p.t, p.own.URL(), p.elsewhere)
	w.Sync()
	texts := map[int64]string{}
	for own < last || template < last {
		if p.IntN(2) == 0 {
			own = min(own+p.IntN(8), last)
		} else {
			template = min(template+p.IntN(8), last)
		}
		p.at(p.states[own], p.states[template])
		w.Sync()
		p.restart(w)
	}
	w.ApplyChanges(texts)
	if !p.last().broken {
		equal(p.t, served, servedOf(w), "what is served (-one +two repositories, in any order)")
	}
	w.Verify()
}

// TestElsewhereAway: while the repository of a template is away, its last state stays, the
// component's own pulls go on, and the problem is told; without a state there is an error.
func TestElsewhereAway(t *testing.T) {
	own, template := testrepos.Empty(t), testrepos.Empty(t)
	settings := map[string]catalog.ComponentSettings{"app": {NewBase: "app.pot", TemplateRepo: template.URL()}, "plain": {NewBase: "none.pot"}}
	w := catalogtest.PullerAt(t, t.TempDir())
	w.Open()
	w.Configure(own.URL(), "", settings)
	own.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poOf("One", "jedna")}})
	away := template.Path() + ".away"
	must(t, os.Rename(template.Path(), away))
	syncFails(w, "the branch of its template")
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		if c.Imported != (c.Slug == "plain") {
			t.Errorf("%s is imported: %v", c.Slug, c.Imported)
		}
		return nil
	})
	must(t, os.Rename(away, template.Path()))
	template.Commit(t, testrepos.Change{Files: map[string]string{"app.pot": poOf("One", "", "Two", "")}})
	w.Clock = w.Clock.Add(time.Hour)
	w.Sync()
	want := func(problem bool, sources string) {
		t.Helper()
		w.EachComponent(func(ctx context.Context, s *store.Snapshot, c *store.ComponentRow) error {
			if c.Slug != "app" {
				return nil
			}
			if strings.Contains(c.Problem.Words, filepath.Dir(template.Path())) {
				t.Errorf("a path of this machine is told: %s", c.Problem.Words)
			}
			if told := c.Problem.Kind == catalog.FailureUnreachable && strings.Contains(c.Problem.Words, "template"); told != problem || c.Problem.Failed() != problem {
				t.Errorf("the problem is %+v, wanted: %v", c.Problem, problem)
			}
			return nil
		})
		var list []string
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if c.Slug == "app" && tr.IsSource {
				list = append(list, u.Source)
			}
		})
		if got := strings.Join(list, " "); got != sources {
			t.Errorf("the sources are %q, want %q", got, sources)
		}
	}
	want(false, "One Two")
	must(t, os.Rename(template.Path(), away))
	own.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poOf("One", "jeden", "Three", "tři")}})
	w.Sync() // a pull of the branch succeeds
	want(true, "One Two Three")
	w.Close()
	w.Open() // as a new process
	own.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poOf("One", "jeden")}})
	w.Sync()
	want(true, "One Two")
	must(t, os.RemoveAll(filepath.Join(w.Dir, "mirrors"))) // nothing is left of the template
	w.Close()
	w.Open()
	own.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poOf("One", "jednička")}})
	syncFails(w, "the branch of its template")
	want(true, "One Two")
	must(t, os.Rename(away, template.Path()))
	template.Commit(t, testrepos.Change{Files: map[string]string{"app.pot": poOf("One", "", "Four", "")}})
	w.Clock = w.Clock.Add(time.Hour)
	w.Sync()
	want(false, "One Four")
	if got := w.UnitOf("cs", "One").Target; got != "jednička" {
		t.Errorf("the text is %q", got)
	}
}

// TestVerifyTemplates: verify looks at mirrors that only templates are read from, and blames a
// damaged one and not that of the component.
func TestVerifyTemplates(t *testing.T) {
	own, template := repoWith(t, map[string]string{"po/cs.po": poOf("One", "jedna")}), repoWith(t, map[string]string{"app.pot": poOf("One", "")})
	settings := catalog.ComponentSettings{NewBase: "app.pot", TemplateRepo: template.URL()}
	w := catalogtest.NewPuller(t, own.URL(), map[string]catalog.ComponentSettings{"app": settings, "docs": settings})
	w.Sync()
	if seen, lines := verifyMirrors(w); seen.Mirrors != 2 || lines != nil {
		t.Errorf("%+v, %q", seen, lines)
	}
	key := ingest.TemplateKey("", &settings)
	path, _ := w.Syncer.Shown(key).Path()
	eachObject(t, path, func(name string) { overwrite(t, name, []byte("harm")) })
	if seen, lines := verifyMirrors(w); seen.Mirrors != 2 || len(lines) != 1 || !strings.HasPrefix(lines[0], key+": the mirror is damaged; remove ") {
		t.Errorf("damaged: %+v, %q", seen, lines)
	}
}

// TestElsewhereDamaged: a mirror of a template that is damaged is cloned again with the next
// pull.
func TestElsewhereDamaged(t *testing.T) {
	own, template := repoWith(t, map[string]string{"po/cs.po": poOf("One", "jedna")}), repoWith(t, map[string]string{"app.pot": poOf("One", "")})
	w := catalogtest.NewPuller(t, own.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "app.pot", TemplateRepo: template.URL()}})
	w.Sync()
	mirror := w.Syncer.Shown(ingest.TemplateKey("", &catalog.ComponentSettings{NewBase: "app.pot", TemplateRepo: template.URL()}))
	path, _ := mirror.Path()
	eachObject(t, path, func(name string) { overwrite(t, name, []byte("harm")) })
	w.Close()
	w.Open()
	template.Commit(t, testrepos.Change{Files: map[string]string{"app.pot": poOf("Two", "")}})
	_, _ = w.Syncer.Sync(t.Context(), w.Branch) // finds the damage, unless the fetch mended it
	w.Clock = w.Clock.Add(time.Hour)
	own.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poOf("Three", "tři")}})
	w.Sync()
	w.UnitOf("en", "Two")
}

// TestElsewhereBranch: the template of another branch of the same repository, which moves
// alone, and is rewritten.
func TestElsewhereBranch(t *testing.T) {
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poOf("One", "jedna"), "app.pot": poOf("Old", "")}})
	begin := repo.Commit(t, testrepos.Change{Branch: "code", Files: map[string]string{"app.pot": poOf("One", "", "Two", "")}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "app.pot", TemplateBranch: "code"}})
	w.Sync()
	head := repo.Head()
	for _, text := range []string{poOf("One", "", "Three", ""), poOf("Four", ""), poOf("Five", "")} {
		change := testrepos.Change{Branch: "code", Files: map[string]string{"app.pot": text}}
		if strings.Contains(text, "Five") {
			change.Parents, change.Force = []string{begin}, true
		}
		code := repo.Commit(t, change)
		before := w.Generation()
		w.Sync()
		if w.Generation() == before {
			t.Error("the generation stays")
		}
		w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
			if c.Head != head || c.TemplateHead != code {
				t.Errorf("the component is at %s, want %s+%s", c.At(), head, code)
			}
			return nil
		})
		if _, lines := verifyMirrors(w); lines != nil {
			t.Errorf("verify: %q", lines)
		}
	}
	w.UnitOf("en", "Five")
}

func poOf(texts ...string) string {
	f := modelFile{}
	for i := 0; i < len(texts); i += 2 {
		f.entries = append(f.entries, modelEntry{id: texts[i], target: texts[i+1]})
	}
	return f.text()
}
