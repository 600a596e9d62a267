package derive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
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
		return fmt.Errorf("%q: %w: it is too deep", file.Path, ErrPath)
	}
	for i, name := range parts {
		if !plainName(name) {
			return fmt.Errorf("%q: %w", file.Path, ErrPath)
		}
		_, isFile := f.files[name]
		next := f.folders[name]
		if i == len(parts)-1 {
			if isFile || next != nil {
				return fmt.Errorf("%q: %w: it is named twice", file.Path, ErrPath)
			}
			f.files[name] = file
			return nil
		}
		if isFile {
			return fmt.Errorf("%q: %w: it leads through a file", file.Path, ErrPath)
		}
		if next == nil {
			next = newFolder()
			f.folders[name] = next
		}
		f = next
	}
	return nil
}

// plainName reports whether a name can be checked out everywhere and means nothing
// else: git refuses ".git" in any spelling (CVE-2014-9390), "." and "..".
func plainName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "\\:") {
		return false
	}
	lower := strings.TrimRight(strings.ToLower(name), ". ")
	return lower != ".git" && lower != "git~1" && !strings.ContainsFunc(name, func(r rune) bool {
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

// writer writes the objects of a commit.
type writer struct {
	store  *object.Store
	gitDir string
}

// tree returns the directory with changes, the zero hash for an empty one.
func (w *writer) tree(ctx context.Context, id object.Hash, f *folder, path string) (object.Hash, error) {
	if err := ctx.Err(); err != nil {
		return object.Hash{}, err
	}
	var entries []entry
	if !id.IsZero() {
		data, err := w.store.RawTree(id)
		if err != nil {
			return object.Hash{}, err
		}
		if entries, err = parseTree(data); err != nil {
			return object.Hash{}, fmt.Errorf("directory %s: %w", id, err)
		}
	}
	before := len(entries)
	changed := false
	for _, name := range sortedKeys(f.files) {
		more, err := w.file(&entries, f.files[name], name)
		if err != nil {
			return object.Hash{}, fmt.Errorf("%q: %w", f.files[name].Path, err)
		}
		changed = changed || more
	}
	for _, name := range sortedKeys(f.folders) {
		more, err := w.folder(ctx, &entries, f.folders[name], name, path+name+"/")
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
	return object.WriteTree(w.gitDir, encodeTree(entries))
}

// file makes a change of a file among the entries of its directory, and reports whether
// it is one.
func (w *writer) file(entries *[]entry, f File, name string) (bool, error) {
	i := slices.IndexFunc(*entries, func(e entry) bool { return e.name == name })
	if i >= 0 && !(*entries)[i].isFile() {
		return false, fmt.Errorf("%w: it is no file", ErrPath)
	}
	if f.Remove {
		if i >= 0 {
			*entries = slices.Delete(*entries, i, i+1)
		}
		return i >= 0, nil
	}
	id, err := object.WriteBlob(w.gitDir, f.Data)
	if err != nil {
		return false, err
	}
	if i < 0 {
		*entries = append(*entries, entry{modeFile, name, id})
		return true, nil
	}
	changed := (*entries)[i].id != id
	(*entries)[i].id = id
	return changed, nil
}

// folder does the same with a directory.
func (w *writer) folder(ctx context.Context, entries *[]entry, f *folder, name, path string) (bool, error) {
	i := slices.IndexFunc(*entries, func(e entry) bool { return e.name == name })
	var was object.Hash
	if i >= 0 {
		if !(*entries)[i].isFolder() {
			return false, fmt.Errorf("%q: %w: it is no directory", strings.TrimSuffix(path, "/"), ErrPath)
		}
		was = (*entries)[i].id
	}
	id, err := w.tree(ctx, was, f, path)
	switch {
	case err != nil || id == was:
		return false, err
	case id.IsZero():
		*entries = slices.Delete(*entries, i, i+1)
	case i < 0:
		*entries = append(*entries, entry{modeFolder, name, id})
	default:
		(*entries)[i].id = id
	}
	return true, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
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

// encodeTree writes a tree in git's order: as if the names of directories ended with a
// slash.
func encodeTree(list []entry) []byte {
	key := func(e entry) string {
		if e.isFolder() {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, e := range list {
		b.WriteString(e.mode + " " + e.name + "\x00")
		b.Write(e.id[:])
	}
	return b.Bytes()
}
