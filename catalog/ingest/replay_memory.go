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
	removedBytes = 8
	dayBytes     = 256 // of a day, or a problem
	fileRowBytes = 256 // of a file without its bytes
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

// full reports whether the batch must be stored: it is large, or its commits touched
// tables beyond their bound, which cannot be forgotten before.
func (s *staging) full(b *replayBounds) bool {
	return s.entries >= b.batchEntries || s.bytes >= b.batchBytes || s.tabled > b.tableBytes && s.tabled-s.kept > b.tableBytes/4
}

// evict forgets tables of a batch that just began, those whose last use is the longest
// ago first, if all together are larger than a bound. Those of the last commit, since the
// next one is likely to touch the same, may be twice as large.
func (s *staging) evict(bound int) {
	byUse := slices.SortedFunc(maps.Keys(s.tables), func(a, b int64) int { return cmp.Compare(s.tables[a].used, s.tables[b].used) })
	for _, id := range byUse {
		t := s.tables[id]
		if s.tabled <= bound || t.used > s.begun && s.tabled <= 2*bound {
			break
		}
		s.tabled -= t.bytes
		delete(s.tables, id)
	}
	s.kept = s.tabled
}
