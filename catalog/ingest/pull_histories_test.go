package ingest_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

var (
	histories    = flag.Int("histories", 0, "random histories to play; 0: as many as testsize says")
	firstHistory = flag.Uint64("history", 1, "seed of the first random history")
)

// played returns the number of histories.
func played() uint64 { return uint64(cmp.Or(*histories, testsize.Of(2, 4, 24))) }

// eachHistory runs a test with the seeds of the histories, in parallel.
func eachHistory(t *testing.T, first uint64, test func(t *testing.T, seed uint64)) {
	for n := range played() {
		t.Run(fmt.Sprintf("history=%d", first+n), func(t *testing.T) {
			t.Parallel()
			test(t, first+n)
		})
	}
}

// TestHistories pulls random histories in random batches and compares the result
// with a model of the repository. To run more of them:
//
//	go test -run TestHistories -histories=2000 -history=100
func TestHistories(t *testing.T) {
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
		playHistory(t, seed)
	})
}

var historySettings = map[string]catalog.ComponentSettings{
	"app":  {Filemask: "po/*.po", NewBase: "po/app.pot", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true},
	"docs": {Filemask: "docs/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true},
}

func playHistory(t *testing.T, seed uint64) {
	p := newPlayer(t, seed)
	w := synced(t, p.repo.URL(), historySettings)
	o := observer{t: t, w: w, p: p, ids: map[string]int64{}, live: map[string]map[int64]changeText{}, at: p.head}
	o.begin()
	for pulls := 0; pulls < 8 && !t.Failed(); pulls++ {
		for range 1 + p.IntN(3) {
			p.play()
		}
		p.restart(w)
		w.Sync()
		o.check()
	}
}

// restart now and then opens the store again, as a new process does, sometimes
// without the mirror.
func (p *player) restart(w *catalogtest.Puller) {
	if p.IntN(5) > 0 {
		return
	}
	w.DB.Close()
	if p.IntN(2) == 0 {
		must(w.TB, os.RemoveAll(filepath.Join(w.Dir, "mirrors")))
	}
	w.Open()
}

// changeText is the text of a string according to the entries.
type changeText struct {
	Target string
	State  catalog.State
}

// observer compares what is served with the model after every pull.
type observer struct {
	t    *testing.T
	w    *catalogtest.Puller
	p    *player
	at   *modelCommit                    // of the last pull
	last int64                           // entry seen
	ids  map[string]int64                // unit ids by component, language, source, context
	live map[string]map[int64]changeText // texts by component/language, removed languages included
	has  map[string]bool                 // languages by the entries 48 and 25
	// settings are the settings of the last pull; nil: historySettings.
	settings map[string]catalog.ComponentSettings
	moving   bool // files and masks move: the model does not know the authors
}

// begin takes the units of the first import as the start for the entries.
func (o *observer) begin() {
	o.has = o.served()
	o.w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		o.texts(c.Slug + "/" + tr.Language)[u.ID] = changeText{u.Target, u.State}
	})
	o.identities()
	_, o.last = o.w.ChangesAfter(0)
}

func (o *observer) texts(key string) map[int64]changeText {
	if o.live[key] == nil {
		o.live[key] = map[int64]changeText{}
	}
	return o.live[key]
}

// served returns the translations except the source translation.
func (o *observer) served() map[string]bool {
	all := map[string]bool{}
	for _, slug := range []string{"app", "docs"} {
		for _, l := range servedFiles(o.w, slug) {
			if code, _, _ := strings.Cut(l, "="); code != "en" {
				all[slug+"/"+code] = true
			}
		}
	}
	return all
}

func (o *observer) check() {
	o.t.Helper()
	o.identities()
	o.entries()
	o.compareEntries()
	if !o.moving {
		o.compareSources()
	}
	o.compareImport()
	if o.t.Failed() {
		o.t.Logf("head %s, before %s", o.p.head.hash, o.at.hash)
	}
	o.at = o.p.head
}

// identities checks that a string keeps its unit's id.
func (o *observer) identities() {
	o.w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		key := fmt.Sprintf("%s/%s %q %q", c.Slug, tr.Language, u.Source, u.Context)
		if id, ok := o.ids[key]; ok && id != u.ID {
			o.t.Errorf("%s: unit %d was %d", key, u.ID, id)
		}
		o.ids[key] = u.ID
	})
}

// entries applies the new entries to the texts: each must change a text, once
// per unit and step, and name a commit that did it.
func (o *observer) entries() {
	var steps []modelStep
	if !o.moving {
		steps = o.steps()
	}
	seen := map[string]bool{}
	o.w.EachChange(o.last, func(c *catalog.Change) {
		o.last = c.ID
		if o.moving {
			if c.UnitID == 0 {
				o.event(c)
			} else {
				o.apply(c)
			}
			return
		}
		step := o.stepOf(steps, c)
		if step == nil {
			return
		}
		if c.UnitID == 0 {
			o.event(c)
			return
		}
		if key := fmt.Sprint(c.UnitID, step.commit.hash); seen[key] {
			o.t.Errorf("unit %d (%q) has two entries in step %s", c.UnitID, c.Source, step.commit.hash)
		} else {
			seen[key] = true
		}
		o.apply(c)
		o.attributed(step, c)
	})
}

func (o *observer) event(c *catalog.Change) {
	key := c.Component + "/" + c.Event["language"]
	switch c.Action {
	case catalog.ActionAddedLanguage:
		if o.has[key] {
			o.t.Errorf("%s appeared, although it was there", key)
		}
		o.has[key] = true
	case catalog.ActionRemoveTranslation:
		if !o.has[key] {
			o.t.Errorf("%s disappeared, although it was not there", key)
		}
		delete(o.has, key)
	}
}

func (o *observer) apply(c *catalog.Change) {
	texts := o.texts(c.Component + "/" + c.Language)
	old, there := texts[c.UnitID]
	now := changeText{c.Target, c.State}
	bad := false
	switch c.Action {
	case catalog.ActionNewUnit:
		bad = there || c.Old != "" || c.OldState != catalog.StateAbsent
		texts[c.UnitID] = now
	case catalog.ActionStringRepoUpdate:
		bad = !there || old == now || old != changeText{c.Old, c.OldState}
		texts[c.UnitID] = now
	case catalog.ActionStringRemove:
		bad = !there || old != changeText{c.Old, c.OldState} || c.Target != c.Old || c.State != catalog.StateAbsent
		delete(texts, c.UnitID)
	}
	if bad {
		o.t.Errorf("entry %d: action %d of %s/%s %q: %d %q -> %d %q, but earlier entries give %v %+v", c.ID, c.Action, c.Component, c.Language,
			c.Source, c.OldState, c.Old, c.State, c.Target, there, old)
	}
}

// compareEntries checks that the entries lead to the units.
func (o *observer) compareEntries() {
	equal(o.t, o.served(), o.has, "languages (-served +by entries)")
	served := map[string]map[int64]changeText{}
	o.w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		key := c.Slug + "/" + tr.Language
		if served[key] == nil {
			served[key] = map[int64]changeText{}
		}
		served[key][u.ID] = changeText{u.Target, u.State}
	})
	for key, units := range served {
		equal(o.t, units, o.live[key], "%s: the entries do not lead to the units (-units +entries)", key)
	}
}

// compareImport checks that pulling and importing give the same, unless a
// broken file keeps an older state.
func (o *observer) compareImport() {
	if o.p.head.tree.broken() {
		return
	}
	settings := o.settings
	if settings == nil {
		settings = historySettings
	}
	fresh := synced(o.t, o.p.repo.URL(), settings)
	equal(o.t, servedUnits(fresh), servedUnits(o.w), "pulling and importing differ (-import +pull)")
	if err := fresh.DB.Close(); err != nil {
		o.t.Error(err)
	}
}

// compareSources checks that the source translation is the union of the files
// (docs/compatibility.md#source-translation).
func (o *observer) compareSources() {
	for _, component := range []string{"app", "docs"} {
		want, ok := unionOf(o.p.head.tree, component)
		if !ok {
			continue
		}
		var units []catalog.Unit
		o.w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if c.Slug == component && tr.IsSource {
				units = append(units, *u)
			}
		})
		slices.SortFunc(units, func(a, b catalog.Unit) int { return a.Position - b.Position })
		var got []string
		for _, u := range units {
			got = append(got, fmt.Sprintf("%q %q %q %q", u.Source, u.Context, u.Note, u.Location))
		}
		equal(o.t, want, got, "%s: source translation (-union +served)", component)
	}
}

// unionOf computes the source strings of a component in the simplest way. ok is
// false if a file is broken.
func unionOf(tree modelTree, component string) (list []string, ok bool) {
	var own, others []string
	pot := component == "app" && tree["po/app.pot"] != nil
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch {
		case modelComponent(name) != component:
		case tree[name].broken:
			return nil, false
		case name == "po/app.pot", modelLanguage(name) == "en" && !pot:
			own = append(own, name)
		case modelLanguage(name) != "en":
			others = append(others, name)
		}
	}
	seen := map[string]bool{}
	for _, name := range append(own, others...) {
		for _, e := range tree[name].entries {
			if !seen[e.key()] {
				seen[e.key()] = true
				list = append(list, fmt.Sprintf("%q %q %q %q", e.source(), e.context, e.note, e.ref))
			}
		}
	}
	return list, true
}
