package object

import "errors"

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
	out := room[:0]
	if int64(cap(out)) < size {
		out = make([]byte, 0, size)
	}
	for len(delta) > 0 {
		var piece []byte
		if piece, delta, ok = deltaPiece(base, delta); !ok || int64(len(out)+len(piece)) > size {
			return nil, errDelta
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, errDelta
	}
	return out, nil
}

// deltaPiece reads one instruction: bytes to copy from the base or from the delta
// itself.
func deltaPiece(base, delta []byte) (piece, rest []byte, ok bool) {
	op := delta[0]
	delta = delta[1:]
	if op&0x80 == 0 {
		n := int(op)
		if n == 0 || n > len(delta) {
			return nil, nil, false
		}
		return delta[:n], delta[n:], true
	}
	var arg [7]byte
	for i := range arg {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		arg[i], delta = delta[0], delta[1:]
	}
	offset := uint64(arg[0]) | uint64(arg[1])<<8 | uint64(arg[2])<<16 | uint64(arg[3])<<24
	n := uint64(arg[4]) | uint64(arg[5])<<8 | uint64(arg[6])<<16
	if n == 0 {
		n = 0x10000
	}
	if offset+n > uint64(len(base)) {
		return nil, nil, false
	}
	return base[offset : offset+n], delta, true
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
