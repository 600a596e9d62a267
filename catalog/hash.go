package catalog

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/dchest/siphash"
)

// The keys of SipHash-2-4 as two little-endian halves of 16 ASCII bytes.
const (
	weblateKey0, weblateKey1 = 0x206574616c626557, 0x6873614820706953 // "Weblate Sip Hash", Weblate's key
	ownKey0, ownKey1         = 0x746f6c676f706572, 0x79656b2070697320 // "repoglot sip key", never leaves the server
)

// Identity identifies a string within a translation. Context and source identify a
// unit; Identity has 128 bits of two keyed hashes of them. Hash alone is not unique:
// it has no separator, so ("Open", "menu") and ("Openm", "enu") share it.
type Identity struct {
	// Hash is the id_hash and content_hash of the API, which are the same in
	// bilingual formats: SipHash-2-4 of source (forms joined by FormSeparator) and
	// context without a separator, minus 2^63 (docs/compatibility.md#hashes).
	Hash int64
	// Key is our own hash of the same text, with a separator between its parts.
	Key int64
}

// Checksum returns the id_hash as a unit's web_url has it: the unsigned hash in
// lower-case hexadecimal without padding.
func Checksum(idHash int64) string { return string(AppendChecksum(nil, idHash)) }

// AppendChecksum appends the result of Checksum to b.
func AppendChecksum(b []byte, idHash int64) []byte {
	return strconv.AppendUint(b, uint64(idHash)^(1<<63), 16)
}

// ParseChecksum reads a checksum, with or without padding. ok is false if s is not
// one.
func ParseChecksum(s string) (idHash int64, ok bool) {
	u, err := strconv.ParseUint(s, 16, 64)
	return int64(u ^ (1 << 63)), err == nil
}

// Hasher computes the hashes of many strings with one buffer. The zero value is
// ready to use; goroutines must not share it.
type Hasher struct{ buf []byte }

// Identity returns the identity of a source (forms joined) and its context.
func (h *Hasher) Identity(source, context string) Identity {
	h.buf = binary.AppendUvarint(h.buf[:0], uint64(len(source)))
	text := len(h.buf)
	h.buf = append(append(h.buf, source...), context...)
	return Identity{
		Hash: int64(siphash.Hash(weblateKey0, weblateKey1, h.buf[text:]) ^ (1 << 63)),
		Key:  int64(siphash.Hash(ownKey0, ownKey1, h.buf)),
	}
}

// Text returns a fingerprint of target and state. If it differs, a change entry is
// made.
func (h *Hasher) Text(target string, state State) int64 {
	h.buf = binary.AppendUvarint(h.buf[:0], uint64(state))
	h.buf = append(h.buf, TrimForms(target)...)
	return int64(siphash.Hash(ownKey0, ownKey1, h.buf))
}

// Target hashes a target, whatever the state.
func (h *Hasher) Target(target string) int64 {
	h.buf = append(h.buf[:0], TrimForms(target)...)
	return int64(siphash.Hash(ownKey0, ownKey1, h.buf))
}

// Meta returns a fingerprint of a unit's fields other than its text and its position.
// If it differs, the unit is stored and no change entry is made.
func (h *Hasher) Meta(parts ...string) int64 {
	h.buf = h.buf[:0]
	for _, p := range parts {
		h.buf = binary.AppendUvarint(h.buf, uint64(len(p)))
		h.buf = append(h.buf, p...)
	}
	return int64(siphash.Hash(ownKey0, ownKey1, h.buf))
}

// Sum returns a fingerprint of a text in a third of the time of the other hashes. It
// has no secret key and never changes: use it only where an attacker gains nothing
// from a collision.
func Sum(text string) int64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93 // odd, half of their bits set
	sum := uint64(len(text)) * k1
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] {
		sum = mulFold(sum^Load8(rest), k0)
	}
	var last uint64
	for i := range len(rest) {
		last |= uint64(rest[i]) << (8 * i)
	}
	return int64(mulFold(sum^last, k1))
}

// mulFold multiplies and adds the halves of the product.
func mulFold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high + low
}
