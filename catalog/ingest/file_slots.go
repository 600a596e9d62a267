package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// fileSlot is one translation of a commit: a file and its language.
type fileSlot struct {
	language string        // code in URLs (docs/compatibility.md#languages)
	fileCode string        // code in the file's name
	lang     lang.Language // for its plural rule
	path     string
	blob     object.Hash
}

// served returns the slot of the version that a translation serves, which differs
// from p while the file there cannot be parsed.
func (p *fileSlot) served(t *catalog.Translation) *fileSlot {
	s := *p
	if blob, err := object.ParseHash(t.Revision); err == nil {
		s.path, s.blob = t.Filename, blob
	}
	return &s
}

// fileSlots are all translations of a component at one commit.
type fileSlots struct {
	// source is the file of the source translation itself: the POT, or else a file
	// of the source language; nil without both
	// (docs/compatibility.md#source-translation).
	source *fileSlot
	// targets are the other translations, by path.
	targets []fileSlot
	// refused are files that the mask selects and that are not served.
	refused []refusal
}

// refusal says why a file that a mask selects is not served.
type refusal struct {
	path, reason string
}

// selection is how a component's settings select files and map them to languages.
type selection struct {
	mask    filemask.Mask
	rules   filemask.Rules
	newBase string
	source  lang.Language
	table   *lang.Table
}

// wants reports whether the component reads a path.
func (l *selection) wants(path string) bool {
	if path == l.newBase {
		return true
	}
	_, ok := l.code(path)
	return ok
}

// lists reports whether a path is the component's: the component reads it, or
// reports it.
func (l *selection) lists(path string) bool { return l.wants(path) || l.refuses(path) != "" }

// refuses says why a path that the mask selects is never read, for example a path
// with control characters. It returns "" for a path that is read or is not the
// component's.
func (l *selection) refuses(path string) string {
	if reason := l.mask.Refuses(path); reason != "" {
		return "not served: its name is unsafe, " + reason + "; rename the file"
	}
	if m, ok := l.mask.Select(path, l.rules); ok && len(m.Code) > maxCode {
		return "not served: its name has a language code of more than " + strconv.Itoa(maxCode) + " bytes; rename the file"
	}
	return ""
}

// maxCode bounds a language code in bytes. Weblate has 50 characters.
const maxCode = 100

// code returns the language code in a path.
func (l *selection) code(path string) (string, bool) {
	m, ok := l.mask.Select(path, l.rules)
	return m.Code, ok && len(m.Code) <= maxCode
}

// assign maps the files of a commit, sorted by path, to translations
// (docs/compatibility.md#languages, docs/compatibility.md#source-translation).
func (l *selection) assign(files []object.File) fileSlots {
	var p fileSlots
	byLanguage := make(map[string][]fileSlot)
	order := make([]string, 0, len(files))
	for _, f := range files {
		if f.Path == l.newBase {
			p.source = &fileSlot{language: l.source.Code, fileCode: l.source.Code, lang: l.source, path: f.Path, blob: f.Blob}
			continue
		}
		code, ok := l.code(f.Path)
		if !ok {
			if reason := l.refuses(f.Path); reason != "" {
				p.refused = append(p.refused, refusal{path: f.Path, reason: reason})
			}
			continue
		}
		matched := l.table.Match(code)
		if _, ok := byLanguage[matched.Code]; !ok {
			order = append(order, matched.Code)
		}
		byLanguage[matched.Code] = append(byLanguage[matched.Code],
			fileSlot{language: matched.Code, fileCode: code, lang: matched, path: f.Path, blob: f.Blob})
	}
	pot := p.source != nil
	taken := make(map[string]string, len(files)) // code in URLs → path
	if pot {
		l.refuseSource(&p, byLanguage[l.source.Code])
		order = slices.DeleteFunc(order, func(code string) bool { return code == l.source.Code })
	}
	for _, code := range order {
		winner := pick(byLanguage[code])
		taken[code] = winner.path
		if code == l.source.Code {
			p.source = &winner
			continue
		}
		p.targets = append(p.targets, winner)
	}
	for _, code := range order {
		winner := pick(byLanguage[code])
		l.variants(&p, byLanguage[code], winner, taken)
	}
	slices.SortFunc(p.targets, func(a, b fileSlot) int { return strings.Compare(a.path, b.path) })
	slices.SortFunc(p.refused, func(a, b refusal) int { return strings.Compare(a.path, b.path) })
	return p
}

// pick returns the file of a language: the file whose code is the language's,
// else the first by path.
func pick(files []fileSlot) fileSlot {
	for _, f := range files {
		if f.fileCode == f.language {
			return f
		}
	}
	return files[0]
}

// refuseSource reports the files of the source language that are not read because
// of a POT.
func (l *selection) refuseSource(p *fileSlots, files []fileSlot) {
	for _, f := range files {
		p.refused = append(p.refused, refusal{
			path: f.path,
			reason: "not served: the source translation is read from new_base " + l.newBase +
				"; exclude this file by language_regex or remove new_base",
		})
	}
}

// variants adds the other files of a language under the codes of their names.
func (l *selection) variants(p *fileSlots, files []fileSlot, winner fileSlot, taken map[string]string) {
	for _, f := range files {
		if f.path == winner.path {
			continue
		}
		if other, ok := taken[f.fileCode]; ok {
			p.refused = append(p.refused, refusal{
				path:   f.path,
				reason: "not served: language " + f.fileCode + " is already read from " + other + "; narrow the filemask",
			})
			continue
		}
		f.lang = l.table.Variant(f.fileCode, f.lang)
		f.language = f.fileCode
		taken[f.fileCode] = f.path
		p.targets = append(p.targets, f)
	}
}

// setPluralRule sets the plural rule of a translation: the Plural-Forms of its
// file, else the rule of the language (docs/compatibility.md#plurals).
func (c *component) setPluralRule(t *catalog.Translation, l lang.Language, f *unit.File) {
	rule := c.pluralRule(l, f)
	t.PluralNumber, t.PluralFormula = rule.Number, rule.Formula
}
