package ingest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// stage adds a translation with units, as a commit does.
func stage(t *testing.T, s *staging, name string, units int) int64 {
	t.Helper()
	ctx := context.Background()
	s.begun = s.clock
	row := &catalog.Translation{ComponentID: 1, Language: name}
	if err := s.PutTranslation(ctx, row); err != nil {
		t.Fatal(err)
	}
	list := make([]catalog.Unit, units)
	added := make([]store.FingerprintedUnit, units)
	placed := make([]catalog.UnitPosition, units)
	delta := store.Delta{ComponentID: 1, TranslationID: row.ID}
	for i := range list {
		u := &list[i]
		u.TranslationID, u.Target = row.ID, strings.Repeat(name, 10)+fmt.Sprint(i)
		added[i] = store.FingerprintedUnit{Unit: u, Text: int64(i)}
	}
	if err := s.AddUnits(ctx, added); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		placed[i] = catalog.UnitPosition{ID: list[i].ID, Position: i + 1, Location: fmt.Sprintf("src/%s.c:%d", name, i)}
		delta.Entries = append(delta.Entries, store.Entry{UnitID: list[i].ID, Target: list[i].Target})
	}
	if err := s.PutLayout(ctx, row.ID, placed); err != nil {
		t.Fatal(err)
	}
	if err := s.AddDeltaBy(ctx, edit.Author{}, delta); err != nil {
		t.Fatal(err)
	}
	return row.ID
}

func newTestStaging() *staging {
	c := new(component)
	c.row.ID = 1
	s := newStaging(nil, []*component{c}, func() error { return nil })
	s.meter, s.room = newMeter(newMemory(0)), func(int64) error { return nil }
	return s
}

// TestStagingMemory: what a replay counts of its memory is at most a quarter too
// little, and no more than twice too much.
func TestStagingMemory(t *testing.T) {
	live := func() uint64 { // pools and finalizers of earlier tests take several rounds
		var m runtime.MemStats
		for last := uint64(0); ; last = m.HeapAlloc {
			runtime.GC()
			runtime.ReadMemStats(&m)
			if last > 0 && m.HeapAlloc+64<<10 > last {
				return m.HeapAlloc
			}
		}
	}
	before := live()
	s := newTestStaging()
	for n := range 40 {
		stage(t, s, fmt.Sprintf("l%d", n), 1000)
	}
	held, counted := float64(live()-before), float64(s.bytes+s.tabled)
	t.Logf("%.1f MB held, %.1f MB counted", held/1e6, counted/1e6)
	if counted < 0.75*held || counted > 2*held {
		t.Errorf("%.1f MB are counted of %.1f MB", counted/1e6, held/1e6)
	}
	runtime.KeepAlive(s)
}

// TestStagingEvicts: tables beyond the bound are forgotten, the oldest first, but
// never one with changes that are not sealed yet.
func TestStagingEvicts(t *testing.T) {
	s := newTestStaging()
	var ids []int64
	for n := range 10 {
		ids = append(ids, stage(t, s, fmt.Sprintf("l%d", n), 100))
	}
	one := s.tables[ids[0]].bytes
	bounds := replayBounds{batchEntries: 1 << 30, batchBytes: 1 << 30, tableBytes: 4 * one}
	if !s.full(&bounds) || len(s.tables) != 10 {
		t.Fatalf("%d tables, all changed, %d bytes: the batch does not end", len(s.tables), s.tabled)
	}
	s.seal()
	if s.evict(bounds.tableBytes); s.tabled > bounds.tableBytes || len(s.tables) < 3 {
		t.Errorf("%d tables of %d bytes are left, bound %d", len(s.tables), s.tabled, bounds.tableBytes)
	}
	for i, id := range ids {
		if kept := s.tables[id] != nil; kept != (i >= 10-len(s.tables)) {
			t.Errorf("table %d kept: %v, of %d", i, kept, len(s.tables))
		}
	}
	if s.full(&bounds) {
		t.Error("an empty batch is full")
	}
	sum := 0
	for _, table := range s.tables {
		sum += table.bytes
	}
	if sum != s.tabled {
		t.Errorf("%d bytes counted of %d", s.tabled, sum)
	}
}

// TestStagingKeepsCurrent: the tables of the last commit stay, however large: the
// next one is likely to touch the same file.
func TestStagingKeepsCurrent(t *testing.T) {
	s := newTestStaging()
	old, large := stage(t, s, "old", 10), stage(t, s, "large", 1000)
	bounds := replayBounds{batchEntries: 1 << 30, batchBytes: 1 << 30, tableBytes: s.tables[large].bytes * 2 / 3}
	s.seal()
	if s.evict(bounds.tableBytes); s.tables[large] == nil || s.tables[old] != nil {
		t.Errorf("kept: large %v, old %v", s.tables[large] != nil, s.tables[old] != nil)
	}
	s.begun = s.clock
	if _, err := s.Known(context.Background(), large); err != nil {
		t.Fatal(err)
	}
	if s.full(&bounds) {
		t.Error("a commit larger than the bound ends each batch")
	}
	if s.evict(bounds.tableBytes / 2); s.tables[large] != nil {
		t.Error("a table of three times the bound stays")
	}
}

// TestStagingReplacesLayout: only the last layout of a translation counts.
func TestStagingReplacesLayout(t *testing.T) {
	s := newTestStaging()
	id := stage(t, s, "x", 10)
	placed := []catalog.UnitPosition{{ID: 1, Position: 1, Location: "src/x.c:1"}}
	var before int
	for n := range 5 {
		if n == 1 {
			before = s.bytes
		}
		if err := s.PutLayout(context.Background(), id, placed); err != nil {
			t.Fatal(err)
		}
	}
	if s.bytes != before {
		t.Errorf("%d bytes, before %d", s.bytes, before)
	}
}
