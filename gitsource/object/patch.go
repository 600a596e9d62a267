package object

import (
	"errors"
)

// errDelta says that a delta is malformed, or is for another base.
var errDelta = errors.New("delta is damaged")

// patch makes an object from its base and a delta (gitformat-pack(5), "Deltified
// representation"), in room if that is large enough. The caller has bounded the
// size that the delta claims (targetSize). go-git's PatchDelta writes to a growing
// buffer, which takes up to twice the size of the object.
func patch(room, base, delta []byte) ([]byte, error) {
	from, delta, ok := deltaSize(delta)
	if !ok || from != int64(len(base)) {
		return nil, errDelta
	}
	size, delta, ok := deltaSize(delta)
	if !ok {
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

// fromBase returns the piece of the base that an instruction copies, and the number
// of bytes of its arguments.
func fromBase(base []byte, op byte, args []byte) (piece []byte, used int, ok bool) {
	var offset, n uint64
	for shift := 0; shift < 32; shift += 8 {
		if op&1 != 0 {
			if used == len(args) {
				return nil, 0, false
			}
			offset |= uint64(args[used]) << shift
			used++
		}
		op >>= 1
	}
	for shift := 0; shift < 24; shift += 8 {
		if op&1 != 0 {
			if used == len(args) {
				return nil, 0, false
			}
			n |= uint64(args[used]) << shift
			used++
		}
		op >>= 1
	}
	if n == 0 {
		n = 0x10000
	}
	if offset+n > uint64(len(base)) {
		return nil, 0, false
	}
	return base[offset : offset+n], used, true
}

// deltaSize reads one of the two sizes at the start of a delta.
func deltaSize(delta []byte) (size int64, rest []byte, ok bool) {
	for shift := 0; len(delta) > 0 && shift <= 56; shift += 7 {
		b := delta[0]
		delta = delta[1:]
		size |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, delta, true
		}
	}
	return 0, nil, false
}
