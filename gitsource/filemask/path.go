package filemask

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPath bounds the bytes of a path.
const maxPath = 4096

// MaxWalked bounds the bytes of a path in a walk. A path of more than 4096 bytes is
// refused and reported; a path of more than MaxWalked bytes is not even listed.
const MaxWalked = 4 * maxPath

// ErrUnsafePath says that [CheckPath] refuses a path.
var ErrUnsafePath = errors.New("unsafe path")

// CheckPath refuses paths that could mean something else to a later reader: absolute
// paths, parts that are empty, "." or "..", backslashes, control characters, bytes
// that are not UTF-8, more than 4096 bytes. The error wraps ErrUnsafePath and says
// why.
func CheckPath(p string) error {
	if reason := unsafeReason(p); reason != "" {
		return fmt.Errorf("path %.200q: %w: %s", p, ErrUnsafePath, reason)
	}
	return nil
}

// unsafeReason returns why a path is refused; "" if it is not.
func unsafeReason(p string) string {
	switch {
	case p == "":
		return "it is empty"
	case len(p) > maxPath:
		return "it is longer than 4096 bytes"
	case !utf8.ValidString(p):
		return "it is not UTF-8"
	case strings.HasPrefix(p, "/"):
		return "it is absolute"
	case holdsHidden(p):
		return `the bytes shown as \xNN are none that a path should hold`
	case strings.Contains(p, `\`):
		return "it holds a backslash"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "it holds a control character"
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Sprintf("it has a part %q", part)
		}
	}
	return ""
}

// holdsHidden reports whether a path has bytes that package object wrote as \xNN.
func holdsHidden(p string) bool {
	for i := 0; ; i += 2 {
		next := strings.Index(p[i:], `\x`)
		if next < 0 || len(p) < i+next+4 {
			return false
		}
		i += next
		if strings.Trim(p[i+2:i+4], "0123456789abcdef") == "" {
			return true
		}
	}
}
