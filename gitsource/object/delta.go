package object

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// errDelta says that a delta is malformed, or is for another base.
var errDelta = errors.New("delta is damaged")

// patch makes an object from its base and a delta (gitformat-pack(5), "Deltified
// representation"), in room if that is large enough. The caller has bounded the
// size that the delta claims (targetSize). go-git's PatchDelta writes to a growing
// buffer, which takes up to twice the size of the object.
func patch(room, base, delta []byte) ([]byte, error) {
	from, size, delta, ok := deltaSizes(delta)
	if !ok || from != int64(len(base)) {
		return nil, errDelta
	}
	out := room[:cap(room)]
	if int64(len(out)) < size {
		out = make([]byte, size)
	}
	out = out[:size]
	n := 0
	for i := 0; i < len(delta); {
		op := delta[i]
		i++
		piece := delta[i:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(piece) {
				return nil, errDelta
			}
			piece = piece[:op]
			i += int(op)
		} else {
			used, ok := 0, false
			if piece, used, ok = fromBase(base, op, piece); !ok {
				return nil, errDelta
			}
			i += used
		}
		if len(piece) > len(out)-n {
			return nil, errDelta
		}
		n += copy(out[n:], piece)
	}
	if n != len(out) {
		return nil, errDelta
	}
	return out, nil
}

// fromBase returns the piece of the base that an instruction copies, and the number of bytes
// of its arguments: of an offset of 32 bits and a length of 24, those that are not zero.
func fromBase(base []byte, op byte, args []byte) (piece []byte, used int, ok bool) {
	var both uint64
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if used == len(args) {
			return nil, 0, false
		}
		both |= uint64(args[used]) << (8 * i)
		used++
	}
	offset, n := both&math.MaxUint32, cmp.Or(both>>32, 0x10000)
	if offset+n > uint64(len(base)) {
		return nil, 0, false
	}
	return base[offset : offset+n], used, true
}

// deltaSizes reads the two sizes at the start of a delta: of its base, and of what it makes.
func deltaSizes(delta []byte) (from, to int64, rest []byte, ok bool) {
	var sizes [2]uint64
	for i := range sizes {
		n, used := binary.Uvarint(delta)
		if used <= 0 || n > math.MaxInt64 {
			return 0, 0, nil, false
		}
		sizes[i], delta = n, delta[used:]
	}
	return int64(sizes[0]), int64(sizes[1]), delta, true
}

const (
	// syncWindow is how far lines are looked for that are equal again.
	syncWindow = 32 << 10
	// syncLine is the least length of such a line: shorter ones are in many places.
	syncLine = 10

	maxCopy   = 1<<24 - 1
	maxInsert = 127
)

// difference returns a delta that makes target from base (gitformat-pack(5)), for versions
// of a text of which some lines changed: it runs once over both, and looks for lines that are
// equal again nearby, else for the longest common end.
func difference(base, target []byte) []byte {
	d := binary.AppendUvarint(nil, uint64(len(base)))
	d = binary.AppendUvarint(d, uint64(len(target)))
	for i, j := 0, 0; j < len(target); {
		n := commonPrefix(base[i:], target[j:])
		d = appendCopy(d, i, n)
		i, j = i+n, j+n
		skip, insert := resync(base[i:], target[j:])
		for part := range slices.Chunk(target[j:j+insert], maxInsert) {
			d = append(append(d, byte(len(part))), part...)
		}
		i, j = i+skip, j+insert
	}
	return d
}

// commonPrefix is the number of bytes that two texts have in common at their start.
func commonPrefix(a, b []byte) int {
	most := min(len(a), len(b))
	n := 0
	for step := 4096; n < most; {
		if size := min(step, most-n); bytes.Equal(a[n:n+size], b[n:n+size]) {
			n += size
			continue
		}
		if step == 1 {
			break
		}
		step = max(1, step/16)
	}
	return n
}

// resync returns how many bytes of two texts to pass so that the rest is equal for a while.
func resync(base, target []byte) (skip, insert int) {
	if len(base) == 0 || len(target) == 0 {
		return 0, len(target)
	}
	lines := map[string]int{}
	eachLine(base, func(at int, line []byte) bool {
		if _, twice := lines[string(line)]; twice {
			at = -1
		}
		lines[string(line)] = at
		return true
	})
	skip = -1
	eachLine(target, func(at int, line []byte) bool {
		if i, ok := lines[string(line)]; ok && i >= 0 {
			skip, insert = i, at
		}
		return skip < 0
	})
	if skip >= 0 {
		return skip, insert
	}
	n := 0 // bytes that they have in common at their ends
	for most := min(len(base), len(target)); n < most && base[len(base)-1-n] == target[len(target)-1-n]; n++ {
	}
	return len(base) - n, len(target) - n
}

// eachLine calls fn with the lines after the first one in the window, and where they begin.
func eachLine(text []byte, fn func(at int, line []byte) bool) {
	at := bytes.IndexByte(text, '\n') + 1
	for more := at > 0; more && at < syncWindow && at < len(text); {
		n := bytes.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			return
		}
		if n >= syncLine && !fn(at, text[at:at+n]) {
			return
		}
		at += n
	}
}

// appendCopy appends instructions that copy from the base.
func appendCopy(d []byte, from, n int) []byte {
	for n > 0 {
		size := min(n, maxCopy)
		op := len(d)
		d = append(d, 0x80)
		for k := range 4 {
			if b := byte(from >> (8 * k)); b != 0 {
				d[op] |= 1 << k
				d = append(d, b)
			}
		}
		for k := range 3 {
			if b := byte(size >> (8 * k)); b != 0 {
				d[op] |= 0x10 << k
				d = append(d, b)
			}
		}
		from, n = from+size, n-size
	}
	return d
}
