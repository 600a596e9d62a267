package check

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
)

// directory is the sum over the files that lie directly in a folder.
type directory struct {
	// Directory is the folder's path.
	Directory string
	// Files is the number of files summed up.
	Files int
	// Counts is the sum.
	Counts Counts
}

// percent of the messages is translated, rounded down; 100 if there are none.
func (d directory) percent() int {
	all := d.Counts.Translated + d.Counts.Fuzzy + d.Counts.Untranslated
	if all == 0 {
		return 100
	}
	return int(int64(d.Counts.Translated) * 100 / int64(all))
}

// stats sums up files by folder, templates left out: their messages are not
// meant to be translated where they stand.
type stats struct {
	directories map[string]directory
	total       directory
}

func newStats() *stats { return &stats{directories: map[string]directory{}} }

func (s *stats) add(r Result) {
	if r.Template || !r.Parsed {
		return
	}
	name := r.File
	if name != StdinName {
		name = filepath.Dir(name)
	}
	d := s.directories[name]
	d.Directory = name
	d.Files++
	d.Counts.add(r.Counts)
	s.directories[name] = d
	s.total.Files++
	s.total.Counts.add(r.Counts)
}

// sorted returns the folders by name.
func (s *stats) sorted() []directory {
	return slices.SortedFunc(maps.Values(s.directories), func(a, b directory) int {
		return cmp.Compare(a.Directory, b.Directory)
	})
}
