package check

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
)

// Severity is the severity of a finding: [Error] or [Warning].
type Severity string

const (
	// Error: the file cannot be read.
	Error Severity = "error"
	// Warning: the file can be read, but something in it should be corrected.
	Warning Severity = "warning"
)

// A Finding is one problem of a file.
type Finding struct {
	// File is the path, unescaped; [StdinName] for the standard input.
	File string
	// Line and Column are 1-based; Column counts characters. A finding about the
	// whole file is at 1:1.
	Line, Column int
	// Severity is the severity of the Code.
	Severity Severity
	// Code is stable; docs/check.md and [Rules] explain it.
	Code string
	// Message describes the problem and the remedy, unescaped.
	Message string
}

// Counts are the numbers of msgfmt --statistics: the live messages of the served
// domain, without the header (docs/po.md#domains).
type Counts struct {
	// Translated messages have a msgstr (in a plural: a msgstr[0]) and no fuzzy
	// flag.
	Translated int
	// Fuzzy messages have a msgstr and the fuzzy flag.
	Fuzzy int
	// Untranslated messages have no msgstr, fuzzy or not.
	Untranslated int
}

// add adds other counts.
func (c *Counts) add(o Counts) {
	c.Translated += o.Translated
	c.Fuzzy += o.Fuzzy
	c.Untranslated += o.Untranslated
}

// A Result is the verdict on one file.
type Result struct {
	// File is the path as in [Finding.File].
	File string
	// Template says that the file is a template (.pot).
	Template bool
	// Parsed says that the file could be read.
	Parsed bool
	// Counts is zero unless Parsed.
	Counts Counts
	// Findings are sorted by line and column; nil without findings.
	Findings []Finding
}

// A Summary adds up results. Its zero value is ready to use.
type Summary struct {
	// Files is the number of files, unreadable ones included.
	Files int
	// Errors and Warnings are numbers of findings.
	Errors, Warnings int
}

// Add adds the verdict on one more file.
func (s *Summary) Add(r Result) {
	s.Files++
	for i := range r.Findings {
		if r.Findings[i].Severity == Error {
			s.Errors++
		} else {
			s.Warnings++
		}
	}
}

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
