// Package export writes the strings of a translation in the formats that translators exchange:
// PO, MO, CSV, XLIFF, TMX and XLSX (docs/compatibility.md#files-and-exports).
//
// Goals: one writer per format, a pure function of a [Head] and a sequence of units: the same
// strings give the same bytes; a string can never break the file or become a formula or markup.
//
// Non-goals: it does not read a store, does not choose units and does not keep
// the layout of the file in the repository, which the API serves unchanged.
package export

import (
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/repoglot/repoglot/catalog"
)

// Head is the header of a file.
type Head struct {
	// Project and Component are slugs, Language is the code in URLs.
	Project, Component, Language string
	// ProjectName and LanguageName are for people, such as "Czech".
	ProjectName, LanguageName string
	// SourceLanguage is the code of the language of the sources.
	SourceLanguage string
	// PluralNumber counts plural forms, 1 or more; PluralFormula is in C ("n != 1").
	PluralNumber  int
	PluralFormula string
	// URL is the page of the translation.
	URL string
	// Filename is the path of the file in the repository; "" if it has none.
	Filename string
}

// Units are the strings in the order of the file. The sequence ends after an error.
type Units = iter.Seq2[*catalog.Unit, error]

// Format is a format that strings can be written in.
type Format struct {
	// Name is the value of the parameter format.
	Name string
	// MediaType is the Content-Type.
	MediaType string
	// Extension is the extension of the file name, without a dot.
	Extension string
	// Write writes a whole file. It returns the first error of w or of units.
	Write func(w io.Writer, head *Head, units Units) error
}

// Lookup finds a format by its name; ok is false for formats that PO files are not exported in.
func Lookup(name string) (f Format, ok bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{"po", "text/x-po; charset=utf-8", "po", writePO},
		{"mo", "application/x-gettext-catalog; charset=utf-8", "mo", writeMO},
		{"csv", "text/csv; charset=utf-8", "csv", writeCSV},
		{"xliff", "application/x-xliff+xml; charset=utf-8", "xlf", document{Version: "1.2"}.write("xliff")},
		{"xliff11", "application/x-xliff+xml; charset=utf-8", "xlf", document{Version: "1.1"}.write("xliff")},
		{"tmx", "application/x-tmx; charset=utf-8", "tmx", document{}.write("tmx")},
		{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet; charset=utf-8", "xlsx", writeXLSX},
	}
}

// pair is a form of a unit.
type pair struct {
	*catalog.Unit
	ID, Source, Target string
}

// pairs returns source and target of each form of a unit: one without plurals, others as many
// as the language has forms: the first one has the singular of the source, others the plural.
func pairs(head *Head, u *catalog.Unit) []pair {
	sources := catalog.SplitForms(u.Source)
	targets := catalog.TargetForms(u.Source, u.Target, head.PluralNumber)
	if len(sources) == 1 {
		return []pair{{u, strconv.FormatInt(u.ID, 10), u.Source, targets[0]}}
	}
	all := make([]pair, len(targets))
	for i, target := range targets {
		all[i] = pair{u, fmt.Sprintf("%d[%d]", u.ID, i), sources[min(i, len(sources)-1)], target}
	}
	return all
}
