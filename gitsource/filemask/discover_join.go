package filemask

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// join takes layouts together that differ in one place, where they are many and
// a mask with {component} selects nothing else. The largest come first.
func (d *discoverer) join(layouts map[string]*layout) []*layout {
	d.joinBy(layouts, domainJoint)
	d.joinBy(layouts, folderJoint)
	list := slices.SortedFunc(maps.Values(layouts), func(a, b *layout) int {
		return cmp.Or(cmp.Compare(len(b.files), len(a.files)), cmp.Compare(a.mask, b.mask))
	})
	return list[:min(len(list), maxLayouts)]
}

// joinBy joins the layouts that joint gives the same key.
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

// domainJoint is what masks of the domains of one tree have in common: the path
// up to the language, locale/*/LC_MESSAGES/<domain>.po.
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

// folderJoint is what masks of many folders have in common: the path from the
// folder above the language, <app>/locale/*/LC_MESSAGES/django.po.
func folderJoint(mask string) string {
	parts := strings.Split(mask, "/")
	star := slices.IndexFunc(parts, func(s string) bool { return strings.Contains(s, "*") })
	if star < 2 {
		return ""
	}
	return strings.Join(parts[star-1:], "/")
}

// joinedMask puts {component} between what all masks begin and end with, in
// Whole parts of the path but for the end of the file's name.
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
	if after < 0 { // a/*/b and a/*/b/c: the last part is the component's
		before, after = short-1, 0
	}
	parts := append(slices.Clone(first[:before]), componentToken)
	return strings.Join(append(parts, first[len(first)-after:]...), "/") + ".po"
}

// common is the number of parts that two lists begin with.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
