package ingest

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// place is one translation that a commit holds: which file is which language.
type fileSlot struct {
	language string        // code in URLs (decision 13)
	fileCode string        // code in the file's name
	lang     lang.Language // for its plural rule
	path     string
	blob     object.Hash
}

// served is the place of the version that a translation serves, which differs
// from p while the file there cannot be parsed.
func (p *fileSlot) served(t *catalog.Translation) *fileSlot {
	s := *p
	if blob, err := object.ParseHash(t.Revision); err == nil {
		s.path, s.blob = t.Filename, blob
	}
	return &s
}

// places are all translations of a component at one commit.
type fileSlots struct {
	// own is the file of the source translation itself: the POT, or else a
	// file of the source language; nil if there is neither (decision 11).
	source *fileSlot
	// targets are the other translations, by path.
	targets []fileSlot
	// refused are files that the mask selects and that are not served.
	refused []refusal
}

// refusal tells why a file that a mask selects is not served.
type refusal struct {
	path, reason string
}

// layout is how a component's settings map paths to languages.
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

// lists reports whether a path is the component's: one that it reads, or has
// to report.
func (l *selection) lists(path string) bool { return l.wants(path) || l.refuses(path) != "" }

// refuses says why a path that the mask selects is never read, such as one
// with control characters; "" if it is read or not the component's.
func (l *selection) refuses(path string) string {
	if reason := l.mask.Refuses(path); reason != "" {
		return "not served: its name is unsafe, " + reason + "; rename the file"
	}
	return ""
}

// code is the language code that a path's name holds.
func (l *selection) code(path string) (string, bool) {
	m, ok := l.mask.Select(path, l.rules)
	return m.Code, ok
}

// assign maps the files of a commit, sorted by path, to translations by
// decisions 11 and 13.
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
		winner := electWinner(byLanguage[code])
		taken[code] = winner.path
		if code == l.source.Code {
			p.source = &winner
			continue
		}
		p.targets = append(p.targets, winner)
	}
	for _, code := range order {
		winner := electWinner(byLanguage[code])
		l.variants(&p, byLanguage[code], winner, taken)
	}
	slices.SortFunc(p.targets, func(a, b fileSlot) int { return strings.Compare(a.path, b.path) })
	slices.SortFunc(p.refused, func(a, b refusal) int { return strings.Compare(a.path, b.path) })
	return p
}

// electWinner picks the file of a language: the one whose code is the
// language's, else the first by path (decision 13).
func electWinner(files []fileSlot) fileSlot {
	for _, f := range files {
		if f.fileCode == f.language {
			return f
		}
	}
	return files[0]
}

// refuseSource reports the files of the source language that a POT displaces
// (decision 11).
func (l *selection) refuseSource(p *fileSlots, files []fileSlot) {
	for _, f := range files {
		p.refused = append(p.refused, refusal{
			path: f.path,
			reason: "not served: the source translation is read from new_base " + l.newBase +
				"; exclude this file by language_regex or remove new_base",
		})
	}
}

// variants places the other files of a language under their own codes.
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

// pluralRule is what a translation row keeps of a file's Plural-Forms
// (weblate-facts §2).
func pluralRule(t *catalog.Translation, l lang.Language, f *unit.File) {
	rule := l.Plural
	if f != nil && f.HasPlural {
		rule = lang.PluralFor(l, f.Plural.Number, f.Plural.Expression)
	}
	t.PluralNumber, t.PluralFormula = rule.Number, rule.Formula
}
