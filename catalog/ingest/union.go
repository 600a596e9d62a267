package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
)

// sourceFile is a file that the source translation reads.
type sourceFile struct {
	place *place // of the version that load gives
	load  func(context.Context) (*poFile, error)
}

// unitedFiles are the strings of several files.
type unitedFiles struct {
	units   []unit
	holders []int // of each unit the index of the file it came from
	outline int64
}

// union makes the units of the source translation (decision 11): those of its
// own file, if it has one, then every string that only other files have, with
// place, note and flags of the first of them by path. It holds one file at a
// time.
func union(ctx context.Context, files []sourceFile, hasOwn bool, r rules) (unitedFiles, error) {
	var h catalog.Hasher
	var all unitedFiles
	seen := make(map[catalog.Identity]struct{})
	position := 0
	for n := range files {
		f, err := files[n].load(ctx)
		if err != nil {
			return all, err
		}
		if n == 0 {
			all.units = make([]unit, 0, len(f.units))
		}
		for i := range f.units {
			u := &f.units[i]
			if _, ok := seen[u.Identity]; ok {
				continue
			}
			seen[u.Identity] = struct{}{}
			s := sourceUnit(u, r, &h)
			if !hasOwn || n > 0 {
				s.Position = position + 1
			}
			position = s.Position
			all.units = append(all.units, s)
			all.holders = append(all.holders, n)
			all.outline = outline(all.outline, &s.Unit, &h)
		}
	}
	return all, nil
}
