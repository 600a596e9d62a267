package derive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/gitsource/object"
)

// plain reports whether a name that is new can be checked out everywhere.
func plain(name string) bool {
	return len(name) <= 255 && utf8.ValidString(name) && !strings.Contains(name, ":") && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
}

// entry is an entry of a tree as git stores it.
type entry struct {
	mode, name string
	id         object.Hash
}

func (e entry) isFolder() bool { return strings.TrimLeft(e.mode, "0") == "40000" }

const (
	modeFile   = "100644"
	modeFolder = "40000"
)

// tree returns the directory with changes, the zero hash for an empty one. The paths of the
// changes are in it from an index on.
func (c *Chain) tree(ctx context.Context, id object.Hash, from int, files []File) (object.Hash, error) {
	if err := ctx.Err(); err != nil {
		return object.Hash{}, err
	}
	var entries []entry
	base := object.Base{Hash: id}
	if !id.IsZero() {
		var err error
		if base.Data = c.trees[id]; base.Data == nil {
			base.Data, err = c.store.RawTree(id)
		}
		if err != nil {
			return object.Hash{}, err
		}
		if entries, err = parseTree(base.Data); err != nil {
			return object.Hash{}, fmt.Errorf("directory %s: %w", id, err)
		}
	}
	below := map[string][]File{}
	for _, f := range files {
		name, _, _ := strings.Cut(f.Path[from:], "/")
		below[name] = append(below[name], f)
	}
	before := len(entries)
	changed := false
	for _, name := range slices.Sorted(maps.Keys(below)) {
		more, err := c.change(ctx, &entries, name, from, below[name])
		if err != nil {
			return object.Hash{}, err
		}
		changed = changed || more
	}
	switch {
	case !changed:
		return id, nil
	case len(entries) == 0 && (before > 0 || id.IsZero()):
		return object.Hash{}, nil
	}
	return c.writeTree(encodeTree(entries), base)
}

// change makes the changes of a name among the entries of a directory, and reports whether any.
func (c *Chain) change(ctx context.Context, entries *[]entry, name string, from int, files []File) (bool, error) {
	path := files[0].Path
	at := slices.IndexFunc(*entries, func(e entry) bool { return e.name == name })
	var was, id object.Hash
	if at >= 0 {
		was = (*entries)[at].id
	}
	var err error
	mode, isFile := modeFolder, slices.ContainsFunc(files, func(f File) bool { return f.Path[from:] == name })
	switch {
	case name == "" || strings.ContainsAny(name, "\\\x00") || object.NameFault(name) != "":
		return false, &PathError{path, ""}
	case isFile && len(files) > 1:
		return false, &PathError{path, "it is named twice, or another path leads through it"}
	case isFile && at >= 0 && !strings.HasPrefix((*entries)[at].mode, "100"):
		return false, &PathError{path, "it is no file"}
	case isFile:
		mode = modeFile
		id, err = c.blob(&files[0])
	case at >= 0 && !(*entries)[at].isFolder():
		return false, &PathError{path, strconv.Quote(name) + " is no directory"}
	default:
		id, err = c.tree(ctx, was, from+len(name)+1, files)
	}
	switch {
	case err != nil || id == was:
		return false, err
	case at < 0 && !plain(name):
		return false, &PathError{path, ""}
	case id.IsZero():
		*entries = slices.Delete(*entries, at, at+1)
	case at < 0:
		*entries = append(*entries, entry{mode, name, id})
	default:
		(*entries)[at].id = id
	}
	return true, nil
}

// blob returns the contents of a file, the zero hash if it is removed.
func (c *Chain) blob(f *File) (id object.Hash, err error) {
	if f.Remove {
		return id, nil
	}
	if id = f.Blob; id.IsZero() {
		id, err = c.Add(f.Path, f.Data)
	}
	if err == nil {
		c.last[f.Path] = object.Base{Hash: id, Data: f.Data}
	}
	return id, err
}

// Add writes the contents that a path has in the next commit, so that they need not be held.
func (c *Chain) Add(path string, data []byte) (object.Hash, error) {
	return c.added.Blob(data, c.last[path])
}

func (c *Chain) writeTree(data []byte, base object.Base) (object.Hash, error) {
	id, err := c.added.Tree(data, base)
	if _, ok := c.trees[id]; !ok {
		c.trees[id], c.size = data, c.size+len(data)
	}
	return id, err
}

// parseTree reads a tree.
func parseTree(data []byte) ([]entry, error) {
	var list []entry
	for len(data) > 0 {
		mode, name, id, rest, ok := object.CutEntry(data)
		if !ok {
			return nil, object.ErrCorrupt
		}
		list, data = append(list, entry{string(mode), string(name), id}), rest
	}
	return list, nil
}

// encodeTree writes a tree in git's order.
func encodeTree(list []entry) []byte {
	size := 0
	for i := range list {
		size += len(list[i].mode) + len(list[i].name) + 2 + len(object.Hash{})
	}
	slices.SortStableFunc(list, func(a, b entry) int { return strings.Compare(a.sortedAs(), b.sortedAs()) })
	b := make([]byte, 0, size)
	for i := range list {
		e := &list[i]
		b = append(append(append(append(b, e.mode...), ' '), e.name...), 0)
		b = append(b, e.id[:]...)
	}
	return b
}

// sortedAs is the name as git sorts it: those of directories as if they ended with a slash.
func (e *entry) sortedAs() string {
	if e.isFolder() {
		return e.name + "/"
	}
	return e.name
}
