package filemask

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Expressions for codes to try after the default: of any code, without and with a charset.
const (
	plainCodes   = `^[a-z]{2,3}([_@-][A-Za-z0-9_@-]+)?$`
	charsetCodes = `^[a-z]{2,3}([_@.-][A-Za-z0-9_@.-]+)?$`
)

// fileSet makes a set from a layout and claims its files.
func (d *discoverer) fileSet(l *layout) (FileSet, bool) {
	for p := range l.files {
		if d.claimed[p] {
			delete(l.files, p)
		}
	}
	f, ok := d.exact(l)
	if !ok {
		return FileSet{}, false
	}
	values, codes := map[string]bool{}, map[string]bool{}
	for p, m := range d.selected(f) {
		d.claimed[p] = true
		values[m.Component], codes[m.Code] = true, true
		f.Files++
		if m.Code == "en" {
			f.Source = p
		}
	}
	f.Languages, f.Components = len(codes), len(values)
	if f.Mask.HasComponent() {
		f.NewBase, f.Templates = d.templates(f.Mask.String(), values)
	} else {
		f.NewBase = findTemplate(l.mask, d.pots)
	}
	if f.NewBase == "" || f.Mask.HasComponent() {
		f.Source = ""
	}
	return f, true
}

// exact finds the expression for codes with which a layout's mask selects its files and no
// others. A code with a charset is left out if the layout has the language without one too.
func (d *discoverer) exact(l *layout) (FileSet, bool) {
	mask, err := Parse(l.mask)
	if err != nil || len(l.files) == 0 {
		return FileSet{}, false
	}
	wanted := withoutTwins(l.files)
	codes := map[string]bool{}
	for _, code := range wanted {
		codes[regexp.QuoteMeta(code)] = true
	}
	for _, rule := range []string{"", plainCodes, charsetCodes, "^(" + strings.Join(slices.Sorted(maps.Keys(codes)), "|") + ")$"} {
		f := FileSet{Mask: mask, LanguageRegex: rule}
		got := d.selected(f)
		same := len(got) == len(wanted)
		for p := range got {
			_, ours := wanted[p]
			same = same && ours
		}
		if same {
			return f, true
		}
	}
	return FileSet{}, false
}

// withoutTwins removes the files whose code is another file's code with a charset.
func withoutTwins(files map[string]string) map[string]string {
	codes := map[string]bool{}
	for _, code := range files {
		codes[code] = true
	}
	kept := map[string]string{}
	for p, code := range files {
		if bare, _, dotted := strings.Cut(code, "."); !dotted || !codes[bare] {
			kept[p] = code
		}
	}
	return kept
}

// selected returns the files that a set selects. When the budget is used up, these
// are too few, and the set is not made.
func (d *discoverer) selected(f FileSet) map[string]Match {
	list := map[string]Match{}
	regex, err := CompileLanguageRegex(f.LanguageRegex)
	if err != nil {
		return list
	}
	mask := f.Mask.String()
	prefix := mask
	if i := strings.IndexAny(mask, "*{"); i >= 0 {
		prefix = mask[:i]
	}
	from := sort.Search(len(d.files), func(i int) bool { return d.files[i].Path >= prefix })
	for _, file := range d.files[from:] {
		if d.budget--; d.budget < 0 || !strings.HasPrefix(file.Path, prefix) {
			break
		}
		if m, ok := f.Mask.Select(file.Path, Rules{LanguageRegex: regex, Language: f.Language}); ok {
			list[file.Path] = m
		}
	}
	return list
}

// templates finds the POTs of a mask with {component}: a pattern by which at least
// half of the components have a POT, and how many; "" if there is no such pattern.
func (d *discoverer) templates(mask string, values map[string]bool) (string, int) {
	has := map[string]int{}
	before, after, _ := strings.Cut(mask, componentToken)
	for _, pot := range d.pots {
		if !strings.Contains(before, "*") { // <app>/locale/*/LC_MESSAGES/django.po
			rest, ok := strings.CutPrefix(pot, before)
			for i := 0; ok && i < len(rest); i++ {
				if rest[i] != '/' || !values[rest[:i]] {
					continue
				}
				has[before+componentToken+rest[i:]]++
				if last := rest[:i][strings.LastIndexByte(rest[:i], '/')+1:]; strings.HasSuffix(rest, "/"+last+".pot") {
					has[before+componentToken+strings.TrimSuffix(rest[i:], last+".pot")+nameToken+".pot"]++
				}
			}
		}
		if after == ".po" { // locale/pot/<domain>.pot
			stem := strings.TrimSuffix(pot, ".pot")
			for i := 0; i <= len(stem); i++ {
				if (i == 0 || stem[i-1] == '/') && values[stem[i:]] {
					has[stem[:i]+componentToken+".pot"]++
					break // the longest
				}
			}
		}
	}
	best := ""
	for _, pattern := range slices.Sorted(maps.Keys(has)) {
		if has[pattern] > has[best] {
			best = pattern
		}
	}
	n, nested := 0, false
	for value := range values {
		nested = nested || strings.Contains(value, "/")
		if _, ok := slices.BinarySearch(d.pots, Fill(best, value)); ok {
			n++
		}
	}
	if n == 0 || 2*n < len(values) {
		return "", 0
	}
	if !nested { // they are the same
		best = strings.ReplaceAll(best, nameToken, componentToken)
	}
	return best, n
}

// join joins layouts that differ in one part, if they are many and a mask with
// {component} selects no other file. The largest are first.
func (d *discoverer) join(layouts map[string]*layout) []*layout {
	d.joinBy(layouts, domainJoint)
	d.joinBy(layouts, folderJoint)
	list := slices.SortedFunc(maps.Values(layouts), func(a, b *layout) int {
		return cmp.Or(cmp.Compare(len(b.files), len(a.files)), cmp.Compare(a.mask, b.mask))
	})
	return list[:min(len(list), maxLayouts)]
}

// joinBy joins the layouts for which joint returns the same key.
func (d *discoverer) joinBy(layouts map[string]*layout, joint func(mask string) string) {
	alike := map[string][]string{}
	for mask := range layouts {
		if key := joint(mask); key != "" && !strings.Contains(mask, componentToken) {
			alike[key] = append(alike[key], mask)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(alike)) {
		masks := alike[key]
		if len(masks) < manyAlike {
			continue
		}
		slices.Sort(masks)
		joined := &layout{mask: joinedMask(masks), files: map[string]string{}}
		for _, mask := range masks {
			maps.Copy(joined.files, layouts[mask].files)
		}
		if _, ok := d.exact(joined); !ok || layouts[joined.mask] != nil {
			continue
		}
		for _, mask := range masks {
			delete(layouts, mask)
		}
		layouts[joined.mask] = joined
	}
}

// domainJoint returns the common part of the masks for the domains of one tree: the
// path up to the language, as in locale/*/LC_MESSAGES/<domain>.po.
func domainJoint(mask string) string {
	dir, file := path.Split(mask)
	star := strings.IndexByte(dir, '*')
	if star < 0 || strings.Contains(file, "*") {
		return ""
	}
	key := dir[:star+1] + "/"
	if strings.HasPrefix(dir, key+"LC_MESSAGES/") {
		key += "LC_MESSAGES/"
	}
	return key
}

// folderJoint returns the common part of the masks for many directories: the path
// from the directory above the language, as in <app>/locale/*/LC_MESSAGES/django.po.
func folderJoint(mask string) string {
	parts := strings.Split(mask, "/")
	star := slices.IndexFunc(parts, func(s string) bool { return strings.Contains(s, "*") })
	if star < 2 {
		return ""
	}
	return strings.Join(parts[star-1:], "/")
}

// joinedMask puts {component} between what masks share at the start and at the end, and ".po".
func joinedMask(masks []string) string {
	split := func(mask string) []string { return strings.Split(strings.TrimSuffix(mask, ".po"), "/") }
	first := split(masks[0])
	before, after := len(first), len(first)
	for _, mask := range masks[1:] {
		parts := split(mask)
		before = min(before, common(first, parts))
		slices.Reverse(parts)
		back := slices.Clone(first)
		slices.Reverse(back)
		after = min(after, common(back, parts))
	}
	short := len(first)
	for _, mask := range masks {
		short = min(short, len(split(mask)))
	}
	after = min(after, short-before-1)
	if after < 0 { // a/*/b and a/*/b/c: the last part belongs to the component
		before, after = short-1, 0
	}
	parts := append(slices.Clone(first[:before]), componentToken)
	return strings.Join(append(parts, first[len(first)-after:]...), "/") + ".po"
}

// common returns the number of parts that two lists have in common at the start.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// maxAlone: a directory with more files, one component each, has samples and test data.
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
