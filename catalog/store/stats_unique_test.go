package store

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

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
	placed := make([]catalog.UnitPosition, len(units))
	for i := range units {
		placed[i] = catalog.UnitPosition{ID: units[i].ID, Position: i + 1}
		if t.IsSource {
			sources[strings[i]] = units[i].ID
		}
	}
	return tx.PutLayout(ctx, t.ID, placed)
}

// TestUniqueProperty: strings that several components have count once per
// language, whatever the components have in common, and after every change.
func TestUniqueProperty(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		db := openWith(outer, "a", "b", "c")
		states := []catalog.State{catalog.StateEmpty, catalog.StateFuzzy, catalog.StateTranslated}
		model := map[string]map[string]catalog.State{} // by language and text: the best state
		languages := []string{"cs", "de"}
		var ids []int64
		for c := int64(1); c <= 3; c++ {
			var strings []string
			for i := range 5 {
				if rapid.Bool().Draw(t, "has") {
					strings = append(strings, fmt.Sprint("string ", i))
				}
			}
			_, err := db.Step(context.Background(), info(0, 1, c), func(ctx context.Context, tx *StepTx) error {
				sources := map[string]int64{}
				for n, language := range append([]string{"en"}, languages...) {
					own := make([]catalog.State, len(strings))
					for i := range own {
						own[i] = catalog.StateReadOnly
						if n > 0 {
							own[i] = rapid.SampledFrom(states).Draw(t, "state")
						}
						if model[language] == nil {
							model[language] = map[string]catalog.State{}
						}
						model[language][strings[i]] = max(model[language][strings[i]], own[i])
					}
					tr := &catalog.Translation{ComponentID: c, Language: language, FileCode: language, Filename: language, Revision: head(n), IsSource: n == 0, PluralNumber: 1, PluralFormula: "0"}
					if err := putStrings(ctx, tx, tr, sources, strings, own); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c)
			var want catalog.Stats
			for _, texts := range model {
				for text, state := range texts {
					want.AddUnit(&catalog.Unit{State: state, Words: len(text), Chars: 2 * len(text)})
				}
			}
			for range 2 { // counted, then cached
				err := db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
					got, err := s.UniqueStats(ctx, ids)
					if got != want {
						t.Errorf("of %d components: %+v, want %+v", c, got, want)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkUnique counts 400,000 strings in 20 languages of two components that
// have a tenth of their strings in common: all languages, and one language after
// it has changed.
func BenchmarkUnique(b *testing.B) {
	const n, languages = 10_000, 20
	db := openWith(b, "a", "b")
	for c := int64(1); c <= 2; c++ {
		step(b, db, info(0, 1, c), func(ctx context.Context, tx *StepTx) error {
			sources := map[string]int64{}
			texts, states := make([]string, n), make([]catalog.State, n)
			for i := range texts {
				texts[i], states[i] = fmt.Sprintf("string number %d", int64(i)+(c-1)*n*9/10), catalog.StateTranslated
			}
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
	count := func(b *testing.B) {
		b.Helper()
		read(b, db, func(ctx context.Context, s *Snapshot) error {
			got, err := s.UniqueStats(ctx, []int64{1, 2})
			if want := int64(languages * n * 19 / 10); got.Total.Units != want {
				b.Fatalf("%d strings, want %d", got.Total.Units, want)
			}
			return err
		})
	}
	b.Run("all", func(b *testing.B) {
		for range b.N {
			db.caches.uniques = newUniqueCache()
			count(b)
		}
	})
	b.Run("changed", func(b *testing.B) {
		count(b)
		for i := range b.N {
			b.StopTimer()
			step(b, db, info(1, 1, 1), func(ctx context.Context, tx *StepTx) error {
				all, err := tx.Translations(ctx, 1)
				if err != nil {
					return err
				}
				all[1].Revision = head(1000 + i)
				return tx.PutTranslation(ctx, &all[1])
			})
			b.StartTimer()
			count(b)
		}
	})
}
