package check

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog/lang"
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
	// Line and Column are 1-based, in characters. What is about the whole file is at 1:1.
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
	// Translated messages have a msgstr (in a plural: a msgstr[0]) and no fuzzy flag.
	Translated int `json:"translated"`
	// Fuzzy messages have a msgstr and the fuzzy flag.
	Fuzzy int `json:"fuzzy"`
	// Untranslated messages have no msgstr, fuzzy or not.
	Untranslated int `json:"untranslated"`
	// Missing messages are those of the template that the file lacks; 0 without a template.
	Missing int `json:"missing,omitempty"`
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
// messages. Missing ones count.
func (s sum) percent() int {
	all := s.Translated + s.Fuzzy + s.Untranslated + s.Missing
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
	of.Missing += c.Missing
	s[name] = of
}

// stats adds up files by folder, without templates, whose messages are translated elsewhere.
type stats struct{ directories, total sums }

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

// languagesReport lists, instead of findings, the languages translated far enough.
type languagesReport struct {
	w      io.Writer
	table  *lang.Table
	min    int // percent
	json   bool
	counts sums
}

// NewLanguagesReport returns a report that lists the languages of which at least percent % of
// the messages are translated, 0 to 100: one code a line, as in a LINGUAS file (gettext manual,
// section "po/LINGUAS"), or with FormatJSON one array of objects. A code is the name of a file,
// or of the folder above it or above LC_MESSAGES, whichever names a language. Files without a
// language, templates and files with errors are left out. The error names a wrong option.
func NewLanguagesReport(w io.Writer, format string, percent int) (Report, error) {
	if format != FormatText && format != FormatJSON {
		return nil, fmt.Errorf("--list-languages has no place in --format %s: write --format text or json", format)
	}
	if percent < 0 || percent > 100 {
		return nil, fmt.Errorf("--min-translated %d: write a number from 0 to 100", percent)
	}
	table, err := lang.New()
	if err != nil {
		return nil, fmt.Errorf("load the language table: %w", err)
	}
	return &languagesReport{w: w, table: table, min: percent, json: format == FormatJSON, counts: sums{}}, nil
}

func (l *languagesReport) File(r Result) error {
	_, code := firstLanguage(l.table, pathLanguages(r.File))
	if r.Template || !r.Parsed || code == "" {
		return nil
	}
	l.counts.add(code, r.Counts)
	return nil
}

// firstLanguage returns the first of some names that is of a language, and this; "" if none is.
func firstLanguage(table *lang.Table, names []string) (lang.Language, string) {
	for _, name := range names {
		if l, ok := table.Lookup(name); ok && name != "" {
			return l, name
		}
	}
	return lang.Language{}, ""
}

// pathLanguages returns the parts of a file's path that may name its language, the likeliest
// first: its name, what its name has before a dot, the folder above LC_MESSAGES or above it.
func pathLanguages(name string) []string {
	name = filepath.ToSlash(name)
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	before, _, _ := strings.Cut(stem, ".") // zh_CN.UTF-8.po
	dir, _, ok := strings.Cut(name, "/LC_MESSAGES/")
	if !ok {
		dir = path.Dir(name)
	}
	return []string{stem, before, path.Base(dir)}
}

func (l *languagesReport) Close() error {
	var b bytes.Buffer
	list := []jsonLanguage{}
	for _, code := range slices.Sorted(maps.Keys(l.counts)) {
		if d := l.counts[code]; d.percent() >= l.min {
			list = append(list, jsonLanguage{code, d.percent(), d.Files, d.Counts})
		}
	}
	if l.json {
		if err := appendJSON(&b, list); err != nil {
			return err
		}
		b.WriteByte('\n')
		return write(l.w, b.Bytes())
	}
	for i := range list {
		fmt.Fprintln(&b, Printable(list[i].Language))
	}
	return write(l.w, b.Bytes())
}

type jsonLanguage struct {
	Language string `json:"language"`
	Percent  int    `json:"percent"`
	Files    int    `json:"files"`
	Counts
}
