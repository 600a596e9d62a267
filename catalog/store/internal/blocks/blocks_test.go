package blocks

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// A column finds what a look at each text finds, and no text that begins in one unit and ends
// in the next; the numbers of units come back.
func TestColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const block = 7
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAbß")), 0, 4, -1)
		var fold query.Folder
		b := NewBuilder(&fold, block)
		units := map[int]*Unit{}
		for at := rapid.IntRange(0, 3).Draw(t, "first"); at < rapid.IntRange(1, idset.BlockUnits).Draw(t, "n"); at += rapid.SampledFrom([]int{1, 1, 1, 2, 60}).Draw(t, "gap") {
			u := &Unit{ID: block*idset.BlockUnits + int64(at), State: rapid.Int64Range(0, 2).Draw(t, "state"), Created: terms.MinTime, Removed: rapid.IntRange(0, 5).Draw(t, "removed") == 0}
			u.Source, u.Texts[Target] = u.ID-int64(at%3), text.Draw(t, "text")
			b.Add(u)
			units[at] = u
		}
		columns, needle, whole := b.Columns(), fold.String(text.Draw(t, "needle")), rapid.Bool().Draw(t, "whole")
		var c column
		var p place
		if err := c.decode(columns[Target]); err != nil {
			t.Fatal(err)
		}
		if err := p.decode(columns[Place]); err != nil {
			t.Fatal(err)
		}
		if p.of(numbers - 1); p.end() != nil {
			t.Fatal(p.end())
		}
		if needle == "" {
			whole = true
		}
		found, ones, own := c.having([]byte(needle), whole), p.of(state).where(func(n int64) bool { return n == 1 }), p.of(source).where(func(n int64) bool { return n == 0 })
		s, err := Compile(query.Text{Column: query.Target, Match: query.Match{Pattern: needle}}, &fold)
		if err != nil {
			t.Fatal(err)
		}
		may := s.Begin(block)
		if err := s.Load(may, Grams, columns[Grams]); err != nil {
			t.Fatal(err)
		}
		for i := range idset.BlockUnits {
			u := units[i]
			if u == nil {
				u = &Unit{Removed: true}
			}
			folded := fold.String(u.Texts[Target])
			if u.Removed {
				folded = ""
			}
			if want := folded == needle || !whole && strings.Contains(folded, needle); found.Has(i) != want {
				t.Fatalf("%q in %q of unit %d: %v", needle, folded, i, !want)
			} else if f := s.Result(may); want && !f.Maybe.Has(i) {
				t.Fatalf("%q in %q of unit %d is ruled out", needle, folded, i)
			}
			if p.live.Has(i) == u.Removed || units[i] != nil && (ones.Has(i) != (u.State == 1) || own.Has(i) != (u.Source == u.ID)) {
				t.Fatalf("unit %d: %+v", i, u)
			}
		}
	})
}

// A column takes no more than its bound, whatever the texts are; what is looked for in one that
// has more is not known.
func TestLongColumns(t *testing.T) {
	t.Parallel()
	var fold query.Folder
	b := NewBuilder(&fold, 1)
	for i := range int64(idset.BlockUnits) {
		b.Add(&Unit{ID: idset.BlockUnits + i, Texts: [Kinds]string{Target: strings.Repeat("long ", 10_000), Note: "short"}})
		if size := cap(b.folded[Target]) + cap(b.lengths[Target]); size > 2*maxColumn {
			t.Fatalf("%d bytes after %d units", size, i)
		}
	}
	columns := b.Columns()
	for column, want := range map[query.Column]bool{query.Target: false, query.Notes: true} {
		s, err := Compile(query.Text{Column: column, Match: query.Match{Pattern: "or"}}, &fold)
		if err != nil {
			t.Fatal(err)
		}
		may := s.Begin(1)
		for kind := range Kinds {
			if err := s.Load(may, kind, columns[kind]); kind != Checks && err != nil {
				t.Fatal(err)
			}
		}
		if f := s.Result(may); f.Sure.Has(7) != want || !f.Maybe.Has(7) {
			t.Errorf("%s: %+v", column, f)
		}
	}
}

// The filter of a block rules out nearly all words that it has not.
func TestGrams(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 500, 4000} {
		var text, other []byte
		for i := range n {
			text = strconv.AppendInt(text, int64(i+1)*1_000_003_579, 36)
		}
		filter, wrong := grams(text)[1:], 0
		for i := range 1000 {
			other = strconv.AppendInt(other[:0], int64(i+1)*700_000_001, 36)
			if mayHave(filter, other) && !bytes.Contains(text, other) {
				wrong++
			}
			if from := i % (len(text) - 4); !mayHave(filter, text[from:from+5]) {
				t.Fatalf("%q is ruled out", text[from:from+5])
			}
		}
		if len(filter) > 4*len(text) || wrong > 100 {
			t.Errorf("%d bytes of %d: %d of 1000 words seem to be in it", len(filter), len(text), wrong)
		}
	}
}

// Damaged columns are errors, and not worse.
func FuzzDecode(f *testing.F) {
	var fold query.Folder
	b := NewBuilder(&fold, 1)
	b.Add(&Unit{ID: idset.BlockUnits, Texts: [Kinds]string{Target: "text"}})
	for kind, data := range b.Columns() {
		f.Add(kind, data)
	}
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		s, err := Compile(query.And{terms.Live{}, query.Failing{}, query.Text{Column: query.Target, Match: query.Match{Pattern: "e"}}, query.Text{Column: query.Target, Match: query.Match{Pattern: "ext"}}}, &fold)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Load(s.Begin(1), Kind(min(max(kind, 0), int(Flags))), data)
	})
}
