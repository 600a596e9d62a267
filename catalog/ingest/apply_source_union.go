package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
)

// unionInput is a file that the source translation reads.
type unionInput struct {
	slot    *fileSlot // of the version that load returns
	outline int64     // 0 if it is not known
	load    func(context.Context) (*unit.File, error)
}

// content identifies the part of a version of a file that the source translation
// takes: versions that differ only in their translations have the same outline.
type content struct {
	outline int64
	blob    object.Hash // zero if the outline is known
}

func (f *unionInput) content() content {
	if f.outline != 0 {
		return content{outline: f.outline}
	}
	return content{blob: f.slot.blob}
}

type unitedFiles struct {
	units   []unit.Unit
	holders []int // for each unit the index of its file
	outline int64
}

// union makes the units of the source translation of a component
// (docs/compatibility.md#source-translation). From one version of the files to
// the next it remembers which strings each file has and which units were made of
// it, so that a replay reads only the file that changed.
type union struct {
	numbers map[catalog.Identity]int32 // of strings, from 0
	seen    []int                      // by number: the last round that had it
	round   int

	last  unitedFiles // of the last round; their memory is used again
	files map[content]*unionFile

	meter *meter
	bytes int64 // that the meter has
	room  int   // units of last that it has
}

// unionFile is a file with one content.
type unionFile struct {
	strings []int32                // numbers in the order of the file
	made    map[int32]sourceString // by number
	round   int                    // the last that used it
	bytes   int64                  // of union.bytes
}

// sourceString is a unit of the source translation without its position there.
type sourceString struct {
	unit.Unit
	outlineHash int64 // its part of an outline
}

func newSourceString(u *unit.Unit, h *catalog.Hasher) sourceString {
	s := sourceString{Unit: unit.Source(u, h)}
	s.outlineHash = h.Meta(s.Source, s.Context, s.Note, s.Flags, s.Location)
	return s
}

// follow makes a string of a translation's file the next one of the source
// translation.
func (s *sourceString) follow(position int, h *catalog.Hasher) {
	s.Position = position + 1
	if s.TranslatorBytes > 0 { // the comment of a translation, not of the template
		s.TranslatorBytes = 0
		unit.SetMeta(&s.Unit, h)
	}
}

// outline adds the string to the outline of those before it.
func (s *sourceString) outline(before int64) int64 {
	return (before*31+s.outlineHash)*31 + int64(s.Position)
}

func newUnion(m *meter) *union {
	return &union{meter: m, numbers: make(map[catalog.Identity]int32), files: make(map[content]*unionFile)}
}

// The memory of a union, by estimate.
const (
	numberBytes = 64             // of a string
	madeBytes   = unitBytes + 48 // of a unit that is remembered, without its texts
	lastBytes   = unitBytes + 8  // of a unit of the last round
)

// count counts bytes.
func (u *union) count(n int64) error {
	u.bytes += n
	return u.meter.keep(n)
}

// drop gives back what was counted. The union is not used any more.
func (u *union) drop() { _ = u.count(-u.bytes) } // a meter with less is not over its bound

// of unites the strings of the source translation's own file, if it has one, with
// the strings that only other files have. The first file by path decides about
// location, note and flags. It holds one file at a time.
func (u *union) of(ctx context.Context, files []unionInput, hasSourceFile bool) (unitedFiles, error) {
	clear(u.last.units)
	all := unitedFiles{units: u.last.units[:0], holders: u.last.holders[:0]}
	u.last = unitedFiles{}
	u.round++
	position := 0
	for n := range files {
		f := roundFile{union: u, source: &files[n], detach: n > 0}
		if err := f.open(ctx); err != nil {
			return all, err
		}
		if n == 0 {
			all.units, all.holders = slices.Grow(all.units, len(f.strings)), slices.Grow(all.holders, len(f.strings))
		}
		for i, number := range f.strings {
			if u.seen[number] == u.round {
				continue
			}
			u.seen[number] = u.round
			s, err := f.get(ctx, i, number)
			if err != nil {
				return all, err
			}
			if !hasSourceFile || n > 0 {
				s.follow(position, &f.hasher)
			}
			position = s.Position
			all.units = append(all.units, s.Unit)
			all.holders = append(all.holders, n)
			all.outline = s.outline(all.outline)
		}
		if more := cap(all.units) - u.room; more > 0 {
			u.room += more
			if err := u.count(lastBytes * int64(more)); err != nil {
				return all, err
			}
		}
	}
	u.forget()
	u.last = all
	return all, nil
}

// forget drops the files that the last round did not use.
func (u *union) forget() {
	for key, f := range u.files {
		if f.round != u.round {
			_ = u.count(-f.bytes) // as in drop
			delete(u.files, key)
		}
	}
}

func (u *union) number(id catalog.Identity) int32 {
	n, ok := u.numbers[id]
	if !ok {
		n = int32(len(u.seen))
		u.numbers[id] = n
		u.seen = append(u.seen, 0)
	}
	return n
}

// roundFile is a file during one round.
type roundFile struct {
	*unionFile
	union  *union
	source *unionInput
	detach bool // its strings should not keep the whole text in memory
	file   *unit.File
	units  []unit.Unit // of the file
	hasher catalog.Hasher
}

func (o *roundFile) open(ctx context.Context) (err error) {
	key := o.source.content()
	o.unionFile = o.union.files[key]
	if o.unionFile == nil {
		if err := o.load(ctx); err != nil {
			return err
		}
		before := len(o.union.seen)
		o.unionFile = &unionFile{strings: make([]int32, len(o.units)), made: make(map[int32]sourceString)}
		for i := range o.units {
			o.strings[i] = o.union.number(o.units[i].Identity)
		}
		o.union.files[key] = o.unionFile
		if err := o.count(4*int64(len(o.units)) + numberBytes*int64(len(o.union.seen)-before)); err != nil {
			return err
		}
	}
	o.round = o.union.round
	return nil
}

func (o *roundFile) load(ctx context.Context) (err error) {
	if o.file, err = o.source.load(ctx); err == nil {
		o.units = o.file.All()
	}
	return err
}

// count counts bytes of the file.
func (o *roundFile) count(n int64) error {
	o.bytes += n
	return o.union.count(n)
}

// get returns the i-th string of the file, which has the number.
func (o *roundFile) get(ctx context.Context, i int, number int32) (s sourceString, err error) {
	s, ok := o.made[number]
	if ok {
		return s, nil
	}
	if o.file == nil {
		if err := o.load(ctx); err != nil {
			return s, err
		}
	}
	s = newSourceString(&o.units[i], &o.hasher)
	u := &s.Unit.Unit
	n := int64(madeBytes + len(u.Location))
	if o.detach {
		unit.Detach(u)
		u.Location, u.Target = strings.Clone(u.Location), u.Source
		n += int64(len(u.Source) + len(u.Context) + len(u.Note) + len(u.Flags))
	}
	o.made[number] = s
	return s, o.count(n)
}

// extraStrings are the strings of a source translation that its template lacks
// (docs/compatibility.md#missing-strings).
type extraStrings struct {
	list   []store.ExtraString
	keys   []catalog.Identity         // parallel: of their contexts and msgids
	places map[catalog.Identity]int64 // of keys: the template's string, or 0
	hasher catalog.Hasher
}

// key identifies context and msgid of a string, whatever its msgid_plural.
func (e *extraStrings) key(u *unit.Unit) catalog.Identity {
	if msgid, _, plural := strings.Cut(u.Source, catalog.FormSeparator); plural {
		return e.hasher.Identity(msgid, u.Context)
	}
	return u.Identity
}

// add adds a string that the template lacks.
func (e *extraStrings) add(u *unit.Unit, id int64) {
	if e.places == nil {
		e.places = make(map[catalog.Identity]int64)
	}
	key := e.key(u)
	e.list, e.keys, e.places[key] = append(e.list, store.ExtraString{SourceID: id}), append(e.keys, key), 0
}

// match notes the template's string that an added one changed to. All must be added.
func (e *extraStrings) match(u *unit.Unit, id int64) {
	if len(e.list) == 0 {
		return
	}
	key := e.key(u)
	if place, ok := e.places[key]; ok && place == 0 { // of two in the template the first counts
		e.places[key] = id
	}
}

// putExtra stores the strings of a union that its first file, the template, lacks; had says
// that the component had a template before.
func (a *application) putExtra(ctx context.Context, w *unitWriter, all *unitedFiles, had bool) error {
	var e extraStrings
	if w.row.HasTemplate {
		for i := range all.units {
			if all.holders[i] > 0 {
				e.add(&all.units[i], w.ids[i])
			}
		}
		for i := range all.units {
			if all.holders[i] == 0 {
				e.match(&all.units[i], w.ids[i])
			}
		}
	}
	return e.put(ctx, a, w.row, had)
}

// put stores the strings. Only a component that has a template, or had one, has any.
func (e *extraStrings) put(ctx context.Context, a *application, row *catalog.Translation, had bool) error {
	if !had && !row.HasTemplate {
		return nil
	}
	for i, key := range e.keys {
		e.list[i].ChangedTo = e.places[key]
	}
	return a.tx.PutExtra(ctx, a.comp.row.ID, e.list)
}
