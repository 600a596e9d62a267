package filemask

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxAlone bounds the files of one directory that become one component each: more
// files are samples and test data.
const maxAlone = 3

// folder is a directory of PO files.
type folder struct {
	files   []string // paths
	count   int      // files below, at any depth
	below   map[string]*folder
	claimed bool   // has a file that is in a set
	mixed   bool   // has files of several languages
	code    string // the language of its files, "" if no file names one
}

// oneLanguage finds translations into one language that paths do not show, such as
// the translation of a manual: directories whose files all name the same language.
func (d *discoverer) oneLanguage() []FileSet {
	if d.o.Language == nil {
		return nil
	}
	root := &folder{}
	codes := map[string]string{}
	for _, f := range d.files {
		code := ""
		if !d.claimed[f.Path] {
			code = cmp.Or(d.o.Language(f), d.o.Default)
			codes[f.Path] = code
		}
		at := root
		at.note(d.claimed[f.Path], code)
		for _, name := range dirs(f.Path) {
			if at.below == nil {
				at.below = map[string]*folder{}
			}
			if at.below[name] == nil {
				at.below[name] = &folder{}
			}
			at = at.below[name]
			at.note(d.claimed[f.Path], code)
		}
		at.files = append(at.files, f.Path)
	}
	return d.inFolder("", root, codes)
}

func dirs(p string) []string {
	dir := strings.TrimSuffix(path.Dir(p), "/")
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// note adds a file to a folder.
func (f *folder) note(claimed bool, code string) {
	f.count++
	f.claimed = f.claimed || claimed
	f.mixed = f.mixed || code != "" && f.code != "" && code != f.code
	if code != "" {
		f.code = code
	}
}

// inFolder finds the sets below a directory; dir is "" or ends with a slash.
func (d *discoverer) inFolder(dir string, f *folder, codes map[string]string) []FileSet {
	if !f.claimed && !f.mixed && f.code != "" && f.count > 1 {
		return d.ofLanguage(dir+componentToken+".po", f.code)
	}
	var list []FileSet
	if len(f.files) <= maxAlone {
		for _, p := range f.files {
			if code := codes[p]; code != "" {
				list = append(list, d.ofLanguage(p, code)...)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.below)) {
		if len(list) < maxLayouts {
			list = append(list, d.inFolder(dir+name+"/", f.below[name], codes)...)
		}
	}
	return list
}

// ofLanguage makes a set from a mask without a language.
func (d *discoverer) ofLanguage(mask, code string) []FileSet {
	m, err := Parse(mask)
	if err != nil {
		return nil
	}
	f := FileSet{Mask: m, Language: code, Languages: 1}
	values := map[string]bool{}
	for p, match := range d.selected(f) {
		d.claimed[p] = true
		values[match.Component] = true
		f.Files++
	}
	f.Components = len(values)
	if m.HasComponent() {
		f.NewBase, f.Templates = d.templates(mask, values)
	} else if pot := strings.TrimSuffix(mask, ".po") + ".pot"; slices.Contains(d.pots, pot) {
		f.NewBase = pot
	}
	return []FileSet{f}
}
