package stored

import "encoding/binary"

// Reader reads numbers and bytes; Bad is set when the input ends early.
type Reader struct {
	B   []byte
	Bad bool
}

// Uvarint reads a number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	return skip(r, v, n)
}

func (r *Reader) varint() int64 {
	v, n := binary.Varint(r.B)
	return skip(r, v, n)
}

func skip[T uint64 | int64](r *Reader, v T, n int) T {
	if n <= 0 {
		r.Bad, r.B = true, nil
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.B)) {
		r.Bad, r.B = true, nil
		return nil
	}
	out := r.B[:n]
	r.B = r.B[n:]
	return out
}
