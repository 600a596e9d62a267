package object

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// Hash is the SHA-1 id of a git object. The zero value means "absent".
type Hash [20]byte

// ParseHash reads 40 hexadecimal digits of either case.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*len(h) {
		return Hash{}, fmt.Errorf("git id %.80q: want 40 hexadecimal digits, have %d characters", s, len(s))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("git id %q: not hexadecimal", s)
	}
	return h, nil
}

// String is the id as 40 lowercase hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h means "absent".
func (h Hash) IsZero() bool { return h == Hash{} }

// Compare orders ids by their bytes: -1, 0 or +1.
func (h Hash) Compare(other Hash) int { return bytes.Compare(h[:], other[:]) }
