package gitsource

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// kind is what a tree entry is, from its mode.
type kind uint8

const (
	kindOther kind = iota // submodules and modes that git does not write
	kindFile
	kindLink
	kindTree
)

// treeEntry is one line of a git tree.
type treeEntry struct {
	name string
	hash Hash
	kind kind
}

// parseTree decodes a tree. Entries come sorted by name, as [safeName] writes
// it; a second one of the same name is dropped.
func parseTree(data []byte) ([]treeEntry, error) {
	var list []treeEntry
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		end := bytes.IndexByte(data, 0)
		if space < 1 || space > 7 || end < space || len(data) < end+1+len(Hash{}) {
			return nil, fmt.Errorf("tree entry %d is cut or malformed: %w", len(list), ErrCorrupt)
		}
		e := treeEntry{name: safeName(data[space+1 : end]), kind: kindOf(data[:space])}
		copy(e.hash[:], data[end+1:])
		data = data[end+1+len(e.hash):]
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b treeEntry) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(list, func(a, b treeEntry) bool { return a.name == b.name }), nil
}

func kindOf(mode []byte) kind {
	switch string(bytes.TrimLeft(mode, "0")) {
	case "100644", "100755", "100664", "100600":
		return kindFile
	case "120000":
		return kindLink
	case "40000":
		return kindTree
	}
	return kindOther
}

// safeName is an entry's name. In one that could mean something else to
// whatever reads it later ("..", a slash, ".git", a backslash, control
// characters, bytes that are not UTF-8) these are written \xNN. With its
// backslash [CheckPath] refuses it, so that it is reported, and read by nobody.
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

// plainName reports a name that is as good as nearly all are.
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
	trees   map[Hash][]treeEntry
	entries int
}

// treeCacheEntries bounds the cache to some 20 MiB.
const treeCacheEntries = 200_000

// tree reads a tree; the zero hash is the empty one.
func (r *Reader) tree(h Hash) ([]treeEntry, error) {
	if h.IsZero() {
		return nil, nil
	}
	if list, ok := r.trees.trees[h]; ok {
		return list, nil
	}
	data, err := r.objects.read(h, plumbing.TreeObject, treeLimit)
	if err != nil {
		return nil, objectError("directory", h, err)
	}
	list, err := parseTree(data)
	if err != nil {
		return nil, objectError("directory", h, err)
	}
	if r.trees.trees == nil || r.trees.entries+len(list) > treeCacheEntries {
		r.trees = treeCache{trees: make(map[Hash][]treeEntry)}
	}
	r.trees.trees[h] = list
	r.trees.entries += len(list) + 1
	return list, nil
}

// lookup finds a name in a parsed tree.
func lookup(list []treeEntry, name string) (treeEntry, bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(e treeEntry, n string) int { return strings.Compare(e.name, n) })
	if !ok {
		return treeEntry{}, false
	}
	return list[i], true
}
