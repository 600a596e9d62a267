package gitsource

import (
	"github.com/repoglot/repoglot/gitsource/object"
)

// introducer returns the index of the origin that introduced a text of
// Step.Changes[change]. same says whether a version of that file (zero: the
// file is absent) has the text; it must be true for Changes[change].New, and
// is asked once per version. It is the rule that is written down at Origin, for
// tests; package ingest does it for all strings of a file at once.
func introducer(s Step, change int, same func(blob object.Hash) bool) int {
	last := len(s.Origins) - 1
	known := map[object.Hash]bool{}
	has := func(blob object.Hash) bool {
		v, ok := known[blob]
		if !ok {
			v = same(blob)
			known[blob] = v
		}
		return v
	}
	seen := make([]bool, len(s.Origins))
	todo := []int{last}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		inherited := false
		for k := len(s.Origins[i].Parents) - 1; k >= 0; k-- { // the first parent is on top of the stack
			p, blobs := s.Origins[i].Parents[k], s.Origins[i].Outside[k]
			if p >= 0 {
				blobs = s.Origins[p].Blobs
			}
			if !has(blobs[change]) {
				continue
			}
			inherited = true
			todo = append(todo, p)
		}
		if !inherited {
			return i
		}
	}
	return last
}
