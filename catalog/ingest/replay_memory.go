package ingest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// What a replay holds is counted in bytes, so that it can be bounded. The sizes are
// estimates (TestStagingMemory): structs, their places in maps and slices, and an
// average of the short strings.
const (
	tabledBytes  = 96  // of a unit in a table, without its target
	stagedBytes  = 480 // of a unit that a batch added or changed, without its target
	placedBytes  = 48  // of a unit in a layout, without its location
	dayBytes     = 256
	extraBytes   = 16
	commitBytes  = 288 // of a delta, without its entries
	changedBytes = 112 // of an entry, without its texts
)

func layoutBytes(placed []catalog.UnitPosition) int {
	n := 0
	for i := range placed {
		n += placedBytes + len(placed[i].Location)
	}
	return n
}

func deltaBytes(d *store.Delta) int {
	n := commitBytes
	for i := range d.Entries {
		n += changeBytes(&d.Entries[i])
	}
	return n
}

func changeBytes(e *store.Entry) int { return changedBytes + len(e.Target) + len(e.Old) }

// full reports whether the batch must be stored: it is large, or units that earlier
// commits of it changed, which cannot be forgotten before that, leave no room for
// others.
func (s *staging) full(b *replayBounds) bool {
	return s.entries >= b.batchEntries || s.bytes >= b.batchBytes || s.evict(b.tableBytes) > b.tableBytes/2
}

// evict forgets tables, those whose last use is the longest ago first, if all
// together are larger than a bound: neither tables of the last commit, since the
// next one is likely to touch the same, nor changed ones. It returns how large the
// changed ones of earlier commits are.
func (s *staging) evict(bound int) (unstored int) {
	if s.tabled <= bound {
		return 0
	}
	for _, id := range s.byUse() {
		t := s.tables[id]
		switch {
		case t.used > s.begun:
			return unstored
		case len(t.dirty) > 0:
			unstored += t.bytes
		case s.tabled > bound/4*3:
			s.forget(id)
		}
	}
	return unstored
}

// evictStored is evict for a batch that just began. It spares tables of the last
// commit only up to twice the bound.
func (s *staging) evictStored(bound int) {
	s.evict(bound)
	for _, id := range s.byUse() {
		if s.tabled <= 2*bound {
			return
		}
		s.forget(id)
	}
}

// evictAll forgets all tables, of a batch that just began.
func (s *staging) evictAll() {
	for id := range s.tables {
		s.forget(id)
	}
}

func (s *staging) forget(translation int64) {
	s.tabled -= s.tables[translation].bytes
	delete(s.tables, translation)
}

// byUse returns the translations with a table, the last used one last.
func (s *staging) byUse() []int64 {
	return slices.SortedFunc(maps.Keys(s.tables), func(a, b int64) int { return cmp.Compare(s.tables[a].used, s.tables[b].used) })
}
