// Package blocks has what searches read of units: a block has some columns of BlockUnits
// successive units, each column as one blob.
//
// Goals: a search of a text reads and decompresses that column only, some 20 kB a block, and
// looks for the folded text in all of them at once; of numbers it reads runs of equal ones. A
// block is made from the rows of units alone, so that a missing one is only slower: whoever
// changes units may just delete it. No index of trigrams over all blocks: it would take more room
// than the columns do, each pushed string would change a hundred of its rows, and it answers neither
// one letter nor count. What a filter for each block rules out is not read.
//
// Non-goals: which blocks are stored, and when.
package blocks

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/klauspost/compress/s2"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// Kind is a kind of column of a block.
type Kind int64

// The kinds: Place has what is no text; a column without any text is not stored.
const (
	Place  Kind = iota
	Checks      // that fail; it is made and stored apart from the others, and always stored
	Grams       // of three bytes that Target has, as in grams
	Target
	Source // and Context: of source units only
	Context
	Note
	Flags
	Kinds
)

// texts are the columns of units that are columns of texts here.
var texts = [Kinds]query.Column{Target: query.Target, Source: query.Source, Context: query.Context, Note: query.Notes, Flags: query.Flags}

// Column is the column of the rows of units; "" for no text.
func (k Kind) Column() query.Column { return texts[k] }

// Number is the number of the block that a unit is in.
func Number(unit int64) int64 { return unit / idset.BlockUnits }

// Key is the id of a column of a block in the table.
func Key(kind Kind, block int64) int64 { return int64(kind)<<KindBits | block }

// KindBits are the bits of a Key below its kind.
const KindBits = 56

// Keys are those of columns that are made together with one, of blocks.
func Keys(of Kind, blocks ...int64) (keys []int64) {
	for kind := range Kinds {
		for _, block := range blocks {
			if (kind == Checks) == (of == Checks) {
				keys = append(keys, Key(kind, block))
			}
		}
	}
	return keys
}

// maxColumn bounds the texts of a column in bytes: one with more is stored as longColumn, and what
// is looked for there in the rows. Those of 512 strings usually have some 20 kB.
const maxColumn = 1 << 20

var longColumn = []byte{stored.Version}

var errBlock = errors.New("a block of the table search_blocks is damaged: delete all of its rows, which are made again")

// Columns are those of a block, by kind; nil for one without any text.
type Columns [Kinds][]byte

// The columns of numbers, each as runs of equal ones.
const (
	translation = iota
	source      // the source unit's id less the unit's
	state
	priority
	created
	numbers
)

// Stored reads the columns that are stored with some keys.
const Stored = `SELECT id, data FROM search_blocks WHERE id IN $ids`

const ofUnits = `SELECT id, removed, translation_id, source_id, state, priority, created, target, source, context, note, flags FROM units
	WHERE id >= $1 AND id < $2 ORDER BY id`

// Unit is what a block has of a unit.
type Unit struct {
	ID, Translation, Source, State, Priority, Created int64 // Created is terms.MinTime for none
	Removed                                           bool
	Texts                                             [Kinds]string
}

// Builder makes the columns of a block of units, but for Checks.
type Builder struct {
	Block           int64
	fold            *query.Folder
	n               int64 // units so far, and gaps
	live            idset.Bits
	runs            [numbers]runs
	lengths, folded [Kinds][]byte
	long            [Kinds]bool
}

// NewBuilder returns the builder of a block without units.
func NewBuilder(fold *query.Folder, block int64) *Builder { return &Builder{Block: block, fold: fold} }

// Full reports whether the block has no room for another unit.
func (b *Builder) Full() bool { return b.n == idset.BlockUnits }

// Add adds a unit of the block with a greater id than those before.
func (b *Builder) Add(u *Unit) {
	place := u.ID - b.Block*idset.BlockUnits
	if !u.Removed {
		b.live.Add(int(place), int(place)+1)
	}
	for i, value := range [numbers]int64{u.Translation, u.Source - u.ID, u.State, u.Priority, u.Created} {
		b.runs[i].add(place+1-b.n, value)
	}
	for kind := Target; kind < Kinds; kind++ {
		if b.long[kind] = b.long[kind] || len(b.folded[kind])+len(u.Texts[kind]) > maxColumn; b.long[kind] {
			b.folded[kind], b.lengths[kind] = nil, nil
			continue
		}
		for range place - b.n {
			b.lengths[kind] = append(b.lengths[kind], 0)
		}
		before := len(b.folded[kind])
		if !u.Removed || kind == Source || kind == Context { // live units have removed sources, too
			b.folded[kind] = b.fold.Append(b.folded[kind], u.Texts[kind])
		}
		b.lengths[kind] = binary.AppendUvarint(b.lengths[kind], uint64(len(b.folded[kind])-before))
	}
	b.n = place + 1
}

// Columns returns the columns.
func (b *Builder) Columns() (c Columns) {
	place := appendBits([]byte{stored.Version}, &b.live)
	for i := range b.runs {
		place = b.runs[i].encode(place)
	}
	c[Place], c[Grams] = place, grams(b.folded[Target])
	for kind := Target; kind < Kinds; kind++ {
		if b.long[kind] {
			c[kind] = longColumn
		} else if len(b.folded[kind]) > 0 {
			text := binary.AppendUvarint(nil, uint64(len(b.lengths[kind])))
			c[kind] = append([]byte{stored.Version}, s2.Encode(nil, append(append(text, b.lengths[kind]...), b.folded[kind]...))...)
		}
	}
	return c
}

// Read makes the columns of a block that are made together with one of a kind.
func Read(ctx context.Context, s *sqldb.Session, fold *query.Folder, of Kind, block int64) (c Columns, err error) {
	args := []any{block * idset.BlockUnits, (block + 1) * idset.BlockUnits}
	if of == Checks {
		var failing idset.Bits
		var masks [2]runs // of those that fail any
		err := s.Query(ctx, `SELECT unit_id, low, high FROM failing WHERE unit_id >= $1 AND unit_id < $2 ORDER BY unit_id`, args, sqldb.Cols3(func(id, low, high int64) {
			place := int(id % idset.BlockUnits)
			failing.Add(place, place+1)
			masks[0].add(1, low)
			masks[1].add(1, high)
		}))
		c[Checks] = masks[1].encode(masks[0].encode(appendBits([]byte{stored.Version}, &failing)))
		return c, err
	}
	b := NewBuilder(fold, block)
	var u Unit
	var at sql.NullInt64
	var texts [Kinds]sql.NullString
	dest := []any{&u.ID, &u.Removed, &u.Translation, &u.Source, &u.State, &u.Priority, &at}
	for kind := Target; kind < Kinds; kind++ {
		dest = append(dest, &texts[kind])
	}
	err = s.Query(ctx, ofUnits, args, func(scan sqldb.Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		if u.Created = terms.MinTime; at.Valid {
			u.Created = at.Int64
		}
		for kind := range texts {
			u.Texts[kind] = texts[kind].String
		}
		b.Add(&u)
		return nil
	})
	return b.Columns(), err
}

// Equal reports whether two forms of a column have the same content.
func Equal(kind Kind, a, b []byte) bool {
	if kind < Target || len(a) < 2 || len(b) < 2 {
		return bytes.Equal(a, b)
	}
	var one, other column
	return one.decode(a) == nil && other.decode(b) == nil && bytes.Equal(one.raw, other.raw)
}

// grams returns a filter of the three successive bytes that a text has: one bit for the hash of
// each. At most half of the bits are one, a quarter in most.
func grams(text []byte) []byte {
	if len(text) < 3 {
		return nil
	}
	filter := make([]byte, 1<<bits.Len(uint(len(text)/4)))
	for i := range len(text) - 2 {
		at := hash(text[i:], len(filter))
		filter[at/8] |= 1 << (at % 8)
	}
	for half := len(filter) / 2; half > 0; half /= 2 {
		ones := 0
		for _, b := range filter {
			ones += bits.OnesCount8(b)
		}
		if ones > 2*half { // an eighth of them
			break
		}
		for i, b := range filter[half:] {
			filter[i] |= b
		}
		filter = filter[:half]
	}
	return append([]byte{stored.Version}, filter...)
}

// hash is the place of three bytes in a filter of n bytes, a power of two. That in a filter of
// half the size is the rest of it.
func hash(text []byte, n int) uint32 {
	gram := uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
	return gram * 0x9e3779b1 >> 8 & uint32(8*n-1)
}

// mayHave reports whether a text may have a needle, by the filter of its grams.
func mayHave(filter, needle []byte) bool {
	for i := range len(needle) - 2 {
		if at := hash(needle[i:], len(filter)); filter[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// runs are the values of a column of numbers.
type runs []run

// run is a value that units up to end, excluded, have.
type run struct{ end, value int64 }

// add adds n values.
func (r *runs) add(n, value int64) {
	list := *r
	if n == 0 {
		return
	}
	switch last := len(list) - 1; {
	case last < 0:
		*r = append(list, run{n, value})
	case list[last].value == value:
		list[last].end += n
	default:
		*r = append(list, run{list[last].end + n, value})
	}
}

func (r runs) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(r)))
	var last run
	for _, run := range r {
		b = binary.AppendUvarint(b, uint64(run.end-last.end))
		b = binary.AppendVarint(b, run.value-last.value)
		last = run
	}
	return b
}

// decode reads runs; it uses the memory of r.
func (r runs) decode(from *stored.Reader) runs {
	r = r[:0]
	var last run
	n, b := min(from.Uvarint(), idset.BlockUnits), from.B
	for ; n > 0; n-- {
		size, i := binary.Uvarint(b)
		value, j := binary.Varint(b[max(i, 0):])
		if i <= 0 || j <= 0 {
			from.Bad = true
			break
		}
		last.end += int64(min(size, idset.BlockUnits))
		last.value += value
		r, b = append(r, last), b[i+j:]
	}
	from.B = b // once: the collector looks at each store of a pointer
	from.Bad = from.Bad || last.end > idset.BlockUnits
	return r
}

// each calls fn for the runs, from lo to hi, excluded.
func (r runs) each(fn func(lo, hi, value int64)) {
	lo := int64(0)
	for _, run := range r {
		fn(lo, run.end, run.value)
		lo = run.end
	}
}

// where are the units with a value for which is holds.
func (r runs) where(is func(value int64) bool) (b idset.Bits) {
	r.each(func(lo, hi, value int64) {
		if is(value) {
			b.Add(int(lo), int(hi))
		}
	})
	return b
}

// place is a decoded column of the kind Place.
type place struct {
	live    idset.Bits
	runs    [numbers]runs
	decoded int // of runs
	rest    stored.Reader
}

func (p *place) decode(data []byte) error {
	data, err := stored.Unversioned(data, errBlock)
	if err != nil {
		return err
	}
	p.decoded, p.rest = 0, stored.Reader{B: data}
	p.live, err = readBits(&p.rest)
	return err
}

func appendBits(to []byte, b *idset.Bits) []byte {
	for _, word := range b {
		to = binary.LittleEndian.AppendUint64(to, word)
	}
	return to
}

func readBits(from *stored.Reader) (b idset.Bits, err error) {
	words := from.Bytes(idset.BlockUnits / 8)
	if from.Bad {
		return b, errBlock
	}
	for i := range b {
		b[i] = binary.LittleEndian.Uint64(words[8*i:])
	}
	return b, nil
}

// of are the runs of a column, decoded when they are asked for.
func (p *place) of(column int) runs {
	for ; p.decoded <= column; p.decoded++ {
		p.runs[p.decoded] = p.runs[p.decoded].decode(&p.rest)
	}
	return p.runs[column]
}

// end reports whether what was decoded is no column, or has more than one.
func (p *place) end() error {
	if p.rest.Bad || p.decoded == len(p.runs) && len(p.rest.B) > 0 {
		return errBlock
	}
	return nil
}

// column is a decoded column of texts.
type column struct {
	raw, lengths, text []byte
	ends               [idset.BlockUnits]int // of the texts, if known
	known              bool
}

// decode reads a column; nil is one without any text. It uses the memory of the one before.
func (c *column) decode(data []byte) (err error) {
	c.known, c.lengths, c.text = false, nil, nil
	if data == nil {
		return nil
	}
	if data, err = stored.Unversioned(data, errBlock); err != nil {
		return err
	}
	if n, err := s2.DecodedLen(data); err != nil || n > stored.MaxInflated {
		return errBlock
	}
	if c.raw, err = s2.Decode(c.raw[:cap(c.raw)], data); err != nil {
		return errBlock
	}
	r := stored.Reader{B: c.raw}
	c.lengths = r.Bytes(r.Uvarint())
	c.text = r.B
	if r.Bad {
		return errBlock
	}
	return nil
}

// bounds returns where the text of a unit begins and ends.
func (c *column) bounds(unit int) (from, to int) {
	if !c.known {
		c.known = true
		r, end := stored.Reader{B: c.lengths}, 0
		for i := range c.ends {
			if len(r.B) > 0 {
				end = min(end+int(min(r.Uvarint(), stored.MaxInflated)), len(c.text))
			}
			c.ends[i] = end
		}
	}
	if unit > 0 {
		from = c.ends[unit-1]
	}
	return from, c.ends[unit]
}

// where are the units with a text that holds.
func (c *column) where(holds func(text string) bool) (b idset.Bits) {
	text := string(c.text)
	for i := range idset.BlockUnits {
		if from, to := c.bounds(i); from < to && holds(text[from:to]) {
			b.Add(i, i+1)
		}
	}
	return b
}

// having are the units whose text has a needle, or with whole is it. No needle is empty
// but for whole.
func (c *column) having(needle []byte, whole bool) (b idset.Bits) {
	if len(needle) == 0 {
		for i := range idset.BlockUnits {
			if from, to := c.bounds(i); from == to {
				b.Add(i, i+1)
			}
		}
		return b
	}
	unit := 0
	for at := 0; ; {
		next := bytes.Index(c.text[at:], needle)
		if next < 0 {
			return b
		}
		at += next
		from, to := c.bounds(unit)
		for ; at >= to; from, to = c.bounds(unit) {
			if unit++; unit == idset.BlockUnits {
				return b
			}
		}
		if at+len(needle) > to { // it begins in one text and ends in another
			at++
			continue
		}
		if !whole || from == at && to == at+len(needle) {
			b.Add(unit, unit+1)
		}
		at = to
	}
}
