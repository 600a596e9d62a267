package object

import (

	// git ids objects with it

	"maps"
	"path/filepath"
	"sync"
	"weak"
)

// freshBytes bounds the files in a Fresh.
const freshBytes = 64 << 20

// Fresh keeps files that a copy has inflated and checked, for the Store that reads
// them next: a push of one large file inflates it once. It also has the indexes of
// packs that are open, so that Stores of one directory share them. It is safe for
// concurrent use. A nil Fresh keeps nothing.
type Fresh struct {
	mu      sync.Mutex
	blobs   map[Hash][]byte
	bytes   int
	indexes map[string]weak.Pointer[packIndex] // by path
}

// index reads the index of a pack, unless a Store still has it. Git names packs by
// their contents.
func (f *Fresh) index(dir, name string) (*packIndex, error) {
	if f == nil {
		return readPackIndex(dir, name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	path := filepath.Join(dir, name)
	if x := f.indexes[path].Value(); x != nil {
		return x, nil
	}
	maps.DeleteFunc(f.indexes, func(_ string, x weak.Pointer[packIndex]) bool { return x.Value() == nil })
	x, err := readPackIndex(dir, name)
	if err != nil {
		return nil, err
	}
	if f.indexes == nil {
		f.indexes = map[string]weak.Pointer[packIndex]{}
	}
	f.indexes[path] = weak.Make(x)
	return x, nil
}

func (f *Fresh) put(h Hash, data []byte) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes+len(data) > freshBytes {
		return
	}
	if f.blobs == nil {
		f.blobs = map[Hash][]byte{}
	}
	f.blobs[h] = data
	f.bytes += len(data)
}

// take returns everything that was kept, and forgets it.
func (f *Fresh) take() map[Hash][]byte {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	blobs := f.blobs
	f.blobs, f.bytes = nil, 0
	return blobs
}

// Lend gives the Store the files in a Fresh, which forgets them, and the indexes.
func (s *Store) Lend(f *Fresh) { s.objects.fresh, s.objects.indexes = f.take(), f }
