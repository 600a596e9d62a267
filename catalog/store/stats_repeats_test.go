package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

// sharedWorld is a model of a project with components that share strings: what
// the counts of shared strings are about, in the plainest form.
type sharedWorld struct {
	t          *rapid.T
	db         *DB
	access     catalog.Access // the project's
	components []*sharedComponent
}

type sharedComponent struct {
	id               int64
	slug             string
	active, imported bool
	head             int
	access           catalog.Access
	sources          map[string]int64 // ids of source units, removed ones, too
	translations     []*sharedTranslation
}

type sharedTranslation struct {
	row   catalog.Translation
	ids   map[string]int64
	state map[string]catalog.State // live units
}

var sharedTexts = []string{"a", "bb", "ccc", "dddd", "eeeee"}

func (w *sharedWorld) configure() {
	var specs []ComponentSpec
	for _, c := range w.components {
		if c.active {
			s := spec("demo", c.slug)
			s.Settings.Access = c.access
			specs = append(specs, s)
		}
	}
	projects := projectsNamed("demo", "other")
	projects[0].Settings.Access = w.access
	if err := w.db.Configure(context.Background(), projects, specs, nil); err != nil {
		w.t.Fatal(err)
	}
}

// step runs a step of a component.
func (w *sharedWorld) step(c *sharedComponent, partial bool, fn func(ctx context.Context, tx *StepTx, c *sharedComponent) error) {
	i := info(c.head, c.head+1, c.id)
	i.Partial = partial
	if _, err := w.db.Step(context.Background(), i, func(ctx context.Context, tx *StepTx) error { return fn(ctx, tx, c) }); err != nil {
		w.t.Fatal(err)
	}
	c.head++
	c.imported = c.imported || !partial
}

// write changes a component: strings appear, change and go.
func (w *sharedWorld) write(ctx context.Context, tx *StepTx, c *sharedComponent) error {
	if len(c.translations) == 0 {
		for n, code := range []string{"en", "cs", "de"} {
			c.translations = append(c.translations, &sharedTranslation{
				row: catalog.Translation{
					ComponentID: c.id, Language: code, FileCode: code, Filename: code, Revision: head(n), IsSource: n == 0, PluralNumber: 1, PluralFormula: "0",
				}, ids: map[string]int64{}, state: map[string]catalog.State{},
			})
		}
		for _, t := range c.translations {
			if err := tx.PutTranslation(ctx, &t.row); err != nil {
				return err
			}
		}
	}
	for _, text := range sharedTexts {
		if err := w.writeString(ctx, tx, c, text, rapid.IntRange(0, 3).Draw(w.t, "string")); err != nil {
			return err
		}
	}
	return nil
}

// writeString leaves a string as it is (0), removes it (1), or gives it other states.
func (w *sharedWorld) writeString(ctx context.Context, tx *StepTx, c *sharedComponent, text string, how int) error {
	states := []catalog.State{catalog.StateEmpty, catalog.StateFuzzy, catalog.StateTranslated, catalog.StateReadOnly}
	for _, t := range c.translations {
		id, known := t.ids[text]
		_, live := t.state[text]
		if how == 0 || t.row.Removed {
			continue
		}
		if how == 1 || !t.row.IsSource && rapid.IntRange(0, 4).Draw(w.t, "missing") == 0 {
			if delete(t.state, text); live {
				if err := tx.RemoveUnits(ctx, []int64{id}); err != nil {
					return err
				}
			}
			continue
		}
		var h catalog.Hasher
		state := catalog.StateReadOnly
		if !t.row.IsSource {
			state = rapid.SampledFrom(states).Draw(w.t, "state")
		}
		unit := catalog.Unit{
			ID: id, TranslationID: t.row.ID, SourceID: c.sources[text], Source: text, Words: len(text), Chars: 2 * len(text),
			State: state, Priority: 100, Identity: h.Identity(text, ""),
		}
		put := tx.UpdateUnits
		if !known {
			put = tx.AddUnits
		}
		if err := put(ctx, []FingerprintedUnit{{Unit: &unit, Text: 1, Meta: 1}}); err != nil {
			return err
		}
		if t.ids[text], t.state[text] = unit.ID, state; t.row.IsSource {
			c.sources[text] = unit.ID
		}
	}
	return nil
}

// move removes a translation, brings one back, or swaps the codes of two.
func (w *sharedWorld) move(ctx context.Context, tx *StepTx, c *sharedComponent) error {
	if len(c.translations) == 0 {
		return nil
	}
	a, b := c.translations[1], c.translations[2]
	if rapid.Bool().Draw(w.t, "swap") {
		a.row.Language, b.row.Language = b.row.Language, a.row.Language
	} else {
		a.row.Removed = !a.row.Removed
	}
	for _, t := range []*sharedTranslation{a, b} {
		if err := tx.PutTranslation(ctx, &t.row); err != nil {
			return err
		}
		if t.row.Removed {
			continue
		}
		for _, text := range slices.Sorted(maps.Keys(t.state)) { // of strings that went while the file was away
			if _, ok := c.translations[0].state[text]; !ok {
				delete(t.state, text)
				if err := tx.RemoveUnits(ctx, []int64{t.ids[text]}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// repeats counts what is more than one for each string and language.
func (w *sharedWorld) repeats(private bool) (all catalog.Stats) {
	type key struct{ language, text string }
	best := map[key]catalog.State{}
	count := func(text string, state catalog.State) (s catalog.Stats) {
		s.AddUnit(&catalog.Unit{State: state, Words: len(text), Chars: 2 * len(text)})
		return s
	}
	for _, c := range w.components {
		hidden := c.access == catalog.AccessPrivate || c.access == "" && w.access == catalog.AccessPrivate
		if !c.active || !c.imported || hidden && !private {
			continue
		}
		for _, t := range c.translations {
			for text, state := range t.state {
				if t.row.Removed {
					continue
				}
				all.Add(count(text, state))
				k := key{t.row.Language, text}
				if old, ok := best[k]; !ok || old < state {
					best[k] = state
				}
			}
		}
	}
	for k, state := range best {
		all.Subtract(count(k.text, state))
	}
	return all
}

// check compares the counts with the model.
func (w *sharedWorld) check(what string) {
	err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		for _, private := range []bool{false, true} {
			got, err := s.Repeats(ctx, 1, private)
			if diff := cmp.Diff(w.repeats(private), got); diff != "" || err != nil {
				w.t.Errorf("after %s, private %v: %v\n(-want +got)\n%s", what, private, err, diff)
			}
		}
		kept, err := s.Components(ctx, "")
		if err != nil {
			return err
		}
		read, err := componentsWhere(ctx, s.s, ` WHERE c.active = 1 AND p.active = 1 ORDER BY c.id`)
		for i := range read {
			if i >= len(kept) || !reflect.DeepEqual(read[i], *kept[i]) {
				w.t.Errorf("after %s: component %d is %+v, kept %+v", what, i, read[i], kept)
			}
		}
		if err != nil || len(kept) != len(read) {
			w.t.Errorf("after %s: %d components, %d kept, %v", what, len(read), len(kept), err)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestSharedStringsProperty: after every change of strings, files, components and
// their access, each string counts once in every language, in the state that is
// furthest, for everybody and for those who see private components.
func TestSharedStringsProperty(outer *testing.T) {
	dir := outer.TempDir()
	run := 0
	rapid.Check(outer, func(t *rapid.T) {
		run++
		w := &sharedWorld{t: t, db: openAt(outer, fmt.Sprintf("%s/%d.db", dir, run)), access: catalog.AccessPublic}
		for i, slug := range []string{"a", "b", "c"} {
			w.components = append(w.components, &sharedComponent{id: int64(i) + 1, slug: slug, active: true, sources: map[string]int64{}})
		}
		w.configure()
		one := func() *sharedComponent {
			c := rapid.SampledFrom(w.components).Draw(t, "component")
			if !c.active {
				c.active = true
				w.configure()
			}
			return c
		}
		actions := map[string]func(){
			"write":  func() { w.step(one(), false, w.write) },
			"import": func() { w.step(one(), rapid.Bool().Draw(t, "partial"), w.write) },
			"move":   func() { w.step(one(), false, w.move) },
			"both": func() {
				w.step(one(), false, func(ctx context.Context, tx *StepTx, c *sharedComponent) error {
					return errors.Join(w.write(ctx, tx, c), w.move(ctx, tx, c), w.write(ctx, tx, c))
				})
			},
			"hide": func() {
				one().access = rapid.SampledFrom([]catalog.Access{"", catalog.AccessPublic, catalog.AccessPrivate}).Draw(t, "access")
				w.configure()
			},
			"remove": func() { one().active = false; w.configure() },
			"close": func() {
				w.access = rapid.SampledFrom([]catalog.Access{catalog.AccessPublic, catalog.AccessPrivate}).Draw(t, "project")
				w.configure()
			},
		}
		names := slices.Sorted(maps.Keys(actions))
		var done []string
		for range 12 {
			name := rapid.SampledFrom(names).Draw(t, "action")
			actions[name]()
			done = append(done, name)
			w.check(strings.Join(done, ", "))
		}
		_ = w.db.Close()
	})
}

// BenchmarkSharedStrings imports a component of 10,000 strings in 20 languages
// beside none, one that has none of them, and one that has all.
func BenchmarkSharedStrings(b *testing.B) {
	const n, languages = 10_000, 20
	put := func(b *testing.B, db *DB, c int64, name string) {
		b.Helper()
		texts, states := make([]string, n), make([]catalog.State, n)
		for i := range texts {
			texts[i], states[i] = fmt.Sprint(name, i), catalog.StateTranslated
		}
		step(b, db, info(0, 1, c), func(ctx context.Context, tx *StepTx) error {
			sources := map[string]int64{}
			for l := range languages {
				code := fmt.Sprintf("l%02d", l)
				t := &catalog.Translation{ComponentID: c, Language: code, FileCode: code, Filename: code, Revision: head(l), IsSource: l == 0, PluralNumber: 1, PluralFormula: "0"}
				if err := putStrings(ctx, tx, t, sources, texts, states); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, other := range []string{"", "other", "same"} {
		b.Run("beside "+other, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				db := openWith(b, "a", "b")
				if other != "" {
					put(b, db, 1, other)
				}
				b.StartTimer()
				put(b, db, 2, "same")
			}
		})
	}
}

// putStrings stores strings with their states as a new translation.
func putStrings(ctx context.Context, tx *StepTx, t *catalog.Translation, sources map[string]int64, strings []string, states []catalog.State) error {
	var h catalog.Hasher
	t.Stats = catalog.Stats{}
	var units []FingerprintedUnit
	for i, text := range strings {
		u := &catalog.Unit{Source: text, Words: len(text), Chars: 2 * len(text), State: states[i], Priority: 100, SourceID: sources[text], Identity: h.Identity(text, "")}
		t.Stats.AddUnit(u)
		units = append(units, FingerprintedUnit{Unit: u, Text: 1, Meta: 1})
	}
	if err := tx.PutTranslation(ctx, t); err != nil {
		return err
	}
	for i := range units {
		units[i].TranslationID = t.ID
	}
	if err := tx.AddUnits(ctx, units); err != nil {
		return err
	}
	for i := range units {
		if t.IsSource {
			sources[strings[i]] = units[i].ID
		}
	}
	return nil
}
