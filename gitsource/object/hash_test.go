package object

import (
	"strings"
	"testing"
)

func TestParseHash(t *testing.T) {
	id := "0123456789abcdef0123456789ABCDEF01234567"
	h, err := ParseHash(id)
	if err != nil || h.String() != strings.ToLower(id) || h.IsZero() || h.Compare(Hash{}) != 1 {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"", "01", id + "0", strings.Repeat("g", 40), strings.Repeat("0", 64)} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
