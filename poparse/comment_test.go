package poparse

import (
	"strings"
	"testing"
)

// TestTooMany reads more empty comments than a file of that size can have.
func TestTooMany(t *testing.T) {
	const bound = 1 << 16
	data := strings.Repeat("#\n", 2*bound) + "msgid \"a\"\nmsgstr \"b\"\n"
	f, err := Parse("x.po", []byte(data))
	must(t, err)
	if got, want := len(f.Entries[0].Comments), bound+len(data)/32; got != want {
		t.Errorf("%d comments kept, want %d", got, want)
	}
	if len(f.Warnings) != 1 || f.Warnings[0].Code != WarnTooMany {
		t.Errorf("warnings %v, want one %s", f.Warnings, WarnTooMany)
	}
}
