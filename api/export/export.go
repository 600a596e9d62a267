// Package export writes the strings of a translation in the formats that
// translators exchange: PO, MO, CSV, XLIFF, TMX and XLSX (weblate-facts §6,
// File download).
//
// Goals: one writer per format, a pure function of a [Head] and a sequence of
// units, so that the same strings give the same bytes; nothing that a string
// contains can break the file or become a formula or markup in it.
//
// Non-goals: it reads nothing from a store, chooses no units and does not keep
// the look of the file in the repository, which is served as it is elsewhere.
package export

import (
	"io"
	"iter"

	"github.com/repoglot/repoglot/catalog"
)

// Head is what a file says about all of its strings.
type Head struct {
	// Project, Component and Language are slugs and the code of the URL.
	Project, Component, Language string
	// ProjectName and LanguageName are for people, such as "Czech".
	ProjectName, LanguageName string
	// SourceLanguage is the code of the language of the sources.
	SourceLanguage string
	// PluralNumber is the number of plural forms, at least 1, and
	// PluralFormula chooses one of them, in C ("n != 1").
	PluralNumber  int
	PluralFormula string
	// URL is the page of the translation.
	URL string
	// Filename is the path of the file in the repository; "" if it has none.
	Filename string
}

// Units are the strings in the order of the file. It ends after an error.
type Units = iter.Seq2[*catalog.Unit, error]

// Format is a format that strings can be written in.
type Format struct {
	// Name is the value of the parameter format.
	Name string
	// MediaType is the Content-Type.
	MediaType string
	// Extension is that of the offered file name, without a dot.
	Extension string
	// Write writes a whole file. It returns the first error of w or of units.
	Write func(w io.Writer, head *Head, units Units) error
}

// Lookup finds a format by its name (weblate-facts §6); ok is false for one that
// PO files are not exported in.
func Lookup(name string) (f Format, ok bool) {
	for _, f := range formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

func formats() []Format {
	return []Format{
		{"po", "text/x-po; charset=utf-8", "po", writePO},
		{"mo", "application/x-gettext-catalog; charset=utf-8", "mo", writeMO},
		{"csv", "text/csv; charset=utf-8", "csv", writeCSV},
		{"xliff", "application/x-xliff+xml; charset=utf-8", "xlf", writeXLIFF},
		{"xliff11", "application/x-xliff+xml; charset=utf-8", "xlf", writeXLIFF11},
		{"tmx", "application/x-tmx; charset=utf-8", "tmx", writeTMX},
		{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet; charset=utf-8", "xlsx", writeXLSX},
	}
}

// pairs are the forms of a unit: the source and the target of each. A unit
// without plurals has one pair, others as many as the language has forms; the
// first has the singular of the source, all others its plural.
func pairs(head *Head, u *catalog.Unit) [][2]string {
	sources := catalog.SplitForms(u.Source)
	targets := catalog.TargetForms(u.Source, u.Target, head.PluralNumber)
	all := make([][2]string, len(targets))
	for i, target := range targets {
		all[i] = [2]string{sources[min(i, len(sources)-1)], target}
	}
	return all
}
