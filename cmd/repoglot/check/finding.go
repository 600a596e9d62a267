package check

import (
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
	File string `json:"file"`
	// Line and Column are 1-based; Column counts characters. A finding about the
	// whole file is at 1:1.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Severity is the severity of the Code.
	Severity Severity `json:"severity"`
	// Code is stable; docs/check.md and [Rules] explain it.
	Code string `json:"code"`
	// Message describes the problem and the remedy, unescaped.
	Message string `json:"message"`
}

// Counts are the numbers of msgfmt --statistics: the live messages of the served
// domain, without the header (docs/po.md#domains).
type Counts struct {
	// Translated messages have a msgstr (in a plural: a msgstr[0]) and no fuzzy
	// flag.
	Translated int `json:"translated"`
	// Fuzzy messages have a msgstr and the fuzzy flag.
	Fuzzy int `json:"fuzzy"`
	// Untranslated messages have no msgstr, fuzzy or not.
	Untranslated int `json:"untranslated"`
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

// sum adds up files: those of a folder or a language, or all.
type sum struct {
	// Directory is the folder's path, "" for others.
	Directory string `json:"directory,omitempty"`
	// Files is the number of files summed up.
	Files int `json:"files"`
	Counts
}

// percent is the translated share of the messages, rounded down; 100 without
// messages.
func (s sum) percent() int {
	all := s.Translated + s.Fuzzy + s.Untranslated
	if all == 0 {
		return 100
	}
	return int(int64(s.Translated) * 100 / int64(all))
}

// sums has the sum of each folder or language, by name.
type sums map[string]sum

func (s sums) add(name string, c Counts) {
	of := s[name]
	of.Files++
	of.Translated += c.Translated
	of.Fuzzy += c.Fuzzy
	of.Untranslated += c.Untranslated
	s[name] = of
}

// stats adds up files by folder, without templates, whose messages are translated
// elsewhere.
type stats struct{ directories, total sums }

func newStats(wanted bool) *stats {
	if !wanted {
		return nil
	}
	return &stats{sums{}, sums{}}
}

func (s *stats) add(r Result) {
	if r.Template || !r.Parsed {
		return
	}
	name := r.File
	if name != StdinName {
		name = filepath.Dir(name)
	}
	s.directories.add(name, r.Counts)
	s.total.add("", r.Counts)
}

// sorted returns the folders by name.
func (s *stats) sorted() []sum {
	list := []sum{}
	for _, name := range slices.Sorted(maps.Keys(s.directories)) {
		of := s.directories[name]
		of.Directory = name
		list = append(list, of)
	}
	return list
}
