package object

import "fmt"

// Limits bound what one answer of a remote may take.
type Limits struct {
	Bytes   int64 // of the pack on disk
	Objects int   // in the pack; 80 bytes of memory each while it is indexed
	Whole   int64 // bytes of an object that has to be held: bases, deltas, results
}

const (
	// defaultMaxPack: the largest public repositories with translations have
	// packs of some 5 GiB.
	defaultMaxPack = 16 << 30
	// maxPackObjects: Linux has 10 million.
	maxPackObjects = 16_000_000
	// maxWhole: GitHub takes no files above 100 MiB. Larger ones that are no
	// deltas go by as a stream. Three such objects are held at a time.
	maxWhole = 128 << 20
)

// LimitError marks a remote that sends more than it may.
type LimitError string

// Error names the limit.
func (e LimitError) Error() string { return string(e) }

func (l Limits) TooManyBytes() error {
	return LimitError(fmt.Sprintf("it sends a pack of more than %d MiB", l.Bytes>>20))
}

// NewLimits are the limits of packs of maxPack bytes; 0 is 16 GiB.
func NewLimits(maxPack int64) Limits {
	if maxPack <= 0 {
		maxPack = defaultMaxPack
	}
	return Limits{Bytes: maxPack, Objects: maxPackObjects, Whole: maxWhole}
}
