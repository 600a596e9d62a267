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

// languagesReport lists the languages whose files are translated far enough,
// instead of findings.
type languagesReport struct {
	w      io.Writer
	table  *lang.Table
	min    int // percent
	json   bool
	counts sums
}

// NewLanguagesReport returns a report that lists the languages of which at least
// percent % of the messages are translated, 0 to 100: one code a line, as in a
// LINGUAS file (gettext manual, section "po/LINGUAS"), or with FormatJSON one array
// of objects. A code is the name of a file, or of the folder above it or above
// LC_MESSAGES, whichever names a language. Files without a language, templates and
// files with errors are left out. The error names a wrong option.
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
	code := l.code(r.File)
	if r.Template || !r.Parsed || code == "" {
		return nil
	}
	l.counts.add(code, r.Counts)
	return nil
}

// code is the part of a path that names a language, as it is written there.
func (l *languagesReport) code(file string) string {
	for _, name := range pathLanguages(file) {
		if _, ok := l.table.Lookup(name); ok && name != "" {
			return name
		}
	}
	return ""
}

// pathLanguages returns the parts of a file's path that may name its language, the
// likeliest first: its name, what its name has before a dot, the folder above
// LC_MESSAGES or above it.
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
