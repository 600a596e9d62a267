package object

import (
	"bytes"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
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
		if fault := nameFault(data[space+1 : end]); fault != "" {
			return fmt.Errorf("%w: tree %s: %s", ErrHarmful, h, fault)
		}
		data = data[end+1+len(Hash{}):]
	}
	return nil
}

// nameFault is what is wrong with the name of an entry, in git's words; "" is nothing.
func nameFault(name []byte) string {
	switch {
	case bytes.IndexByte(name, '/') >= 0:
		return "fullPathname: contains full pathnames"
	case string(name) == ".":
		return "hasDot: contains '.'"
	case string(name) == "..":
		return "hasDotdot: contains '..'"
	}
	isGit := hfsDotGit(name)
	for rest, more := name, true; more && !isGit; _, rest, more = bytes.Cut(rest, []byte{'\\'}) {
		isGit = ntfsDotGit(rest)
	}
	if isGit {
		return "hasDotgit: contains '.git'"
	}
	return ""
}

// ntfsDotGit reports whether Windows may take a name for .git: in either case, by its
// short name, with blanks, dots or a stream after it.
func ntfsDotGit(name []byte) bool {
	for _, git := range []string{".git", "git~1"} {
		if len(name) < len(git) || !bytes.EqualFold(name[:len(git)], []byte(git)) {
			continue
		}
		rest := bytes.TrimLeft(name[len(git):], ". ")
		return len(rest) == 0 || rest[0] == '\\' || rest[0] == ':'
	}
	return false
}

// hfsDotGit reports whether macOS may take a name for .git: in either case, with
// characters between that it ignores.
func hfsDotGit(name []byte) bool {
	const git = ".git"
	at := 0
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		if r == utf8.RuneError && n == 1 {
			break // git takes it for the end
		}
		name = name[n:]
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			continue
		case at == len(git), r > 'z', unicode.ToLower(r) != rune(git[at]):
			return false
		}
		at++
	}
	return at == len(git)
}
