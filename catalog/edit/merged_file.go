package edit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// IsMerge reports whether a PO file is what merging two others can give that were made of a
// base: each part of each entry, and each field of the header, is that of the one that
// changed it, and of one of them if both did. What cannot be read is none.
func IsMerge(data, base, one, other []byte) bool {
	var files [4]*poparse.File
	for i, text := range [][]byte{data, base, one, other} {
		var err error
		if files[i], err = poparse.Parse("", text); err != nil {
			return false
		}
	}
	var entries [4]map[string]*poparse.Entry
	keys := map[string]bool{}
	for i, f := range files {
		entries[i] = byKey(f)
		for key := range entries[i] {
			keys[key] = true
		}
	}
	for key := range keys {
		for _, part := range parts {
			var values [4]any
			for i := range entries {
				if e := entries[i][key]; e != nil {
					values[i] = part(e)
				}
			}
			if !isMerged(values) {
				return false
			}
		}
	}
	for _, field := range headerOf(files[0]) {
		if !slices.Contains(headerOf(files[2]), field) && !slices.Contains(headerOf(files[3]), field) {
			return false
		}
	}
	return true
}

// parts are what a merge takes of an entry as a whole.
var parts = []func(*poparse.Entry) any{
	func(e *poparse.Entry) any { return []any{e.Str, e.Fuzzy, e.Previous} },
	func(e *poparse.Entry) any { return []any{e.Comments, e.Flags} },
	func(e *poparse.Entry) any { return []any{e.HasPlural, e.IDPlural, e.References, e.Extracted} },
}

// isMerged reports whether the first value follows from the base and the two others.
func isMerged(values [4]any) bool {
	is := func(i, j int) bool { return reflect.DeepEqual(values[i], values[j]) }
	switch {
	case is(2, 1):
		return is(0, 3)
	case is(3, 1):
		return is(0, 2)
	}
	return is(0, 2) || is(0, 3)
}

// byKey returns the entries of a file by what tells them apart.
func byKey(f *poparse.File) map[string]*poparse.Entry {
	entries := make(map[string]*poparse.Entry, len(f.Entries))
	for _, e := range f.Entries {
		key := strings.Join([]string{e.Domain, e.Context, e.ID}, "\x00")
		for _, is := range []bool{e.HasContext, e.Obsolete, e.Duplicate} {
			if is {
				key += "\x00yes"
			} else {
				key += "\x00no"
			}
		}
		entries[key] = e
	}
	return entries
}

// headerOf returns the fields of a header.
func headerOf(f *poparse.File) []string {
	if f.Header == nil || len(f.Header.Str) == 0 {
		return nil
	}
	return strings.Split(f.Header.Str[0], "\n")
}
