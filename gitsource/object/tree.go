package object

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// Kind says what a tree entry is, by its mode.
type Kind uint8

// The kinds of tree entries.

const (
	KindOther Kind = iota // a submodule, or a mode that git does not write
	KindFile              // a file, executable or not
	KindLink              // a symlink
	KindTree              // a directory
)

// MaxDepth bounds how deep directories are read; the deepest real trees have some 30 levels.
const MaxDepth = 100

// Entry is one line of a git tree. The zero value is an absent entry.
type Entry struct {
	// Name of the file or directory, as safeName writes it.
	Name string
	// Hash of the object.
	Hash Hash
	// Kind of the object.
	Kind Kind
}

// Of returns the entry's id if the entry is of kind k, otherwise zero.
func (e Entry) Of(k Kind) Hash {
	if e.Kind == k {
		return e.Hash
	}
	return Hash{}
}

// CutEntry splits the first entry off a tree as git stores it: its mode, a blank, its name, NUL
// and its id. It is false for one that is cut.
func CutEntry(data []byte) (mode, name []byte, id Hash, rest []byte, ok bool) {
	space, end := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
	if space < 0 || end < space || len(data) < end+1+len(id) {
		return nil, nil, id, nil, false
	}
	rest = data[end+1:]
	return data[:space], data[space+1 : end], Hash(rest[:len(id)]), rest[len(id):], true
}

// parseTree decodes a tree, sorted by name as of [safeName]; of equal names the first stays.
func parseTree(data []byte) ([]Entry, error) {
	var list []Entry
	for len(data) > 0 {
		mode, name, id, rest, ok := CutEntry(data)
		if !ok || len(mode) < 1 || len(mode) > 7 {
			return nil, fmt.Errorf("tree entry %d is cut or malformed: %w", len(list), ErrCorrupt)
		}
		list, data = append(list, Entry{safeName(name), id, kindOf(mode)}), rest
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Entry) bool { return a.Name == b.Name }), nil
}

func kindOf(mode []byte) Kind {
	switch string(bytes.TrimLeft(mode, "0")) {
	case "100644", "100755", "100664", "100600":
		return KindFile
	case "120000":
		return KindLink
	case "40000":
		return KindTree
	}
	return KindOther
}

// safeName returns an entry's name. Parts that could mean something else to a
// later reader ("..", a slash, ".git", a backslash, control characters, bytes that
// are not UTF-8) are written \xNN. Because of the backslash, filemask.CheckPath
// refuses the name, so the file is reported and never read.
func safeName(name []byte) string {
	s := string(name)
	if plainName(s) {
		return s
	}
	if s == "" {
		return `\x00`
	}
	var b strings.Builder
	hidden := s == "." || s == ".." || strings.EqualFold(s, ".git")
	for i, r := range s {
		n := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			n = 1
		}
		if hidden || r == utf8.RuneError && n == 1 || r == '/' || r == '\\' || unicode.IsControl(r) {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
			continue
		}
		b.WriteString(s[i : i+n])
	}
	return b.String()
}

// plainName reports whether a name needs no escape, like nearly all names.
func plainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '/' || c == '\\' {
			odd := func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' }
			return utf8.ValidString(s) && !strings.ContainsFunc(s, odd)
		}
	}
	return s != "" && s != "." && s != ".." && !strings.EqualFold(s, ".git")
}

// treeCache keeps parsed trees: neighbouring commits share nearly all of them.
type treeCache struct {
	trees   map[Hash][]Entry
	entries int
}

// treeCacheEntries bounds the cache to some 20 MiB.
const treeCacheEntries = 200_000

// Tree reads a tree, sorted by name; the zero hash is an empty one. Do not write to the slice.
func (s *Store) Tree(h Hash) ([]Entry, error) {
	if h.IsZero() {
		return nil, nil
	}
	if list, ok := s.trees.trees[h]; ok {
		return list, nil
	}
	data, err := s.objects.read(h, plumbing.TreeObject, treeLimit)
	if err != nil {
		return nil, objectError("directory", h, err)
	}
	list, err := parseTree(data)
	if err != nil {
		return nil, objectError("directory", h, err)
	}
	if s.trees.trees == nil || s.trees.entries+len(list) > treeCacheEntries {
		s.trees = treeCache{trees: make(map[Hash][]Entry)}
	}
	s.trees.trees[h] = list
	s.trees.entries += len(list) + 1
	return list, nil
}

// RawTree returns a directory as git stores it, with all modes and the names that Tree escapes.
func (s *Store) RawTree(h Hash) ([]byte, error) {
	data, err := s.objects.read(h, plumbing.TreeObject, treeLimit)
	return data, objectError("directory", h, err)
}

// Lookup finds a name in a tree; false if the tree does not have it.
func Lookup(list []Entry, name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(e Entry, n string) int { return strings.Compare(e.Name, n) })
	if !ok {
		return Entry{}, false
	}
	return list[i], true
}

// File is one entry of a commit's tree.
type File struct {
	// Path from the root of the repository, with slashes. Bytes that a path should
	// not hold are written \xNN; filemask.CheckPath refuses such a path.
	Path string
	// Blob is the id of the contents.
	Blob Hash
}

// lfsPrefix begins every pointer file (git-lfs specification, version 1).
const lfsPrefix = "version https://git-lfs.github.com/spec/v1\n"

// IsLFSPointer reports whether a file only points to Git LFS: it is reported, not parsed.
func IsLFSPointer(data []byte) bool {
	return len(data) < 1024 && bytes.HasPrefix(data, []byte(lfsPrefix)) && bytes.Contains(data, []byte("\noid sha256:"))
}

// ErrHarmful: an object that a remote sends may harm those who clone it from here.
var ErrHarmful = errors.New("harmful object")

// checkTree refuses a tree with a name that git fsck calls an error when it receives
// objects: one that leads elsewhere, or into the directory .git. A tree that is cut only
// has its whole entries checked: no reader takes it.
func checkTree(h Hash, data []byte) error {
	for {
		_, name, _, rest, ok := CutEntry(data)
		if !ok {
			return nil
		}
		if fault := NameFault(string(name)); fault != "" {
			return fmt.Errorf("%w: tree %s: %s", ErrHarmful, h, fault)
		}
		data = rest
	}
}

// NameFault is what is wrong with the name of an entry of a tree, in git's words, or "".
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
