package derive

import (
	"bytes"
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

// folder has the changes below a directory.
type folder struct {
	files   map[string]File
	folders map[string]*folder
}

func newFolder() *folder { return &folder{map[string]File{}, map[string]*folder{}} }

// add files a change under its path.
func (f *folder) add(file File) error {
	parts := strings.Split(file.Path, "/")
	if len(parts) > object.MaxDepth {
		return &PathError{file.Path, "it is too deep"}
	}
	for i, name := range parts {
		if !harmless(name) {
			return &PathError{file.Path, ""}
		}
		_, isFile := f.files[name]
		next := f.folders[name]
		if i == len(parts)-1 {
			if isFile || next != nil {
				return &PathError{file.Path, "it is named twice"}
			}
			f.files[name] = file
			return nil
		}
		if isFile {
			return &PathError{file.Path, "it leads through a file"}
		}
		if next == nil {
			next = newFolder()
			f.folders[name] = next
		}
		f = next
	}
	return nil
}

// first is a path of the changes, the same one each time.
func (f *folder) first() string {
	if len(f.files) > 0 {
		return f.files[slices.Min(slices.Collect(maps.Keys(f.files)))].Path
	}
	return f.folders[slices.Min(slices.Collect(maps.Keys(f.folders)))].first()
}

// harmless reports whether a name means nothing else: git refuses ".git" in any spelling
// (CVE-2014-9390), "." and "..".
func harmless(name string) bool {
	seen := strings.Map(func(r rune) rune { // as HFS+ does
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	seen = strings.TrimRight(seen, ". ") // as NTFS does
	stream, _, _ := strings.Cut(seen, ":")
	return name != "" && name != "." && name != ".." && stream != ".git" && stream != "git~1" && !strings.ContainsAny(name, "\\\x00")
}

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

func (e entry) isFile() bool   { return strings.HasPrefix(e.mode, "100") }
func (e entry) isFolder() bool { return strings.TrimLeft(e.mode, "0") == "40000" }

const (
	modeFile   = "100644"
	modeFolder = "40000"
)

// tree returns the directory with changes, the zero hash for an empty one.
func (c *Chain) tree(ctx context.Context, id object.Hash, f *folder) (object.Hash, error) {
	if err := ctx.Err(); err != nil {
		return object.Hash{}, err
	}
	var entries []entry
	base := object.Base{Hash: id}
	if !id.IsZero() {
		var err error
		if base.Data, err = c.rawTree(id); err != nil {
			return object.Hash{}, err
		}
		if entries, err = parseTree(base.Data); err != nil {
			return object.Hash{}, fmt.Errorf("directory %s: %w", id, err)
		}
	}
	before := len(entries)
	changed := false
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		more, err := c.file(&entries, f.files[name], name)
		if err != nil {
			return object.Hash{}, err
		}
		changed = changed || more
	}
	for _, name := range slices.Sorted(maps.Keys(f.folders)) {
		more, err := c.folder(ctx, &entries, f.folders[name], name)
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

// rawTree returns a directory as git stores it.
func (c *Chain) rawTree(id object.Hash) ([]byte, error) {
	if data, ok := c.trees[id]; ok {
		return data, nil
	}
	return c.store.RawTree(id)
}

func (c *Chain) writeTree(data []byte, base object.Base) (object.Hash, error) {
	id, err := c.added.Tree(data, base)
	if _, ok := c.trees[id]; !ok {
		c.trees[id], c.size = data, c.size+len(data)
	}
	return id, err
}

// file makes a change of a file among the entries of its directory, and reports whether
// it is one.
func (c *Chain) file(entries *[]entry, f File, name string) (bool, error) {
	i := slices.IndexFunc(*entries, func(e entry) bool { return e.name == name })
	switch {
	case i >= 0 && !(*entries)[i].isFile():
		return false, &PathError{f.Path, "it is no file"}
	case i < 0 && !f.Remove && !plain(name):
		return false, &PathError{f.Path, ""}
	}
	if f.Remove {
		if i >= 0 {
			*entries = slices.Delete(*entries, i, i+1)
		}
		return i >= 0, nil
	}
	id, err := f.Blob, error(nil)
	if id.IsZero() {
		id, err = c.added.Blob(f.Data, c.last[f.Path])
	}
	if err != nil {
		return false, err
	}
	c.last[f.Path] = object.Base{Hash: id, Data: f.Data}
	if i < 0 {
		*entries = append(*entries, entry{modeFile, name, id})
		return true, nil
	}
	changed := (*entries)[i].id != id
	(*entries)[i].id = id
	return changed, nil
}

// folder does the same with a directory.
func (c *Chain) folder(ctx context.Context, entries *[]entry, f *folder, name string) (bool, error) {
	i := slices.IndexFunc(*entries, func(e entry) bool { return e.name == name })
	var was object.Hash
	if i >= 0 {
		if !(*entries)[i].isFolder() {
			return false, &PathError{f.first(), strconv.Quote(name) + " is no directory"}
		}
		was = (*entries)[i].id
	}
	id, err := c.tree(ctx, was, f)
	switch {
	case err != nil || id == was:
		return false, err
	case i < 0 && !plain(name):
		return false, &PathError{f.first(), ""}
	case id.IsZero():
		*entries = slices.Delete(*entries, i, i+1)
	case i < 0:
		*entries = append(*entries, entry{modeFolder, name, id})
	default:
		(*entries)[i].id = id
	}
	return true, nil
}

// parseTree reads a tree: mode, blank, name, NUL and id of each entry.
func parseTree(data []byte) ([]entry, error) {
	var list []entry
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, after, named := bytes.Cut(rest, []byte{0})
		if !ok || !named || len(after) < len(object.Hash{}) {
			return nil, object.ErrCorrupt
		}
		list = append(list, entry{string(mode), string(name), object.Hash(after[:len(object.Hash{})])})
		data = after[len(object.Hash{}):]
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
