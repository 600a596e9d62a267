package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestWays: everything that the API and file/ serve of the present is the same by pulls
// of any number of commits, by a replay, and by an import of the head, whatever order
// the components came in, and whatever settings, repository or branch changed meanwhile,
// also during the first import. Without such changes, pulls and replay also agree in the
// entries, in the times of files, and in long_untranslated.
func TestWays(t *testing.T) {
	eachHistory(t, *firstHistory+4, func(t *testing.T, seed uint64) {
		p := newWays(t, seed)
		pulled := p.pulled()
		replayed := p.replayed()
		if p.head.tree.broken() && p.changed {
			return // which good version is kept depends on what was read
		}
		same := presentOf(pulled)
		if !p.changed {
			before, now := changesByComponent(pulled), changesByComponent(replayed)
			maps.DeleteFunc(before, func(slug, _ string) bool { return now[slug] == "" }) // discovered, and gone
			equal(t, before, now, "entries (-pulls +replay)")
			equal(t, timesOf(pulled), timesOf(replayed), "times of files (-pulls +replay)")
		}
		p.compare(same, presentOf(replayed), "(-pulls +replay)")
		if p.changed && !p.head.tree.broken() { // its strings are as old as the head
			p.compare(same, presentOf(p.imported()), "(-pulls +import)")
		}
	})
}

// ways makes a history, and settings that change while it is pulled.
type ways struct {
	*player
	t        *testing.T
	chain    []*modelCommit
	settings map[string]catalog.ComponentSettings
	branch   string
	changed  bool // settings change
}

// wayPaths are the files: of two components, of a discovery, and others that settings
// may select.
var wayPaths = append(slices.Clone(modelPaths),
	"po/app.po", "docs/cs_CZ.po", "mods/one/cs.po", "mods/one/de.po", "mods/two/cs.po", "mods/two/fr.po", "mods/t\x02o/fr.po")

func newWays(t *testing.T, seed uint64) *ways {
	p := &ways{player: newPlayer(t, seed), t: t, changed: seed%2 == 0}
	p.paths, p.moves, p.now = wayPaths, p.IntN(2) == 0, time.Date(2019, 3, 1, 8, 0, 0, 0, time.UTC)
	p.begin()
	for len(p.chain) < 8 {
		for range 8 {
			p.play()
		}
		p.chain = p.firstParents()
	}
	p.repo.Branch(t, "copy", p.head.hash)
	docs := catalog.ComponentSettings{Filemask: "docs/*.po", SourceLanguage: []string{"en", "cs"}[p.IntN(2)]}
	p.settings = map[string]catalog.ComponentSettings{
		"app": {Filemask: "po/*.po", NewBase: "po/app.pot"}, "docs": docs, "mod-{component}": {Filemask: "mods/{component}/*.po"},
	}
	for slug, s := range p.settings {
		s.LanguageRegex, s.AllowTranslationPropagation = "^[^.]+$", true
		if p.changed { // strings are first seen when settings select them
			s.CheckFlags = "ignore-long-untranslated"
		}
		p.settings[slug] = s
	}
	return p
}

// resettle changes a setting.
func (p *ways) resettle() {
	p.settings = maps.Clone(p.settings)
	slug := slices.Sorted(maps.Keys(p.settings))[p.IntN(3)]
	s := p.settings[slug]
	switch n := p.IntN(9); {
	case n == 0:
		p.branch = map[string]string{"": "copy", "copy": ""}[p.branch]
	case n == 1:
		s.CheckFlags = []string{"ignore-long-untranslated", "ignore-long-untranslated, read-only", "ignore-long-untranslated, ignore-inconsistent"}[p.IntN(3)]
	case n == 2:
		s.LanguageRegex = []string{"^[^.]+$", "^[cdep].*$"}[p.IntN(2)]
	case slug == "app" && n < 6:
		s.NewBase = []string{"po/app.pot", "po/app.po", "", "locale/app.pot"}[p.IntN(4)]
	case slug == "app":
		s.Filemask = []string{"po/*.po", "*/*.po", "locale/*.po"}[p.IntN(3)]
	case slug == "docs":
		s.NewBase = []string{"", "docs/cs_CZ.po", "docs/fr.po"}[p.IntN(3)]
	}
	p.settings[slug] = s
}

// history is how much of the past a store has.
func (p *ways) history(full bool) map[string]catalog.ComponentSettings {
	of := maps.Clone(p.settings)
	for slug, s := range of {
		s.History.Full = full
		of[slug] = s
	}
	return of
}

// at moves the branches to a commit.
func (p *ways) at(c *modelCommit) {
	p.repo.Branch(p.t, "main", c.hash)
	p.repo.Branch(p.t, "copy", c.hash)
}

// pulled pulls some commits at a time, from the first one on.
func (p *ways) pulled() *catalogtest.Puller {
	p.at(p.chain[0])
	w := catalogtest.NewPuller(p.t, p.repo.URL(), p.history(true))
	w.Sync()
	for n := 0; n < len(p.chain)-1; {
		n = min(n+1+p.IntN(4), len(p.chain)-1)
		p.at(p.chain[n])
		for p.changed && p.IntN(2) == 0 {
			p.resettle()
			w.Configure(p.repo.URL(), p.branch, p.history(true))
		}
		w.Clock = w.Clock.Add(time.Duration(p.IntN(1000)) * time.Hour)
		p.restart(w)
		w.Sync()
	}
	return w
}

// replayed replays the history, with other settings at the beginning if they change.
func (p *ways) replayed() *catalogtest.Puller {
	w := catalogtest.NewPuller(p.t, p.repo.URL(), nil)
	w.Syncer.SetBatch(1 + p.IntN(40))
	if p.changed {
		last, branch := p.settings, p.branch
		p.resettle()
		w.Configure(p.repo.URL(), p.branch, p.history(true))
		p.interrupted(w, 1+p.IntN(12))
		p.settings, p.branch = last, branch
	}
	p.oneByOne(w, true)
	return w
}

// interrupted pulls, and ends the pull when it reports its n-th progress, if it does.
func (p *ways) interrupted(w *catalogtest.Puller, n int) {
	ctx, cancel := context.WithCancel(w.TB.Context())
	defer cancel()
	w.Progress = func() {
		if n--; n == 0 {
			cancel()
		}
	}
	if _, err := w.Syncer.Sync(ctx, w.Branch); err != nil && ctx.Err() == nil {
		w.TB.Fatal(err)
	}
	w.Progress = nil
}

// imported imports the head.
func (p *ways) imported() *catalogtest.Puller {
	w := catalogtest.NewPuller(p.t, p.repo.URL(), nil)
	p.oneByOne(w, false)
	return w
}

// oneByOne configures the components in any order, some together, and pulls.
func (p *ways) oneByOne(w *catalogtest.Puller, full bool) {
	all, some := p.history(full), map[string]catalog.ComponentSettings{}
	slugs := slices.Sorted(maps.Keys(all))
	p.Shuffle(len(slugs), func(i, j int) { slugs[i], slugs[j] = slugs[j], slugs[i] })
	for i, slug := range slugs {
		some[slug] = all[slug]
		if i == len(slugs)-1 || p.IntN(2) == 0 {
			w.Configure(p.repo.URL(), p.branch, some)
			w.Sync()
		}
	}
	w.Sync()
}

// compare compares what two stores serve, by address.
func (p *ways) compare(a, b map[string]string, what string) {
	for _, address := range slices.Sorted(maps.Keys(a)) {
		if !equal(p.t, a[address], b[address], "%s %s", address, what) && p.changed {
			p.t.Logf("settings %+v, branch %q", p.settings, p.branch)
		}
		delete(b, address)
	}
	if len(b) > 0 {
		p.t.Errorf("only one serves %q %s", slices.Sorted(maps.Keys(b)), what)
	}
}

// timesOf are the times of the files, by component and path.
func timesOf(w *catalogtest.Puller) map[string]string {
	times := map[string]string{}
	w.EachComponent(func(ctx context.Context, s *store.Snapshot, c *store.ComponentRow) error {
		translations, err := s.Translations(ctx, c.ID)
		for _, t := range translations {
			f, err := s.File(ctx, t.ID)
			if err != nil {
				return err
			}
			times[c.Slug+"/"+t.Language+" "+t.Filename] = f.Modified.UTC().String()
		}
		return err
	})
	return times
}

// perComponent and perTranslation are the resources about the present.
var (
	perComponent = []string{
		"", "translations/?page_size=1000", "statistics/?page_size=1000", "repository/", "lock/", "links/", "new_template/", "monolingual_base/",
	}
	perTranslation = []string{
		"", "units/?page_size=10000", "units/?page_size=10000&q=has:check", "units/?page_size=10000&q=check:long_untranslated",
		"units/?page_size=10000&q=check:inconsistent", "units/?page_size=10000&q=is:untranslated+OR+has:comment", "checks/?page_size=1000", "statistics/",
		"repository/", "file/", "file/?format=csv", "file/?format=po",
	}
)

// volatile are the keys of answers that say when, by whom, and under which id.
var volatile = map[string]bool{
	"timestamp": true, "last_change": true, "last_author": true, "recent_changes": true, "id": true, "changes": true, "translated_percent_30_days_ago": true,
}

var unitID, addonID = regexp.MustCompile(`\b[0-9]{9,}\b`), regexp.MustCompile(`/api/addons/[0-9]+`)

// presentOf is what a store serves of the present, by address, without ids and times.
func presentOf(w *catalogtest.Puller) map[string]string {
	w.TB.Helper()
	names := map[string]string{} // of units, by id
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		names[strconv.FormatInt(u.ID, 10)] = fmt.Sprintf("<%s/%s %x>", c.Slug, tr.Language, uint64(u.Identity.Hash))
	})
	served := map[string]string{"units": servedUnits(w)}
	handler := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: childTime})
	get := func(address string) {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequestWithContext(w.TB.Context(), http.MethodGet, "http://l10n.example.org"+address, nil))
		body := rec.Body.String()
		var value any
		if json.Unmarshal(rec.Body.Bytes(), &value) == nil {
			clean, err := json.MarshalIndent(withoutVolatile(value, names), "", " ")
			must(w.TB, err)
			body = string(clean)
		}
		served[address] = fmt.Sprint(rec.Code, " ", body)
	}
	languages := map[string]bool{}
	w.EachComponent(func(ctx context.Context, s *store.Snapshot, c *store.ComponentRow) error {
		translations, err := s.Translations(ctx, c.ID)
		must(w.TB, err)
		if len(translations) == 0 {
			return nil // also not in a store that never saw it
		}
		problems, err := s.Problems(ctx, c.ID)
		must(w.TB, err)
		var list []string
		for _, p := range problems {
			list = append(list, fmt.Sprint(p.Path, p.Line, p.Message))
		}
		served["problems of "+c.Slug] = strings.Join(slices.Sorted(slices.Values(list)), "\n")
		for _, list := range perComponent {
			get(path.Join("/api/components/demo", c.Slug) + "/" + list)
		}
		for _, t := range translations {
			languages[t.Language] = true
			for _, list := range perTranslation {
				get(path.Join("/api/translations/demo", c.Slug, t.Language) + "/" + list)
			}
		}
		return nil
	})
	for language := range languages {
		get("/api/languages/" + language + "/statistics/")
	}
	for _, address := range []string{"/api/projects/demo/statistics/", "/api/projects/demo/languages/?page_size=1000", "/api/statistics/", "/api/projects/demo/matrix/"} {
		get(address)
	}
	if _, lines := verifyMirrors(w); lines != nil {
		w.TB.Errorf("verify: %q", lines)
	}
	return served
}

// withoutVolatile removes keys from the objects of an answer, names units in addresses,
// and sorts lists, whose order is that of ids.
func withoutVolatile(value any, names map[string]string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, of := range value {
			if volatile[key] {
				delete(value, key)
			} else {
				value[key] = withoutVolatile(of, names)
			}
		}
	case []any:
		for i := range value {
			value[i] = withoutVolatile(value[i], names)
		}
		slices.SortFunc(value, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	case string:
		return addonID.ReplaceAllString(unitID.ReplaceAllStringFunc(value, func(id string) string {
			if name := names[id]; name != "" {
				return name
			}
			return id
		}), "/api/addons/N")
	}
	return value
}
