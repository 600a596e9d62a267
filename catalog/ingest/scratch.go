package ingest

import "github.com/repoglot/repoglot/poparse"

// scratch is what one goroutine of a replay, which reads thousands of versions
// of files, keeps from one to the next. The zero value keeps the memory of the
// reader alone, for files that are read once.
type scratch struct {
	reader  poparse.Reader
	recall  recall // in place of a lexicon
	lexicon *lexicon
	rooms   *unitRooms
}

func newScratch(rooms *unitRooms) *scratch { return &scratch{lexicon: newLexicon(), rooms: rooms} }

// unitRooms is memory for the units of files, which goes from the goroutine
// that applies them back to those that read them: half of all that a replay
// allocates would be that.
type unitRooms struct{ free chan []unit }

// The bounds of the memory that waits for its next use.
const (
	maxRooms     = 32
	maxRoomUnits = 8_000 // of each: 2 MB
)

func newUnitRooms() *unitRooms { return &unitRooms{free: make(chan []unit, maxRooms)} }

// take returns empty room for n units.
func (r *unitRooms) take(n int) []unit {
	select {
	case room := <-r.free:
		if cap(room) >= n {
			return room
		}
	default:
	}
	return make([]unit, 0, n+n/8)
}

// give takes the units of a file back, which nobody may use any more.
func (r *unitRooms) give(f *poFile) {
	if f == nil || cap(f.units) == 0 || cap(f.units) > maxRoomUnits {
		return
	}
	clear(f.units) // their strings would keep the file's text
	select {
	case r.free <- f.units[:0]:
	default:
	}
	f.units, f.index = nil, nil
}
