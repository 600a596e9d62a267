package ingest

import (
	"context"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/gitsource/object"
)

// sourceFile is a file that the source translation reads.
type unionInput struct {
	slot    *fileSlot // of the version that load gives
	outline int64     // its outline; 0 if it is not known
	load    func(context.Context) (*unit.File, error)
}

// content names what a version of a file gives to the source translation:
// many versions differ in their translations alone, and have one outline.
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

// unitedFiles are the strings of several files.
type unitedFiles struct {
	units   []unit.Unit
	holders []int // of each unit the index of the file it came from
	outline int64
}

// union makes the units of the source translation of a component (decision 11).
// Between two versions of the files it remembers of each which strings it has
// and what it gave, so that a replay reads the one that changed and not all.
type union struct {
	numbers map[catalog.Identity]int32 // of strings, from 0
	seen    []int                      // by number: the round that last had it
	round   int
	units   []unit.Unit // of the last round, and memory for the next one
	holders []int
	files   map[content]*unionFile
}

// unionFile is one content of a file.
type unionFile struct {
	strings []int32 // numbers in the order of the file
	gave    map[int32]sourceString
	round   int // that last used it
}

// sourceString is a unit of the source translation without its place there.
type sourceString struct {
	unit.Unit
	print int64 // its part of an outline
}

func newUnion() *union {
	return &union{numbers: make(map[catalog.Identity]int32), files: make(map[content]*unionFile)}
}

// of unites the strings of the own file, if there is one, with those that only
// other files have, with place, note and flags of the first of them by path. It
// holds one file at a time.
func (u *union) of(ctx context.Context, files []unionInput, hasSourceFile bool) (unitedFiles, error) {
	clear(u.units)
	all := unitedFiles{units: u.units[:0], holders: u.holders[:0]}
	u.round++
	position := 0
	for n := range files {
		f := opened{union: u, source: &files[n], lasting: n > 0}
		if err := f.open(ctx); err != nil {
			return all, err
		}
		for i, number := range f.strings {
			if u.seen[number] == u.round {
				continue
			}
			u.seen[number] = u.round
			s, err := f.give(ctx, i, number)
			if err != nil {
				return all, err
			}
			if !hasSourceFile || n > 0 {
				s.Position = position + 1
			}
			position = s.Position
			if s.TranslatorBytes > 0 && (!hasSourceFile || n > 0) { // of a translation: its own comment, not the template's
				s.TranslatorBytes = 0
				unit.SetMeta(&s.Unit, &f.hasher)
			}
			all.units = append(all.units, s.Unit)
			all.holders = append(all.holders, n)
			all.outline = (all.outline*31+s.print)*31 + int64(s.Position)
		}
	}
	u.forget()
	u.units, u.holders = all.units, all.holders
	return all, nil
}

// forget drops the versions that the last round did not use.
func (u *union) forget() {
	for key, f := range u.files {
		if f.round != u.round {
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

// opened is a file during one round.
type opened struct {
	*unionFile
	union   *union
	source  *unionInput
	lasting bool // its strings should not hold the whole text in memory
	file    *unit.File
	hasher  catalog.Hasher
}

// open finds the version, or reads it.
func (o *opened) open(ctx context.Context) (err error) {
	key := o.source.content()
	o.unionFile = o.union.files[key]
	if o.unionFile == nil {
		if o.file, err = o.source.load(ctx); err != nil {
			return err
		}
		o.unionFile = &unionFile{strings: make([]int32, len(o.file.Units)), gave: make(map[int32]sourceString)}
		for i := range o.file.Units {
			o.strings[i] = o.union.number(o.file.Units[i].Identity)
		}
		o.union.files[key] = o.unionFile
	}
	o.round = o.union.round
	return nil
}

// give returns the i-th string of the file.
func (o *opened) give(ctx context.Context, i int, number int32) (s sourceString, err error) {
	s, ok := o.gave[number]
	if ok {
		return s, nil
	}
	if o.file == nil {
		if o.file, err = o.source.load(ctx); err != nil {
			return s, err
		}
	}
	s.Unit = unit.Source(&o.file.Units[i], &o.hasher)
	u := &s.Unit.Unit
	if o.lasting {
		u.Location = strings.Clone(u.Location)
	}
	if o.lasting && !o.file.Detached {
		unit.Detach(u)
		u.Target = u.Source
	}
	s.print = o.hasher.Meta(u.Source, u.Context, u.Note, u.Flags, u.Location)
	o.gave[number] = s
	return s, nil
}
