package unit

import (
	"container/list"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// versions are the last versions of files that a Reader has read, to read the next
// ones by what differs.
type versions struct {
	bytes, bound int // of the files
	files        map[versionKey]*list.Element
	recent       *list.List // of *version, the last used first
	spare        []madeUnit // of a version that was replaced, cleared
}

// versionKey is what a File is made of besides the bytes.
type versionKey struct {
	name  string
	rules Rules
}

// version is a version of a file: what its units are made of. It takes a quarter of
// their memory, and the users of the units may have that back.
type version struct {
	versionKey
	po    *poparse.Version
	bytes int
	units []madeUnit // for each entry
	texts int        // bytes that the next version may copy
	plain bool       // File.Plain
}

// madeUnit has what a unit was made of. Its zero value is an entry that is no unit.
type madeUnit struct {
	string           *cachedString
	meta             *hashedMetadata
	target, location string
	text, term       int64 // the fingerprint; the part of the outline without the position
	state            catalog.State
	single           bool
}

// unit makes the unit, which was zero.
func (m *madeUnit) unit(u *Unit, position int) {
	s := m.string
	u.Source, u.Context, u.Identity, u.Words, u.Chars = s.source, s.context, s.identity, s.words, s.chars
	u.Target, u.Location, u.State, u.Position, u.Text, u.Single = m.target, m.location, m.state, position, m.text, m.single
	m.meta.share(&u.Unit)
	u.TranslatorBytes, u.Priority, u.Meta = m.meta.translatorBytes, m.meta.priority, m.meta.meta
}

func newVersions(bound int) *versions {
	return &versions{bound: bound, files: make(map[versionKey]*list.Element), recent: list.New()}
}

// before returns the version of a file that was read last, or nil.
func (v *versions) before(key versionKey) *version {
	e, ok := v.files[key]
	if !ok {
		return nil
	}
	v.recent.MoveToFront(e)
	return e.Value.(*version)
}

// keep makes a version the last one of its file.
func (v *versions) keep(last *version) {
	v.forget(last.versionKey)
	v.files[last.versionKey] = v.recent.PushFront(last)
	v.bytes += last.bytes
	for v.bytes > v.bound {
		v.forget(v.recent.Back().Value.(*version).versionKey)
	}
}

func (v *versions) forget(key versionKey) {
	if e, ok := v.files[key]; ok {
		v.bytes -= v.recent.Remove(e).(*version).bytes
		delete(v.files, key)
	}
}

// replace is keep for the next version of before, whose memory is used again.
func (v *versions) replace(before, next *version) {
	v.keep(next)
	clear(before.units) // their strings
	v.spare, before.units = before.units[:0], nil
}

// made returns n zero madeUnits.
func (v *versions) made(n int) []madeUnit {
	made := v.spare
	v.spare = nil
	if cap(made) < n || cap(made) > 2*n+64 {
		return make([]madeUnit, n, n+n/8)
	}
	return made[:n]
}

// readVersion is Read for a Reader with versions.
func (r *Reader) readVersion(name string, data []byte, rules Rules) (*File, error) {
	key := versionKey{name, rules}
	if before := r.versions.before(key); before != nil {
		if u := r.parser.NextVersion(name, data, before.po); u != nil {
			if f := r.update(u, before, data); f != nil {
				return f, nil
			}
		}
	}
	r.versions.forget(key)
	po, tracked, err := r.parser.ParseVersion(name, data)
	if err != nil {
		return nil, err
	}
	if tracked == nil || len(po.Entries) > stringCacheSize {
		return r.convert(po, data, rules), nil
	}
	r.made = make([]madeUnit, 0, len(po.Entries))
	f, ok := r.tryConvert(po, data, rules, false)
	made := r.made
	if r.made = nil; !ok || f.Repeated > 0 {
		return r.convert(po, data, rules), nil
	}
	v := &version{versionKey: key, po: tracked, bytes: len(data), units: make([]madeUnit, len(po.Entries)), plain: f.Plain}
	d := detacher{ends: make([]int, 0, 2*len(f.Units))}
	for i := range f.Units {
		d.add(f.Units[i].Target)
		d.add(f.Units[i].Location)
	}
	n := 0
	for i, e := range po.Entries {
		if counts(po, e) {
			u := &f.Units[n]
			u.Target, u.Location = d.next(), d.next()
			v.units[i] = made[n]
			v.units[i].target, v.units[i].location = u.Target, u.Location
			n++
		}
	}
	r.versions.keep(v)
	return f, nil
}

// update makes units of a version of a file: those that differ from the version
// before, and copies of the others. It returns nil if the file must be read as a
// whole.
func (r *Reader) update(u *poparse.Update, before *version, data []byte) *File {
	c := converter{rules: &before.rules, strings: r.strings, file: &File{Data: data, Detached: true}, made: make([]madeUnit, 0, 1)}
	c.strings.begin(len(u.Entries))
	out := c.file
	out.Units = r.pool.get(len(u.Entries))
	out.Plural, out.HasPlural = u.File.PluralForms()
	v := &version{versionKey: before.versionKey, po: u.Version, bytes: len(data), units: r.versions.made(len(u.Entries))}
	d := detacher{ends: make([]int, 0, len(u.Entries))}
	d.text.Grow(before.texts)
	for i := range u.Entries {
		e, m := &u.Entries[i], &v.units[i]
		if e.Entry == nil {
			if *m = before.units[e.Before]; m.string == nil {
				continue
			}
			if e.Moved {
				m.term -= catalog.Sum(m.location)
				m.location = location(e.References)
				m.term += catalog.Sum(m.location)
				d.add(m.location)
			}
			c.position++
			n := len(out.Units)
			out.Units = out.Units[:n+1]
			m.unit(&out.Units[n], c.position)
			out.Outline = outline(out.Outline, m.term, c.position)
			continue
		}
		if !counts(u.File, e.Entry) {
			continue
		}
		c.made = c.made[:0]
		if c.add(e.Entry); c.ambiguous || out.Repeated > 0 {
			r.pool.Put(out)
			return nil
		}
		*m = c.made[0]
		d.add(m.target)
		d.add(m.location)
	}
	// NextVersion has seen to the rest of what plain asks for.
	v.plain = before.plain && (len(u.Entries) == 0 || u.Entries[0].Line > u.File.Header.Line) && u.Items < plainItems(len(data))
	out.Plain = v.plain
	v.texts = d.text.Len() // as much as the last one is a good guess
	n := 0
	for i := range v.units {
		m, e := &v.units[i], &u.Entries[i]
		if m.string == nil {
			continue
		}
		if e.Entry != nil {
			m.target = d.next()
			out.Units[n].Target = m.target
		}
		if e.Entry != nil || e.Moved {
			m.location = d.next()
			out.Units[n].Location = m.location
		}
		n++
	}
	r.versions.replace(before, v)
	return out
}

// detacher copies strings into one, so that they keep no file's text in memory.
// First all are added, then they are taken in the same order.
type detacher struct {
	text  strings.Builder
	ends  []int
	taken int
}

func (d *detacher) add(s string) {
	d.text.WriteString(s)
	d.ends = append(d.ends, d.text.Len())
}

func (d *detacher) next() string {
	from := 0
	if d.taken > 0 {
		from = d.ends[d.taken-1]
	}
	d.taken++
	return d.text.String()[from:d.ends[d.taken-1]]
}
