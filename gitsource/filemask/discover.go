package filemask

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/gitsource/object"
)

// FileSet is a set of translation files that belong together, with the settings of
// a component, or of a discovery of components, that reads them.
type FileSet struct {
	// Mask that selects the files.
	Mask Mask
	// LanguageRegex excludes other files that the mask matches; empty: the default does so.
	LanguageRegex string
	// Language is the code of all files if the mask has no "*"; otherwise empty.
	Language string
	// NewBase is the template (POT) of the files, with {component} or {component_name}
	// if the mask has {component} (see Fill); empty if none was found.
	NewBase string
	// Templates is the number of components that have NewBase.
	Templates int
	// Source is a file of the language "en", if there is one and NewBase too: the
	// template is read instead (docs/compatibility.md#source-translation).
	Source string
	// Languages is the number of different language codes.
	Languages int
	// Files is the number of files that are selected.
	Files int
	// Components is how many components a mask with {component} selects; otherwise 1.
	Components int
}

// DiscoverOptions answer the questions of Discover about languages. The zero value is usable.
type DiscoverOptions struct {
	// Known reports whether a code belongs to a language, and returns one spelling
	// of that language's code; nil: every text of the form of a code does.
	Known func(code string) (same string, ok bool)
	// Language returns the language that a file's contents name, spelt as Known
	// spells it, "" if they name no language. It is called for files whose path
	// shows no language or is the only one of its form; nil: no file names one.
	Language func(object.File) string
	// Default is the language where neither contents nor path name one; "": unknown.
	Default string
}

// Discovery is the translation files of a repository.
type Discovery struct {
	// Sets have no file in common. The largest is first; equal ones are sorted by mask.
	Sets []FileSet
	// Left are PO files that are in no set, sorted: no language or mask fits their path.
	Left []string
}

// languageCode is the form of codes in use: language, script, region, variant,
// charset, modifier (pt_BR, zh_Hans, es-419, ca-valencia, zh_CN.GB2312, sr@latin).
// The name of my-app-de.po is no code, though my is Burmese.
var languageCode = regexp.MustCompile(`^[a-z]{2,3}([_-][A-Za-z]{4})?([_-]([A-Za-z]{2}|[0-9]{3}))?([_-][A-Za-z0-9]{5,8})?(\.[A-Za-z0-9_-]+)?(@[A-Za-z0-9]+)?$`)

// notLanguages matches names of directories that look like codes.
var notLanguages = regexp.MustCompile(`^(app|bin|doc|dev|lib|src|man|po|pot|tmp|web|www|api|cmd|css|img|ext|gui|net|new|old|out|pkg|sql|sys|ui|usr|var|xml)$`)

const (
	// manyAlike: at least this many masks that differ in one part become one mask
	// with {component}, as for Sphinx and for Django projects of many apps.
	manyAlike = 4
	// maxLayouts bounds the sets of one repository, since a hostile tree can have a
	// mask for each file. The smallest sets are left out.
	maxLayouts = 400
	// maxMatches bounds matches of a path with a mask; real repositories take thousands.
	maxMatches = 20_000_000
	// maxDomain bounds the domain in <domain>-<lang>.po.
	maxDomain = 100
)

// Discover finds the layouts of PO files that gettext, Django, Sphinx, WordPress, KDE and
// others use, to serve a repository without a configuration: one mask for each layout, or one
// with {component} for many similar layouts. files is a snapshot of *.po and *.pot; symlinks
// are ignored. A set selects exactly the files that it was made from: if its mask alone would
// match others, a LanguageRegex excludes them, and masks are not joined if that is impossible.
func Discover(files []object.File, o DiscoverOptions) Discovery {
	d := newDiscoverer(files, o)
	layouts := d.layouts()
	var found []FileSet
	for _, l := range d.join(layouts) {
		if f, ok := d.fileSet(l); ok {
			found = append(found, f)
		}
	}
	found = append(found, d.oneLanguage()...)
	slices.SortFunc(found, func(a, b FileSet) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Mask.String(), b.Mask.String()))
	})
	return Discovery{Sets: found, Left: d.left()}
}

// discoverer is the state of one Discover.
type discoverer struct {
	o       DiscoverOptions
	files   []object.File // PO files that a mask can name, by path
	refused []string
	pots    []string
	named   map[string]int    // of directories: files that are named by languages, less the others
	domains map[string]string // path of <domain>-<lang>.po → the domain and the separator
	claimed map[string]bool   // files in a set
	budget  int               // how many paths may still be matched with masks
}

func newDiscoverer(files []object.File, o DiscoverOptions) *discoverer {
	d := &discoverer{o: o, claimed: map[string]bool{}, budget: maxMatches}
	for _, f := range files {
		po := strings.HasSuffix(f.Path, ".po")
		switch {
		case CheckPath(f.Path) != nil || strings.ContainsAny(f.Path, "*{}") || !utf8.ValidString(f.Path):
			if po {
				d.refused = append(d.refused, f.Path)
			}
		case po:
			d.files = append(d.files, f)
		case strings.HasSuffix(f.Path, ".pot"):
			d.pots = append(d.pots, f.Path)
		}
	}
	slices.SortFunc(d.files, func(a, b object.File) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(d.pots)
	d.named = d.languageDirs()
	d.domains = d.domainDirs()
	return d
}

// left returns the files that are in no set.
func (d *discoverer) left() []string {
	list := d.refused
	for _, f := range d.files {
		if !d.claimed[f.Path] {
			list = append(list, f.Path)
		}
	}
	slices.Sort(list)
	return list
}

// layout is a mask and the files that it was made from: path → code.
type layout struct {
	mask  string
	files map[string]string
	last  object.File // one of the files
}

// layouts groups the files whose paths differ only in the language.
func (d *discoverer) layouts() map[string]*layout {
	list := map[string]*layout{}
	for _, f := range d.files {
		mask, code, ok := d.guess(f.Path)
		if !ok {
			continue
		}
		if list[mask] == nil {
			list[mask] = &layout{mask: mask, files: map[string]string{}}
		}
		list[mask].files[f.Path] = code
		list[mask].last = f
	}
	for mask, l := range list {
		if len(l.files) == 1 && d.denies(l.last, l.files[l.last.Path]) {
			delete(list, mask)
		}
	}
	return list
}

// denies reports whether a file's contents name another language than its path:
// c-api/arg.po is about arguments, not in Aragonese.
func (d *discoverer) denies(f object.File, code string) bool {
	if d.o.Language == nil {
		return false
	}
	says := d.o.Language(f)
	is, _ := d.known(code)
	return says != "" && base(says) != base(is)
}

// isLanguage reports whether a part of a path is a language's code.
func (d *discoverer) isLanguage(s string) bool {
	if !languageCode.MatchString(s) || notLanguages.MatchString(base(s)) {
		return false
	}
	_, known := d.known(s)
	return known
}

// known finds the language of a code, or of the first part of the code.
func (d *discoverer) known(code string) (same string, ok bool) {
	if d.o.Known == nil {
		return code, true
	}
	if same, ok = d.o.Known(code); !ok {
		same, ok = d.o.Known(base(code))
	}
	return same, ok
}

// base returns the language of a code, without region and other parts.
func base(code string) string {
	return code[:len(code)-len(strings.TrimLeft(code, "abcdefghijklmnopqrstuvwxyz"))]
}

// languageDirs returns by directory how many more PO files are named by a language than
// are not. In those with more others, cmd.po and abc.po are about commands and letters.
func (d *discoverer) languageDirs() map[string]int {
	count := map[string]int{}
	for _, f := range d.files {
		dir, file := path.Split(f.Path)
		if d.isLanguage(strings.TrimSuffix(file, ".po")) {
			count[dir]++
		} else {
			count[dir]--
		}
	}
	return count
}

// domainDirs returns for each <domain>-<lang>.po the domain and the separator. my-app-de.po may
// be my-app in de or my in app-de: most of the directory's files agree on the right one.
func (d *discoverer) domainDirs() map[string]string {
	score := map[string]int{}
	for _, f := range d.files {
		dir, file := path.Split(f.Path)
		for _, domain := range d.splits(strings.TrimSuffix(file, ".po")) {
			score[dir+domain] += 2
			if d.o.Known == nil {
				continue
			}
			if _, whole := d.o.Known(strings.TrimSuffix(file, ".po")[len(domain):]); whole {
				score[dir+domain]++
			}
		}
	}
	best := map[string]string{}
	for _, f := range d.files {
		dir, file := path.Split(f.Path)
		top := 0
		for _, domain := range d.splits(strings.TrimSuffix(file, ".po")) {
			if n := score[dir+domain]; n > top { // of equal scores, the shortest domain
				best[f.Path], top = domain, n
			}
		}
	}
	return best
}

// splits returns the domains, each with its separator, after which the rest of a
// file's name is a language; the shortest first.
func (d *discoverer) splits(name string) []string {
	var list []string
	for i := 1; i < len(name) && i < maxDomain; i++ {
		if (name[i] == '-' || name[i] == '.' || name[i] == '_') && d.isLanguage(name[i+1:]) {
			list = append(list, name[:i+1])
		}
	}
	return list
}

// guess replaces the language in a path by "*".
func (d *discoverer) guess(p string) (mask, code string, ok bool) {
	dir, file := path.Split(p)
	name := strings.TrimSuffix(file, ".po")
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	if i := slices.Index(parts, "LC_MESSAGES"); i >= 1 {
		// <locale>/<lang>/LC_MESSAGES/<domain>.po: the language needs no check.
		code, parts[i-1] = parts[i-1], "*"
		return path.Join(append(parts, file)...), code, true
	}
	if d.isLanguage(name) && d.named[dir] > 0 { // po/<lang>.po; in help/<lang>/<lang>.po the longest "*" wins
		for i, part := range parts {
			if part == name {
				parts[i] = "*"
			}
		}
		return path.Join(append(parts, "*.po")...), name, true
	}
	for i := range parts { // <lang>/<domain>.po, <lang>/faq/<domain>.po: the outermost
		if d.isLanguage(parts[i]) {
			code, parts[i] = parts[i], "*"
			return path.Join(append(parts, file)...), code, true
		}
	}
	if domain := d.domains[p]; domain != "" { // <domain>-<lang>.po, <domain>.<lang>.po
		return dir + domain + "*.po", name[len(domain):], true
	}
	return "", "", false
}

// findTemplate chooses the POT of a mask: the nearest with the domain as its name.
// If the mask has no domain, it is the only POT in the nearest directory.
func findTemplate(mask string, pots []string) string {
	before, after, _ := strings.Cut(mask, "*")
	dir := path.Dir(before + "x")
	domain := strings.TrimSuffix(path.Base(after), ".po")
	if strings.Contains(domain, "*") { // help/*/*.po
		domain = ""
	}
	if after == ".po" { // po/*.po, po/<domain>-*.po
		domain = strings.TrimRight(path.Base(before+"x"), "x")
		domain = strings.TrimRight(domain, "-._")
	}
	for at := dir; ; at = path.Dir(at) {
		var here []string
		for _, pot := range pots {
			if path.Dir(pot) != at && !(at == dir && strings.HasPrefix(pot, dir+"/")) {
				continue
			}
			if strings.TrimSuffix(path.Base(pot), ".pot") == domain && domain != "" {
				return pot
			}
			if path.Dir(pot) == at {
				here = append(here, pot)
			}
		}
		if len(here) == 1 && domain == "" {
			return here[0]
		}
		if at == "." || at == "/" || len(here) > 0 {
			return ""
		}
	}
}
