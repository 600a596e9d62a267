package check

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
)

// directory is the sum over the files directly in a folder.
type directory struct {
	// Directory is the folder's path.
	Directory string
	// Files is the number of files summed up.
	Files int
	// Counts is the sum.
	Counts Counts
}

// percent is the translated share of the messages, rounded down; 100 without
// messages.
func (d directory) percent() int {
	all := d.Counts.Translated + d.Counts.Fuzzy + d.Counts.Untranslated
	if all == 0 {
		return 100
	}
	return int(int64(d.Counts.Translated) * 100 / int64(all))
}

// stats adds up files by folder, without templates, whose messages are translated
// elsewhere.
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
