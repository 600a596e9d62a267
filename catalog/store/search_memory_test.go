package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// said is a text that a string has, or had until a commit.
type said struct {
	component      int64
	language       string
	source, target string
	at             string
	when           time.Time // the text came, or went
}

// memoryWorld is three components with similar sources. Texts change in each of some commits,
// some strings leave their file, and some the template. With long the sources of a block are too
// long for a column.
type memoryWorld struct {
	db         *DB
	components map[int64]*ComponentRow
	sources    []string
	said       []said
}

var memoryWords = strings.Fields("Open Save the a file window in new Ordner žluťoučký kůň to %s %d files folder")

func newMemoryWorld(tb testing.TB, random *rand.Rand, n int, long bool) *memoryWorld {
	w := &memoryWorld{db: open(tb), components: map[int64]*ComponentRow{}}
	if err := w.db.Configure(context.Background(), projectsNamed("one", "two"), []ComponentSpec{spec("one", "app"), spec("one", "apple"), spec("two", "docs")}, nil); err != nil {
		tb.Fatal(err)
	}
	read(tb, w.db, func(ctx context.Context, s *Snapshot) error {
		list, err := s.Components(ctx, "")
		for _, c := range list {
			w.components[c.ID] = c
		}
		return err
	})
	type kept struct {
		unit catalog.Unit
		is   said
	}
	var units []kept
	var removed []int64 // source units
	seen := map[string]bool{}
	step(tb, w.db, info(0, 1, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
		for c := int64(1); c <= 3; c++ {
			var sources []FingerprintedUnit
			for i, language := range []string{"en", "cs", "de"} {
				t := catalog.Translation{ComponentID: c, Language: language, FileCode: language, Filename: language, IsSource: i == 0, PluralNumber: 2}
				t.Stats.Total.Units = int64(n)
				if err := tx.PutTranslation(ctx, &t); err != nil {
					return err
				}
				d := Delta{ComponentID: c, TranslationID: t.ID, Commit: head(1), At: day(1)}
				var added []FingerprintedUnit
				for k := range n {
					u := &catalog.Unit{TranslationID: t.ID, State: catalog.StateReadOnly}
					if i == 0 {
						u.Source = w.source(random, seen)
						if long && k == 0 {
							u.Source = strings.Repeat("long", 1<<18)
						}
						u.Target = u.Source
					} else {
						of := sources[k].Unit
						u.SourceID, u.Source, u.Target, u.State = of.ID, of.Source, fmt.Sprint(language, random.IntN(20)), catalog.State(10*random.IntN(3))
						if u.State == catalog.StateEmpty || long && k == 0 {
							u.State, u.Target = catalog.StateEmpty, ""
						}
					}
					var h catalog.Hasher
					u.Identity = h.Identity(u.Source, fmt.Sprint(k))
					added = append(added, FingerprintedUnit{Unit: u, Text: int64(k), Meta: 1})
				}
				if err := tx.AddUnits(ctx, added); err != nil {
					return err
				}
				if i == 0 {
					sources = added
					for k := 2; k < n; k += 3 {
						removed = append(removed, added[k].ID)
					}
				}
				for _, u := range added {
					d.Entries = append(d.Entries, Entry{Action: catalog.ActionNewUnit, UnitID: u.ID, State: u.State, OldState: catalog.StateAbsent, Target: u.Target})
					if i > 0 && len(u.Source) < 1<<20 {
						units = append(units, kept{*u.Unit, said{component: c, language: language, source: u.Source, when: day(1)}})
					}
				}
				if err := tx.AddDelta(ctx, d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for commit := 2; commit < 6; commit++ {
		step(tb, w.db, info(commit-1, commit, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
			for i := range units {
				u := &units[i]
				if u.unit.Removed || random.IntN(3) > 0 {
					continue
				}
				e := Entry{Action: catalog.ActionStringRepoUpdate, UnitID: u.unit.ID, OldState: u.unit.State, Old: u.unit.Target}
				if u.unit.State.Translated() {
					past := u.is
					past.target, past.at, past.when = u.unit.Target, head(commit-1), day(commit)
					w.said = append(w.said, past)
				}
				if u.unit.Removed = random.IntN(5) == 0; u.unit.Removed {
					e.Action, e.State, e.Target = catalog.ActionStringRemove, catalog.StateAbsent, e.Old
					if err := tx.RemoveUnits(ctx, []int64{u.unit.ID}); err != nil {
						return err
					}
				} else {
					u.unit.State, u.unit.Target = catalog.State(10+10*random.IntN(2)), fmt.Sprint(u.is.language, random.IntN(20))
					e.State, e.Target = u.unit.State, u.unit.Target
					if err := tx.UpdateUnits(ctx, []FingerprintedUnit{{Unit: &u.unit, Text: int64(100 + commit), Meta: 1}}); err != nil {
						return err
					}
				}
				if e.Target != e.Old {
					u.is.when = day(commit)
				}
				if err := tx.AddDelta(ctx, Delta{ComponentID: u.is.component, TranslationID: u.unit.TranslationID, Commit: head(commit), At: day(commit), Entries: []Entry{e}}); err != nil {
					return err
				}
			}
			if commit == 3 {
				if err := tx.RemoveUnits(ctx, removed); err != nil {
					return err
				}
			}
			return tx.AddDelta(ctx, Delta{ComponentID: 1, Commit: head(commit), At: day(commit), Entries: []Entry{{Action: catalog.ActionUnlock, State: -1, OldState: -1}}})
		})
	}
	for _, u := range units {
		if !u.unit.Removed && u.unit.State.Translated() {
			u.is.target = u.unit.Target
			w.said = append(w.said, u.is)
		}
	}
	for source := range seen {
		w.sources = append(w.sources, source)
	}
	slices.Sort(w.sources)
	return w
}

// source draws a text: half of them are one that was drawn before, with another word or none.
func (w *memoryWorld) source(random *rand.Rand, seen map[string]bool) string {
	words := make([]string, 1+random.IntN(8))
	for i := range words {
		words[i] = memoryWords[random.IntN(len(memoryWords))]
	}
	if len(w.sources) > 0 && random.IntN(2) == 0 {
		words = strings.Fields(w.sources[random.IntN(len(w.sources))])
		if i := random.IntN(len(words)); random.IntN(2) == 0 {
			words[i] = memoryWords[random.IntN(len(memoryWords))]
		}
	}
	text := strings.Join(words, " ")
	w.sources, seen[text] = append(w.sources, text), true
	return text
}

// fstrcmp is gettext's measure, by the book.
func fstrcmp(a, b string) float64 {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		before := 0
		for j := range len(b) {
			above := row[j+1]
			if row[j+1] = max(above, row[j]); a[i] == b[j] {
				row[j+1] = before + 1
			}
			before = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}

// The memory has what a look at every text of the visible components finds, in its order: each
// text of a source once, the file's before what it had, and that with the last commit that had it.
func TestMemory(t *testing.T) {
	t.Run("by columns", func(t *testing.T) { testMemory(t, false) })
	t.Run("by rows", func(t *testing.T) { testMemory(t, true) })
}

func testMemory(t *testing.T, long bool) {
	w := newMemoryWorld(t, rand.New(rand.NewPCG(1, 2)), 60, long)
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		q := MemoryQuery{Components: map[int64]*ComponentRow{}, SourceLanguage: "EN", Language: rapid.SampledFrom([]string{"cs", "DE", "fr"}).Draw(t, "language"), Most: rapid.IntRange(1, 30).Draw(t, "most")}
		for id, c := range w.components {
			if random.IntN(3) > 0 {
				q.Components[id] = c
			}
		}
		other := memoryWorld{sources: w.sources}
		for range 1 + random.IntN(3) {
			q.Strings = append(q.Strings, other.source(random, map[string]bool{}))
		}
		var got [][]Remembered
		err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) (err error) {
			got, err = s.Memory(ctx, q)
			return err
		})
		if err != nil || len(got) != len(q.Strings) {
			t.Fatalf("%d answers to %d strings: %v", len(got), len(q.Strings), err)
		}
		for i, text := range q.Strings {
			is := map[[2]string][]said{} // what is said of a source
			similarity := map[string]float64{}
			for _, s := range w.said {
				if f := fstrcmp(text, s.source); f >= 0.75 && q.Components[s.component] != nil && strings.EqualFold(s.language, q.Language) {
					is[[2]string{s.source, s.target}] = append(is[[2]string{s.source, s.target}], s)
					similarity[s.source] = f
				}
			}
			if want := min(q.Most, len(is)); len(got[i]) != want || cap(got[i]) > max(2*want, 8) { // others are let go
				t.Fatalf("%q: %d matches, want %d: room for %d", text, len(got[i]), want, cap(got[i]))
			}
			var all []float64
			for key := range is {
				all = append(all, similarity[key[0]])
			}
			slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
			for k, m := range got[i] {
				list := is[[2]string{m.Source, m.Target}]
				at := slices.IndexFunc(list, func(s said) bool { return s.at == m.At && s.component == m.Component.ID && s.when.Equal(m.Time) })
				now := slices.ContainsFunc(list, func(s said) bool { return s.at == "" })
				if at < 0 || now != (m.At == "") || m.Similarity != similarity[m.Source] || m.Similarity != all[k] {
					t.Fatalf("%q, match %d of %v: %+v, want one of %+v", text, k, all, m, list)
				}
				if k > 0 && m.Similarity == got[i][k-1].Similarity && (m.At == "") && got[i][k-1].At != "" {
					t.Fatalf("%q: %+v after %+v", text, m, got[i][k-1])
				}
				if newest := slices.MaxFunc(list, func(a, b said) int { return a.when.Compare(b.when) }); m.At != "" && !newest.when.Equal(m.Time) {
					t.Fatalf("%q: %+v is not the newest of %+v", text, m, list)
				}
				delete(is, [2]string{m.Source, m.Target})
			}
		}
	})
}

// A look into the memory ends with its time while it compares sources, and pays for those that
// were removed.
func TestMemoryLimits(t *testing.T) {
	w := newMemoryWorld(t, rand.New(rand.NewPCG(1, 2)), 60, false)
	q := MemoryQuery{Components: w.components, SourceLanguage: "en", Language: "cs", Strings: []string{"x"}, Most: 1}
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.remembered(ended, &q, nil, msgmerge.NewPattern("x"), map[string][]similarUnit{"other": nil}); !errors.Is(err, context.Canceled) {
			t.Errorf("after its end: %v", err)
		}
		return nil
	})
	step(t, w.db, info(5, 6, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
		return tx.s.Do(ctx, `UPDATE components SET last_unit = 3000000 WHERE id = 1`)
	})
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		_, err := s.Memory(WithSearchPrice(ctx, 1_000_000), q)
		if dear, is := errors.AsType[*ErrPrice](err); !is || dear.Price < 12*1_000_000 {
			t.Errorf("of a million strings of the past: %v", err)
		}
		return nil
	})
}
