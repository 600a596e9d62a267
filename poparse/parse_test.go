package poparse

import (
	"errors"
	"testing"
)

func TestParseErrorIsSyntaxError(t *testing.T) {
	f, err := Parse("x.po", []byte("msgid \"a\"\n\nmsgid \"b\"\nmsgstr \"\"\n"))
	var se *SyntaxError
	if f != nil || !errors.As(err, &se) {
		t.Fatalf("Parse = %v, %v; want nil, *SyntaxError", f, err)
	}
	if got, want := se.Error(), "x.po:1:1: the entry has no msgstr before msgid on line 3"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
