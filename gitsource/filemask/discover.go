package filemask

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/gitsource/object"
)

// Found is a set of translation files that belong together: what a component, or
// a discovery of components, is configured with.
type FileSet struct {
	// Mask that selects them.
	Mask Mask
	// LanguageRegex keeps out what the mask matches besides; empty: the default
	// does.
	LanguageRegex string
	// Language is the code of all files if the mask reads none; else empty.
	Language string
	// NewBase is the template (POT) they are made from, with {component} if the
	// mask has it; empty if none was found.
	NewBase string
	// Source is a file of the language "en" beside NewBase: the template is read
	// instead (decision 11). Empty: there is none.
	Source string
	// Languages is the number of different language codes.
	Languages int
	// Files is the number of files that are selected.
	Files int
	// Components is the number of components that a mask with {component}
	// stands for; else 1.
	Components int
}

// DiscoverOptions are what Discover may ask. The zero value is usable.
type DiscoverOptions struct {
	// Known reports whether a code is that of a language, and that language's
	// code in one spelling; nil: whatever has the form of a code is.
	Known func(code string) (same string, ok bool)
	// Language is the code of the language that a file says it is in, spelt as
	// Known spells it, "" if it does not say. It is asked of files whose path
	// shows none or is the only one of its form; nil: none says.
	Language func(object.File) string
	// Default is the language of files that say nothing and whose path says
	// nothing; "": unknown.
	Default string
}

// Discovery is what a repository holds.
type Discovery struct {
	// Found are sets without a file in common, the largest first, of equal ones
	// by mask.
	Sets []FileSet
	// Left are the PO files that no set has, sorted: their path shows no
	// language, or is one that no mask can hold.
	Left []string
}

// languageCode is the form of codes in use: language, script, region, variant,
// charset, modifier (pt_BR, zh_Hans, es-419, ca-valencia, zh_CN.GB2312,
// sr@latin). In my-app-de.po the whole name is none, though my is Burmese.
var languageCode = regexp.MustCompile(`^[a-z]{2,3}([_-][A-Za-z]{4})?([_-]([A-Za-z]{2}|[0-9]{3}))?([_-][A-Za-z0-9]{5,8})?(\.[A-Za-z0-9_-]+)?(@[A-Za-z0-9]+)?$`)

// notLanguages look like codes and are directories of sources.
var notLanguages = regexp.MustCompile(`^(app|bin|doc|dev|lib|src|man|po|pot|tmp|web|www|api|cmd|css|img|ext|gui|net|new|old|out|pkg|sql|sys|ui|usr|var|xml)$`)

const (
	// manyAlike: so many masks that differ in one place are one with {component}:
	// Sphinx trees, Django projects of many apps.
	manyAlike = 4
	// maxLayouts bounds the sets of one repository: hostile trees hold a mask
	// per file. The smaller ones are left out.
	maxLayouts = 400
	// maxMatches bounds how often a path is matched with a mask; real
	// repositories take some thousands.
	maxMatches = 20_000_000
	// maxDomain bounds the domain in <domain>-<lang>.po.
	maxDomain = 100
)

// Discover finds the layouts of PO files that gettext, Django, Sphinx,
// WordPress, KDE and others use, for serving a repository without a
// configuration: a mask for each, or one with {component} where there are many
// alike. files is a snapshot of *.po and *.pot; symlinks are ignored. What a set
// selects is what it was made of: where a mask alone would take in other files a
// LanguageRegex keeps them out, and masks are not joined where that cannot be.
func Discover(files []object.File, o DiscoverOptions) Discovery {
	d := newDiscoverer(files, o)
	layouts := d.layouts()
	var found []FileSet
	for _, l := range d.join(layouts) {
		if f, ok := d.settle(l); ok {
			found = append(found, f)
		}
	}
	found = append(found, d.oneLanguage()...)
	slices.SortFunc(found, func(a, b FileSet) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Mask.String(), b.Mask.String()))
	})
	return Discovery{Sets: found, Left: d.left()}
}

// discoverer looks at one snapshot.
type discoverer struct {
	o       DiscoverOptions
	files   []object.File // PO files that a mask can name, by path
	refused []string
	pots    []string
	named   map[string]bool   // directories whose files are named by languages
	domains map[string]string // directories with <domain>-<lang>.po: the longest useful domain
	claimed map[string]bool   // by a set
	budget  int               // how many paths may still be matched with masks
}

func newDiscoverer(files []object.File, o DiscoverOptions) *discoverer {
	d := &discoverer{o: o, claimed: map[string]bool{}, budget: maxMatches}
	for _, f := range files {
		po := strings.HasSuffix(f.Path, ".po")
		switch {
		case f.Link != "":
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
	d.named = d.languageDirs()
	d.domains = d.domainDirs()
	return d
}

// left are the files that nothing claimed.
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

// layout is a mask and the files it was made of: path → code.
type layout struct {
	mask  string
	files map[string]string
	last  object.File // one of them
}

// layouts puts files together whose paths differ in the language only.
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

// denies reports whether a file says that it is in another language than its
// path: c-api/arg.po is about arguments, not in Aragonese.
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

// known finds the language of a code, or of what it begins with.
func (d *discoverer) known(code string) (same string, ok bool) {
	if d.o.Known == nil {
		return code, true
	}
	if same, ok = d.o.Known(code); !ok {
		same, ok = d.o.Known(base(code))
	}
	return same, ok
}

// base is the language of a code without region and all that.
func base(code string) string {
	return code[:len(code)-len(strings.TrimLeft(code, "abcdefghijklmnopqrstuvwxyz"))]
}

// languageDirs gives the directories whose PO files are mostly named by a
// language: elsewhere cmd.po and abc.po are about commands and letters.
func (d *discoverer) languageDirs() map[string]bool {
	count := map[string]int{}
	for _, f := range d.files {
		dir, file := path.Split(f.Path)
		if d.isLanguage(strings.TrimSuffix(file, ".po")) {
			count[dir]++
		} else {
			count[dir]--
		}
	}
	named := map[string]bool{}
	for dir, n := range count {
		named[dir] = n > 0
	}
	return named
}

// domainDirs gives for directory and file name the domain before the language,
// where a file is called <domain>-<lang>.po: my-app-de.po may be my-app in de or
// my in app-de, and what most of the directory's files agree on is right.
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
			if n := score[dir+domain]; n > top { // of equal ones the shortest domain
				best[f.Path], top = domain, n
			}
		}
	}
	return best
}

// splits are the domains that a file's name can begin with, separator included,
// so that the rest is a language; the shortest first.
func (d *discoverer) splits(name string) []string {
	var list []string
	for i := 1; i < len(name) && i < maxDomain; i++ {
		if (name[i] == '-' || name[i] == '.' || name[i] == '_') && d.isLanguage(name[i+1:]) {
			list = append(list, name[:i+1])
		}
	}
	return list
}

// guess puts "*" in the place of the language.
func (d *discoverer) guess(p string) (mask, code string, ok bool) {
	dir, file := path.Split(p)
	name := strings.TrimSuffix(file, ".po")
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	if i := slices.Index(parts, "LC_MESSAGES"); i >= 1 {
		// <locale>/<lang>/LC_MESSAGES/<domain>.po: the layout says it all.
		code, parts[i-1] = parts[i-1], "*"
		return path.Join(append(parts, file)...), code, true
	}
	if d.isLanguage(name) && d.named[dir] { // po/<lang>.po; in help/<lang>/<lang>.po the longest "*" wins
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

// findTemplate chooses the POT of a mask: of the same name as the domain and
// nearest; where the mask names no domain, the only one in the nearest directory.
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

// String is one line for people.
func (f FileSet) String() string {
	return fmt.Sprintf("%s ← %s, %d languages, %d files", f.Mask, f.NewBase, f.Languages, f.Files)
}
