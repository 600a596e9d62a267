package ingest

import (
	"github.com/repoglot/repoglot/catalog"
)

// version of the file at a place, as the source translation reads it.
type sourceFile struct {
	place *place
	file  *poFile
}

// union makes the units of the source translation (decision 11): those of its
// own file, if it has one, then every string that only other files have, with
// place, note and flags of the first of them by path. holders tells for each
// unit which of the files it came from.
func union(files []sourceFile, hasOwn bool, r rules) (units []unit, holders []int, print int64) {
	var h catalog.Hasher
	total := 0
	if len(files) > 0 {
		total = len(files[0].file.units)
	}
	units = make([]unit, 0, total)
	seen := make(map[catalog.Identity]struct{}, total)
	position := 0
	for n, f := range files {
		for i := range f.file.units {
			u := &f.file.units[i]
			if _, ok := seen[u.Identity]; ok {
				continue
			}
			seen[u.Identity] = struct{}{}
			s := sourceUnit(u, r, &h)
			if !hasOwn || n > 0 {
				s.Position = position + 1
			}
			position = s.Position
			units = append(units, s)
			holders = append(holders, n)
			print = outline(print, &s.Unit, &h)
		}
	}
	return units, holders, print
}
