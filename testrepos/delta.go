package testrepos

import "encoding/binary"

// maxCopy and maxInsert bound one instruction of a delta (gitformat-pack(5)).
const (
	maxCopy   = 0xffff
	maxInsert = 0x7f
	minCopy   = 12 // bytes for which a copy, of up to seven bytes, is worth it
)

// appendDelta appends a delta that makes the target of the base. Both are lists of
// segments, the paragraphs of a file; a segment that both have is copied, and of
// another one what it has in common with the segment in its place.
func appendDelta(b []byte, base, target []string) []byte {
	offsets, places := make(map[string]int, len(base)), make([]int, len(base)+1)
	for i, s := range base {
		offsets[s] = i
		places[i+1] = places[i] + len(s)
	}
	d := deltaWriter{out: binary.AppendUvarint(binary.AppendUvarint(b, uint64(places[len(base)])), uint64(size(target)))}
	next := 0 // the segment of the base after the last copied one
	for _, s := range target {
		if i, ok := offsets[s]; ok {
			d.copy(places[i], len(s))
			next = i + 1
			continue
		}
		if next >= len(base) {
			d.insert(s)
			continue
		}
		d.similar(s, base[next], places[next])
		next++
	}
	d.flush()
	return d.out
}

func size(segments []string) (n int) {
	for _, s := range segments {
		n += len(s)
	}
	return n
}

// deltaWriter joins instructions that continue each other.
type deltaWriter struct {
	out      []byte
	from, n  int    // the copy that was not written yet
	inserted []byte // what was not written yet
}

// similar writes a segment that may begin and end like one of the base.
func (d *deltaWriter) similar(s, other string, place int) {
	limit := min(len(s), len(other))
	prefix := 0
	for prefix < limit && s[prefix] == other[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < limit-prefix && s[len(s)-1-suffix] == other[len(other)-1-suffix] {
		suffix++
	}
	if prefix < minCopy {
		prefix = 0
	}
	if suffix < minCopy {
		suffix = 0
	}
	d.copy(place, prefix)
	d.insert(s[prefix : len(s)-suffix])
	d.copy(place+len(other)-suffix, suffix)
}

func (d *deltaWriter) copy(from, n int) {
	if n == 0 {
		return
	}
	if d.n > 0 && d.from+d.n == from && len(d.inserted) == 0 {
		d.n += n
		return
	}
	d.flush()
	d.from, d.n = from, n
}

func (d *deltaWriter) insert(s string) {
	if s != "" {
		d.flushCopy()
		d.inserted = append(d.inserted, s...)
	}
}

func (d *deltaWriter) flush() {
	d.flushCopy()
	for len(d.inserted) > 0 {
		n := min(len(d.inserted), maxInsert)
		d.out = append(append(d.out, byte(n)), d.inserted[:n]...)
		d.inserted = d.inserted[n:]
	}
}

func (d *deltaWriter) flushCopy() {
	for d.n > 0 {
		n := min(d.n, maxCopy)
		at := len(d.out)
		d.out = append(d.out, 0x80)
		for i, c := range binary.LittleEndian.AppendUint32(nil, uint32(d.from)) {
			if c != 0 {
				d.out[at] |= 1 << i
				d.out = append(d.out, c)
			}
		}
		for i, c := range []byte{byte(n), byte(n >> 8)} {
			if c != 0 {
				d.out[at] |= 0x10 << i
				d.out = append(d.out, c)
			}
		}
		d.from += n
		d.n -= n
	}
}
