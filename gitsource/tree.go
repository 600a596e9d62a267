package gitsource

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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

// parseTree decodes a tree. Entries come sorted by name; those whose name
// would leave the directory or hide another ("..", a slash, a second one of
// the same name) are dropped, as git fsck would report them.
func parseTree(data []byte) ([]treeEntry, error) {
	var list []treeEntry
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		end := bytes.IndexByte(data, 0)
		if space < 1 || space > 7 || end < space || len(data) < end+1+len(Hash{}) {
			return nil, fmt.Errorf("tree entry %d is cut or malformed: %w", len(list), ErrCorrupt)
		}
		e := treeEntry{name: string(data[space+1 : end]), kind: kindOf(data[:space])}
		copy(e.hash[:], data[end+1:])
		data = data[end+1+len(e.hash):]
		if saneEntry(e.name) {
			list = append(list, e)
		}
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

func saneEntry(name string) bool {
	return name != "" && name != "." && name != ".." && strings.IndexByte(name, '/') < 0 && !strings.EqualFold(name, ".git")
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
