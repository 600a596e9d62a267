package object

import (
	"bytes"
	"crypto/sha1" // git ids objects with it
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"weak"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
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

// inflateChunk is how many bytes are inflated before they are hashed beside the next.
const inflateChunk = 256 << 10

// maxRatio is more than zlib can compress by: no more is allocated for a claimed size.
const maxRatio = 1100

// inflateLoose inflates a loose object and checks its id, side by side.
func inflateLoose(raw []byte, h Hash) (kind plumbing.ObjectType, data []byte, err error) {
	z, err := zlib.NewReader(bytes.NewReader(raw))
	if err != nil {
		return 0, nil, unexpectedEOF(err)
	}
	var head [looseHeader]byte
	n, err := io.ReadFull(z, head[:])
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, nil, unexpectedEOF(err)
	}
	kind, size, begin, err := parseLooseHeader(head[:n])
	if err != nil {
		return 0, nil, err
	}
	if size > int64(len(raw))*maxRatio || size < int64(n-begin) {
		return 0, nil, errLooseLength
	}
	data = make([]byte, size)
	ends := make(chan int, 2+size/inflateChunk) // room for all
	sum := make(chan Hash, 1)
	go func() {
		s, at := sha1.New(), 0
		s.Write(head[:begin])
		for end := range ends {
			s.Write(data[at:end])
			at = end
		}
		var is Hash
		s.Sum(is[:0])
		sum <- is
	}()
	err = inflateRest(z, data, copy(data, head[begin:n]), ends)
	close(ends)
	is := <-sum
	if err == nil && is != h {
		err = fmt.Errorf("it has the contents of %s", is)
	}
	return kind, data, err
}

// inflateRest fills data, of which at bytes are there, and sends how far it is.
func inflateRest(z io.Reader, data []byte, at int, ends chan<- int) error {
	for at < len(data) {
		n, err := io.ReadFull(z, data[at:min(at+inflateChunk, len(data))])
		if err != nil {
			return unexpectedEOF(err)
		}
		at += n
		ends <- at
	}
	ends <- len(data)
	var more [1]byte
	switch n, err := io.ReadFull(z, more[:]); {
	case n > 0:
		return errLooseLength
	case err != io.EOF: // of zlib's checksum
		return err
	}
	return nil
}

var errLooseLength = errors.New("loose object is not as long as its header says")

// parseLooseHeader reads the header of a loose object, which is begin bytes long.
func parseLooseHeader(head []byte) (kind plumbing.ObjectType, size int64, begin int, err error) {
	end := bytes.IndexByte(head, 0)
	if end < 0 {
		return 0, 0, 0, errors.New("no header")
	}
	name, length, _ := bytes.Cut(head[:end], []byte{' '})
	if kind, err = plumbing.ParseObjectType(string(name)); err != nil {
		return 0, 0, 0, err
	}
	if size, err = strconv.ParseInt(string(length), 10, 64); err != nil || size < 0 {
		return 0, 0, 0, errors.New("no size in its header")
	}
	return kind, size, end + 1, nil
}

// readLooseFile reads the file of a loose object into memory, if it is no longer than
// a Fresh may keep.
func readLooseFile(f *os.File) ([]byte, bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() > freshBytes {
		return nil, false, err
	}
	raw := make([]byte, info.Size())
	_, err = io.ReadFull(f, raw)
	return raw, true, err
}
