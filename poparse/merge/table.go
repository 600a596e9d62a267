package merge

import (
	"slices"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// Side is one of the three files.
type Side uint8

// The sides. As a choice, Base means that both sides have the same.
const (
	Base Side = iota
	Ours
	Theirs
)

func (s Side) other() Side { return Ours + Theirs - s }

// Fields are parts of a string that are merged each by itself.
type Fields uint16

// The fields. Forms, State and Previous are one field of the merge, FieldText.
const (
	// FieldPresence: whether the string is there, obsolete ("#~"), or not there.
	FieldPresence Fields = 1 << iota
	// FieldSource: the msgctxt and msgid of a reworded string; msgid_plural.
	FieldSource
	FieldForms
	// FieldState: fuzzy or not, of a string with a text.
	FieldState
	// FieldPrevious: the "#|" lines.
	FieldPrevious
	// FieldComments: the translator's comments.
	FieldComments
	FieldExtracted
	FieldReferences
	// FieldFlags: the flags without fuzzy.
	FieldFlags

	FieldText = FieldForms | FieldState | FieldPrevious
	allFields = FieldFlags<<1 - 1
)

// Outcome is what becomes of a string.
type Outcome uint8

// The outcomes.
const (
	// Unchanged: both sides have what the base has.
	Unchanged Outcome = iota
	// FromOurs and FromTheirs: one side changed, added or removed the string.
	FromOurs
	FromTheirs
	// Same: both sides made the same change.
	Same
	// Combined: both sides changed it, and each field could be decided.
	Combined
	// Moved: one side reworded the source, and got the other's new text as fuzzy.
	Moved
	// Kept: one side removed or reworded the string, and the other's text is kept as obsolete.
	Kept
	// Conflict: both sides changed the same text differently (or Plural-Forms of the header).
	Conflict
)

// Row is one string of the three files, and what becomes of it.
type Row struct {
	// Entry is the string's entry in each file, nil where it is not there. A side that
	// reworded it has another msgid than the base.
	Entry [3]*poparse.Entry
	// Header says that it is the header of the files.
	Header bool
	// Changed are the fields in which Ours and Theirs differ from the base: all fields, for a
	// string that the base has not.
	Changed [3]Fields
	// Reworded is the side that reworded the string, Base if none did; Similarity tells how
	// similar both sources are, up to 1.
	Reworded   Side
	Similarity float64
	// Outcome is what becomes of the string.
	Outcome Outcome

	verdict
	at [3]int32 // 1 + index in entries of the table, 0 for nil
}

// Options say how files are merged. The zero value writes conflicts.
type Options struct {
	// Favor decides conflicts.
	Favor Favor
	// MarkerSize is the length of conflict markers; 0: 7, as git has it.
	MarkerSize int
	// Comparisons bounds the search for similar strings, as those of msgmerge; 0:
	// DefaultComparisons, about a second.
	Comparisons int
}

// DefaultComparisons are those of the zero Options.
const DefaultComparisons = 10_000_000

// maxBytes bounds each file.
const maxBytes = 64 << 20

// Favor says what becomes of a conflict.
type Favor string

// The values of --favor.
const (
	FavorNone   Favor = ""
	FavorOurs   Favor = "ours"
	FavorTheirs Favor = "theirs"
	// FavorFuzzy keeps our text, fuzzy, with theirs in a translator comment.
	FavorFuzzy Favor = "fuzzy"
)

// Table has the strings of three files.
type Table struct {
	// Rows are in the order of the base, then of ours and theirs that it has not. A repeated
	// string has a row for each time.
	Rows []Row
	// Stopped says that Options.Comparisons were used up: some reworded strings are a removed
	// and an added one.
	Stopped bool

	Options
	files    [3]*poparse.File
	entries  [3][]*poparse.Entry // headers among them
	rows     [3][]int32          // the row of each entry
	template Side                // whose template is newer
	texts    map[string]bool     // of the base, see known
}

// key identifies a string within a domain.
type key struct {
	domain, context, id string
	hasContext          bool
}

// NewTable compares three files. The difference of two files is the table of (old, old, new):
// a base that is the same File as one of the sides costs nothing. Nil is the empty file.
func NewTable(base, ours, theirs *poparse.File, o Options) *Table {
	t := &Table{Options: o, files: [3]*poparse.File{base, ours, theirs}}
	none := &poparse.File{}
	for v, f := range t.files {
		if f == nil {
			t.files[v] = none
		}
		t.entries[v] = entriesOf(t.files[v])
	}
	t.fill()
	return t
}

// entriesOf lists the headers of a file and its entries.
func entriesOf(f *poparse.File) []*poparse.Entry {
	list := make([]*poparse.Entry, 0, 1+len(f.OtherHeaders)+len(f.Entries))
	if f.Header != nil {
		list = append(list, f.Header)
	}
	return append(append(list, f.OtherHeaders...), f.Entries...)
}

// fill makes and decides the rows.
func (t *Table) fill() {
	if t.Comparisons == 0 {
		t.Comparisons = DefaultComparisons
	}
	t.match()
	if t.files[Ours] != t.files[Theirs] {
		t.pair(Theirs)
		if t.files[Base] != t.files[Ours] {
			t.pair(Ours)
		}
	}
	t.template = newer(t.files[Ours].Field("POT-Creation-Date"), t.files[Theirs].Field("POT-Creation-Date"))
	for i := range t.Rows {
		t.decide(&t.Rows[i])
	}
	t.misnumbered()
}

// match makes a row of the entries with the same key: live ones with live ones, in their
// order, and obsolete ones so, too; but the first of a file is matched as it is.
func (t *Table) match() {
	index := make(map[key]int32, len(t.entries[Base])+16)
	t.Rows = make([]Row, 0, len(t.entries[Ours])+16)
	var more [3][]int32 // entries that are not the first of their key
	for v := range t.entries {
		t.rows[v] = make([]int32, len(t.entries[v]))
		if v > 0 && t.files[v] == t.files[Base] {
			copy(t.rows[v], t.rows[Base])
			for i := range t.entries[v] {
				r := &t.Rows[t.rows[v][i]]
				r.Entry[v], r.at[v] = r.Entry[Base], r.at[Base]
			}
			more[v] = more[Base]
			continue
		}
		for i, e := range t.entries[v] {
			k := key{e.Domain, e.Context, e.ID, e.HasContext}
			n, ok := index[k]
			if !ok {
				n = int32(len(t.Rows))
				index[k] = n
				t.Rows = append(t.Rows, Row{Header: isHeader(e)})
			}
			r := &t.Rows[n]
			if r.Entry[v] != nil && (!r.Entry[v].Obsolete || e.Obsolete) {
				more[v] = append(more[v], int32(i))
				continue
			}
			if was := r.at[v]; was > 0 { // an obsolete one, before a live one
				more[v] = append(more[v], was-1)
			}
			t.put(n, Side(v), int32(i))
		}
	}
	type again struct {
		key
		obsolete, header bool
		n                int
	}
	others := map[again]int32{}
	for v := range more {
		seen := map[again]int{}
		for _, i := range more[v] {
			e := t.entries[v][i]
			k := again{key: key{e.Domain, e.Context, e.ID, e.HasContext}, obsolete: e.Obsolete, header: isHeader(e)}
			seen[k]++
			k.n = seen[k]
			n, ok := others[k]
			if !ok {
				n = int32(len(t.Rows))
				others[k] = n
				t.Rows = append(t.Rows, Row{})
			}
			t.put(n, Side(v), i)
		}
	}
}

func isHeader(e *poparse.Entry) bool { return e.ID == "" && !e.HasContext && !e.Obsolete }

// put makes an entry that of a row.
func (t *Table) put(row int32, v Side, i int32) {
	t.Rows[row].Entry[v], t.Rows[row].at[v] = t.entries[v][i], i+1
	t.rows[v][i] = row
}

// live reports whether an entry is there and not obsolete.
func live(e *poparse.Entry) bool { return e != nil && !e.Obsolete }

// pair finds the strings that a side reworded: one that went, and a similar one that came. It
// is similar if a fuzzy text says so ("#|"), or if no other one is nearly as similar.
func (t *Table) pair(v Side) {
	var gone, came []int32
	wanted := t.files[Base] == t.files[v.other()]
	for i := range t.Rows {
		r := &t.Rows[i]
		switch {
		case r.Header:
		case live(r.Entry[Base]) && live(r.Entry[v.other()]) && !live(r.Entry[v]) && !r.Entry[Base].Duplicate:
			gone = append(gone, int32(i))
			wanted = wanted || changed(r.Entry[Base], r.Entry[v.other()])&(FieldText|FieldComments) != 0
		case r.Entry[Base] == nil && r.Entry[v.other()] == nil && live(r.Entry[v]) && !r.Entry[v].Duplicate:
			came = append(came, int32(i))
		}
	}
	if !wanted || len(gone)*len(came) == 0 {
		return
	}
	drop := map[int32]bool{}
	for _, p := range t.reworded(v, gone, came) {
		r, n := &t.Rows[p.gone], &t.Rows[p.came]
		e, was, at := n.Entry[v], r.at[v], n.at[v]
		if mine := r.Entry[v.other()]; was > 0 && changed(r.Entry[Base], mine)&(FieldText|FieldSource) != 0 {
			text := TextOf(e)
			if moves := text.Empty() || text.Fuzzy && text.same(TextOf(r.Entry[Base])); !moves || mine.HasPlural && !e.HasPlural {
				continue // the obsolete one takes the text
			}
		}
		t.put(p.gone, v, at-1)
		r.Reworded, r.Similarity = v, p.similarity
		if n.Entry[v], n.at[v] = nil, 0; was > 0 {
			t.put(p.came, v, was-1)
		} else {
			drop[p.came] = true
		}
	}
	t.compact(drop)
}

// compact removes rows.
func (t *Table) compact(drop map[int32]bool) {
	if len(drop) == 0 {
		return
	}
	now, kept := make([]int32, len(t.Rows)), t.Rows[:0]
	for i := range t.Rows {
		now[i] = int32(len(kept))
		if !drop[int32(i)] {
			kept = append(kept, t.Rows[i])
		}
	}
	t.Rows = kept
	for v := range t.rows {
		for i, n := range t.rows[v] {
			t.rows[v][i] = now[n]
		}
	}
}

// pairing is a string that went and one that came, as rows.
type pairing struct {
	gone, came         int32
	similarity, weight float64
}

const (
	// clear is how much more similar than all others a string must be; a string of the same
	// context is so much more similar.
	clear = 0.05
	// said is what the "#|" lines of a string add.
	said = 2
)

// reworded returns the pairs of which each is clearly the most similar to the other.
func (t *Table) reworded(v Side, gone, came []int32) []pairing {
	list := t.similar(v, gone, came)
	// best has the best two weights of each row.
	best := map[int32][2]float64{}
	for _, p := range list {
		for _, n := range []int32{p.gone, p.came} {
			b := best[n]
			if p.weight > b[0] {
				b[0], b[1] = p.weight, b[0]
			} else {
				b[1] = max(b[1], p.weight)
			}
			best[n] = b
		}
	}
	return slices.DeleteFunc(list, func(p pairing) bool { return p.weight-clear < max(best[p.gone][1], best[p.came][1]) })
}

// similar lists the pairs of similar strings.
func (t *Table) similar(v Side, gone, came []int32) (list []pairing) {
	ids := func(rows []int32, v Side) (list []string) {
		for _, n := range rows {
			list = append(list, t.Rows[n].Entry[v].ID)
		}
		return list
	}
	news, olds := ids(came, v), ids(gone, Base)
	found, stopped := msgmerge.Similar(news, olds, t.Comparisons)
	t.Stopped = t.Stopped || stopped
	byID := map[string][]int{}
	for i, id := range olds {
		byID[id] = append(byID[id], i)
	}
	for k, n := range came {
		e := t.Rows[n].Entry[v]
		if e.Previous != nil {
			similar := msgmerge.Similarity(e.ID)
			for _, i := range byID[e.Previous.ID] {
				if s := similar(olds[i]); s == 0 {
					found[k] = append(found[k], msgmerge.Match{Index: i, Similarity: s})
				}
			}
		}
		for _, m := range found[k] {
			p := pairing{gone[m.Index], n, m.Similarity, m.Similarity}
			was := t.Rows[p.gone].Entry[Base]
			if was.HasContext == e.HasContext && was.Context == e.Context {
				p.weight += clear
			}
			if e.Previous != nil && e.Previous.ID == was.ID && e.Previous.Context == was.Context {
				p.weight += said
			}
			list = append(list, p)
		}
	}
	return list
}
