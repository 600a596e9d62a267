package object

import (
	"bufio"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// Tracked lists the files, without symlinks and submodules, in the index of a work tree
// (gitformat-index(5)), which gitDir has. The error wraps fs.ErrNotExist if it has none.
func Tracked(gitDir string) (list []string, err error) {
	f, err := openIn(gitDir, "index")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var i gitindex.Index
	if err := gitindex.NewDecoder(bufio.NewReader(f)).Decode(&i); err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	for _, e := range i.Entries {
		if n := len(list); e.Mode != filemode.Symlink && e.Mode != filemode.Submodule && (n == 0 || list[n-1] != e.Name) {
			list = append(list, e.Name)
		}
	}
	return list, nil
}

// maxTags bounds the tags that name each other.
const maxTags = 8

// Peel returns the commit that an annotated tag names, or the id itself if it is no tag's.
func (s *Store) Peel(h Hash) (Hash, error) {
	for range maxTags {
		if !s.Has(h) {
			return h, fmt.Errorf("%s: %w", h, ErrUnknownObject)
		}
		kind, data, err := s.objects.readAny(h, commitLimit)
		if err != nil || kind != plumbing.TagObject {
			return h, err
		}
		var id string
		if _, err := fmt.Sscanf(string(data[:min(len(data), 48)]), "object %40s", &id); err != nil {
			return h, fmt.Errorf("tag %s: %w", h, ErrCorrupt)
		}
		if h, err = ParseHash(id); err != nil {
			return h, fmt.Errorf("tag %s: %w", h, ErrCorrupt)
		}
	}
	return h, fmt.Errorf("tag %s: %w", h, ErrCorrupt)
}
