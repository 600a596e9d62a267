package filemask

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

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

// joinedMask puts {component} between the parts of the path that all masks have at
// the start and at the end, and ".po".
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
