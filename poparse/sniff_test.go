package poparse

import (
	"strings"
	"testing"
)

func TestSniffBinary(t *testing.T) {
	for data, want := range map[string]string{
		"\xde\x12\x04\x95\x00\x00\x00\x00\x01\x00\x00\x00": "a compiled catalog",
		"\x7fELF\x02\x01\x01\x00":                          "a program",
		"\x1f\x8b\x08\x00":                                 "gzip",
		"\x89PNG\r\n\x1a\n\x00\x00":                        "PNG",
		"\x01\x02\x03\x04\x05":                             "a binary file",
	} {
		_, err := Parse("x.po", []byte(data))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", data, err, want)
		}
	}
}
