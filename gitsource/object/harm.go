package object

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// ErrHarmful: an object that a remote sends may harm those who clone it from here.
var ErrHarmful = errors.New("harmful object")

// checkTree refuses a tree with a name that git fsck calls an error when it receives
// objects: one that leads elsewhere, or into the directory .git. A tree that is cut only
// has its whole entries checked: no reader takes it.
func checkTree(h Hash, data []byte) error {
	for len(data) > 0 {
		space, end := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
		if space < 0 || end < space || len(data) < end+1+len(Hash{}) {
			return nil
		}
		if fault := NameFault(string(data[space+1 : end])); fault != "" {
			return fmt.Errorf("%w: tree %s: %s", ErrHarmful, h, fault)
		}
		data = data[end+1+len(Hash{}):]
	}
	return nil
}

// NameFault is what is wrong with the name of an entry of a tree, in git's words; "" is
// nothing.
func NameFault(name string) string {
	switch {
	case strings.Contains(name, "/"):
		return "fullPathname: contains full pathnames"
	case name == ".":
		return "hasDot: contains '.'"
	case name == "..":
		return "hasDotdot: contains '..'"
	case isDotGit(name):
		return "hasDotgit: contains '.git'"
	}
	return ""
}

// isDotGit reports whether a file system may take a name for .git, in either case: that of
// macOS with characters between that it ignores and up to bytes that are no text, that of
// Windows by its short name, behind a backslash, with blanks, dots or a stream after it.
func isDotGit(name string) bool {
	seen, _, _ := strings.Cut(strings.ToValidUTF8(name, "\x00"), "\x00")
	seen = strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, seen)
	if strings.EqualFold(seen, ".git") {
		return true
	}
	for part := range strings.SplitSeq(name, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(part, ". ")
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
}
