package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
)

// cacheBytes bounds the files that a pull keeps parsed, by their length in the
// repository; parsed they take a few times as much. A step needs a file up to
// three times (source translation, its own translation, attribution). With the
// cache most pulls parse each version once.
const cacheBytes = 24 << 20

// fileError says why one file cannot be served. The pull of the others goes on.
type fileError struct {
	line, column int
	msg          string
}

func (e *fileError) Error() string { return e.msg }

// fileLoader reads versions of PO files and keeps the last ones.
type fileLoader struct {
	reader  *gitsource.View
	maxSize int64
	meter   *meter // of its pull
	files   map[cacheKey]*cachedFile
	bytes   int          // of files
	bound   int          // of bytes: all are forgotten where one more would exceed it
	units   *unit.Reader // of a replay, else nil
	idle    chan *unit.Reader

	partSize int // of files that are read in parts
}

type cacheKey struct {
	component int64 // its rules decide how a file is read
	blob      object.Hash
}

type cachedFile struct {
	key  cacheKey
	file *unit.File
	err  error // a *fileError, or nil
	kept int64 // bytes of a file in parts that the meter has
}

func newFileLoader(s *Syncer, r *gitsource.View, m *meter) *fileLoader {
	idle := make(chan *unit.Reader, runtime.GOMAXPROCS(0))
	for range cap(idle) {
		idle <- new(unit.Reader)
	}
	return &fileLoader{
		reader: r, maxSize: s.MaxFileSize, partSize: s.partSize, meter: m, idle: idle,
		files: make(map[cacheKey]*cachedFile), bound: int(m.part(cacheBytes)),
	}
}

// load returns a version of a file of a component as units, with parts a large one in parts.
// The error is a *fileError if the file itself is at fault.
func (l *fileLoader) load(ctx context.Context, c *component, path string, blob object.Hash, parts bool) (*unit.File, error) {
	key := cacheKey{c.row.ID, blob}
	if kept := l.files[key]; kept != nil {
		if parts || kept.file == nil || !kept.file.InParts() {
			return kept.file, kept.err
		}
		l.drop(kept)
	}
	entry := &cachedFile{key: key}
	if err := l.read(ctx, entry, path, c.rules, parts); err != nil {
		return nil, err
	}
	l.keep(entry)
	return entry.file, entry.err
}

// read reads and parses a version of a file. Its memory is counted before it is taken.
func (l *fileLoader) read(ctx context.Context, entry *cachedFile, path string, r unit.Rules, parts bool) error {
	size, err := l.reader.Size(ctx, entry.key.blob)
	if err == nil && size <= l.maxSize {
		if entry.err, err = l.room(2 * size); entry.err != nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	data, err := l.reader.SharedBlob(ctx, entry.key.blob, l.maxSize)
	if errors.Is(err, object.ErrTooLarge) {
		entry.err = &fileError{msg: fmt.Sprintf("the file is larger than max_file_size (%d bytes); raise it or exclude the file from the filemask", l.maxSize)}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if parts && unit.HasParts(data, l.partSize) {
		if entry.err, err = l.room(exactBytes(data, partsBytes)); entry.err != nil || err != nil {
			return err
		}
		if entry.file = unit.ReadParts(path, data, r, l.partSize); entry.file != nil {
			entry.kept = size
			return l.meter.keep(size)
		}
	}
	if l.meter.room(fileBytes(data)) != nil {
		if entry.err, err = l.room(exactBytes(data, entryBytes)); entry.err != nil || err != nil {
			return err
		}
	}
	entry.file, entry.err = parse(path, data, r, l.units)
	return nil
}

// room is meter.room for a file. One that has no room in any step is refused, unless it
// is of the past: without that there may be room.
func (l *fileLoader) room(n int64) (refused, err error) {
	err = l.meter.room(n)
	if errors.Is(err, errMemory) && l.units == nil && n > l.meter.large {
		return &fileError{msg: l.meter.tooMuch("reading the file takes")}, nil
	}
	return nil, err
}

// fileVersion is a version of a file that a step will read.
type fileVersion struct {
	component *component
	path      string
	blob      object.Hash
}

func (v *fileVersion) key() cacheKey { return cacheKey{v.component.row.ID, v.blob} }

// prefetch parses versions of files that are not kept, as many as fit into half of the cache.
func (l *fileLoader) prefetch(ctx context.Context, list []fileVersion) {
	list = slices.DeleteFunc(list, func(v fileVersion) bool { return l.files[v.key()] != nil })
	var parsers sync.WaitGroup
	parsed, _ := l.parse(ctx, &parsers, list, int64(l.bound/2))
	parsers.Wait()
	for _, entry := range parsed {
		l.keep(entry)
	}
}

// parse begins to parse the first of some versions of files, of a weight up to most, and
// returns the others. Files that it cannot read are left to load, which reports the error, and
// so are those that are read in parts. The files are parsed once the parsers are done.
func (l *fileLoader) parse(ctx context.Context, parsers *sync.WaitGroup, list []fileVersion, most int64) (parsed []*cachedFile, rest []fileVersion) {
	for ; len(list) > 0 && most > 0; list = list[1:] {
		w := list[0]
		data, err := l.reader.SharedBlob(ctx, w.blob, min(l.maxSize, most))
		if err != nil {
			break
		}
		if unit.HasParts(data, l.partSize) && (!w.component.isStored() || w.path == w.component.selection.newBase) {
			continue
		}
		if most -= weight(data); most < 0 {
			break
		}
		entry := &cachedFile{key: w.key()}
		parsed = append(parsed, entry)
		r := <-l.idle
		parsers.Go(func() {
			entry.file, entry.err = parse(w.path, data, w.component.rules, r)
			l.idle <- r
		})
	}
	return parsed, list
}

// keep adds a version, unless it is there.
func (l *fileLoader) keep(e *cachedFile) {
	if l.files[e.key] != nil {
		return
	}
	if l.bytes+e.size() > l.bound {
		l.forget()
	}
	l.files[e.key] = e
	l.bytes += e.size()
}

func (l *fileLoader) drop(e *cachedFile) {
	delete(l.files, e.key)
	l.bytes -= e.size()
	_ = l.meter.keep(-e.kept) // a meter with less is not over its bound
}

// forget drops all versions.
func (l *fileLoader) forget() {
	for _, e := range l.files {
		l.drop(e)
	}
}

func (e *cachedFile) size() int {
	const overhead = 256
	if e.file == nil {
		return overhead
	}
	return overhead + int(max(int64(len(e.file.Data)), unitBytes*int64(len(e.file.Units))/usualFactor))
}

// parse reads the bytes of a PO file as units. The reader may be nil. The error is a *fileError.
func parse(path string, data []byte, r unit.Rules, units *unit.Reader) (*unit.File, error) {
	if object.IsLFSPointer(data) {
		return nil, &fileError{line: 1, msg: "the file is a Git LFS pointer; repoglot does not fetch LFS contents: store PO files in git itself"}
	}
	f, err := units.Read(path, data, r)
	if err != nil {
		if syntax, ok := errors.AsType[*poparse.SyntaxError](err); ok {
			return nil, &fileError{line: syntax.Line, column: syntax.Column, msg: syntax.Msg}
		}
		return nil, &fileError{msg: err.Error()}
	}
	return f, nil
}

// fileSlot is one translation of a commit: a file and its language.
type fileSlot struct {
	language string        // code in URLs (docs/compatibility.md#languages)
	fileCode string        // code in the file's name
	lang     lang.Language // for its plural rule
	path     string
	blob     object.Hash
}

// served returns the slot of the version that a translation serves, which differs
// from p while the file there cannot be parsed.
func (p *fileSlot) served(t *catalog.Translation) *fileSlot {
	s := *p
	if blob, err := object.ParseHash(t.Revision); err == nil {
		s.path, s.blob = t.Filename, blob
	}
	return &s
}

// fileSlots are all translations of a component at one commit.
type fileSlots struct {
	// source is the file of the source translation itself: the POT, or else a file
	// of the source language; nil without both
	// (docs/compatibility.md#source-translation).
	source *fileSlot
	// targets are the other translations, by path.
	targets []fileSlot
	// refused are files that the mask selects and that are not served.
	refused []refusal
}

// refusal says why a file that a mask selects is not served.
type refusal struct {
	path, reason string
}

// selection is how a component's settings select files and map them to languages.
type selection struct {
	mask    filemask.Mask
	rules   filemask.Rules
	newBase string
	source  lang.Language
	table   *lang.Table
}

func newSelection(s *catalog.ComponentSettings, table *lang.Table) (selection, error) {
	mask, err := filemask.Parse(s.Filemask)
	if err != nil {
		return selection{}, err
	}
	regex, err := filemask.CompileLanguageRegex(s.LanguageRegex)
	return selection{
		mask: mask, rules: filemask.Rules{LanguageRegex: regex, Language: s.Language},
		newBase: s.NewBase, source: table.Match(s.SourceLanguage), table: table,
	}, err
}

// wants reports whether the component reads a path.
func (l *selection) wants(path string) bool {
	if path == l.newBase {
		return true
	}
	_, ok := l.code(path)
	return ok
}

// lists reports whether a path is the component's: the component reads it, or
// reports it.
func (l *selection) lists(path string) bool { return l.wants(path) || l.refuses(path) != "" }

// refuses says why a path that the mask selects is never read, for example a path
// with control characters. It returns "" for a path that is read or is not the
// component's.
func (l *selection) refuses(path string) string {
	if reason := l.mask.Refuses(path); reason != "" {
		return "not served: its name is unsafe, " + reason + "; rename the file"
	}
	if m, ok := l.mask.Select(path, l.rules); ok && len(m.Code) > maxCode {
		return "not served: its name has a language code of more than " + strconv.Itoa(maxCode) + " bytes; rename the file"
	}
	return ""
}

// maxCode bounds a language code in bytes. Weblate has 50 characters.
const maxCode = 100

// code returns the language code in a path.
func (l *selection) code(path string) (string, bool) {
	m, ok := l.mask.Select(path, l.rules)
	return m.Code, ok && len(m.Code) <= maxCode
}

// assign maps the files of a commit, sorted by path, to translations
// (docs/compatibility.md#languages, docs/compatibility.md#source-translation).
func (l *selection) assign(files []object.File) fileSlots {
	var p fileSlots
	byLanguage := make(map[string][]fileSlot)
	order := make([]string, 0, len(files))
	for _, f := range files {
		if f.Path == l.newBase {
			p.source = &fileSlot{language: l.source.Code, fileCode: l.source.Code, lang: l.source, path: f.Path, blob: f.Blob}
			continue
		}
		code, ok := l.code(f.Path)
		if !ok {
			if reason := l.refuses(f.Path); reason != "" {
				p.refused = append(p.refused, refusal{path: f.Path, reason: reason})
			}
			continue
		}
		matched := l.table.Match(code)
		if _, ok := byLanguage[matched.Code]; !ok {
			order = append(order, matched.Code)
		}
		byLanguage[matched.Code] = append(byLanguage[matched.Code],
			fileSlot{language: matched.Code, fileCode: code, lang: matched, path: f.Path, blob: f.Blob})
	}
	taken := make(map[string]string, len(files)) // code in URLs → path
	if p.source != nil {
		for _, f := range byLanguage[l.source.Code] {
			p.refused = append(p.refused, refusal{
				path: f.path,
				reason: "not served: the source translation is read from new_base " + l.newBase +
					"; exclude this file by language_regex or remove new_base",
			})
		}
		order = slices.DeleteFunc(order, func(code string) bool { return code == l.source.Code })
	}
	for _, code := range order {
		winner := pick(byLanguage[code])
		taken[code] = winner.path
		if code == l.source.Code {
			p.source = &winner
			continue
		}
		p.targets = append(p.targets, winner)
	}
	for _, code := range order {
		l.variants(&p, byLanguage[code], taken)
	}
	slices.SortFunc(p.targets, func(a, b fileSlot) int { return strings.Compare(a.path, b.path) })
	slices.SortFunc(p.refused, func(a, b refusal) int { return strings.Compare(a.path, b.path) })
	return p
}

// pick returns the file of a language: the file whose code is the language's,
// else the first by path.
func pick(files []fileSlot) fileSlot {
	return files[max(0, slices.IndexFunc(files, func(f fileSlot) bool { return f.fileCode == f.language }))]
}

// variants adds the other files of a language under the codes of their names.
func (l *selection) variants(p *fileSlots, files []fileSlot, taken map[string]string) {
	winner := pick(files)
	for _, f := range files {
		if f.path == winner.path {
			continue
		}
		if other, ok := taken[f.fileCode]; ok {
			p.refused = append(p.refused, refusal{
				path:   f.path,
				reason: "not served: language " + f.fileCode + " is already read from " + other + "; narrow the filemask",
			})
			continue
		}
		f.lang = l.table.Variant(f.fileCode, f.lang)
		f.language = f.fileCode
		taken[f.fileCode] = f.path
		p.targets = append(p.targets, f)
	}
}
