package ingest

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
)

// cacheBytes bounds the files that a pull keeps parsed, by their length in the
// repository; parsed they take a few times as much. A file is needed up to
// three times in one step (source translation, its own, attribution), so that
// most pulls parse each version once.
const cacheBytes = 24 << 20

// fileError says why one file cannot be served: the rest goes on (DESIGN,
// invariant 7).
type fileError struct {
	line, column int
	msg          string
}

func (e *fileError) Error() string { return e.msg }

// loader reads versions of PO files and keeps the last ones.
type loader struct {
	reader  *gitsource.Reader
	maxSize int64
	files   map[cacheKey]*list.Element
	recent  *list.List // of *loaded, the newest first
	bytes   int
	bound   int          // of bytes
	units   *unit.Reader // of a replay, else nil
	pool    *unit.Pool   // of units
}

type cacheKey struct {
	component int64 // its rules decide how a file reads
	blob      object.Hash
}

type cachedFile struct {
	key  cacheKey
	file *unit.File
	err  *fileError
}

func newLoader(r *gitsource.Reader, maxSize int64) *loader {
	return &loader{reader: r, maxSize: maxSize, files: make(map[cacheKey]*list.Element), recent: list.New(), bound: cacheBytes}
}

// load returns a version of a file as units. The error is a *fileError if the
// file itself is at fault.
func (l *loader) load(ctx context.Context, component int64, path string, blob object.Hash, r unit.Rules) (*unit.File, error) {
	key := cacheKey{component, blob}
	if e, ok := l.files[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*cachedFile).result()
	}
	entry := &cachedFile{key: key}
	data, err := l.reader.SharedBlob(ctx, blob, l.maxSize)
	switch {
	case errors.Is(err, object.ErrTooLarge):
		entry.err = &fileError{msg: fmt.Sprintf("the file is larger than max_file_size (%d bytes); raise it or exclude the file from the filemask", l.maxSize)}
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	default:
		entry.file, entry.err = parse(path, data, r, l.units)
	}
	l.keep(entry)
	return entry.result()
}

// wanted is a version of a file that a step will read.
type fileVersion struct {
	component *component
	path      string
	blob      object.Hash
}

// prefetch parses versions of files side by side, as many as half of the cache
// holds. What it cannot read is left to load, which says why.
func (l *loader) prefetch(ctx context.Context, list []fileVersion) {
	var parsers errgroup.Group
	n := runtime.GOMAXPROCS(0)
	parsers.SetLimit(n)
	readers := make(chan *unit.Reader, n)
	for range n {
		readers <- new(unit.Reader)
	}
	var parsed []*cachedFile
	for room := cacheBytes / 2; len(list) > 0 && room > 0; list = list[1:] {
		w := list[0]
		entry := &cachedFile{key: cacheKey{w.component.row.ID, w.blob}}
		if _, ok := l.files[entry.key]; ok {
			continue
		}
		data, err := l.reader.SharedBlob(ctx, w.blob, min(l.maxSize, int64(room)))
		if err != nil {
			break
		}
		room -= len(data)
		parsed = append(parsed, entry)
		parsers.Go(func() error {
			s := <-readers
			entry.file, entry.err = parse(w.path, data, w.component.rules, s)
			readers <- s
			return nil
		})
	}
	_ = parsers.Wait() // they return none
	for _, entry := range parsed {
		l.add(entry)
	}
}

// add remembers a version that was read elsewhere.
func (l *loader) add(e *cachedFile) {
	if _, twice := l.files[e.key]; !twice {
		l.keep(e)
	}
}

func (e *cachedFile) result() (*unit.File, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.file, nil
}

// keep remembers an entry and forgets the oldest ones beyond the bound.
func (l *loader) keep(e *cachedFile) {
	l.files[e.key] = l.recent.PushFront(e)
	l.bytes += e.size()
	for l.bytes > l.bound && l.recent.Len() > 1 {
		oldest := l.recent.Back()
		old := l.recent.Remove(oldest).(*cachedFile)
		delete(l.files, old.key)
		l.bytes -= old.size()
	}
}

// forget drops all versions. None of their units may be in use.
func (l *loader) forget() {
	if l.pool != nil {
		for e := l.recent.Front(); e != nil; e = e.Next() {
			l.pool.Put(e.Value.(*cachedFile).file)
		}
	}
	clear(l.files)
	l.recent.Init()
	l.bytes = 0
}

func (e *cachedFile) size() int {
	const overhead = 256
	if e.file == nil {
		return overhead
	}
	return overhead + len(e.file.Data)
}

// parse reads the bytes of a PO file as units. The reader may be nil.
func parse(path string, data []byte, r unit.Rules, units *unit.Reader) (*unit.File, *fileError) {
	if object.IsLFSPointer(data) {
		return nil, &fileError{line: 1, msg: "the file is a Git LFS pointer; repoglot does not fetch LFS contents: store PO files in git itself"}
	}
	f, err := units.Read(path, data, r)
	if err != nil {
		var syntax *poparse.SyntaxError
		if errors.As(err, &syntax) {
			return nil, &fileError{line: syntax.Line, column: syntax.Column, msg: syntax.Msg}
		}
		return nil, &fileError{msg: err.Error()}
	}
	return f, nil
}
