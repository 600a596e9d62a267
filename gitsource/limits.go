package gitsource

import "fmt"

// packLimits bound what one answer of a remote may take.
type packLimits struct {
	bytes   int64 // of the pack on disk
	objects int   // in the pack; 80 bytes of memory each while it is indexed
	whole   int64 // bytes of an object that has to be held: bases, deltas, results
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

// errLimit marks a remote that sends more than it may.
type errLimit struct{ what string }

// Error names the limit.
func (e errLimit) Error() string { return e.what }

func (l packLimits) pack() error {
	return errLimit{fmt.Sprintf("it sends a pack of more than %d MiB", l.bytes>>20)}
}

// limits are the mirror's.
func (o *Options) limits() packLimits {
	l := packLimits{bytes: o.MaxPack, objects: maxPackObjects, whole: maxWhole}
	if l.bytes <= 0 {
		l.bytes = defaultMaxPack
	}
	return l
}
