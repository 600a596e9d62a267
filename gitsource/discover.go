package gitsource

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Found is a set of translation files that belong together.
type Found struct {
	// Mask that selects them.
	Mask Filemask
	// NewBase is the template (POT) they are made from; empty if none was
	// found, or if the mask stands for several components.
	NewBase string
	// Languages is the number of different language codes.
	Languages int
	// Files is the number of files.
	Files int
}

// languageCode is the form of codes in use: ll, lll, with a country, a script,
// a variant, a charset (pt_BR, sr@latin, zh_Hans, ca@valencia, zh_CN.GB2312).
var languageCode = regexp.MustCompile(`^[a-z]{2,3}([_-][A-Za-z]{2,4}|[_-][0-9]{3})?([_-][A-Z]{2})?([._-][A-Za-z0-9_-]+)?(@[A-Za-z]+)?$`)

// notLanguages look like codes and are directories of sources.
var notLanguages = regexp.MustCompile(`^(app|bin|doc|dev|lib|src|man|po|pot|tmp|web|www|api|cmd|css|img|ext|gui|net|new|old|out|pkg|sql|sys|ui|usr|var|xml)$`)

// manyDomains: so many files per language are taken as one mask with
// {component}, as in Sphinx trees.
const manyDomains = 4

// Discover finds the layouts of PO files that gettext, Django, Sphinx,
// WordPress and others use, for serving a repository without a configuration.
// files is a snapshot of *.po and *.pot; symlinks are ignored. The largest
// sets come first, of equal ones by mask. Files whose path shows no language
// are left out.
func Discover(files []File) []Found {
	var pots []string
	named := languageDirs(files)
	groups := map[string]map[string]int{} // mask → code → files
	for _, f := range files {
		switch {
		case f.Link != "" || CheckPath(f.Path) != nil || strings.ContainsAny(f.Path, "*{}"):
		case strings.HasSuffix(f.Path, ".pot"):
			pots = append(pots, f.Path)
		case strings.HasSuffix(f.Path, ".po"):
			if mask, code, ok := guessMask(f.Path, named); ok {
				if groups[mask] == nil {
					groups[mask] = map[string]int{}
				}
				groups[mask][code]++
			}
		}
	}
	var list []Found
	for mask, codes := range joinDomains(groups) {
		m, err := ParseFilemask(mask)
		if err != nil {
			continue
		}
		f := Found{Mask: m, Languages: len(codes)}
		for _, n := range codes {
			f.Files += n
		}
		if !m.HasComponent() {
			f.NewBase = findTemplate(mask, pots)
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Mask.String(), b.Mask.String()))
	})
	return list
}

func isLanguage(s string) bool { return languageCode.MatchString(s) && !notLanguages.MatchString(s) }

// languageDirs gives the directories whose PO files are mostly named by a
// language: elsewhere cmd.po and abc.po are about commands and letters.
func languageDirs(files []File) map[string]bool {
	count := map[string]int{}
	for _, f := range files {
		dir, file := path.Split(f.Path)
		if name, ok := strings.CutSuffix(file, ".po"); ok && f.Link == "" {
			if isLanguage(name) {
				count[dir]++
			} else {
				count[dir]--
			}
		}
	}
	named := map[string]bool{}
	for dir, n := range count {
		named[dir] = n > 0
	}
	return named
}

// guessMask puts "*" in the place of the language.
func guessMask(p string, named map[string]bool) (mask, code string, ok bool) {
	dir, file := path.Split(p)
	name := strings.TrimSuffix(file, ".po")
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	if n := len(parts); n >= 2 && parts[n-1] == "LC_MESSAGES" {
		// <locale>/<lang>/LC_MESSAGES/<domain>.po: the layout says it all.
		code, parts[n-2] = parts[n-2], "*"
		return path.Join(append(parts, file)...), code, true
	}
	if isLanguage(name) && named[dir] { // po/<lang>.po; in help/<lang>/<lang>.po the longest "*" wins
		for i, part := range parts {
			if part == name {
				parts[i] = "*"
			}
		}
		return path.Join(append(parts, "*.po")...), name, true
	}
	for i := range parts { // <lang>/<domain>.po, <lang>/faq/<domain>.po: the outermost
		if isLanguage(parts[i]) {
			code, parts[i] = parts[i], "*"
			return path.Join(append(parts, file)...), code, true
		}
	}
	for i := 0; i < len(name); i++ { // <domain>-<lang>.po, <domain>.<lang>.po: the longest code
		if (name[i] == '-' || name[i] == '.' || name[i] == '_') && i > 0 && isLanguage(name[i+1:]) {
			return dir + name[:i+1] + "*.po", name[i+1:], true
		}
	}
	return "", "", false
}

// joinDomains takes masks together that differ in the file's name only, where
// they are many.
func joinDomains(groups map[string]map[string]int) map[string]map[string]int {
	byDir := map[string][]string{}
	for mask := range groups {
		if dir, file := path.Split(mask); strings.Contains(dir, "*") && !strings.Contains(file, "*") {
			root := dir[:strings.IndexByte(dir, '*')+1]
			byDir[root] = append(byDir[root], mask)
		}
	}
	for root, masks := range byDir {
		if len(masks) < manyDomains {
			continue
		}
		joined := root + "/" + componentToken + ".po"
		prefix := root + "/LC_MESSAGES/"
		if !slices.ContainsFunc(masks, func(m string) bool { return !strings.HasPrefix(m, prefix) }) {
			joined = prefix + componentToken + ".po"
		}
		if groups[joined] == nil {
			groups[joined] = map[string]int{}
		}
		for _, mask := range masks {
			for code, n := range groups[mask] {
				groups[joined][code] += n
			}
			delete(groups, mask)
		}
	}
	return groups
}

// findTemplate chooses the POT of a mask: of the same name as the domain and
// nearest; where the mask names no domain, the only one in the nearest directory.
func findTemplate(mask string, pots []string) string {
	before, after, _ := strings.Cut(mask, "*")
	dir := path.Dir(before + "x")
	domain := strings.TrimSuffix(path.Base(after), ".po")
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
func (f Found) String() string {
	return fmt.Sprintf("%s ← %s, %d languages, %d files", f.Mask, f.NewBase, f.Languages, f.Files)
}
