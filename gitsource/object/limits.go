package object

import "fmt"

// Limits bound the pack that a remote sends. Make them with [NewLimits].
type Limits struct {
	// Bytes of the pack on disk.
	Bytes int64
	// Objects in the pack; each takes 80 bytes of memory while it is indexed.
	Objects int
	// Whole is the number of bytes of an object that must be in memory whole:
	// bases, deltas and their results.
	Whole int64
}

const (
	// defaultMaxPack: the largest public repositories with translations have
	// packs of some 5 GiB.
	defaultMaxPack = 16 << 30
	// maxPackObjects: Linux has 10 million.
	maxPackObjects = 16_000_000
	// maxWhole: GitHub takes no files above 100 MiB. Larger objects that are no
	// deltas are streamed. Up to three such objects are in memory at a time.
	maxWhole = 128 << 20
)

// LimitError says which limit a remote exceeds: "it sends more than …".
type LimitError string

// Error names the limit.
func (e LimitError) Error() string { return string(e) }

// TooManyBytes is the error for a pack of more than l.Bytes.
func (l Limits) TooManyBytes() error {
	return LimitError(fmt.Sprintf("it sends a pack of more than %d MiB", l.Bytes>>20))
}

// NewLimits returns the limits for packs of up to maxPack bytes; 0 is 16 GiB.
func NewLimits(maxPack int64) Limits {
	if maxPack <= 0 {
		maxPack = defaultMaxPack
	}
	return Limits{Bytes: maxPack, Objects: maxPackObjects, Whole: maxWhole}
}
